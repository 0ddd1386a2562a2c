//! The index page that a web server makes of a folder: Apache's, nginx's, and whatever else has a
//! link for each thing in it.

use std::collections::BTreeMap;

use reqwest::Url;

/// A link to something in the folder itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) name: String,
    /// The name as it stands in a URL.
    pub(super) encoded: String,
    pub(super) is_folder: bool,
}

/// What `page`, the index of the folder at `base`, links to in that folder, by name. Links to
/// elsewhere, to the folders above and to other orders of the page are left out.
pub(super) fn links(page: &str, base: &Url) -> Vec<Link> {
    let links = hrefs(page).filter_map(|href| link(&href, base));
    let by_name: BTreeMap<String, Link> = links.map(|link| (link.name.clone(), link)).collect();
    by_name.into_values().collect()
}

fn link(href: &str, base: &Url) -> Option<Link> {
    let url = base.join(href.trim()).ok()?;
    let rest = url.as_str().strip_prefix(base.as_str())?;
    let encoded = rest.strip_suffix('/').unwrap_or(rest);
    let name = decoded(encoded)?;
    let is_one = !encoded.contains(['/', '?', '#']) && !name.is_empty() && !name.contains('/');
    is_one.then(|| Link { name, encoded: encoded.to_owned(), is_folder: rest.ends_with('/') })
}

/// Where the `<a>` of a page lead to.
fn hrefs(page: &str) -> impl Iterator<Item = String> {
    page.split('<').filter_map(|tag| {
        let tag = tag.split('>').next()?;
        let name = tag.split_ascii_whitespace().next()?;
        let at = tag.to_ascii_lowercase().find("href")?;
        let value = tag[at + "href".len()..].trim_start().strip_prefix('=')?.trim_start();
        let value = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value.split_ascii_whitespace().next()?,
        };
        name.eq_ignore_ascii_case("a").then(|| unescaped(value))
    })
}

/// Text without its entities.
pub(super) fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&apos;", "'").replace("&#39;", "'").replace("&amp;", "&")
}

/// Text without its percent signs (RFC 3986, 2.1).
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(page: &str) -> Vec<String> {
        let base = Url::parse("http://10.0.0.1/install/postscripts/").unwrap();
        let shown = |link: Link| link.name + if link.is_folder { "/" } else { "" };
        links(page, &base).into_iter().map(shown).collect()
    }

    #[test]
    fn apaches_and_nginxs_pages_are_read() {
        let apache = "<html><head><title>Index of /install/postscripts</title></head>\n\
             <tr><th><a href=\"?C=N;O=D\">Name</a></th></tr>\n\
             <tr><td><a href=\"/install/\">Parent Directory</a></td></tr>\n\
             <td><a href=\"a&amp;b%20c\">a&amp;b c</a></td>\n\
             <td><A HREF='hostkeys/'>hostkeys/</a></td><a class=x href=syslog><img></a>\n\
             <a href=\"syslog\">syslog</a><address>Apache</address>";
        assert_eq!(names(apache), ["a&b c", "hostkeys/", "syslog"]);
        let nginx = "<h1>Index of /install/postscripts/</h1><hr><pre><a href=\"../\">../</a>\n\
             <a href=\"_xcat/\">_xcat/</a>  1-Jan-2026 -\n<a href=\"x%3Ay\">x:y</a> 5\n";
        assert_eq!(names(nginx), ["_xcat/", "x:y"]);
        let absolute = "<a href=\"/install/postscripts/a\"><a href=\"./b\">\
             <a href=\"http://10.0.0.1/install/postscripts/c/\">";
        assert_eq!(names(absolute), ["a", "b", "c/"]);
    }

    #[test]
    fn nothing_leads_out_of_the_folder() {
        for href in [
            "",
            ".",
            "./",
            "..",
            "../x",
            "../postscripts/",
            "/",
            "/etc/passwd",
            "//other/x",
            "http://other/install/postscripts/x",
            "https://10.0.0.1/install/postscripts/x",
            "file:///etc/passwd",
            "javascript:x",
            "x?y",
            "x#y",
            "#x",
            "a/b",
            "a/../b/c",
            "%2e%2e/",
            "%2e%2e%2fx",
            "a%2fb",
            "..%2f..%2fx",
            "%zz",
            "%",
            "%ff",
        ] {
            let page = format!("<a href=\"{href}\">x</a>");
            assert_eq!(names(&page), [""; 0], "{href}");
        }
        // The fetch of each says what isn't a script's name.
        assert_eq!(names("<a href=\"-rf\"><a href=\"a%0ab\">"), ["-rf", "a\nb"]);
        for page in
            ["", "<", "<a", "<a href", "<a href=", "<a href=\"x\u{e4}", "href=x", "<\u{e4} href=x"]
        {
            assert!(names(page).iter().all(|name| name.starts_with('x')), "{page}");
        }
        assert_eq!(names("<link href=\"style.css\"><p>href=x</p>"), [""; 0]);
    }
}
