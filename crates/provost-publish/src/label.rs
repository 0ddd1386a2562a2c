//! The SELinux label of the published folder. Each publication is a new folder, made under another name, so that it has
//! its parent's label and not what the policy has for the published one, such as `/srv/provost/www`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, setxattr};

/// Where the kernel has it.
const LABEL: &str = "security.selinux";
/// More bytes than a label has.
const LONGEST: usize = 4096;
/// What is there while SELinux is on.
const SELINUX: &str = "/sys/fs/selinux/enforce";

/// Gives the folder `new` the label of `published`, which it will replace; what is made in it inherits that. Where the
/// label can't be had or set, it stays the parent's.
pub(crate) fn take_label(new: &Path, published: &Path) {
    let label = label(published)
        .or_else(|| Path::new(SELINUX).exists().then(|| label_by_policy(published)).flatten());
    if let Some(label) = label {
        let _ = setxattr(new, LABEL, &label, XattrFlags::empty());
    }
}

/// The label that the policy has for the name of the folder `published`, which isn't there: restorecon(8), which
/// each system with a policy has, finds it only for a folder.
fn label_by_policy(published: &Path) -> Option<Vec<u8>> {
    fs::create_dir(published).ok()?;
    let relabelled = Command::new("restorecon")
        .arg(published)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let label = relabelled.ok().and_then(|_| label(published));
    let _ = fs::remove_dir(published);
    label
}

fn label(path: &Path) -> Option<Vec<u8>> {
    let mut label = Vec::with_capacity(LONGEST);
    getxattr(path, LABEL, spare_capacity(&mut label)).ok()?;
    Some(label)
}
