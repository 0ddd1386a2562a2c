//! What was used before, generations and keys, as far as the key's folder and the daemon know: the published
//! folder may be lost, or restored from a backup.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_api::admins::{GENERATIONS, Generations as Reported};
use provost_bundle::PublicKey;
use provost_publish::{Generations, Succession, Used};
use provost_steplog::terminal::escape_cell;
use serde::{Deserialize, Serialize};

use crate::address::{Address, Admin};
use crate::client::Client;
use crate::failure::Failure;
use crate::output;
use crate::publish::options::NamedTls;

/// How long to wait for the daemon. Without it, publishing works all the same.
const DAEMON: Duration = Duration::from_secs(3);

/// What stands before the file's content.
const HEAD: &str = "# What was published with this key, so that generations never go back.\n\
                    # provostctl publish writes it.\n";

/// The file beside the key, and what it says of each published folder.
pub(super) struct Ledger {
    path: PathBuf,
    folders: BTreeMap<String, Entry>,
}

/// What was published last to a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// How far it has counted.
    #[serde(flatten)]
    pub(super) generations: Generations,
    /// How nodes reach provostd by TLS: what `--tls` takes.
    pub(super) tls: Option<NamedTls>,
}

impl Ledger {
    /// Reads the file beside `key`; a key that was never used has none.
    pub(super) fn beside(key: &Path) -> Result<Self, Failure> {
        let path = key.with_extension("published.toml");
        let failed = |what: String| {
            let hint = format!(
                "repair {0}, or remove it and publish with --generation-above N, where N is the \
                 newest generation that a node has seen",
                path.display()
            );
            Failure::new(format!("reading {}: {what}", path.display()), hint)
        };
        let folders = match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|e| failed(e.message().to_owned()))?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(e) => return Err(failed(e.to_string())),
        };
        Ok(Self { path, folders })
    }

    /// What was published last to `www`; where that isn't known, the furthest of all folders, because nodes
    /// trust the key, whichever folder its files are in.
    pub(super) fn of(&self, www: &Path) -> Entry {
        if let Some(known) = self.folders.get(&*www.to_string_lossy()) {
            return known.clone();
        }
        let all = self.folders.values().map(|entry| entry.generations);
        let generations = all.fold(Generations::default(), Generations::or_further);
        let newest = self.folders.values().max_by_key(|entry| entry.generations.bundle);
        Entry { generations, tls: newest.and_then(|entry| entry.tls.clone()) }
    }

    /// Notes what is published to `www` now. A key on a medium that can't be written is no error.
    pub(super) fn note(mut self, www: &Path, entry: Entry) {
        let last = self.folders.insert(www.to_string_lossy().into_owned(), entry.clone());
        if last == Some(entry) {
            return;
        }
        let write = || -> io::Result<()> {
            let text = toml::to_string(&self.folders).map_err(io::Error::other)?;
            let text = format!("{HEAD}{text}");
            provost_fs::replace(&self.path, text.as_bytes(), provost_fs::Durability::PowerCut)
        };
        if let Err(e) = write() {
            output::note(&format!(
                "warning: writing {}: {e}; generations start again if {} is lost\n  hint: let this \
                 user write to the key's folder",
                self.path.display(),
                www.display(),
            ));
        }
    }
}

/// All that is known of generations that were used for `www`, above which none is below `above`.
pub(super) fn used(ledger: &Ledger, www: &Path, reported: Option<&Reported>, above: u64) -> Used {
    let (bundle, plans) =
        reported.map_or_else(Default::default, |known| (known.bundle, known.plans.clone()));
    let bundles = reported.map(|known| known.bundles.clone()).unwrap_or_default();
    Used { published: ledger.of(www).generations, bundle, plans, bundles, above }
}

/// What nodes have reported that concerns what `key` signs for `www`, as the daemon says; or why it can't be asked.
pub(super) fn reported(
    admin: &Admin,
    www: &Path,
    key: &PublicKey,
) -> Result<Option<Reported>, String> {
    let reported = ask(admin)?;
    Ok(match place(&reported.www) == www {
        true => Some(reported),
        // What nodes that trust the key would refuse, they refuse from whichever folder it comes. The daemon
        // refreshes its own alone.
        false if concerns(&reported, key) => Some(Reported { refresh_key: None, ..reported }),
        // It serves another site's folder.
        false => None,
    })
}

/// Says that the daemon can't be asked.
pub(super) fn note_not_asked(why: &str) {
    output::note(&format!(
        "note: provostd wasn't asked what nodes have seen, and which keys they trust: {}",
        escape_cell(why)
    ));
}

/// Whether nodes of the daemon trust the `key`, or have trusted it.
fn concerns(reported: &Reported, key: &PublicKey) -> bool {
    let text = reported.succession.as_deref().unwrap_or_default();
    let known = Succession::parse(text).unwrap_or_default();
    let id = key.id();
    known.revoked().contains(key.line())
        || known.has_replaced(key)
        || known.last_key() == Some(key)
        || reported.keys.values().flatten().any(|trusted| *trusted == id)
}

/// What the daemon says, or why it can't be asked.
pub(crate) fn ask(admin: &Admin) -> Result<Reported, String> {
    if let Address::Unix(path) = &admin.at
        && !path.exists()
    {
        return Err(format!("there is no {}", path.display()));
    }
    let client = Client::new(admin).map_err(|failure| failure.error)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let asked = async { tokio::time::timeout(DAEMON, client.get(GENERATIONS)).await };
    let answer = runtime.map_err(|e| e.to_string())?.block_on(asked);
    answer.map_err(|_| "no answer in time".to_owned())?.map_err(|failure| failure.error)
}

/// The folder without links, also where it is lost.
pub(crate) fn place(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    for parent in absolute.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(parent), absolute.strip_prefix(parent))
        {
            return real.join(rest).components().collect();
        }
    }
    absolute
}

/// Says that the published folder is older than what is known.
pub(super) fn note_if_older(www: &Path, found: Generations, used: &Used) {
    let newest = used.published.bundle.max(used.bundle);
    if found.bundle < newest {
        let has = match found.bundle {
            0 => "no generation".to_owned(),
            generation => format!("generation {generation}"),
        };
        output::note(&format!(
            "note: {} has {has}, and {newest} was published before: going on above it",
            www.display(),
        ));
    } else if found.sum_of_plans < used.published.sum_of_plans {
        output::note(&format!(
            "note: {} has older plans than those that were published last: going on above them",
            www.display()
        ));
    }
}
