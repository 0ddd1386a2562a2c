//! Where the published files are, below the published folder and on each server.

/// What is published for all nodes.
pub const MANIFEST: &str = "manifest.toml";
/// Until when that is valid, signed by the key that may refresh it.
pub const REFRESH: &str = "refresh.toml";
/// A second name of the newest pack, for a node that doesn't know its digest yet: a cold start fetches it together
/// with the manifest, and verifies it by the manifest.
pub const NEWEST_PACK: &str = "packs/newest.tar.zst";

/// The folder of manifests by generation.
pub const MANIFESTS: &str = "manifests/";
/// The folder of plans.
pub const PLANS: &str = "plans/";
/// The folder of secrets.
pub const SECRETS: &str = "secrets/";

/// The plan of a rehearsal, which a node gets in a folder beside the [`MANIFEST`].
pub const REHEARSED_PLAN: &str = "plan.toml";
/// The plan's document of secrets, if it has some.
pub const REHEARSED_SECRETS: &str = "secrets.toml";
/// All files of the bundle.
pub const REHEARSED_PACK: &str = "pack.tar.zst";
/// All of a rehearsal, without the signatures.
pub const REHEARSED: [&str; 4] = [MANIFEST, REHEARSED_PLAN, REHEARSED_SECRETS, REHEARSED_PACK];

/// The signature of the file at `path`.
pub fn signature(path: &str) -> String {
    format!("{path}.minisig")
}

/// The manifest of a generation, of all nodes or of a channel.
pub fn manifest_of(generation: u64) -> String {
    format!("{MANIFESTS}{generation}.toml")
}

/// The plan of a node.
pub fn plan(node: &str) -> String {
    format!("{PLANS}{node}.toml")
}

/// The secrets of a node, which go over TLS alone.
pub fn secrets(node: &str) -> String {
    format!("{SECRETS}{node}.toml")
}

/// A file by its digest, in hexadecimal digits.
pub fn object(sha256: &str) -> String {
    let folder = sha256.get(..2).unwrap_or_default();
    format!("objects/{folder}/{sha256}")
}

/// A pack by its digest.
pub fn pack(sha256: &str) -> String {
    format!("packs/{sha256}.tar.zst")
}

/// The node's program by its digest.
pub fn program(sha256: &str) -> String {
    format!("bin/{sha256}/provost")
}

/// Whether the file at `path` is one node's alone.
pub fn is_private(path: &str) -> bool {
    path.starts_with(PLANS) || path.starts_with(SECRETS)
}
