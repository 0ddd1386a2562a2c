//! A folder with all that a node has when it runs a script: scripts, plan, configuration.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_bundle::{Digest, FileEntry, Manifest, Mode, Pack, Policy};
use provost_plan::{Explained, Site};
use provost_publish::{Input, PublishError, SecretKey, Source, check_input};
use toml::{Table, Value};

use super::bundle_files::{BundleFile, LeftOut};
use crate::failure::Failure;
use crate::publish::print_problems;
use crate::temporary::disk;

/// The variable that tells a script to work on the system in a folder.
pub(super) const ROOT: &str = "PROVOST_ROOT";

/// The script's text.
pub(super) fn text_of(script: &Path) -> Result<Vec<u8>, Failure> {
    provost_fs::read_given(script, Manifest::MAX_FILE).map_err(|e| {
        let hint = "name the script's file, or the folder that has it: --scripts DIR";
        Failure::new(format!("reading {}: {e}", script.display()), hint)
    })
}

/// The policy of the script `name`, of its header and the site. A compiled program has no header.
pub(super) fn policy(site: &Site, name: &str, text: &[u8]) -> Result<Policy, Failure> {
    let header = if text.contains(&0) { Ok(Policy::default()) } else { Policy::from_script(text) };
    let policy =
        header.map_err(|e| Failure::new(format!("{name}:{}: {}", e.line, e.what), e.hint()))?;
    Ok(match site.overrides().get(name) {
        Some(site) => policy.overridden_by(site),
        None => policy,
    })
}

/// The files of the folder of `syncfiles`, and those that its lists name, checked as for publishing.
pub(super) fn synced(folder: &Path, name: &str) -> Result<Vec<BundleFile>, Failure> {
    let required = BTreeMap::from([(name.to_owned(), "the command line".to_owned())]);
    let (required, overrides, none) = (&required, &BTreeMap::new(), &BTreeMap::new());
    let (scripts, is_whole) = (folder, false);
    let input = Input { scripts, is_whole, overrides, required, plans: none, secrets: none };
    let sources = check_input(&input).map_err(|e| {
        let is_refused = matches!(e, PublishError::Refused(_));
        let failure = print_problems(e);
        let error = format!("trying {name}: what is in {} can't be published", folder.display());
        let hint = "fix what is named above; or name another folder: --scripts DIR";
        if is_refused { Failure::new(error, hint) } else { failure }
    })?;
    let others = sources.into_iter().filter(|source| source.entry.path != name);
    let file = |Source { entry, path }: Source| BundleFile {
        is_program: entry.mode == Mode::Program,
        name: entry.path,
        path,
    };
    Ok(others.map(file).collect())
}

/// The root as its script gets it.
pub(super) fn usable_root(root: &Path, script: &str, text: &[u8]) -> Result<String, Failure> {
    let hint = "name the root folder of a system, such as an image's";
    let failed = |what: String| Failure::new(format!("using {}: {what}", root.display()), hint);
    let absolute = fs::canonicalize(root).map_err(|e| failed(e.to_string()))?;
    if !absolute.is_dir() {
        return Err(failed("it isn't a folder".to_owned()));
    }
    if absolute != Path::new("/") && !text.windows(ROOT.len()).any(|at| at == ROOT.as_bytes()) {
        return Err(Failure::new(
            format!("{script} doesn't mention {ROOT}, so that it would change this machine"),
            "let it work below ${PROVOST_ROOT-}, as in docs/writing-postscripts.md; or leave out --root",
        ));
    }
    absolute.to_str().map(str::to_owned).ok_or_else(|| failed("its name isn't UTF-8".to_owned()))
}

/// The file with the plan's secrets, where it has some.
pub(super) const SECRETS: &str = "state/secrets.toml";

