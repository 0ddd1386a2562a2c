//! A bundle from the management node's store, for a node that sends none.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use provost_record::Record;
use provost_store::MAX_RUNS;
use serde::Deserialize;
use serde_json::value::RawValue;
use tar::{Builder, Header};

use super::bundle;
use crate::client::{Client, NodeHistory};
use crate::failure::Failure;

/// A node as provostd sends it, with the text of each record.
#[derive(Deserialize)]
struct RawHistory {
    node: Box<RawValue>,
    /// The newest first.
    runs: Vec<RawRun>,
}

#[derive(Deserialize)]
struct RawRun {
    records: Vec<Box<RawValue>>,
}

/// Writes the bundle. Returns its path.
pub(super) async fn write(
    client: &Client,
    node: &str,
    why: &str,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let raw: RawHistory = client.node(node, MAX_RUNS).await?;
    let history: NodeHistory = client.node(node, MAX_RUNS).await?;
    let mut files = BTreeMap::new();
    files.insert("from-provostd.txt".to_owned(), format!("{node} sent no bundle: {why}\n"));
    files.insert("node.json".to_owned(), format!("{}\n", raw.node));
    for (service, records) in services(&raw) {
        let text = format!("[\n{}\n]\n", records.join(",\n"));
        files.insert(format!("bootstrap/services/{service}.json"), text);
    }
    for run in history.runs() {
        for name in run.stages.iter().filter_map(|stage| stage.log.as_deref()) {
            let bytes = client.log(&run.run, name).await?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            files.insert(format!("log/scripts/{}/{name}.log", run.run), text);
        }
    }
    pack(&files, node, folder).map_err(|e| {
        let error = format!("writing a bundle into {}: {e}", folder.display());
        Failure::new(error, "name a writable folder with room: --to DIR")
    })
}

/// The records of each service, the oldest run's first.
fn services(raw: &RawHistory) -> BTreeMap<String, Vec<&str>> {
    let mut services = BTreeMap::<String, Vec<&str>>::new();
    for json in raw.runs.iter().rev().flat_map(|run| &run.records) {
        let record = serde_json::from_str::<Record>(json.get());
        let service = record.map(|record| record.service).unwrap_or_default();
        // The name becomes a part of a path, and a newer program may have services of its own.
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !service.is_empty() && service.len() <= 64 && service.bytes().all(is_name) {
            services.entry(service).or_default().push(json.get());
        }
    }
    services
}

fn pack(files: &BTreeMap<String, String>, node: &str, folder: &Path) -> io::Result<PathBuf> {
    let now = Timestamp::now();
    let id = format!("log-bundle-{node}-{}", now.strftime("%Y%m%d%H%M%S%3f"));
    let mut bundle = bundle::create(node, folder, &format!("{id}.tar.gz"))?;
    let gz = GzEncoder::new(bundle.as_file_mut(), Compression::default());
    let mut tar = Builder::new(gz);
    for (name, text) in files {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(now.as_second().try_into().unwrap_or(0));
        tar.append_data(&mut header, format!("{id}/{name}"), text.as_bytes())?;
    }
    tar.into_inner()?.finish()?;
    bundle::finish(bundle)
}
