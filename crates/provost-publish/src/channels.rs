//! Channels: nodes that get a new bundle before all others. Which nodes they are is signed, because it
//! decides for whom the next publication is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_bundle::Manifest;

use crate::error::PublishError;
use crate::history::{FOLDER, verify};
use crate::key::SecretKey;
use crate::replace::replace;
use crate::target::Target;

/// The file of all channels, in the published folder.
pub(crate) const FILE: &str = ".provost/channels.toml";

/// The nodes of each channel. A node is in one at most.
pub type Channels = BTreeMap<String, BTreeSet<String>>;

/// The channels of the folder `www`. With a `key`, only if that has signed them.
pub fn channels(www: &Path, key: Option<&SecretKey>) -> Result<Channels, PublishError> {
    let path = www.join(FILE);
    let text = match fs::read_to_string(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Channels::new()),
        text => text.map_err(|e| PublishError::disk("reading", &path, e))?,
    };
    key.map(|key| verify(&path, key)).transpose()?;
    let invalid = |e: toml::de::Error| io::Error::other(e.message().to_owned());
    toml::from_str(&text).map_err(|e| PublishError::disk("reading", &path, invalid(e)))
}

/// Changes the channels of the folder `www`, which must be published already.
pub fn change_channels(
    www: &Path,
    key: &SecretKey,
    change: impl FnOnce(&mut Channels),
) -> Result<Channels, PublishError> {
    let target = Target::open(www, Path::new("/nonexistent"))?;
    let www = target.path();
    if !www.join("manifest.toml").exists() {
        return Err(PublishError::Empty { path: www.to_owned() });
    }
    let mut all = channels(www, Some(key))?;
    change(&mut all);
    let path = www.join(FILE);
    let write = || -> io::Result<()> {
        let folder = www.join(FOLDER);
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        let text = toml::to_string(&all).map_err(io::Error::other)?;
        let signature = key.sign(text.as_bytes(), "channels").map_err(io::Error::other)?;
        // A crash in between leaves what isn't signed: the next change or publication says so.
        replace(&path.with_added_extension("minisig"), &signature)?;
        replace(&path, &text)
    };
    write().map_err(|e| PublishError::disk("writing", &path, e))?;
    Ok(all)
}

/// The newer bundles, and whose they are.
#[derive(Default)]
pub(crate) struct ChannelBundles {
    /// By generation.
    pub(crate) manifests: BTreeMap<u64, Manifest>,
    /// The generation of the bundle of each node that has one of these.
    pub(crate) nodes: BTreeMap<String, u64>,
}

impl ChannelBundles {
    /// The bundles, in the order of generations.
    pub(crate) fn manifests(&self) -> impl DoubleEndedIterator<Item = &Manifest> {
        self.manifests.values()
    }

    /// The bundle of this generation.
    pub(crate) fn manifest(&self, generation: u64) -> Option<&Manifest> {
        self.manifests.get(&generation)
    }

    /// The newest generation; 0 where there is none.
    pub(crate) fn newest(&self) -> u64 {
        self.manifests.keys().next_back().copied().unwrap_or_default()
    }
}
