//! Links of the pages in a package: a link to what only the repository has becomes its text.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::package::list;

/// Where the repository and the package have the same under different names.
const MOVED: [(&str, &str); 1] = [("dist/schema", "/usr/share/provost/schema")];

/// Goes through all pages below `root`, which is put together.
pub(super) fn settle(root: &Path) -> Result<()> {
    settle_below(root, root)
}

fn settle_below(root: &Path, folder: &Path) -> Result<()> {
    for path in list(folder)? {
        if path.is_dir() {
            settle_below(root, &path)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let leads = |target: &str| match target.strip_prefix('/') {
                Some(absolute) => root.join(absolute).exists(),
                None => path.parent().is_some_and(|folder| folder.join(target).exists()),
            };
            fs::write(&path, settled(&text, leads))?;
        }
    }
    Ok(())
}

/// The page with the links that lead somewhere.
fn settled(text: &str, leads: impl Fn(&str) -> bool) -> String {
    let mut rest = text;
    let mut page = String::new();
    while let Some(at) = rest.find("](") {
        let (before, link) = rest.split_at(at);
        let Some(end) = link.find(')') else { break };
        let target = &link[2..end];
        let start = before.rfind('[').filter(|start| !before[*start..].contains('\n'));
        let (path, _) = target.split_once('#').unwrap_or((target, ""));
        let moved = MOVED.iter().find(|(from, _)| path.ends_with(from)).map(|(_, to)| *to);
        match start {
            _ if path.is_empty() || path.contains("://") || leads(path) => {
                page.push_str(&rest[..at + end + 1]);
            }
            Some(_) if moved.is_some_and(&leads) => {
                page.push_str(before);
                page.push_str(&format!("]({})", moved.unwrap_or_default()));
            }
            Some(start) => {
                // A picture leaves its description.
                page.push_str(before[..start].trim_end_matches('!'));
                page.push_str(&before[start + 1..]);
            }
            None => page.push_str(&rest[..at + end + 1]),
        }
        rest = &link[end + 1..];
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_becomes_its_text() {
        let there = ["install.md", "/usr/share/provost/schema"];
        let leads = |target: &str| there.contains(&target);
        for (text, expected) in [
            ("see [the page](install.md#it).", "see [the page](install.md#it)."),
            ("see [the source](../crates/x.rs), please", "see the source, please"),
            ("[a](#b) [web](https://example.org)", "[a](#b) [web](https://example.org)"),
            ("[schemas](../dist/schema)", "[schemas](/usr/share/provost/schema)"),
            ("![how it looks](x.png) end", "how it looks end"),
            ("| [Man pages](man) | all |", "| Man pages | all |"),
        ] {
            assert_eq!(settled(text, leads), expected);
        }
    }
}
