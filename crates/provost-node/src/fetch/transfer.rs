//! Content that is named by its digest: a file of the bundle, or the pack. When a transfer breaks
//! off, what has come stays, and the next one resumes there, from any server.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use provost_bundle::{Digest, Mismatch, Verifying};
use provost_record::Cause;
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode};

use super::bundles::Bundles;
use super::error::FetchError;
use super::server::{Server, broken};
use crate::failure::Failure;

/// Content that is to be fetched.
pub(crate) struct Content<'a> {
    /// Its name in errors.
    pub(crate) name: &'a str,
    /// Where it is under the published folder.
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) sha256: Digest,
}

/// What one request brought.
enum Received {
    /// All of it, verified.
    Whole(File),
    /// Something other than the manifest says.
    Mismatch {
        mismatch: Mismatch,
        /// Whether part of it may be from another request than the last one.
        is_mixed: bool,
    },
}

impl Content<'_> {
    /// Gets it whole and verified into a file of its own, which is open at its start. `newest` is
    /// the answer to a request for the newest pack, which may be the one that is to be fetched.
    pub(crate) async fn transfer(
        &self,
        source: &Server<'_>,
        bundles: &Bundles,
        mut newest: Option<Response>,
    ) -> Result<File, FetchError> {
        loop {
            match self.resume(source, bundles, newest.take()).await? {
                Received::Whole(mut file) => {
                    file.rewind().map_err(|e| {
                        FetchError::abort(bundles.disk("reading back what was fetched", e))
                    })?;
                    return Ok(file);
                }
                // Which part is wrong isn't known: fetch all of it again.
                Received::Mismatch { is_mixed: true, .. } => bundles.drop_part(&self.sha256)?,
                Received::Mismatch { mismatch, .. } => {
                    bundles.drop_part(&self.sha256)?;
                    let message = format!("{mismatch}, at {}", source.url(&self.path));
                    let failure = Failure::new(Cause::Verify, message, mismatch.hint());
                    return Err(FetchError::give_up(failure));
                }
            }
        }
    }

    /// Fetches by one request what isn't there yet.
    async fn resume(
        &self,
        source: &Server<'_>,
        bundles: &Bundles,
        newest: Option<Response>,
    ) -> Result<Received, FetchError> {
        let disk = |e| FetchError::abort(bundles.disk("writing what was fetched", e));
        let mut part = bundles.part(&self.sha256)?;
        let had = part.metadata().map_err(disk)?.len();
        let mut verifying = self.verifying(&part).map_err(disk)?;
        if let Err(mismatch) = verify_existing(&mut part, &mut verifying).map_err(disk)? {
            return Ok(Received::Mismatch { mismatch, is_mixed: true });
        }
        if had == self.size && had > 0 {
            return Ok(finish(verifying, true));
        }
        let newest = newest.filter(|_| had == 0);
        // The newest pack may be of another generation than the manifest.
        let mut is_mixed = newest.is_some();
        let mut response = match newest {
            Some(response) => response,
            None => self.request(source, bundles, had).await?,
        };
        match response.status() {
            StatusCode::OK if had > 0 => {
                part.set_len(0).map_err(disk)?;
                verifying = self.verifying(&part).map_err(disk)?;
            }
            StatusCode::OK => {}
            _ => is_mixed = true,
        }
        let url = response.url().to_string();
        if let Err(mismatch) = self.check_head(&response, had) {
            return Ok(Received::Mismatch { mismatch, is_mixed });
        }
        remember_tag(bundles, &url, &response);
        // Without a length or chunks, the body ends where the connection does, for whatever reason.
        let has_end = response.content_length().is_some()
            || response.headers().contains_key(header::TRANSFER_ENCODING);
        while let Some(bytes) = response.chunk().await.map_err(|e| broken(&url, &e))? {
            match verifying.write_all(&bytes).map_err(io::Error::downcast) {
                Ok(()) => {}
                Err(Ok(mismatch)) => return Ok(Received::Mismatch { mismatch, is_mixed }),
                Err(Err(e)) => return Err(disk(e)),
            }
        }
        let have = part.metadata().map_err(disk)?.len();
        if !has_end && have < self.size {
            let message =
                format!("fetching {url}: the connection ended after {have} of {} bytes", self.size);
            let hint = "check for a proxy or a broken link between this node and the server";
            return Err(FetchError::silent(Failure::new(Cause::Fetch, message, hint)));
        }
        Ok(finish(verifying, is_mixed))
    }

    fn verifying(&self, part: &File) -> io::Result<Verifying<File>> {
        Ok(Verifying::new(part.try_clone()?, self.name, self.size, self.sha256))
    }

    /// Requests what is missing where so many bytes are there.
    async fn request(
        &self,
        source: &Server<'_>,
        bundles: &Bundles,
        had: u64,
    ) -> Result<Response, FetchError> {
        if had == 0 {
            return source.ask(&self.path, HeaderMap::new(), &[StatusCode::OK]).await;
        }
        let headers = rest_of(had, bundles.tags.borrow().get(&source.url(&self.path)));
        let good = [StatusCode::OK, StatusCode::PARTIAL_CONTENT, StatusCode::RANGE_NOT_SATISFIABLE];
        source.ask(&self.path, headers, &good).await
    }

    /// Checks that the answer is as long as it must be, and that a part of it begins where what is
    /// there ends.
    fn check_head(&self, response: &Response, had: u64) -> Result<(), Mismatch> {
        let length = response.content_length();
        let length = match response.status() {
            StatusCode::OK => length,
            StatusCode::PARTIAL_CONTENT if begin_of(response) == Some(&had.to_string()) => {
                length.map(|rest| had + rest)
            }
            _ => return Err(self.other_size("another part of it")),
        };
        match length.filter(|size| *size != self.size) {
            Some(size) => Err(self.other_size(&format!("{size} bytes"))),
            None => Ok(()),
        }
    }

    fn other_size(&self, got: &str) -> Mismatch {
        let expected = format!("{} bytes", self.size);
        Mismatch { file: self.name.to_owned(), expected, got: got.to_owned() }
    }
}

