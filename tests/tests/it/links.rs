//! The links between the pages lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = ["", "docs", "docs/adr", "docs/reference"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages
}

/// The targets of the links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap())
}

/// What a link to a heading of the page is called, as GitHub makes it.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn each_leads_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text).filter(|link| !link.starts_with("https://")) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                _ => page.parent().unwrap().join(path),
            };
            let leads = match anchor {
                "" => target.exists(),
                _ => fs::read_to_string(&target)
                    .is_ok_and(|text| anchors(&text).iter().any(|there| there == anchor)),
            };
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(count > 50, "{count} links were found");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn no_how_to_guide_is_longer_than_150_lines() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    let guides = index.split_once("\n## How-to guides\n").unwrap().1;
    let guides = guides.split("\n## ").next().unwrap();
    // A link to a heading leads into a page of another kind.
    let pages: Vec<_> = links(guides).filter(|link| link.ends_with(".md")).collect();
    assert!(pages.len() > 20, "{pages:?}");
    for page in pages {
        let lines = fs::read_to_string(docs.join(page)).unwrap().lines().count();
        assert!(lines <= 150, "{page} has {lines} lines");
    }
}
