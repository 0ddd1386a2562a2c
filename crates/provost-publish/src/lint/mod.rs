//! Mistakes in scripts that can be found without running them.

mod calls;
mod finding;
mod header;
mod library;
mod shadow;
mod syntax;

use std::io;

use futures_util::{StreamExt, stream};

use self::calls::Calls;
pub use self::finding::{Depth, Finding, Level};
use crate::Source;

/// How many scripts are looked at at once.
const AT_ONCE: usize = 4;

/// The mistakes in these files. An error is one of this process, which has too few resources.
pub fn of_sources(sources: &[&Source], depth: Depth) -> io::Result<Vec<Finding>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let findings = stream::iter(sources).map(|source| of_source(source, depth)).buffered(AT_ONCE);
    Ok(runtime.block_on(findings.concat()))
}

async fn of_source(source: &Source, depth: Depth) -> Vec<Finding> {
    // A file that has changed since it was checked is refused later.
    let Ok(content) = source.read() else { return Vec::new() };
    let text = std::str::from_utf8(&content).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else { return Vec::new() };
    let mut findings = header::of_file(source, text);
    if text.starts_with("#!") {
        findings.extend(syntax::of_script(source, text, depth).await);
        if syntax::is_shell(text) && !findings.iter().any(|f| f.level == Level::Error) {
            let calls = Calls::of(text);
            findings.extend(shadow::of_script(source, &calls));
            findings.extend(library::of_script(source, &calls));
        }
    }
    findings
}
