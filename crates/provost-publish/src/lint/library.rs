//! Functions that a script calls as if the shell library had them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use super::calls::Calls;
use super::finding::{Finding, Level};
use super::syntax::FOLDERS;
use crate::Source;

/// The modules that `. provost.sh` brings.
const MODULES: [&str; 6] = [
    include_str!("../../../../lib-sh/log.sh"),
    include_str!("../../../../lib-sh/command.sh"),
    include_str!("../../../../lib-sh/os.sh"),
    include_str!("../../../../lib-sh/file.sh"),
    include_str!("../../../../lib-sh/package.sh"),
    include_str!("../../../../lib-sh/service.sh"),
];
/// Others that define functions.
const OTHERS: [&str; 4] = [
    include_str!("../../../../lib-sh/net.sh"),
    include_str!("../../../../lib-sh/provost.sh"),
    include_str!("../../../../lib-sh/xcatlib.sh"),
    include_str!("../../../../lib-sh/bootstrap-service-record.sh"),
];
/// How the library's files are called.
const FILES: [&str; 3] = ["provost.sh", "xcatlib.sh", "bootstrap-service-record.sh"];
/// Nothing else has functions that begin so.
const FAMILIES: [&str; 6] = ["file_", "ini_", "net_", "os_", "package_", "service_"];
/// Names that are shorter may be near to anything, in characters.
const SHORTEST: usize = 4;

/// What `. provost.sh` defines for scripts.
static LIBRARY: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let all = MODULES.iter().chain(OTHERS.first()).flat_map(|text| Calls::of(text).functions);
    all.filter(|name| !name.starts_with('_')).collect()
});
/// What any file of the library defines.
static ALL: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    MODULES.iter().chain(&OTHERS).flat_map(|text| Calls::of(text).functions).collect()
});

/// The first call of a function that nothing defines.
pub(super) fn of_script(source: &Source, calls: &Calls) -> Option<Finding> {
    let mut functions = calls.functions.clone();
    let sources_library = add_sourced(source, calls, &mut functions)?;
    let is_defined = |name: &str| {
        functions.contains(name)
            || FOLDERS.iter().any(|folder| Path::new(folder).join(name).exists())
            || root(source).is_some_and(|root| root.join(name).exists())
    };
    let (name, line, near) = calls.commands.iter().find_map(|(name, line)| {
        let is_library = LIBRARY.contains(name) && name.contains('_');
        let near = if sources_library {
            if ALL.contains(name) {
                return None;
            }
            let near = near(name);
            (near.is_some() || FAMILIES.iter().any(|family| name.starts_with(family)))
                .then_some(near)
        } else {
            is_library.then_some(None)
        }?;
        (!is_defined(name)).then_some((name, line, near))
    })?;
    let (what, hint) = if !sources_library {
        let what =
            format!("line {line} calls {name}, a function of provost.sh, which isn't sourced");
        (what, "add a line before it: . provost.sh".to_owned())
    } else {
        let what =
            format!("line {line} calls {name}, which neither provost.sh nor the script defines");
        let hint = match near {
            Some(near) => format!("write {near}, if you mean that function of provost.sh"),
            None => "take one of the functions in docs/shell-library.md, or define it".to_owned(),
        };
        (what, hint)
    };
    Some(Finding::of(Level::Warning, source, what, hint))
}

/// Adds the functions of files that the script sources. Returns whether the library is one of them; none
/// where it isn't known what is sourced.
fn add_sourced(source: &Source, calls: &Calls, functions: &mut BTreeSet<String>) -> Option<bool> {
    let mut sources_library = false;
    let mut left: Vec<String> = calls.sourced.clone();
    let mut seen = BTreeSet::new();
    while let Some(file) = left.pop() {
        let name = file.trim_matches(['"', '\'']).rsplit('/').next()?.to_owned();
        if FILES.contains(&name.as_str()) {
            sources_library |= name == "provost.sh";
        } else if seen.insert(name.clone()) {
            // One that lies beside the script.
            let text = std::fs::read_to_string(source.path.with_file_name(name)).ok()?;
            let more = Calls::of(&text);
            functions.extend(more.functions);
            left.extend(more.sourced);
        }
    }
    Some(sources_library)
}

/// The scripts' folder, which is on PATH.
fn root(source: &Source) -> Option<&Path> {
    let depth = Path::new(&source.entry.path).components().count();
    source.path.ancestors().nth(depth)
}

/// The function that is called nearly so.
fn near(name: &str) -> Option<&'static str> {
    let most = if name.len() < 2 * SHORTEST { 1 } else { 2 };
    let all = LIBRARY.iter().filter(|known| known.len().min(name.len()) >= SHORTEST);
    let near = all.map(|known| (strsim::damerau_levenshtein(name, known), known.as_str()));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, known)| known)
}
