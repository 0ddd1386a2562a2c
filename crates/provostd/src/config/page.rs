//! What the web page calls the site, and how the machine room is laid out.

use std::collections::{BTreeSet, HashMap};

use provost_plan::nodes::expand;
use reqwest::Url;
use serde::Deserialize;

/// The longest name of a site or of a rack, in characters: it stands in one line of a phone's screen.
const LONGEST_NAME: usize = 40;

/// The web page.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct PageConfig {
    /// The site's name, in the title and the header of each page.
    pub name: Option<String>,
    /// The site's color, `#RGB` or `#RRGGBB`: of the header's edge and of the icon.
    pub accent: Option<String>,
    /// The URL at which admins reach the page, for links in messages: `https://mgmt:8483`.
    pub url: Option<String>,
    /// The machine room, in the order of the map.
    pub racks: Vec<RackConfig>,
}

/// A rack, or several of the same size.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct RackConfig {
    /// The rack's name.
    pub name: Option<String>,
    /// The names of several racks, folded: `r[01-12]`.
    pub racks: Option<String>,
    /// The nodes in it, or in all of them in this order, folded: `cn[001-036]`.
    pub nodes: String,
    /// How many of `nodes` each of `racks` has; the last one may have fewer.
    pub per_rack: Option<usize>,
    /// The row that it stands in.
    pub row: Option<String>,
}

/// A rack with its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rack {
    pub(crate) name: String,
    pub(crate) row: Option<String>,
    pub(crate) nodes: Vec<String>,
}

impl PageConfig {
    /// The racks, in their order. Of a section that is wrong there are none: see [`mistakes`].
    pub(crate) fn machine_room(&self) -> Vec<Rack> {
        self.racks.iter().filter_map(|section| section.expand().ok()).flatten().collect()
    }
}

impl RackConfig {
    fn expand(&self) -> Result<Vec<Rack>, String> {
        let nodes = expand(&self.nodes).map_err(|e| format!("`nodes`: {e}; {}", e.hint()))?;
        let rack = |name: &str, nodes: &[String]| Rack {
            name: name.to_owned(),
            row: self.row.clone(),
            nodes: nodes.to_vec(),
        };
        match (&self.name, &self.racks, self.per_rack) {
            (Some(name), None, None) => Ok(vec![rack(name, &nodes)]),
            (None, Some(racks), Some(per_rack @ 1..)) => {
                let names = expand(racks).map_err(|e| format!("`racks`: {e}; {}", e.hint()))?;
                let parts = nodes.chunks(per_rack);
                if parts.len() != names.len() {
                    return Err(format!(
                        "{} nodes with `per_rack = {per_rack}` fill {} racks, and `racks` names {}",
                        nodes.len(),
                        parts.len(),
                        names.len()
                    ));
                }
                Ok(names.iter().zip(parts).map(|(name, part)| rack(name, part)).collect())
            }
            (None, Some(_), Some(0)) => Err("`per_rack` is at least 1".to_owned()),
            (None, Some(_), None) => Err("`racks` needs `per_rack`".to_owned()),
            (Some(_), None, Some(_)) => Err("`per_rack` goes with `racks`".to_owned()),
            (Some(_), Some(_), _) => Err("`name` and `racks` exclude each other".to_owned()),
            (None, None, _) => Err("it needs `name`, or `racks` with `per_rack`".to_owned()),
        }
    }

    /// What it is called in an error.
    fn title(&self, index: usize) -> String {
        match self.name.as_ref().or(self.racks.as_ref()) {
            Some(name) => format!("[[page.racks]] {name:?}"),
            None => format!("[[page.racks]] number {}", index + 1),
        }
    }
}

