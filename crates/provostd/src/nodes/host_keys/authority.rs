//! The authority of nodes' ssh host keys: a key in DATA/ssh/ca, whose certificates say whose a host key is. It says
//! nothing else, and isn't that of TLS: a file of known hosts trusts it for ssh alone.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown, fchown};
use std::path::{Path, PathBuf};

use provost_fs::{Durability, NewFile};
use ssh_key::certificate::{Builder, CertType};
use ssh_key::public::KeyData;
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, Certificate, EcdsaCurve, HashAlg, LineEnding, PrivateKey, PublicKey};

/// Its folder in DATA, and the key in that.
const FOLDER: &str = "ssh";
const KEY: &str = "ca";
/// The most bytes of a key's file.
const MOST_KEY: u64 = 16 << 10;

/// For how long a certificate is valid, in seconds: a year, because a node asks for another one only when it boots.
const VALID_FOR: u64 = 365 * 86_400;
/// By how much an admin's clock may be slow, in seconds.
const SLOW_CLOCK: u64 = 3600;
/// The shortest RSA key that is certified, in bytes: ssh refuses shorter ones on some systems.
const LEAST_RSA: usize = 2048 / 8;

/// Why there is no authority, or no certificate of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostAuthorityError {
    #[error("{doing} {}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("using the key {}: {why}", path.display())]
    Key { path: PathBuf, why: ssh_key::Error },
}

impl HostAuthorityError {
    /// What an admin can do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::File { path, .. } => {
                format!("let provostd's user read and write it: namei -l {}", path.display())
            }
            Self::Key { path, .. } => format!(
                "restore {0} from a backup; or remove it, and run the postscript hostkeys on all nodes again",
                path.display()
            ),
        }
    }
}

/// What a certificate names.
pub(super) struct Subject<'a> {
    pub(super) node: &'a str,
    /// The names and addresses that ssh may ask for it by.
    pub(super) names: &'a [String],
}

/// The authority.
pub(crate) struct HostAuthority {
    key: PrivateKey,
    path: PathBuf,
}

impl HostAuthority {
    /// The one in the daemon's folder `data`, which is made where there is none.
    pub(crate) fn open_or_make(data: &Path) -> Result<Self, HostAuthorityError> {
        let path = data.join(FOLDER).join(KEY);
        let read = || provost_fs::read_given_text(&path, MOST_KEY);
        let text = match read() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                make(data, &path)?;
                read()
            }
            read => read,
        };
        let text = text.map_err(file("reading", &path))?;
        let key = PrivateKey::from_openssh(text).map_err(crypto(&path))?;
        Ok(Self { key, path })
    }

    /// Its line for a file of known hosts.
    pub(crate) fn known_hosts(&self) -> Result<String, HostAuthorityError> {
        let key = self.key.public_key().to_openssh().map_err(crypto(&self.path))?;
        Ok(format!("@cert-authority * {key}"))
    }

    /// The certificate of the public key in `line`, as in a file `.pub`, at the time `now` in seconds; and whether it is a new
    /// one. Where the line is a certificate that says the same and is valid for half of its time yet, it is that one.
    /// None where the line has no key that ssh uses for hosts.
    pub(super) fn certify(
        &self,
        line: &str,
        subject: &Subject<'_>,
        now: u64,
    ) -> Result<Option<(String, bool)>, HostAuthorityError> {
        let key = match Certificate::from_openssh(line) {
            Ok(present) if self.would_say(&present, subject, now) => {
                return Ok(Some((line.to_owned(), false)));
            }
            Ok(present) => present.public_key().clone(),
            Err(_) => match PublicKey::from_openssh(line) {
                Ok(key) => key.into(),
                Err(_) => return Ok(None),
            },
        };
        if !is_for_hosts(&key) {
            return Ok(None);
        }
        let issue = || {
            let (from, until) = (now.saturating_sub(SLOW_CLOCK), now + VALID_FOR);
            let mut builder = Builder::new_with_random_nonce(&mut OsRng, key, from, until)?;
            builder.cert_type(CertType::Host)?.key_id(subject.node)?.comment(subject.node)?;
            for name in subject.names {
                builder.valid_principal(name)?;
            }
            builder.sign(&self.key)?.to_openssh()
        };
        issue().map(|text| Some((text, true))).map_err(crypto(&self.path))
    }

    fn would_say(&self, present: &Certificate, subject: &Subject<'_>, now: u64) -> bool {
        let fingerprint = self.key.fingerprint(HashAlg::Sha256);
        present.cert_type() == CertType::Host
            && present.key_id() == subject.node
            && present.valid_principals() == subject.names
            && present.validate_at(now + VALID_FOR / 2, [&fingerprint]).is_ok()
    }
}

/// Makes the key. It comes to the disk before anything is signed by it.
fn make(data: &Path, path: &Path) -> Result<(), HostAuthorityError> {
    let folder = data.join(FOLDER);
    // Root may do this; the files are the daemon's.
    let owner = fs::metadata(data).map_err(file("reading", data))?;
    let owner = Some(std::os::unix::fs::MetadataExt::uid(&owner));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        made => made
            .and_then(|()| chown(&folder, owner, None))
            .map_err(file("creating the folder", &folder))?,
    }
    let algorithm = Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 };
    let mut key = PrivateKey::random(&mut OsRng, algorithm).map_err(crypto(path))?;
    key.set_comment("provostd");
    let text = key.to_openssh(LineEnding::LF).map_err(crypto(path))?;
    let create = || {
        let mut new = NewFile::at(path)?;
        new.write(text.as_bytes())?;
        fchown(new.as_file_mut(), owner, None)?;
        new.create(Durability::PowerCut)
    };
    match create() {
        // Another one has just made it.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map_err(file("writing", path)),
    }
}

/// Whether sshd can have it as a host key that ssh accepts.
fn is_for_hosts(key: &KeyData) -> bool {
    match key {
        KeyData::Ed25519(_) | KeyData::Ecdsa(_) => true,
        KeyData::Rsa(key) => key.n.as_positive_bytes().is_some_and(|n| n.len() >= LEAST_RSA),
        _ => false,
    }
}

fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HostAuthorityError {
    move |source| HostAuthorityError::File { doing, path: path.to_owned(), source }
}

fn crypto(path: &Path) -> impl FnOnce(ssh_key::Error) -> HostAuthorityError {
    move |why| HostAuthorityError::Key { path: path.to_owned(), why }
}
