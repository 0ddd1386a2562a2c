//! The licences of the libraries in our static programs, which ask for it: `THIRD-PARTY-NOTICES.txt`, kept in
//! the repository, compared by `cargo xtask test`, and in each package.

mod libraries;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use libraries::{Library, linked};

use crate::cargo;

/// The file, in the workspace's folder and in packages.
pub(crate) const NAME: &str = "THIRD-PARTY-NOTICES.txt";
/// What is linked into programs that we hand out.
pub(crate) const PROGRAMS: [&str; 3] = ["provost", "provostctl", "provostd"];
/// Of a library that may be used under several licences, this one is taken: its text is one for all.
const PREFERRED: &str = "Apache-2.0";
/// How files with a licence or a notice begin.
const LICENSES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// C sources that come with a crate, with the file of their licence below its folder. SQLite's are in the
/// public domain.
const BUNDLED: [(&str, &str); 3] = [
    ("tikv-jemalloc-sys", "jemalloc/COPYING"),
    ("zstd-sys", "zstd/LICENSE"),
    ("ring", "third_party/fiat/LICENSE"),
];

/// Writes the file anew.
pub(crate) fn write() -> Result<()> {
    Ok(fs::write(cargo::root().join(NAME), text(&linked(&PROGRAMS)?)?)?)
}

/// Checks that the file is that of the libraries in Cargo.lock.
pub(crate) fn check() -> Result<()> {
    let kept = fs::read_to_string(cargo::root().join(NAME)).unwrap_or_default();
    if kept != text(&linked(&PROGRAMS)?)? {
        bail!(
            "{NAME} isn't that of the libraries in Cargo.lock: cargo xtask notices, and commit it"
        );
    }
    Ok(())
}

fn text(libraries: &[Library]) -> Result<String> {
    let mut text = format!(
        "The programs of Provost are linked with these libraries, which others have written. Each is named with its\n\
         licence; where a library can be used under {PREFERRED} or another licence, it is under {PREFERRED} here, whose\n\
         text is the file LICENSE. The other texts follow the list.\n\n"
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in libraries {
        let title = format!("{} {}", library.name, library.version);
        let Some(license) = &library.license else {
            bail!("{title} names no licence: look for it, and name it in deny.toml");
        };
        // Writing to a String can't fail, here and below.
        let _ = writeln!(text, "{title}: {license}");
        if let Some(repository) = &library.repository {
            let _ = writeln!(text, "    {repository}");
        }
        if !library.authors.is_empty() {
            let _ = writeln!(text, "    {}", library.authors.join(", "));
        }
        let found = files(library)?;
        if found.is_empty() && !is_preferred(license) {
            bail!("{title} ({license}) has no file with its licence");
        }
        for license in found {
            texts.entry(license).or_default().push(title.clone());
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|(a_text, a), (b_text, b)| (a, a_text).cmp(&(b, b_text)));
    for (license, titles) in texts {
        let line = "-".repeat(100);
        let _ = write!(text, "\n{line}\n{}\n{line}\n\n{}\n", titles.join("\n"), license.trim_end());
    }
    Ok(text)
}

/// Whether the expression lets us choose [`PREFERRED`].
fn is_preferred(license: &str) -> bool {
    let one_of = license.replace('/', " OR ");
    !one_of.contains(" AND ") && one_of.split(" OR ").any(|one| one.trim() == PREFERRED)
}

/// The texts that have to come with the library: its notices and, unless it is under [`PREFERRED`], its licences.
fn files(library: &Library) -> Result<Vec<String>> {
    let folder = library.folder();
    let is_preferred = library.license.as_deref().is_some_and(is_preferred);
    let mut texts = Vec::new();
    let entries = fs::read_dir(folder)
        .with_context(|| format!("reading {}: cargo fetch brings it", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_license = LICENSES.iter().any(|begin| name.starts_with(begin));
        if is_license && (!is_preferred || name.starts_with("NOTICE")) {
            texts.push(read(path)?);
        }
    }
    for (_, file) in BUNDLED.iter().filter(|(name, _)| *name == library.name) {
        texts.push(read(&folder.join(file))?);
    }
    Ok(texts)
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes).replace('\r', "");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_chosen_only_where_there_is_a_choice() {
        for (license, chosen) in [
            ("MIT OR Apache-2.0", true),
            ("Apache-2.0/MIT", true),
            ("Apache-2.0", true),
            ("Apache-2.0 AND ISC", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", false),
            ("MIT", false),
            ("Apache-2.0 WITH LLVM-exception", false),
        ] {
            assert_eq!(is_preferred(license), chosen, "{license}");
        }
    }

    #[test]
    fn what_a_program_is_linked_with_is_named_with_its_text() {
        let libraries = linked(&["provost"]).unwrap();
        let names: Vec<&str> = libraries.iter().map(|one| one.name.as_str()).collect();
        assert!(names.contains(&"rustls") && names.contains(&"ring"), "{names:?}");
        // A database, a test library, and a crate of our own.
        for absent in ["rusqlite", "proptest", "provost-node"] {
            assert!(!names.contains(&absent), "{absent}");
        }
        assert!(libraries.iter().all(|one| one.checksum.is_some()), "{libraries:?}");
        let text = text(&libraries).unwrap();
        let rustls = libraries.iter().find(|one| one.name == "rustls").unwrap();
        assert!(text.contains(&format!("\nrustls {}: ", rustls.version)), "{text}");
        assert!(text.contains("Permission to use, copy, modify, and/or distribute this software"));
    }
}
