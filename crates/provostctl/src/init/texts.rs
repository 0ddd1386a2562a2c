//! The files that `provostctl init` writes. Each explains itself.

use std::fmt::Write;
use std::path::Path;

use super::addresses::Addresses;
use crate::defaults;

/// A site with one group, whose nodes run [`HELLO`].
pub(super) const SITE: &str = include_str!("site.toml");
/// A script that changes nothing.
pub(super) const HELLO: &str = include_str!("hello");
/// Every key of `provostctl.toml`, with what it is for.
const PROVOSTCTL: &str = include_str!("../../../../dist/examples/provostctl.toml");
/// The nodes' port.
pub(super) const PORT: u16 = 8480;

/// `provostd.toml`.
pub(super) fn provostd(data: &Path, www: &Path, addresses: &Addresses) -> String {
    let any = if addresses.has_v6() { "[::]" } else { "0.0.0.0" };
    let strings = |list: &[String]| {
        let quoted: Vec<_> = list.iter().map(|text| quoted(text)).collect();
        format!("[{}]", quoted.join(", "))
    };
    let mut text = String::from(
        "#:schema file:///usr/share/provost/schema/provostd.json\n\
         # The management node's daemon. provostd.toml(5) explains every key.\n\
         # After a change: provostd check && systemctl restart provostd\n\n",
    );
    let mut line = |key: &str, value: String, about: &str| {
        let line = format!("{key} = {value}");
        // Writing to a String can't fail.
        let _ = writeln!(text, "{line:<39} # {about}");
    };
    line(
        "data",
        quoted(&data.display().to_string()),
        "what nodes report, and this server's own keys",
    );
    line(
        "www",
        quoted(&www.display().to_string()),
        "the signed files that `provostctl publish` writes",
    );
    line(
        "listen",
        quoted(&format!("{any}:{PORT}")),
        "nodes fetch them here; the next but one port has TLS",
    );
    line(
        "# admin",
        quoted("127.0.0.1:8481"),
        "the web page: read only, for all users of this machine",
    );
    text += "\n[node]\n# Where nodes reach `listen`: installer files and install.sh name it.\n";
    let _ = writeln!(text, "servers = {}", strings(&addresses.urls(PORT)));
    text += "\n[tls]\n# The addresses and names of this machine that its certificate has besides its host name.\n";
    let _ = writeln!(text, "names = {}", strings(&addresses.chosen));
    text += "\n[tokens]\n# Nodes have keys of their own and report over TLS. Bearer tokens over plain HTTP, which \
             others can read,\n# are the other way: docs/tokens.md.\nallowed = false\n";
    text
}

/// What `provostctl.toml` names.
pub(super) struct Named<'a> {
    /// It itself.
    pub(super) file: &'a Path,
    pub(super) site: &'a Path,
    pub(super) scripts: &'a Path,
    pub(super) key: &'a Path,
    pub(super) sign_command: Option<&'a str>,
    pub(super) www: &'a Path,
    /// Where the daemon answers, if that isn't the usual socket.
    pub(super) admin: Option<String>,
}

impl Named<'_> {
    /// `provostctl.toml`.
    pub(super) fn text(&self) -> String {
        let path = |path: &Path| quoted(&path.display().to_string());
        let mut values = vec![
            ("site", path(self.site)),
            ("scripts", path(self.scripts)),
            ("key", path(self.key)),
            ("www", path(self.www)),
        ];
        values.extend(self.sign_command.map(|command| ("sign_command", quoted(command))));
        values.extend(self.admin.as_deref().map(|admin| ("admin", quoted(admin))));
        let set = |line: &str| {
            let (key, rest) = line.trim_start_matches("# ").split_once(" = ")?;
            let (_, value) = values.iter().find(|(known, _)| *known == key)?;
            let set = format!("{key} = {value}");
            Some(match rest.split_once("  # ") {
                Some((_, about)) => format!("{set:<39} # {}", about.trim_start()),
                None => set,
            })
        };
        let text = PROVOSTCTL.replace(defaults::FILE, &self.file.to_string_lossy());
        text.lines().map(|line| set(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
    }
}

/// As a string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provostctl_toml_is_the_sample_with_this_sites_values() {
        let named = |sign_command, admin| Named {
            file: defaults::FILE.as_ref(),
            site: "/etc/provost/site.toml".as_ref(),
            scripts: "/etc/provost/postscripts".as_ref(),
            key: "/etc/provost/provost.key".as_ref(),
            www: "/srv/provost/www".as_ref(),
            sign_command,
            admin,
        };
        assert_eq!(named(None, None).text(), PROVOSTCTL);
        let text = named(Some(r#"sign "$1""#), Some("unix:/d/admin.sock".into())).text();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["sign_command"].as_str(), Some(r#"sign "$1""#));
        assert_eq!(table["admin"].as_str(), Some("unix:/d/admin.sock"));
        assert_eq!(text.lines().count(), PROVOSTCTL.lines().count());
    }
}
