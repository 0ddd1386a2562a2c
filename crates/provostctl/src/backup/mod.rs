//! `provostctl backup` and `provostctl restore`: a management node in one file.
//!
//! The file is a tar archive, compressed by zstd. In it are, in this order: what the store holds
//! (`store/*.jsonl`, one row a line), `backup.toml`, the daemon's folder (`data/`), what is published
//! (`www/`), and `SHA256SUMS`, without which it isn't whole.

mod archive;
mod folders;
mod layout;
mod owner;
mod renewals;
mod restore;
mod rows;
mod verify;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_bundle::Manifest;
use provost_fs::{Durability, NewFile};
use provost_publish::lock_published;
use provost_steplog::wording::error_chain;
use provost_store::location::Location;
use provost_store::transfer::{Counts, stream};
use serde::{Deserialize, Serialize};

use self::archive::Archive;
use self::layout::{FORMAT, HEAD, MANIFEST};
pub(crate) use self::restore::Restore;
use crate::failure::{Failure, WRONG};
use crate::output;
use crate::store::{counted, of_store, private};

/// `provostctl backup`.
#[derive(clap::Args)]
pub(crate) struct Backup {
    /// File to write; an existing one is replaced once the new one is complete
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    site: Site,
}

/// The daemon that it is about.
#[derive(clap::Args)]
pub(crate) struct Site {
    /// Configuration of provostd
    #[arg(long, value_name = "FILE", default_value = "/etc/provost/provostd.toml")]
    config: PathBuf,
}

impl Site {
    fn load(&self) -> Result<Location, Failure> {
        Location::load(&self.config).map_err(|e| Failure::of(&e, e.hint()).with_code(WRONG))
    }
}

/// What the file says of itself.
#[derive(Debug, Deserialize, Serialize)]
struct Head {
    format: u32,
    /// The version of the program that wrote it.
    version: String,
    created: Timestamp,
    host: String,
    /// The generation of what is published, if anything is.
    bundle: Option<u64>,
    /// The public key that has signed it.
    key: Option<String>,
}

impl Head {
    fn of(www: &Path) -> Self {
        let manifest = std::fs::read(www.join(MANIFEST)).ok();
        let manifest = manifest.and_then(|text| Manifest::parse(&text).ok());
        Self {
            format: FORMAT,
            version: provost_api::VERSION.to_owned(),
            created: provost_record::now(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            bundle: manifest.as_ref().map(|manifest| manifest.generation),
            key: manifest.map(|manifest| manifest.key),
        }
    }
}

impl Backup {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        private();
        let location = self.site.load()?;
        let path = self.to.clone();
        let failed = move |e: std::io::Error| {
            let hint =
                "run it as root; name a file in a folder that exists and has room: --to FILE";
            Failure::new(format!("writing {}: {}", path.display(), error_chain(&e)), hint)
        };
        let place = location.place();
        let (sender, parts) = stream();
        let to = self.to.clone();
        let write = tokio::task::spawn_blocking(move || write(&to, &location, parts));
        let (exported, written) = tokio::join!(place.export(sender), write);
        exported.map_err(of_store)?;
        let written = written.map_err(|e| failed(std::io::Error::other(e)))?;
        let (head, counts, bytes) = written.map_err(failed)?;
        self.show(&head, &counts, bytes)
    }

    fn show(&self, head: &Head, counts: &Counts, bytes: u64) -> Result<(), Failure> {
        let size = match bytes {
            ..0x10_0000 => format!("{} KiB", bytes.div_ceil(1024)),
            _ => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        };
        let published = match head.bundle {
            Some(bundle) => format!("generation {bundle}"),
            None => "nothing published".to_owned(),
        };
        let to = self.to.display();
        let line = format!("wrote {to} ({size}): {}, {published}\n", counted(counts));
        output::print(line.as_bytes())?;
        output::note(
            "note: it has secret keys of this server and the nodes' plans: keep it where only root may \
             read it",
        );
        if let Some(key) = &head.key {
            output::note(&format!(
                "note: the signing key isn't in it: keep provost.key, provost.published.toml and \
                 provost.succession of {key} elsewhere"
            ));
        }
        Ok(())
    }
}

type Parts = tokio::sync::mpsc::Receiver<provost_store::transfer::Part>;

/// Writes the file. The store comes before what is published, so that no node in it has seen newer
/// generations.
fn write(to: &Path, location: &Location, parts: Parts) -> std::io::Result<(Head, Counts, u64)> {
    let mut archive = Archive::new(NewFile::named(to)?)?;
    let counts = rows::write(parts, |name, bytes| archive.bytes(name, bytes))?;
    // No publication begins before all of the last one is read.
    let _lock = lock_published(&location.www)?;
    let head = Head::of(&location.www);
    let text = toml::to_string(&head).map_err(std::io::Error::other)?;
    archive.bytes(HEAD, text.as_bytes())?;
    folders::write_data(&mut archive, &location.data)?;
    if head.bundle.is_some() {
        folders::write_published(&mut archive, &location.www)?;
    }
    let mut file = archive.finish()?;
    let bytes = file.as_file_mut().metadata()?.len();
    file.replace(Durability::PowerCut)?;
    Ok((head, counts, bytes))
}
