//! What stands where in the file.

/// The form of the file.
pub(super) const FORMAT: u32 = 1;
/// The names of its parts.
pub(super) const HEAD: &str = "backup.toml";
pub(super) const SUMS: &str = "SHA256SUMS";
pub(super) const STORE: &str = "store";
pub(super) const DATA: &str = "data";
pub(super) const WWW: &str = "www";
/// What a published folder has when it is whole.
pub(super) const MANIFEST: &str = "manifest.toml";