fn finish(verifying: Verifying<File>, is_mixed: bool) -> Received {
    match verifying.finish() {
        Ok(file) => Received::Whole(file),
        Err(mismatch) => Received::Mismatch { mismatch, is_mixed },
    }
}

/// Reads what is there already into `verifying`.
fn verify_existing(
    part: &mut File,
    verifying: &mut Verifying<File>,
) -> io::Result<Result<(), Mismatch>> {
    part.rewind()?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match part.read(&mut buffer)? {
            0 => return Ok(Ok(())),
            n => match verifying.note(&buffer[..n]) {
                Ok(()) => {}
                Err(mismatch) => return Ok(Err(mismatch)),
            },
        }
    }
}

/// The headers that ask for what is missing, or for all of it if it is another by now. Without an
/// ETag the digest decides.
fn rest_of(had: u64, tag: Option<&String>) -> HeaderMap {
    let range = format!("bytes={had}-").parse().ok().map(|range| (header::RANGE, range));
    let tag = tag.and_then(|tag| Some((header::IF_RANGE, tag.parse().ok()?)));
    range.into_iter().chain(tag).collect()
}

/// Where the part begins that is sent.
fn begin_of(response: &Response) -> Option<&str> {
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    Some(range.strip_prefix("bytes ")?.split_once('-')?.0)
}

fn remember_tag(bundles: &Bundles, url: &str, response: &Response) {
    let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
    // A weak one doesn't stand for the bytes.
    if let Some(tag) = tag.filter(|tag| !tag.starts_with("W/")) {
        bundles.tags.borrow_mut().insert(url.to_owned(), tag.to_owned());
    }
}
