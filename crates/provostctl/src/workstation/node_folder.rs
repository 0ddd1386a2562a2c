//! A folder with all that a node has when it runs a script: scripts, plan, configuration.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_bundle::{Digest, Manifest, Pack};
use provost_plan::{Explained, Site};
use provost_publish::{Input, PublishError, SecretKey, Source, check_input};
use toml::{Table, Value};

use crate::failure::Failure;
use crate::publish::print_problems;
use crate::temporary::disk;

/// The variable that tells a script to work on the system in a folder.
pub(super) const ROOT: &str = "PROVOST_ROOT";

/// The files of the folder, checked as for publishing.
pub(super) fn sources(site: &Site, folder: &Path, name: &str) -> Result<Vec<Source>, Failure> {
    let script = folder.join(name);
    if let Err(e) = fs::metadata(&script) {
        let hint = "name the script's file, or the folder that has it: --scripts DIR";
        return Err(Failure::new(format!("reading {}: {e}", script.display()), hint));
    }
    // Those that other scripts need may be elsewhere.
    let overrides = site.overrides().iter().filter(|(script, _)| *script == name);
    let overrides = overrides.map(|(script, policy)| (script.clone(), policy.clone())).collect();
    let required = BTreeMap::from([(name.to_owned(), "the command line".to_owned())]);
    let (overrides, required, none) = (&overrides, &required, &BTreeMap::new());
    // Another script doesn't need the management node's files.
    let (scripts, is_whole) = (folder, name != "syncfiles");
    let input = Input { scripts, is_whole, overrides, required, plans: none, secrets: none };
    check_input(&input).map_err(|e| {
        let is_refused = matches!(e, PublishError::Refused(_));
        let failure = print_problems(e);
        let error = format!("trying {name}: what is in {} can't be published", folder.display());
        let hint = "fix what is named above; or name another folder: --scripts DIR";
        if is_refused { Failure::new(error, hint) } else { failure }
    })
}

/// The root as its script gets it.
pub(super) fn usable_root(root: &Path, script: Option<&Source>) -> Result<String, Failure> {
    let hint = "name the root folder of a system, such as an image's";
    let failed = |what: String| Failure::new(format!("using {}: {what}", root.display()), hint);
    let absolute = fs::canonicalize(root).map_err(|e| failed(e.to_string()))?;
    if !absolute.is_dir() {
        return Err(failed("it isn't a folder".to_owned()));
    }
    let text = script.map(Source::read).transpose().map_err(print_problems)?.unwrap_or_default();
    if absolute != Path::new("/") && !text.windows(ROOT.len()).any(|at| at == ROOT.as_bytes()) {
        let name = script.map_or(String::new(), |script| script.entry.path.clone());
        return Err(Failure::new(
            format!("{name} doesn't mention {ROOT}, so that it would change this machine"),
            "let it work below ${PROVOST_ROOT-}, as in docs/writing-postscripts.md; or leave out --root",
        ));
    }
    absolute.to_str().map(str::to_owned).ok_or_else(|| failed("its name isn't UTF-8".to_owned()))
}

/// The file with the plan's secrets, where it has some.
pub(super) const SECRETS: &str = "state/secrets.toml";

/// Writes the folder of a node that has fetched everything.
pub(super) fn fill(
    folder: &Path,
    mut explained: Explained<'_>,
    sources: &[Source],
) -> Result<(), Failure> {
    let state = folder.join("state");
    let bundle = state.join("bundle");
    for source in sources {
        let content = source.read().map_err(print_problems)?;
        let to = bundle.join(&source.entry.path);
        let put = || {
            fs::create_dir_all(to.parent().unwrap_or(&bundle))?;
            fs::write(&to, content)?;
            fs::set_permissions(&to, Permissions::from_mode(source.entry.mode.bits()))
        };
        put().map_err(|e| disk(&e))?;
    }
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
        files: sources.iter().map(|source| source.entry.clone()).collect(),
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
