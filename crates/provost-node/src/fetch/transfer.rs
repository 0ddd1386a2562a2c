//! Content that is named by its digest: a file of the bundle, or the pack. What has come of it
//! stays when a transfer breaks off, and the next one goes on from there, at whichever server.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

use provost_bundle::{Digest, Mismatch, Verifying};
use provost_record::Cause;
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode};

use super::bundles::Bundles;
use super::retry::Miss;
use super::source::{Source, broken};
use crate::failure::Failure;

/// The strong ETags of what has come in part, by URL.
pub(crate) type Tags = RefCell<HashMap<String, String>>;

/// What is to come.
pub(crate) struct Wanted<'a> {
    /// Its name in errors.
    pub(crate) name: &'a str,
    /// Where it is under the published folder.
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) sha256: Digest,
}

/// How one request ended.
enum Ended {
    Whole(File),
    /// It isn't what the manifest says. Part of it may be from an earlier request.
    Wrong {
        mismatch: Mismatch,
        is_mended: bool,
    },
}

impl Wanted<'_> {
    /// Gets it whole and verified into a file of its own, which is open at its begin. What was
    /// asked for `ahead`, by another name, may be it.
    pub(crate) async fn transfer(
        &self,
        source: &Source<'_>,
        bundles: &Bundles,
        mut ahead: Option<Response>,
    ) -> Result<File, Miss> {
        loop {
            match self.go_on(source, bundles, ahead.take()).await? {
                Ended::Whole(mut file) => {
                    file.rewind().map_err(|e| Miss::last(bundles.disk(READING, &e)))?;
                    return Ok(file);
                }
                // Whichever part is to blame: once more, from the start.
                Ended::Wrong { is_mended: true, .. } => bundles.drop_part(&self.sha256)?,
                Ended::Wrong { mismatch, .. } => {
                    bundles.drop_part(&self.sha256)?;
                    let message = format!("{mismatch}, at {}", source.url(&self.path));
                    return Err(Miss::last(Failure::new(Cause::Verify, message, mismatch.hint())));
                }
            }
        }
    }

    async fn go_on(
        &self,
        source: &Source<'_>,
        bundles: &Bundles,
        ahead: Option<Response>,
    ) -> Result<Ended, Miss> {
        let disk = |e: &io::Error| Miss::last(bundles.disk("writing what was fetched", e));
        let mut part = bundles.part(&self.sha256)?;
        let had = part.metadata().map_err(|e| disk(&e))?.len();
        let verifying = |part: &File| {
            let part = part.try_clone().map_err(|e| disk(&e))?;
            Ok::<_, Miss>(Verifying::new(part, self.name, self.size, self.sha256))
        };
        let mut whole = verifying(&part)?;
        if let Err(mismatch) = look_through(&mut part, &mut whole).map_err(|e| disk(&e))? {
            return Ok(Ended::Wrong { mismatch, is_mended: true });
        }
        if had == self.size && had > 0 {
            return Ok(match whole.finish() {
                Ok(file) => Ended::Whole(file),
                Err(mismatch) => Ended::Wrong { mismatch, is_mended: true },
            });
        }
        let mut mended = had > 0;
        let (headers, good) = match mended {
            true => (
                rest_of(had, bundles.tags.borrow().get(&source.url(&self.path))),
                &[StatusCode::OK, StatusCode::PARTIAL_CONTENT, StatusCode::RANGE_NOT_SATISFIABLE][..],
            ),
            false => (HeaderMap::new(), &[StatusCode::OK][..]),
        };
        let ahead = ahead.filter(|_| !mended);
        let may_be_another = ahead.is_some();
        let mut response = match ahead {
            Some(response) => response,
            None => source.ask(&self.path, headers, good).await?,
        };
        let url = response.url().to_string();
        let wrong = |mismatch, is_mended| Ok(Ended::Wrong { mismatch, is_mended });
        let promised = match response.status() {
            StatusCode::OK => {
                if mended {
                    part.set_len(0).map_err(|e| disk(&e))?;
                    whole = verifying(&part)?;
                    mended = false;
                }
                response.content_length()
            }
            status => {
                let begin = had.to_string();
                if status != StatusCode::PARTIAL_CONTENT || begin_of(&response) != Some(&begin) {
                    return wrong(self.other_size("another part of it"), true);
                }
                response.content_length().map(|rest| had + rest)
            }
        };
        mended |= may_be_another;
        if let Some(size) = promised.filter(|size| *size != self.size) {
            return wrong(self.other_size(&format!("{size} bytes")), mended);
        }
        remember(&bundles.tags, &url, &response);
        while let Some(bytes) = response.chunk().await.map_err(|e| broken(&url, &e))? {
            match whole.write_all(&bytes).map_err(io::Error::downcast) {
                Ok(()) => {}
                Err(Ok(mismatch)) => return wrong(mismatch, mended),
                Err(Err(e)) => return Err(disk(&e)),
            }
        }
        let come = part.metadata().map_err(|e| disk(&e))?.len();
        // Such an answer ends where the connection does, whoever ended that.
        let is_open =
            promised.is_none() && !response.headers().contains_key(header::TRANSFER_ENCODING);
        if is_open && come < self.size {
            let message =
                format!("fetching {url}: it broke off after {come} of {} bytes", self.size);
            let hint = "see what stands between this node and the server: a proxy, a broken link";
            return Err(Miss::silent(Failure::new(Cause::Fetch, message, hint)));
        }
        match whole.finish() {
            Ok(file) => Ok(Ended::Whole(file)),
            Err(mismatch) => wrong(mismatch, mended),
        }
    }

    fn other_size(&self, got: &str) -> Mismatch {
        let expected = format!("{} bytes", self.size);
        Mismatch { file: self.name.to_owned(), expected, got: got.to_owned() }
    }
}

const READING: &str = "reading back what was fetched";

/// Has `whole` take into account what there is already.
fn look_through(part: &mut File, whole: &mut Verifying<File>) -> io::Result<Result<(), Mismatch>> {
    part.rewind()?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match part.read(&mut buffer)? {
            0 => return Ok(Ok(())),
            n => match whole.note(&buffer[..n]) {
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

fn remember(tags: &Tags, url: &str, response: &Response) {
    let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
    // A weak one doesn't stand for the bytes.
    if let Some(tag) = tag.filter(|tag| !tag.starts_with("W/")) {
        tags.borrow_mut().insert(url.to_owned(), tag.to_owned());
    }
}
