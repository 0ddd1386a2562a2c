use std::collections::BTreeSet;

use jiff::Timestamp;
use provost_api::published;
use serde::{Deserialize, Serialize};

use crate::document::{self, Flaw};
use crate::{Digest, Policy, Tls, Validity, check_path};

/// What one generation of the bundle consists of: every file with its mode, size, digest and policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of this file; see [`Manifest::FORMAT`].
    pub format: u32,
    /// Counts up whenever a file, its mode or its policy changes.
    pub generation: u64,
    /// When this generation was published.
    pub created: Timestamp,
    /// When it was signed: later than `created`, if it was signed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Timestamp>,
    /// From when on nodes without a memory refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// From which generation on the plans that were published with it go with this one; none: only
    /// those that were published with this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans_since: Option<u64>,
    /// The publisher's public key, so that a node that trusts a manifest by its digest can check
    /// the plans that go with it.
    pub key: String,
    /// The last link of those by which that key has taken the place of others: see [`Link`](crate::Link).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_link: Option<Digest>,
    /// The public key of who may say that this may be used for longer, and nothing else: see
    /// [`Refresh`](crate::Refresh). Or [`Manifest::NO_REFRESH_KEY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_key: Option<String>,
    /// How nodes reach the management node by TLS. Then their plans, tokens and reports go by no
    /// other way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The public keys that count no more, whatever a node was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked: Vec<String>,
    /// Whether it is for dry runs alone: signed before it is published, and never published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    /// All files in one archive.
    pub pack: Pack,
    /// The files, in order of their paths.
    #[serde(default)]
    pub files: Vec<FileEntry>,
}

/// The archive that holds all files, for a node that has none of them yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// Its digest.
    pub sha256: Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// One published file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Where it is in the bundle; also a script's name.
    pub path: String,
    /// Its permissions.
    pub mode: Mode,
    /// Its size in bytes.
    pub size: u64,
    /// Its digest.
    pub sha256: Digest,
    /// How it is run.
    #[serde(default, skip_serializing_if = "Policy::is_empty")]
    pub policy: Policy,
}

/// A published file's permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A file that is only read.
    #[serde(rename = "0644")]
    Data = 0o644,
    /// A file that can be run.
    #[serde(rename = "0755")]
    Program = 0o755,
}

/// Why a manifest can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reading manifest.toml: {}", .0.what)]
pub struct ManifestError(Flaw);

impl ManifestError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        self.0.hint.to_owned()
    }
}

impl Manifest {
    /// The format that this version writes, and the only one it reads.
    pub const FORMAT: u32 = 1;
    /// The biggest manifest, in bytes.
    pub const MAX_BYTES: u64 = 8 << 20;
    /// The most files of a bundle.
    pub const MAX_FILES: usize = 10_000;
    /// The biggest file, in bytes.
    pub const MAX_FILE: u64 = 64 << 20;
    /// The most that all files may have together, in bytes.
    pub const MAX_TOTAL: u64 = 256 << 20;

    /// In the place of a refresh key: the publisher wants none.
    pub const NO_REFRESH_KEY: &str = "off";

    /// Reads a manifest that is published, and checks all that can be checked without its files.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        Self::parse_as(bytes, false)
    }

    /// The same of one that is a rehearsal, or isn't.
    pub fn parse_as(bytes: &[u8], rehearsal: bool) -> Result<Self, ManifestError> {
        let manifest: Self =
            document::read(bytes, Self::MAX_BYTES, Self::FORMAT).map_err(ManifestError)?;
        document::check_purpose(manifest.rehearsal, rehearsal).map_err(ManifestError)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The manifest's text.
    pub fn to_toml(&self) -> Result<String, ManifestError> {
        toml::to_string(self).or_else(|e| refuse(e.to_string()))
    }

    /// Until when it may be used; none in what older versions published.
    pub fn validity(&self) -> Option<Validity> {
        Some(Validity { made: self.made?, expires: self.expires? })
    }

    /// The public key of who may say that it may be used for longer, if the publisher wants that.
    pub fn refresh_key(&self) -> Option<&str> {
        self.refresh_key.as_deref().filter(|key| *key != Self::NO_REFRESH_KEY)
    }

    /// From which generation on the plans that were published with it go with this one.
    pub fn plans_since(&self) -> u64 {
        self.plans_since.unwrap_or(self.generation)
    }

    /// Whether a plan that was published with that `generation` goes with this one.
    pub fn goes_with_plan_of(&self, generation: u64) -> bool {
        (self.plans_since()..=self.generation).contains(&generation)
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.path == path)
    }

    fn check(&self) -> Result<(), ManifestError> {
        if crate::PublicKey::from_line(&self.key).is_err() {
            return refuse(format!("its key {:?} isn't a minisign public key", self.key));
        }
        if self.revoked.contains(&self.key) {
            let what = "the key that signs it is among those that it revokes".to_owned();
            let hint = "publish with another key: provostctl key show names the one that signs";
            return Err(ManifestError(Flaw { what, hint }));
        }
        if self.files.len() > Self::MAX_FILES {
            let (n, most) = (self.files.len(), Self::MAX_FILES);
            return refuse(format!("it has {n} files; {most} are allowed"));
        }
        let mut total: u64 = 0;
        let mut paths = BTreeSet::new();
        for file in &self.files {
            check_path(&file.path).or_else(|e| refuse(e.to_string()))?;
            if file.size > Self::MAX_FILE {
                let (path, size, most) = (&file.path, file.size, Self::MAX_FILE);
                return refuse(format!("{path} has {size} bytes; {most} are allowed"));
            }
            total += file.size;
            if !paths.insert(file.path.as_str()) {
                return refuse(format!("{} is in it twice", file.path));
            }
        }
        if total > Self::MAX_TOTAL {
            let most = Self::MAX_TOTAL;
            return refuse(format!("its files have {total} bytes together; {most} are allowed"));
        }
        // An archive of stored blocks is hardly bigger than its content.
        if self.pack.size > 2 * Self::MAX_TOTAL {
            return refuse(format!("its pack has {} bytes", self.pack.size));
        }
        for path in &paths {
            let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
            if let Some(file) = folders.into_iter().find(|folder| paths.contains(folder)) {
                return refuse(format!("{file} is a file and the folder of {path}"));
            }
        }
        Ok(())
    }
}

