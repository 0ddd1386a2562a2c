//! `xcatinfo`, in which an xCAT node keeps what it is and where its management node is. Scripts and
//! other programs read it, and so does our own discovery.

use std::io::{self, ErrorKind};
use std::path::Path;

use provost_fs::Durability;
use provost_node::settings::Xcat;
use provost_node::state::root::Root;
use provost_plan::Plan;
use provost_record::Service;
use reqwest::Url;

/// The file in xCAT's folder.
const FILE: &str = "xcatinfo";

/// A key and its value; the key is removed where there is none.
type Fact<'a> = (&'a str, Option<&'a str>);

/// By this xCAT's boot unit knows that a first boot is done. Where nothing is to run at later boots,
/// the unit then reports by itself that the node has booted. So it must not be there before the end
/// of a first boot, whatever interrupts that.
pub(super) const FIRST_BOOT_DONE: Fact<'_> = ("REBOOT", Some("TRUE"));

/// What is known when a run's scripts begin.
pub(super) struct RunFacts<'a> {
    pub(super) xcat: &'a Xcat,
    pub(super) plan: &'a Plan,
    /// Where the plan comes from.
    pub(super) server: &'a Url,
    pub(super) service: Service,
    pub(super) root: Root,
    /// Whether this server is to be the node's from now on, though nothing is deployed.
    pub(super) is_moved: bool,
}

impl RunFacts<'_> {
    /// Notes in `folder` what xCAT's own scripts note in such a run.
    pub(super) fn note(&self, folder: &Path) -> io::Result<()> {
        let get = |name: &str| {
            self.plan.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
        };
        let (service, is_update) = (self.service, self.service == Service::Run);
        let master = get("MASTER_IP").or(get("MASTER")).filter(|_| !self.is_moved);
        let master = master.or(self.server.host_str());
        let port = self.server.port_or_known_default().unwrap_or_default().to_string();
        let install_dir = format!("/{}", self.xcat.install_dir);
        let mut facts = vec![("NODE", Some(self.plan.node.as_str()))];
        if !is_update || self.is_moved {
            facts.extend([("XCATSERVER", master), ("HTTPPORT", Some(&port))]);
            facts.push(("INSTALLDIR", Some(&install_dir)));
        }
        if service == Service::Kickstart {
            facts.push((FIRST_BOOT_DONE.0, None));
        } else {
            let flow = if get("USEFLOWCONTROL").is_some_and(is_yes) { "YES" } else { "NO" };
            facts.extend([("SERVICEGROUP", get("SERVICEGROUP")), ("USEFLOWCONTROL", Some(flow))]);
        }
        if service == Service::Boot && self.root != Root::Other {
            let (key, done) = FIRST_BOOT_DONE;
            facts.push((key, done.filter(|_| self.root == Root::Booted)));
            let known =
                [("IMAGENAME", get("PROVMETHOD")), ("RUNBOOTSCRIPTS", get("RUNBOOTSCRIPTS"))];
            facts.extend(known.into_iter().filter(|(_, value)| value.is_some()));
        }
        update(&folder.join(FILE), &facts)
    }
}

/// Notes one fact in `folder`.
pub(super) fn note(folder: &Path, fact: Fact<'_>) -> io::Result<()> {
    update(&folder.join(FILE), &[fact])
}

fn is_yes(value: &str) -> bool {
    ["1", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// The most bytes of it.
const MOST: u64 = 1 << 20;

/// Updates the file at `path`; its other lines stay.
fn update(path: &Path, facts: &[Fact<'_>]) -> io::Result<()> {
    let old = match provost_fs::read_given(path, MOST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e),
    };
    let new = updated(&old, facts);
    if new == old {
        return Ok(());
    }
    provost_fs::create_folder_of(path)?;
    // Others than root read it, too.
    provost_fs::replace_with_mode(path, new.as_bytes(), 0o644, Durability::PowerCut)
}

/// The text with each fact in place of the first line about its key, or at the end.
fn updated(old: &str, facts: &[Fact<'_>]) -> String {
    let about = |line: &str| {
        let key = line.trim_start().split('=').next().unwrap_or_default();
        facts.iter().position(|(name, _)| *name == key)
    };
    let line = |at: usize| facts[at].1.and_then(|value| line(facts[at].0, value));
    let mut written = vec![false; facts.len()];
    let mut lines: Vec<String> = Vec::new();
    for text in old.lines() {
        match about(text) {
            None => lines.push(text.to_owned()),
            Some(at) if !std::mem::replace(&mut written[at], true) => lines.extend(line(at)),
            Some(_) => {}
        }
    }
    lines.extend((0..facts.len()).filter(|at| !written[*at]).filter_map(line));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Shells source the file and others cut its lines at the first `=`: quotes are used only where they
/// are needed, and what quotes can't hold is left out.
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
    use std::os::unix::fs::PermissionsExt;

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
    fn all_may_read_the_file_and_a_folder_in_its_place_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("xcat/xcatinfo");
        update(&path, &[("NODE", Some("cn001"))]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "NODE=cn001\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        update(folder.path(), &[]).unwrap_err();
    }
}
