//! How an `updatenode` comes here. It copies the management node's own xcatdsklspost to the node,
//! as `/tmp/NAME.dsh`, and runs the copy, which sources `/xcatpost/xcatlib.sh` before all else: a
//! line there hands over to what is installed in the place of xcatdsklspost. Where no library is yet,
//! the line is all of it.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use provost_node::install::put;

/// How that line ends.
const MARK: &str = "# Put here by provost install --xcat.\n";
/// The same, where the folder is ours as well.
const MARK_WITH_FOLDER: &str = "# Put here by provost install --xcat, with its folder.\n";
const LIBRARY: &str = "xcatlib.sh";

/// Puts the line into the library in `folder`: while `program` is there, a script with the name and
/// arguments of that copy becomes `wrapper`.
pub(crate) fn put_line(folder: &Path, program: &str, wrapper: &str) -> io::Result<()> {
    let line = format!(
        "case ${{0##*/}}:${{1-}}:${{2-}} in *.dsh:[125]:-[mM]) if [ -x {program} ] && [ -x {wrapper} ]; \
         then exec {wrapper} \"$@\"; fi ;; esac "
    );
    let path = folder.join(LIBRARY);
    if path.symlink_metadata().is_err() {
        // The first run makes the rest; until then an updatenode finds this.
        let mark = if folder.exists() { MARK } else { MARK_WITH_FOLDER };
        return put(&path, format!("{line}{mark}").as_bytes(), 0o755);
    }
    let line = format!("{line}{MARK}");
    change(folder, |text| {
        // A library may have a shebang all the same, which has to stay the first line.
        let at = match text.starts_with("#!") {
            true => text.find('\n').map_or(text.len(), |end| end + 1),
            false => 0,
        };
        format!("{}{line}{}", &text[..at], &text[at..])
    })
}

/// Takes it out again.
pub(crate) fn take_line(folder: &Path) -> io::Result<()> {
    let path = folder.join(LIBRARY);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    if text.is_empty() || !without_line(&text).is_empty() {
        return change(folder, str::to_owned);
    }
    std::fs::remove_file(&path)?;
    if text.ends_with(MARK_WITH_FOLDER) {
        // With anything else in it, it stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// Whether an `updatenode` comes to `wrapper` by the library in `folder`.
pub(crate) fn has_line(folder: &Path, wrapper: &str) -> bool {
    let text = std::fs::read_to_string(folder.join(LIBRARY)).unwrap_or_default();
    let execs = format!("exec {wrapper} ");
    text.split_inclusive('\n').any(|line| is_ours(line) && line.contains(&execs))
}

/// A library's text as it was before.
pub(crate) fn without_line(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !is_ours(line)).collect()
}

fn is_ours(line: &str) -> bool {
    line.ends_with(MARK) || line.ends_with(MARK_WITH_FOLDER)
}

/// Replaces the library by what `with` makes of it without the line.
fn change(folder: &Path, with: impl Fn(&str) -> String) -> io::Result<()> {
    let path: PathBuf = folder.join(LIBRARY);
    // A link is our own library, which no updatenode has.
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if !meta.is_file() {
        return Ok(());
    }
    let Ok(old) = std::fs::read_to_string(&path) else { return Ok(()) };
    let new = with(&without_line(&old));
    if new == old { Ok(()) } else { put(&path, new.as_bytes(), meta.permissions().mode() & 0o7777) }
}
