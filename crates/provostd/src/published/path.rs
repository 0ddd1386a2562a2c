//! Which files are published, by their paths, and how long caches may keep them.

use std::io;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use provost_api::nodes::{NAMED_MANIFEST, OBJECT, PACK, PLAN};
use provost_api::{headers, published};
use tokio::task::{JoinError, spawn_blocking};

use super::file::{FileRequest, IMMUTABLE, read_small};
use super::signature;
use crate::listener::refusal::Refusal;

/// For caches: what a publish replaces. A node behind a cache that has an older manifest finds the
/// present one by the generation that comes with its plan (see [`add_newest`](super::add_newest)), so that only what a
/// cache may be late with counts: a storm of nodes costs a request in half a minute.
const SHORT: &str = "max-age=30, stale-while-revalidate=30";
/// For caches: what is one node's.
const PRIVATE: &str = "private, no-cache";
/// For caches: what is one node's, and secret.
const SECRET: &str = "no-store";
/// Length of a SHA-256 in hexadecimal digits.
const DIGEST: usize = 64;

/// One of the files that `provostctl publish` writes. Only paths of a known shape are accepted, so no
/// request can name another file.
pub(crate) enum PublishedFile {
    Manifest(String),
    /// A channel's.
    ManifestOf(String),
    Object(String),
    Pack(String),
    /// The newest pack, without its digest.
    NewestPack,
    Plan(String),
    /// A plan's secrets.
    Secrets(String),
}

/// A plan, or its signature.
pub(crate) struct PlanOf<'n> {
    /// The node that may read it.
    pub(crate) node: &'n str,
    pub(crate) is_signature: bool,
    pub(crate) plan: PublishedFile,
}