/// What a node has of a bundle.
pub(super) struct Bundle {
    /// The script, which is run.
    pub(super) script: String,
    pub(super) text: Vec<u8>,
    pub(super) policy: Policy,
    /// What stands beside it.
    pub(super) others: Vec<BundleFile>,
    pub(super) left_out: LeftOut,
}

impl Bundle {
    /// Writes the files that can be read to `folder`. Returns their entries in a manifest.
    fn write(&mut self, folder: &Path) -> Result<Vec<FileEntry>, Failure> {
        let policy = self.policy.clone();
        let mut files = vec![put(folder, &self.script, Mode::Program, &self.text, policy)?];
        for file in &self.others {
            let Ok(text) = provost_fs::read_given(&file.path, Manifest::MAX_FILE) else {
                self.left_out.add(&*file.name);
                continue;
            };
            let mode = if file.is_program { Mode::Program } else { Mode::Data };
            files.push(put(folder, &file.name, mode, &text, Policy::default())?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }
}

/// Writes a file of the bundle.
fn put(
    folder: &Path,
    name: &str,
    mode: Mode,
    text: &[u8],
    policy: Policy,
) -> Result<FileEntry, Failure> {
    let to = folder.join(name);
    let write = || {
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::write(&to, text)?;
        fs::set_permissions(&to, Permissions::from_mode(mode.bits()))
    };
    write().map_err(|e| disk(&e))?;
    let (path, size, sha256) = (name.to_owned(), text.len() as u64, Digest::of(text));
    Ok(FileEntry { path, mode, size, sha256, policy })
}

/// Writes the folder of a node that has fetched everything.
pub(super) fn fill(
    folder: &Path,
    mut explained: Explained<'_>,
    mut bundle: Bundle,
) -> Result<(), Failure> {
    let files = bundle.write(&folder.join("state/bundle"))?;
    bundle.left_out.show(&bundle.script);
    // A manifest names a key. Nothing is signed with this one, and nobody trusts it.
    let key = SecretKey::new_pair(&folder.join("key")).map_err(|e| Failure::of(&e, e.hint()))?;
    let manifest = Manifest {
        format: Manifest::FORMAT,
        generation: 1,
        created: provost_record::now(),
        made: None,
        expires: None,
        key: key.public_line().to_owned(),
        key_link: None,
        plans_since: None,
        refresh_key: None,
        tls: None,
        revoked: Vec::new(),
        rehearsal: false,
        pack: Pack { sha256: Digest::of(b""), size: 0 },
        files,
    };
    let manifest = manifest.to_toml().map_err(|e| Failure::of(&e, e.hint()))?;
    // Nobody else reads the plan.
    let secrets = explained.seal("").map_err(|e| Failure::of(&e, e.hint()))?;
    let plan = explained.plan.body().map_err(|e| Failure::of(&e, e.hint()))?;
    let secrets = secrets.map(|secrets| (SECRETS, secrets));
    for (name, text) in secrets.into_iter().chain([
        ("state/manifest.toml", manifest),
        ("state/plan.toml", format!("generation = 1\n{plan}")),
        ("provost.toml", configuration(folder)),
    ]) {
        fs::write(folder.join(name), text).map_err(|e| disk(&e))?;
    }
    Ok(())
}

/// A node's configuration: everything is below `folder`, and nobody is told of anything.
fn configuration(folder: &Path) -> String {
    let names = ["state", "log", "etc", "xcatpost", "xcat", "xcat_log"];
    let paths = names.map(|name| (name, folder.join(name).display().to_string().into()));
    let off = || Value::from("off");
    let messages = [("syslog", off()), ("journal", off()), ("notices", false.into())];
    let section = |values: &[(&str, Value)]| {
        Value::Table(values.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect())
    };
    let all = Table::from_iter([
        ("source".to_owned(), section(&[("kind", "folder".into())])),
        ("trust".to_owned(), section(&[("unsigned", true.into())])),
        ("paths".to_owned(), section(&paths)),
        ("log".to_owned(), section(&messages)),
    ]);
    all.to_string()
}