impl Mode {
    /// The permission bits.
    pub const fn bits(self) -> u32 {
        self as u32
    }
}

impl Pack {
    /// Where the pack is under the published folder.
    pub fn path(&self) -> String {
        published::pack(&self.sha256.to_string())
    }

    /// Its file name in the folder of packs.
    pub fn name(&self) -> String {
        format!("{}.tar.zst", self.sha256)
    }
}

impl FileEntry {
    /// Where the file's content is under the published folder.
    pub fn object_path(&self) -> String {
        object_path(&self.sha256)
    }
}

/// Where the content with this digest is under the published folder.
pub fn object_path(sha256: &Digest) -> String {
    published::object(&sha256.to_string())
}

fn refuse<T>(what: impl Into<String>) -> Result<T, ManifestError> {
    Err(ManifestError(what.into().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    fn manifest(paths: &[&str]) -> String {
        let entry = |path: &&str| FileEntry {
            path: (*path).to_owned(),
            mode: Mode::Program,
            size: 5,
            sha256: Digest::of(b"hello"),
            policy: Policy { retries: Some(2), ..Policy::default() },
        };
        let manifest = Manifest {
            format: Manifest::FORMAT,
            generation: 42,
            created: "2026-11-20T17:00:00Z".parse().unwrap(),
            made: None,
            expires: None,
            plans_since: None,
            refresh_key: None,
            tls: None,
            revoked: Vec::new(),
            rehearsal: false,
            key: KEY.to_owned(),
            key_link: None,
            pack: Pack { sha256: Digest::of(b"pack"), size: 4 },
            files: paths.iter().map(entry).collect(),
        };
        manifest.to_toml().unwrap()
    }

    #[test]
    fn a_manifest_reads_back() {
        let text = manifest(&["sub/x", "syslog"]);
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(manifest.to_toml().unwrap(), text);
        let file = manifest.file("syslog").unwrap();
        assert_eq!((file.mode.bits(), file.policy.retries), (0o755, Some(2)));
        let sha256 = Digest::of(b"hello").to_string();
        assert_eq!(file.object_path(), format!("objects/2c/{sha256}"));
        assert_eq!(manifest.pack.path(), format!("packs/{}.tar.zst", Digest::of(b"pack")));
        assert_eq!(manifest.file("sub"), None);
        Manifest::parse(self::manifest(&[]).as_bytes()).unwrap();
    }

    #[test]
    fn what_a_node_could_not_use_is_refused() {
        let refused = |text: &str, what: &str| {
            let error = Manifest::parse(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(what), "{error}\nisn't about {what}");
        };
        let good = manifest(&["syslog"]);
        let sha256 = Digest::of(b"hello").to_string();
        for (from, to, what) in [
            ("format = 1", "format = 2", "its format is 2"),
            ("format = 1", "", "format"),
            ("generation = 42", "generation = -1", "line 2"),
            ("2026-11-20T17", "2026-11-20T99", "line 3"),
            (KEY, "RWQ", "public key"),
            ("0755", "4755", "4755"),
            ("size = 5", "size = 67108865", "67108864 are allowed"),
            ("size = 4", "size = 999999999999", "its pack"),
            (&sha256, &sha256[1..], "a SHA-256"),
            (&sha256, &sha256.to_uppercase(), "a SHA-256"),
            ("retries", "retry", "unknown field `retry`"),
            ("[pack]", "[[pack]]", "line"),
            ("\"syslog\"", "\"../syslog\"", "a part `.` or `..`"),
            ("\"syslog\"", "\"/syslog\"", "slash"),
            ("\"syslog\"", "\"sys\\u001Blog\"", "control character"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            refused(&bad, what);
        }
        refused(&manifest(&["a", "a"]), "a is in it twice");
        refused(&manifest(&["a", "a-b", "a/b/c"]), "a is a file and the folder of a/b/c");
        refused(&manifest(&["x"; Manifest::MAX_FILES + 1]), "10000 are allowed");
        let big = manifest(&["a", "b", "c", "d", "e"]).replace("size = 5", "size = 67108864");
        refused(&big, "together");
        assert!(Manifest::parse(b"\xff").is_err());
        assert!(Manifest::parse(&vec![b'#'; Manifest::MAX_BYTES as usize + 1]).is_err());
        assert!(Manifest::parse(b"").is_err());
    }
}
