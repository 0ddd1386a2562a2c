//! How an `updatenode` comes here. It copies the management node's own xcatdsklspost to the node,
//! as `/tmp/NAME.dsh`, and runs the copy, which sources `/xcatpost/xcatlib.sh` before all else: a
//! line there hands over to what is installed in the place of xcatdsklspost.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use provost_node::install::put;

/// How that line ends.
const MARK: &str = "# Put here by provost install --xcat.\n";

/// Puts the line into the library in `folder`, if there is one: while `program` is there, a script with
/// the name and arguments of that copy becomes `wrapper`.
pub(crate) fn put_line(folder: &Path, program: &str, wrapper: &str) -> io::Result<()> {
    let line = format!(
        "case ${{0##*/}}:${{1-}}:${{2-}} in *.dsh:[125]:-[mM]) if [ -x {program} ] && [ -x {wrapper} ]; \
         then exec {wrapper} \"$@\"; fi ;; esac {MARK}"
    );
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
    change(folder, str::to_owned)
}

/// A library's text as it was before.
pub(crate) fn without_line(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.ends_with(MARK)).collect()
}

/// Replaces the library by what `with` makes of it without the line.
fn change(folder: &Path, with: impl Fn(&str) -> String) -> io::Result<()> {
    let path: PathBuf = folder.join("xcatlib.sh");
    // A link is our own library, which no updatenode has.
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if !meta.is_file() {
        return Ok(());
    }
    let Ok(old) = std::fs::read_to_string(&path) else { return Ok(()) };
    let new = with(&without_line(&old));
    if new == old { Ok(()) } else { put(&path, new.as_bytes(), meta.permissions().mode() & 0o7777) }
}
