//! A bundle of what the management node has of a node that can't be asked.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use provost_record::{Record, Service};
use serde::Deserialize;
use serde_json::value::RawValue;
use tar::{Builder, Header};
use tempfile::NamedTempFile;

use crate::client::{Client, Shown};
use crate::failure::Failure;

/// What provostd says of a node, as it came from there.
#[derive(Deserialize)]
struct Known {
    node: Box<RawValue>,
    /// The newest first.
    runs: Vec<KnownRun>,
}

#[derive(Deserialize)]
struct KnownRun {
    records: Vec<Box<RawValue>>,
}

/// Writes it, and returns where.
pub(super) async fn write(
    client: &Client,
    node: &str,
    why: &str,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let known: Known = client.node(node).await?;
    let shown: Shown = client.node(node).await?;
    let mut files = BTreeMap::new();
    files.insert("from-provostd.txt".to_owned(), format!("{node} itself sent nothing: {why}\n"));
    files.insert("node.json".to_owned(), format!("{}\n", known.node));
    for (service, records) in services(&known) {
        let text = format!("[\n{}\n]\n", records.join(",\n"));
        files.insert(format!("bootstrap/services/{service}.json"), text);
    }
    for run in shown.runs() {
        for name in run.stages.iter().filter_map(|stage| stage.log.as_deref()) {
            let bytes = client.log(&run.run, name).await?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            files.insert(format!("log/scripts/{}/{name}.log", run.run), text);
        }
    }
    pack(&files, node, folder).map_err(|e| {
        let error = format!("writing a bundle into {}: {e}", folder.display());
        Failure::new(error, "name a folder with room that you can write to by --to")
    })
}

/// The records of each service, the oldest run's first.
fn services(known: &Known) -> BTreeMap<String, Vec<&str>> {
    let mut services = BTreeMap::<String, Vec<&str>>::new();
    for json in known.runs.iter().rev().flat_map(|run| &run.records) {
        let record = serde_json::from_str::<Record>(json.get());
        let service = record.map(|record| record.service).unwrap_or_default();
        // It becomes a part of a path.
        if Service::ALL.iter().any(|known| known.as_str() == service) {
            services.entry(service).or_default().push(json.get());
        }
    }
    services
}

fn pack(files: &BTreeMap<String, String>, node: &str, folder: &Path) -> io::Result<PathBuf> {
    let now = Timestamp::now();
    let id = format!("log-bundle-{node}-{}", now.strftime("%Y%m%d%H%M%S%3f"));
    let gz = GzEncoder::new(NamedTempFile::new_in(folder)?, Compression::default());
    let mut tar = Builder::new(gz);
    for (name, text) in files {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(now.as_second().try_into().unwrap_or(0));
        tar.append_data(&mut header, format!("{id}/{name}"), text.as_bytes())?;
    }
    super::place(tar.into_inner()?.finish()?, folder, node, &format!("{id}.tar.gz"))
}
