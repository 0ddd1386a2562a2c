//! What is published: a manifest that names every file by its digest and says how it is run, the
//! files' contents as objects and in one pack, and signatures; reading and verifying it all.

mod digest;
#[doc = "What manifest and plan have in common: how a published document is read."]
pub mod document;
mod fingerprint;
mod incoming_file;
mod limit;
mod manifest;
mod path;
mod policy;
mod signature;
mod succession;
mod tls;
mod trust;
mod unpack;
mod validity;
mod verify;

pub use digest::{Digest, DigestError};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use incoming_file::{IncomingFile, IncomingFileError};
pub use limit::{Limit, LimitError};
pub use manifest::{FileEntry, Manifest, ManifestError, Mode, Pack, object_path};
pub use path::{PathError, check_path};
pub use policy::{HeaderError, Leak, OnFailure, Policy, Resume, Trace, When};
pub use signature::{PublicKey, PublicKeyError, Signature};
pub use succession::{AcceptedKeys, Link};
pub use tls::{Tls, TlsLineError};
pub use trust::{Trust, TrustError, Verdict};
pub use unpack::{UnpackError, unpack};
pub use validity::Refresh;
pub use validity::Validity;
pub use verify::{Mismatch, Verifying};