/// What is wrong with `[page]`, a line each.
pub(super) fn mistakes(page: &PageConfig) -> Vec<String> {
    let mut mistakes = Vec::new();
    if let Some(name) = page.name.as_ref().filter(|name| !is_name(name)) {
        mistakes.push(wrong_name("[page] `name`", name));
    }
    if let Some(accent) = page.accent.as_ref().filter(|accent| !is_color(accent)) {
        mistakes.push(format!(
            "[page] `accent`: {accent:?} isn't a color such as \"#0a7\" or \"#00aa77\""
        ));
    }
    if let Some(url) = page.url.as_ref().filter(|url| !is_base(url)) {
        mistakes.push(format!(
            "[page] `url`: {url:?} isn't a base URL such as \"https://mgmt.example.org:8483\""
        ));
    }
    let (mut racks, mut rack_of) = (BTreeSet::new(), HashMap::new());
    for (index, section) in page.racks.iter().enumerate() {
        let title = section.title(index);
        let names = section.name.iter().map(|name| ("name", name));
        for (key, name) in names.chain(section.row.iter().map(|row| ("row", row))) {
            if !is_name(name) {
                mistakes.push(wrong_name(&format!("{title} `{key}`"), name));
            }
        }
        match section.expand() {
            Err(why) => mistakes.push(format!("{title}: {why}")),
            Ok(of_section) => {
                let mut found = of_section.iter().filter_map(|rack| {
                    if !racks.insert(rack.name.clone()) {
                        return Some(format!("{title}: another rack is called {:?}", rack.name));
                    }
                    rack.nodes.iter().find_map(|node| {
                        let other = rack_of.insert(node.clone(), rack.name.clone())?;
                        Some(format!("{title}: {node} is in rack {other:?} as well"))
                    })
                });
                // The first shows what is meant; a section may have thousands.
                mistakes.extend(found.next());
            }
        }
    }
    mistakes
}

fn wrong_name(of: &str, name: &str) -> String {
    format!("{of}: {name:?} isn't a name of 1 to {LONGEST_NAME} printable characters")
}

fn is_name(name: &str) -> bool {
    let count = name.trim().chars().count();
    (1..=LONGEST_NAME).contains(&count) && !name.chars().any(char::is_control)
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Whether a path can be added to it.
fn is_base(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let has_login = !url.username().is_empty() || url.password().is_some();
        matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain && !has_login
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> PageConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn racks_share_nodes_in_their_order() {
        let page = page(
            "[[racks]]\nracks = 'r[1-2]'\nnodes = 'cn[1-5]'\nper_rack = 3\nrow = 'A'\n\
             [[racks]]\nname = 'io'\nnodes = 'io1'\n",
        );
        assert_eq!(mistakes(&page), [""; 0]);
        let racks = page.machine_room();
        let shown: Vec<_> =
            racks.iter().map(|rack| (rack.name.as_str(), rack.nodes.join(" "))).collect();
        let expected = [("r1", "cn1 cn2 cn3"), ("r2", "cn4 cn5"), ("io", "io1")];
        assert_eq!(shown, expected.map(|(name, nodes)| (name, nodes.to_owned())));
        assert_eq!(racks[1].row.as_deref(), Some("A"));
    }

    #[test]
    fn each_mistake_says_where_it_is() {
        let text = "name = ''\naccent = 'green'\nurl = 'mgmt:8483'\n\
            [[racks]]\nname = 'r1'\nnodes = 'cn[1-'\n\
            [[racks]]\nname = 'r2'\nnodes = 'cn[1-4]'\n\
            [[racks]]\nname = 'r3'\nnodes = 'cn4'\n\
            [[racks]]\nname = 'r2'\nnodes = 'x'\n\
            [[racks]]\nracks = 'r[5-6]'\nnodes = 'y[1-9]'\nper_rack = 4\n\
            [[racks]]\nnodes = 'z'\n";
        let found = mistakes(&page(text));
        let parts = [
            "`name`: \"\"",
            "`accent`: \"green\" isn't a color such as \"#0a7\"",
            "`url`: \"mgmt:8483\"",
            "[[page.racks]] \"r1\": `nodes`: ",
            "\"r3\": cn4 is in rack \"r2\" as well",
            "\"r2\": another rack is called \"r2\"",
            "9 nodes with `per_rack = 4` fill 3 racks, and `racks` names 2",
            "[[page.racks]] number 6: it needs `name`",
        ];
        assert_eq!(found.len(), parts.len(), "{found:#?}");
        for (found, part) in found.iter().zip(parts) {
            assert!(found.contains(part), "{found}: {part}");
        }
    }

    #[test]
    fn links_are_below_the_base() {
        for (url, good) in [
            ("https://mgmt:8483", true),
            ("http://proxy.example.org/provost/", true),
            ("https://mgmt/?a=b", false),
            ("https://user:secret@mgmt", false),
            ("ftp://mgmt", false),
        ] {
            assert_eq!(is_base(url), good, "{url}");
        }
    }
}
