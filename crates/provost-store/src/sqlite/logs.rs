use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use provost_fs::Durability;
use tokio::task::spawn_blocking;

use super::error::failed;
use crate::{Answer, StoreError, UploadedLog};

/// How the files' names end. Names without it are of writes that a crash has interrupted.
const ENDING: &str = ".log";

/// Uploaded logs: `NODE/RUN/NN-SCRIPT.log`.
pub(super) struct Logs {
    root: PathBuf,
}

impl Logs {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn put<'a>(
        &'a self,
        node: &'a str,
        log: UploadedLog,
        bytes: Vec<u8>,
    ) -> Answer<'a, ()> {
        Box::pin(async move {
            let path = self.path(node, &log)?;
            self.blocking("writing", path, move |path| write(path, &bytes)).await
        })
    }

    pub(super) fn get<'a>(
        &'a self,
        node: &'a str,
        log: &'a UploadedLog,
    ) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let path = self.path(node, log)?;
            self.blocking("reading", path, |path| found(fs::read(path))).await
        })
    }

    pub(super) fn list<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>> {
        Box::pin(async move {
            let folder = self.root.join(element(&self.root, node)?);
            self.blocking("reading", folder, list).await
        })
    }

    fn path(&self, node: &str, log: &UploadedLog) -> Result<PathBuf, StoreError> {
        let run = self.root.join(element(&self.root, node)?).join(element(&self.root, &log.run)?);
        Ok(run.join(element(&self.root, &format!("{}{ENDING}", log.name))?))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        doing: &'static str,
        path: PathBuf,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let task = spawn_blocking(move || work(&path).map_err(|e| failed(doing, &path, e)));
        task.await.map_err(|e| failed(doing, &self.root, e))?
    }
}

/// Accepts `name` only if it is one element of a path.
fn element<'a>(root: &Path, name: &'a str) -> Result<&'a str, StoreError> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(only)), None) if only == name => Ok(name),
        _ => Err(failed("filing a log in", root, format!("{name:?} isn't a file name"))),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    provost_fs::create_folder_of(path)?;
    provost_fs::replace(path, bytes, Durability::PowerCut)?;
    // The folders of the run and of the node may be new.
    path.ancestors().skip(2).take(2).try_for_each(provost_fs::sync_folder)
}

fn list(node: &Path) -> io::Result<Vec<UploadedLog>> {
    let mut logs = Vec::new();
    for run in found(fs::read_dir(node))?.into_iter().flatten() {
        let run = run?;
        for log in fs::read_dir(run.path())? {
            let name = log?.file_name();
            if let (Some(run), Some(name)) =
                (run.file_name().to_str(), name.to_str().and_then(|n| n.strip_suffix(ENDING)))
            {
                logs.push(UploadedLog { run: run.to_owned(), name: name.to_owned() });
            }
        }
    }
    logs.sort();
    Ok(logs)
}

fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(it) => Ok(Some(it)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
