//! How long a body may be, in bytes.

/// A batch of records.
pub const BATCH: usize = 8 * 1024 * 1024;
/// One record, as text.
pub const RECORD: usize = 256 * 1024;
/// The highest number of a record.
pub const SEQ: u64 = (1 << 24) - 1;
/// A step's log: the nodes' limit of 1 MiB, and room for the line about what was left out.
pub const LOG: usize = (1024 + 64) * 1024;
/// `NN-SCRIPT`, the name of a log: with an extension it is still a file name.
pub const LOG_NAME: usize = 240;
/// A node's public ssh host keys, or their certificates: an RSA key of 16384 bits takes 3 KiB.
pub const SSH_HOST_KEYS: usize = 16 * 1024;
/// As many certificates as the shortest keys in [`SSH_HOST_KEYS`] bytes need.
pub const SSH_HOST_CERTIFICATES: usize = 256 * 1024;
/// A beat: 64 KiB of a log, of which JSON may make six times as much, and the rest.
pub const BEAT: usize = 400 * 1024;
/// A signature that goes along in a header: proxies refuse long headers. A longer one has a request of its own.
pub const HEADER_SIGNATURE: usize = 2048;
/// How many changes an answer about the audit log has.
pub const AUDIT: usize = 10_000;
