//! `xcatinfo`, in which a node of xCAT's keeps what it is and where its management node is.
//! Scripts and other programs look into it, and so does our own discovery.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_plan::Plan;
use provost_record::Service;
use reqwest::Url;

use crate::settings::Xcat;

/// The file in xCAT's folder.
const FILE: &str = "xcatinfo";

/// By this xCAT's boot unit knows that a first boot is past. Where nothing is to run at later ones
/// it then tells by itself that the node has booted: whatever cuts a first boot off, this isn't to
/// stand there before its end.
pub const FIRST_BOOT_IS_PAST: (&str, Option<&str>) = ("REBOOT", Some("TRUE"));

/// What is to stand in it: a key with its value, or with none where it isn't to stand there.
type Facts<'a> = [(&'a str, Option<&'a str>)];

/// What is known when a run's scripts begin.
pub struct Info<'a> {
    pub xcat: &'a Xcat,
    pub plan: &'a Plan,
    /// Where the plan comes from.
    pub server: &'a Url,
    pub service: Service,
    /// Whether a kickstart made this root.
    pub installed: bool,
    /// Whether it has booted since, and all of that ended well.
    pub booted: bool,
    /// Whether this server is to be the node's from now on, though nothing is deployed.
    pub moved: bool,
}

impl Info<'_> {
    /// Notes in `folder` what xCAT's own scripts do, as far as they do it in such a run.
    pub fn note(&self, folder: &Path) -> io::Result<()> {
        let get = |name: &str| {
            self.plan.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
        };
        let (service, is_update) = (self.service, self.service == Service::Run);
        let master = get("MASTER_IP").or(get("MASTER")).filter(|_| !self.moved);
        let master = master.or(self.server.host_str());
        let port = self.server.port_or_known_default().unwrap_or_default().to_string();
        let install_dir = format!("/{}", self.xcat.install_dir);
        let mut facts = vec![("NODE", Some(self.plan.node.as_str()))];
        if !is_update || self.moved {
            facts.extend([("XCATSERVER", master), ("HTTPPORT", Some(&port))]);
            facts.push(("INSTALLDIR", Some(&install_dir)));
        }
        if service != Service::Kickstart {
            let flow = if get("USEFLOWCONTROL").is_some_and(is_yes) { "YES" } else { "NO" };
            facts.extend([("SERVICEGROUP", get("SERVICEGROUP")), ("USEFLOWCONTROL", Some(flow))]);
        }
        if service == Service::Kickstart {
            facts.push((FIRST_BOOT_IS_PAST.0, None));
        }
        if service == Service::Boot && self.installed {
            let (key, yes) = FIRST_BOOT_IS_PAST;
            facts.push((key, yes.filter(|_| self.booted)));
            let known =
                [("IMAGENAME", get("PROVMETHOD")), ("RUNBOOTSCRIPTS", get("RUNBOOTSCRIPTS"))];
            facts.extend(known.into_iter().filter(|(_, value)| value.is_some()));
        }
        update(&folder.join(FILE), &facts)
    }
}

/// Notes one fact in `folder`, or with none that it isn't so.
pub fn note(folder: &Path, fact: (&str, Option<&str>)) -> io::Result<()> {
    update(&folder.join(FILE), &[fact])
}

fn is_yes(value: &str) -> bool {
    ["1", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// Brings the file at `path` up to date. What else stands there stays; after a power cut it is
/// either the old one or the new one.
fn update(path: &Path, facts: &Facts<'_>) -> io::Result<()> {
    let old = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e),
    };
    let new = updated(&old, facts);
    if new == old {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(new.as_bytes())?;
    // Not at its making, where the umask would have its say: others than root read it, too.
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    std::fs::File::open(folder)?.sync_all()
}

/// Each fact in the place of the first line that was about it, or at the end.
fn updated(old: &str, facts: &Facts<'_>) -> String {
    let about = |line: &str| {
        let key = line.trim_start().split('=').next().unwrap_or_default();
        facts.iter().position(|(name, _)| *name == key)
    };
    let line = |at: usize| facts[at].1.and_then(|value| line(facts[at].0, value));
    let mut told = vec![false; facts.len()];
    let mut lines: Vec<String> = Vec::new();
    for text in old.lines() {
        match about(text) {
            None => lines.push(text.to_owned()),
            Some(at) if !std::mem::replace(&mut told[at], true) => lines.extend(line(at)),
            Some(_) => {}
        }
    }
    lines.extend((0..facts.len()).filter(|at| !told[*at]).filter_map(line));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The file is sourced by shells and cut at its first `=` by others: quotes only where they must
/// be, and nothing that quotes don't hold.
fn line(key: &str, value: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-:/,[]@%+".contains(c);
    match value {
        _ if value.chars().all(is_plain) => Some(format!("{key}={value}")),
        _ if value.contains(['\'', '\n', '\r', '\0']) => None,
        _ => Some(format!("{key}='{value}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_replaced_and_the_rest_stays() {
        let old = "IMAGEUUID='1-2'\nXCATSERVER=10.0.0.9\n# mine\nNODE='cn001'\nXCATSERVER=x\n\
                   SERVICEGROUP=sn1\nNODENAME=a";
        let facts = [
            ("XCATSERVER", Some("10.0.0.1")),
            ("NODE", Some("cn002")),
            ("SERVICEGROUP", None),
            ("IMAGENAME", Some("rocky 9")),
            ("INSTALLDIR", Some("/install")),
            ("RUNBOOTSCRIPTS", Some("a'b\nNODE=x")),
        ];
        let new = updated(old, &facts);
        assert_eq!(
            new,
            "IMAGEUUID='1-2'\nXCATSERVER=10.0.0.1\n# mine\nNODE=cn002\nNODENAME=a\n\
             IMAGENAME='rocky 9'\nINSTALLDIR=/install\n"
        );
        assert_eq!(updated(&new, &facts), new);
    }

    #[test]
    fn the_file_is_for_all_to_read_and_what_is_no_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("xcat/xcatinfo");
        update(&path, &[("NODE", Some("cn001"))]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "NODE=cn001\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        update(folder.path(), &[]).unwrap_err();
    }
}
