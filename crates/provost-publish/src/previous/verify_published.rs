//! What of the published folder is whole, and so needn't be written again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::Timestamp;

use super::Previous;
use provost_bundle::{Digest, Manifest, Pack, Signature, Verifying};

use crate::error::PublishError;
use crate::generations::PlanHead;
use crate::key::SecretKey;
use crate::plan_index::PlanMark;
use crate::publication::{PLAN_MODE, PUBLICATIONS, SECRETS};

impl Previous {
    /// Whether the file is there, as it was published, with this text.
    pub(crate) fn has_text(&self, file: &str, text: &str) -> bool {
        self.is_published(&self.path(file)) && self.text(file).is_some_and(|there| there == text)
    }

    /// The head of the plan at `path`, if it is published, whole, with a signature by `key`, and says
    /// what it should.
    pub(crate) fn signed_plan(
        &self,
        path: &str,
        mark: &PlanMark,
        body: &str,
        key: &SecretKey,
    ) -> Option<PlanHead> {
        let text = self.text(path)?;
        let (head, old) = PlanHead::split(&text)?;
        let signature_path = format!("{path}.minisig");
        let signature = self.text(&signature_path)?;
        // To verify it would take longer than to write all of the plan anew.
        let is_right = mark.signature == Some(Digest::of(signature.as_bytes()))
            && Signature::decode(&signature).is_some_and(|one| one.key_id == key.public().id())
            && head.generation == mark.generation
            && old == body
            && [path, &signature_path].iter().all(|file| self.is_published(&self.path(file)));
        is_right.then_some(head)
    }

    /// The signature of `bytes`, published as `file`: the one that is there, if it is valid.
    pub(crate) fn signature(
        &self,
        file: &str,
        bytes: &[u8],
        key: &SecretKey,
    ) -> Result<String, PublishError> {
        // To verify costs more than to read and compare.
        if self.text(file).is_some_and(|old| old.as_bytes() == bytes)
            && let Some(text) = self.text(&format!("{file}.minisig"))
            && let Some(signature) = Signature::decode(&text)
            && key.public().verifies(bytes, &signature)
        {
            return Ok(text);
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let comment = format!("timestamp:{}\tfile:{name}\thashed", Timestamp::now().as_second());
        Ok(key.sign(bytes, &comment)?)
    }

    /// Whether the pack is there and whole.
    pub(crate) fn has_pack(&self, pack: &Pack) -> bool {
        self.has(&pack.path(), &pack.sha256)
    }

    /// Whether the file is there, as it was published, with this content.
    pub(crate) fn has(&self, file: &str, sha256: &Digest) -> bool {
        let path = self.path(file);
        let is_whole = || -> io::Result<bool> {
            let mut there = fs::File::open(&path)?;
            let size = there.metadata()?.len();
            let mut verifying = Verifying::new(io::sink(), file, size, *sha256);
            io::copy(&mut there, &mut verifying)?;
            Ok(verifying.finish().is_ok())
        };
        self.is_published(&path) && is_whole().unwrap_or(false)
    }

    /// Whether nothing has to be written: these texts, the manifest's objects and its pack under
    /// both its names are there and right, and there are no other plans.
    /// `kept` is what else stays; `newest` is the bundle of all nodes.
    pub(crate) fn is_already(
        &self,
        texts: &BTreeMap<String, String>,
        kept: &BTreeSet<String>,
        (manifest, newest): (&Manifest, &Manifest),
    ) -> bool {
        let right = |(file, text): (&String, &String)| self.has_text(file, text);
        let known =
            |file: &String| texts.contains_key(file) || kept.contains(file) || file == PUBLICATIONS;
        let all_known = |folder| self.files(folder).is_ok_and(|files| files.iter().all(known));
        let linked = fs::read_link(self.path(provost_api::published::NEWEST_PACK));
        texts.iter().all(right)
            && linked.is_ok_and(|linked| linked == Path::new(&newest.pack.name()))
            && all_known("plans")
            && all_known(SECRETS)
            && all_known("manifests")
            && self.has_pack(&manifest.pack)
            && manifest.files.iter().all(|file| self.has(&file.object_path(), &file.sha256))
    }

    /// Whether it is a file that everybody can read, or, of a plan, its group, in a folder that
    /// everybody can enter.
    fn is_published(&self, path: &Path) -> bool {
        let mode =
            |path: &Path| fs::symlink_metadata(path).map(|m| (m.mode() & 0o7777, m.is_file()));
        let is_plan = ["plans", SECRETS].iter().any(|own| path.starts_with(self.path(own)));
        let right = if is_plan { PLAN_MODE } else { 0o644 };
        let group = self.group.filter(|_| is_plan);
        let has_group = |group| fs::symlink_metadata(path).is_ok_and(|m| m.gid() == group);
        mode(path).is_ok_and(|file| file == (right, true))
            && group.is_none_or(has_group)
            && path
                .ancestors()
                .skip(1)
                .take_while(|folder| folder.starts_with(&self.www))
                .all(|folder| mode(folder).is_ok_and(|folder| folder == (0o755, false)))
    }
}
