//! Where the published files are, below the published folder and on each server.

/// What is published for all nodes.
pub const MANIFEST: &str = "manifest.toml";
/// Until when that is valid, signed by the key that may refresh it.
pub const REFRESH: &str = "refresh.toml";
/// The pack of the newest manifest, which nodes ask for before they have read it.
pub const NEWEST_PACK: &str = "packs/newest.tar.zst";

/// The signature of the file at `path`.
pub fn signature(path: &str) -> String {
    format!("{path}.minisig")
}

/// The manifest of a channel or of a generation.
pub fn manifest_of(name: &str) -> String {
    format!("manifests/{name}.toml")
}

/// The plan of a node.
pub fn plan(node: &str) -> String {
    format!("plans/{node}.toml")
}

/// The secrets of a node, which go over TLS alone.
pub fn secrets(node: &str) -> String {
    format!("secrets/{node}.toml")
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
    path.starts_with("plans/") || path.starts_with("secrets/")
}