impl PublishedFile {
    /// `manifests/25.toml` or its signature.
    pub(crate) fn manifest(name: &str) -> Option<Self> {
        let number = name.strip_suffix(".minisig").unwrap_or(name).strip_suffix(".toml")?;
        let is_number =
            (1..=20).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| Self::ManifestOf(NAMED_MANIFEST.path(&[name])))
    }

    /// `objects/ab/abcdef…`
    pub(crate) fn object(folder: &str, name: &str) -> Option<Self> {
        let right = is_digest(name) && name.starts_with(folder) && folder.len() == 2;
        right.then(|| Self::Object(OBJECT.path(&[folder, name])))
    }

    /// `packs/abcdef….tar.zst` or `packs/newest.tar.zst`
    pub(crate) fn pack(name: &str) -> Option<Self> {
        let path = PACK.path(&[name]);
        if path == published::NEWEST_PACK {
            return Some(Self::NewestPack);
        }
        is_digest(name.strip_suffix(".tar.zst")?).then_some(Self::Pack(path))
    }

    /// `plans/NODE.toml` or its signature.
    pub(crate) fn plan(name: &str) -> Option<PlanOf<'_>> {
        let signed = name.strip_suffix(".minisig");
        let node = signed.unwrap_or(name).strip_suffix(".toml")?;
        let plan = Self::Plan(PLAN.path(&[name]));
        let is_signature = signed.is_some();
        provost_plan::is_node_name(node).then_some(PlanOf { node, is_signature, plan })
    }

    /// `secrets/NODE.toml`, and the node.
    pub(crate) fn secrets(name: &str) -> Option<(&str, Self)> {
        let node = name.strip_suffix(".toml").filter(|node| provost_plan::is_node_name(node))?;
        Some((node, Self::Secrets(published::secrets(node))))
    }

    fn path(&self) -> &str {
        match self {
            Self::Manifest(path) => path,
            Self::NewestPack => published::NEWEST_PACK,
            Self::ManifestOf(path)
            | Self::Object(path)
            | Self::Pack(path)
            | Self::Plan(path)
            | Self::Secrets(path) => path,
        }
    }

    /// Objects and packs are named after their content, which never changes: their name is their
    /// tag, on every server.
    fn tag(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("\"{}\"", self.digest()?)).ok()
    }

    /// The digest that is their name.
    pub(crate) fn digest(&self) -> Option<&str> {
        let name = self.path().rsplit('/').next()?;
        match self {
            Self::Object(_) | Self::Pack(_) => name.split('.').next(),
            Self::Manifest(_)
            | Self::ManifestOf(_)
            | Self::NewestPack
            | Self::Plan(_)
            | Self::Secrets(_) => None,
        }
    }

    /// How long a cache may keep what has no tag of its own.
    fn lifetime(&self) -> &'static str {
        match self {
            Self::Plan(_) => PRIVATE,
            Self::Secrets(_) => SECRET,
            _ => SHORT,
        }
    }

    /// Serves the file from the published folder `www`, with ranges and a strong tag; a signed one with its
    /// signature.
    pub(crate) async fn serve(&self, www: &Path, request: Request<Body>) -> Response {
        let path = www.join(self.path());
        let (file, is_signed) = (path.clone(), self.is_signed());
        // Both in one turn of a thread, which costs more than a read.
        let read = spawn_blocking(move || {
            let small = read_small(&file)?;
            Ok((small, if is_signed { signature::read(&file) } else { None }))
        });
        let (small, signature) = match read.await.map_err(io::Error::other).flatten() {
            Ok(read) => read,
            Err(error) => return self.refuse(path, error).into_response(),
        };
        let asked = FileRequest::of(&request);
        let (tag, cache) = match self.tag() {
            Some(tag) => (Some(tag), IMMUTABLE),
            None => (None, self.lifetime()),
        };
        let response = match (small, tag) {
            (Some(small), tag) if asked.is_plain() => Ok(asked.whole(small, tag, self.path())),
            (_, Some(tag)) => asked.tagged(&path, tag).await,
            (_, None) => asked.replaceable(&path).await,
        };
        let Ok(mut response) = response else {
            // It was there when it was opened: a publish has replaced the folder.
            return absent(self.path()).into_response();
        };
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        if let Some(signature) = signature
            && response.status() == StatusCode::OK
        {
            response.headers_mut().insert(headers::FILE_SIGNATURE, signature);
        }
        response
    }

    /// Whether it is a text that has a signature.
    fn is_signed(&self) -> bool {
        let may_be = matches!(self, Self::Manifest(_) | Self::ManifestOf(_) | Self::Plan(_));
        may_be && self.path().ends_with(".toml")
    }

    fn refuse(&self, path: PathBuf, error: io::Error) -> Refusal {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => absent(self.path()),
            _ if was_cancelled(&error) => Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "provostd is stopping".to_owned(),
                "wait: the node asks again, and gets its answer once provostd runs again",
            ),
            // It passes, as a connection ends.
            _ if is_short_of_files(&error) => Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("reading {} on the management node: {error}", path.display()),
                "raise LimitNOFILE of provostd.service",
            ),
            _ => {
                let file = path.display();
                Refusal::new(
                    StatusCode::FORBIDDEN,
                    format!("reading {file} on the management node: {error}"),
                    format!(
                        "on the management node: let provostd's user read it and enter the \
                         folders above it: namei -l {file}; or publish again, plans with \
                         --group and a group of its user"
                    ),
                )
            }
        }
    }
}

/// Whether the read never took place, because this daemon ends. To a node that is no refusal: the next one answers.
fn was_cancelled(error: &io::Error) -> bool {
    let join = error.get_ref().and_then(|error| error.downcast_ref::<JoinError>());
    join.is_some_and(JoinError::is_cancelled)
}

/// Whether this process, or the machine, has no file descriptor left.
fn is_short_of_files(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(number, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

fn absent(path: &str) -> Refusal {
    let hint = if published::is_private(path) {
        "on the management node: name this node in site.toml, then provostctl publish, to the \
         folder that provostd.toml calls www"
    } else {
        "on the management node: provostctl publish, to the folder that provostd.toml calls www"
    };
    Refusal::new(StatusCode::NOT_FOUND, format!("{path} is not published"), hint)
}

pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == DIGEST && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn a_read_that_the_end_of_the_daemon_prevents_is_no_refusal() {
        let read = tokio::spawn(pending::<()>());
        read.abort();
        let error = io::Error::other(read.await.unwrap_err());
        assert!(was_cancelled(&error), "{error}");
        assert!(!was_cancelled(&io::Error::other("no such disk")));
    }
}
