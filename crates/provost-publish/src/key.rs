use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ct_codecs::{Base64, Decoder};
use minisign::KeyPair;
use provost_bundle::{Digest, Link, PublicKey};
use provost_fs::{Durability, NewFile};

use crate::signer::{SignError, Signer};

/// The most bytes of a public key.
const MOST: u64 = 1 << 20;

/// The publisher's minisign key.
#[derive(Clone)]
pub struct SecretKey {
    signer: Signer,
    public: PublicKey,
    readable_by_others: bool,
}

/// What went wrong with a secret key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file couldn't be read or written.
    #[error("{doing} {}", path.display())]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The file has a password, which isn't known.
    #[error("reading the key {}: it is protected by a password", path.display())]
    Password {
        /// The file.
        path: PathBuf,
    },
    /// The file has another password.
    #[error("reading the key {}: the password is wrong", path.display())]
    WrongPassword {
        /// The file.
        path: PathBuf,
    },
    /// The command that signs failed.
    #[error("signing by `{command}`: {what}")]
    Command {
        /// The command.
        command: String,
        /// Why it failed.
        what: String,
    },
    /// The file isn't a secret key.
    #[error("reading the key {}: {what}", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// The cryptography failed, for example for lack of random numbers.
    #[error("{doing}: {what}")]
    Crypto {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        what: String,
    },
}

impl KeyError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Disk { path, source, .. } => match source.kind() {
                io::ErrorKind::AlreadyExists => {
                    "name another folder with --out; a key that nodes trust is never replaced"
                        .to_owned()
                }
                io::ErrorKind::NotFound => "create a key: provostctl key new --out DIR".to_owned(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    format!("make room where {} is", path.display())
                }
                _ => format!("check that this user may read and write {}", path.display()),
            },
            Self::Password { path } => format!(
                "write it to a file, and name that: --key-password-file FILE; or remove it: \
                 minisign -C -W -s {}",
                path.display()
            ),
            Self::WrongPassword { path } => format!("try it: minisign -R -s {}", path.display()),
            Self::Command { .. } => {
                "let it write a signature of the file \"$1\" to \"$1.minisig\", such as: \
                 --sign-command 'minisign -S -s KEY -m \"$1\" -t \"$2\"'"
                    .to_owned()
            }
            Self::NotAKey { .. } => {
                "name the secret key: the file provost.key, or the one that minisign -G -W -s wrote"
                    .to_owned()
            }
            Self::Crypto { .. } => "try again".to_owned(),
        }
    }
}

impl SecretKey {
    /// Creates a key pair: `provost.key`, which only its owner can read, and `provost.pub` in
    /// the folder `dir`. Refuses to replace either.
    pub fn new_pair(dir: &Path) -> Result<Self, KeyError> {
        Self::new_pair_with(dir, None)
    }

    /// The same, the secret key protected by a `password`, if there is one.
    pub fn new_pair_with(dir: &Path, password: Option<&str>) -> Result<Self, KeyError> {
        let pair = match password {
            Some(password) => KeyPair::generate_encrypted_keypair(Some(password.to_owned())),
            None => KeyPair::generate_unencrypted_keypair(),
        };
        let pair = pair.map_err(|e| crypto("creating a key pair", e))?;
        let secret =
            pair.sk.to_box(None).map_err(|e| crypto("creating a key pair", e))?.to_string();
        let public = pair.pk.to_box().map_err(|e| crypto("creating a key pair", e))?.to_string();
        std::fs::create_dir_all(dir).map_err(|e| disk("creating the folder", dir, e))?;
        let (key_path, pub_path) = (dir.join("provost.key"), dir.join("provost.pub"));
        if pub_path.exists() {
            return Err(disk("writing the key", &pub_path, io::ErrorKind::AlreadyExists.into()));
        }
        create(&key_path, &secret, 0o600)?;
        create(&pub_path, &public, 0o644)?;
        Self::load_with(&key_path, || Ok(password.unwrap_or_default().to_owned()))
    }

    /// Writes the public half to the file `path`, which isn't there, as minisign writes one.
    pub fn write_public(&self, path: &Path) -> Result<(), KeyError> {
        let (id, line) = (self.public.id(), self.public.line());
        create(path, &format!("untrusted comment: minisign public key {id}\n{line}\n"), 0o644)
    }

    /// Reads the secret key at `path`: one of ours, or one that `minisign -G -W` made.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        Self::load_with(path, || Err(KeyError::Password { path: path.to_owned() }))
    }

    /// The key whose public half is in the file `path`; `command` signs for it.
    pub fn of_command(path: &Path, command: &str) -> Result<Self, KeyError> {
        let text =
            provost_fs::read_input(path, MOST).map_err(|e| disk("reading the key", path, e))?;
        let line = text.lines().find_map(|line| PublicKey::from_line(line).ok());
        let public = line.ok_or_else(|| KeyError::NotAKey {
            path: path.to_owned(),
            what: "it isn't a minisign public key".to_owned(),
        })?;
        let signer = Signer::Command(command.to_owned(), path.to_owned());
        Ok(Self { signer, public, readable_by_others: false })
    }

    /// Reads the secret key at `path`, and asks for its `password` if it has one.
    pub fn load_with(
        path: &Path,
        password: impl FnOnce() -> Result<String, KeyError>,
    ) -> Result<Self, KeyError> {
        let read = || -> io::Result<(String, u32)> {
            // A secret key has some 200 bytes; a file that is much longer isn't one.
            let mut text = Vec::new();
            let file = std::fs::File::open(path)?;
            let mode = file.metadata()?.mode();
            io::Read::read_to_end(&mut io::Read::take(file, 64 * 1024), &mut text)?;
            Ok((String::from_utf8_lossy(&text).into_owned(), mode))
        };
        let (text, mode) = read().map_err(|e| disk("reading the key", path, e))?;
        let not_a_key =
            |what: &str| KeyError::NotAKey { path: path.to_owned(), what: what.to_owned() };
        let line = text.lines().nth(1).unwrap_or_default().trim();
        let bytes = Base64::decode_to_vec(line, None).unwrap_or_default();
        // Not by minisign's own reader: it requires a checksum, and `minisign -G -W` writes none.
        let key = minisign::SecretKey::from_bytes(&bytes);
        match (key, bytes.get(..4)) {
            (Ok(_), Some(b"EdSc")) => {
                let sealed = minisign::SecretKeyBox::from(format!("untrusted comment:\n{line}\n"));
                // One that is a little longer or shorter is damaged, which a checksum finds as well.
                let key = sealed.into_secret_key(Some(password()?));
                let key = key.map_err(|_| KeyError::WrongPassword { path: path.to_owned() })?;
                Self::from_parts(key, path, mode & 0o077 != 0)
            }
            (Ok(key), Some(b"Ed\0\0")) => Self::from_parts(key, path, mode & 0o077 != 0),
            _ if PublicKey::from_line(line).is_ok() => Err(not_a_key("it is a public key")),
            _ => Err(not_a_key("it isn't a minisign secret key")),
        }
    }

    fn from_parts(
        key: minisign::SecretKey,
        path: &Path,
        readable_by_others: bool,
    ) -> Result<Self, KeyError> {
        let public = minisign::PublicKey::from_secret_key(&key)
            .map_err(|e| crypto("deriving the public key", e))?;
        // A signature proves that its two halves fit, in place of the checksum.
        minisign::sign(Some(&public), &key, io::empty(), None, None).map_err(|_| {
            KeyError::NotAKey { path: path.to_owned(), what: "the key is damaged".to_owned() }
        })?;
        let public = PublicKey::from_line(&public.to_base64())
            .map_err(|e| KeyError::NotAKey { path: path.to_owned(), what: e.to_string() })?;
        Ok(Self { signer: Signer::Key(key), public, readable_by_others })
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The public key's line, for `[trust] keys`.
    pub fn public_line(&self) -> &str {
        self.public.line()
    }

    /// Whether others than its owner can read the key's file, which deserves a warning.
    pub fn readable_by_others(&self) -> bool {
        self.readable_by_others
    }

    /// Says that `next` has taken this key's place, which has taken another one's by the link `before`.
    pub(crate) fn link_to(
        &self,
        next: &PublicKey,
        before: Option<Digest>,
    ) -> Result<Link, KeyError> {
        let failed = |what| KeyError::Crypto { doing: "naming the next key", what };
        let statement =
            Link::statement(&self.public, next, before).map_err(|e| failed(e.to_string()))?;
        let signature = self.sign(statement.as_bytes(), "the next key")?;
        Link::parse(&format!("{statement}{signature}")).map_err(|flaw| failed(flaw.what))
    }

    /// The text of a `.minisig` file for `bytes`, as `minisign -S` writes it.
    pub fn sign(&self, bytes: &[u8], trusted_comment: &str) -> Result<String, KeyError> {
        let signed = self.signer.sign(&self.public, bytes, trusted_comment);
        signed.map_err(|e| match e {
            SignError::Crypto(what) => KeyError::Crypto { doing: "signing", what },
            SignError::Command { command, what } => KeyError::Command { command, what },
        })
    }
}

/// Never the key itself, which the key's own `Debug` would show.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.public.id())
    }
}

/// A key is there whole or not at all, and never replaced.
fn create(path: &Path, text: &str, mode: u32) -> Result<(), KeyError> {
    let write = || {
        let mut file = NewFile::at(path)?;
        file.set_mode(mode)?;
        file.write(text.as_bytes())?;
        file.create(Durability::PowerCut)
    };
    write().map_err(|e| disk("writing the key", path, e))
}

fn disk(doing: &'static str, path: &Path, source: io::Error) -> KeyError {
    KeyError::Disk { doing, path: path.to_owned(), source }
}

fn crypto(doing: &'static str, error: minisign::PError) -> KeyError {
    KeyError::Crypto { doing, what: error.to_string() }
}
