//! By what this node proves who it is: a key that never leaves it, `STATE/id`, and the certificate of
//! its management node, `STATE/id.crt`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use provost_bundle::Fingerprint;
use provost_fs::atomic;
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use tokio::sync::watch;

use crate::csr;

/// The longest certificate, in bytes.
pub const MOST: usize = 16 * 1024;

/// What is known of it, for the whole process.
#[derive(Clone, Debug)]
pub struct Identity(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: OnceLock<PathBuf>,
    /// The key with its certificate.
    known: watch::Sender<Option<Arc<CertifiedKey>>>,
    /// The key with one of its own making, by which it proves itself while it asks for the other.
    asking: watch::Sender<Option<Arc<CertifiedKey>>>,
}

/// An identity as it is shown.
#[derive(Clone, Debug)]
pub struct ShownIdentity {
    /// The key.
    pub key: Fingerprint,
    /// Until when it counts, as the management node said.
    pub until: Option<String>,
}

impl Default for Identity {
    fn default() -> Self {
        let [known, asking] = std::array::from_fn(|_| watch::Sender::new(None));
        Self(Arc::new(Shared { folder: OnceLock::new(), known, asking }))
    }
}

impl Identity {
    /// Takes the one in the folder `state`, if it is whole.
    pub fn remember_in(&self, state: &Path) {
        let folder = self.0.folder.get_or_init(|| state.to_owned());
        let Some(key) = read_key(folder) else { return };
        let Ok(certificate) = atomic::read(&certificate_file(folder)) else { return };
        if let Some(known) = certified(key, &certificate) {
            self.0.known.send_replace(Some(Arc::new(known)));
        }
    }

    /// Whether there is one.
    pub fn is_known(&self) -> bool {
        self.0.known.borrow().is_some()
    }

    /// Waits until there is one.
    pub(crate) async fn known(&self) {
        // Fails where the sender is gone, which this is.
        let _ = self.0.known.subscribe().wait_for(Option::is_some).await;
    }

    /// The request for a certificate of this node's key, and the key's fingerprint. The key is made
    /// where there is none.
    pub fn request(&self) -> io::Result<(Vec<u8>, Fingerprint)> {
        let folder = self.folder()?;
        let key = match read_key(folder) {
            Some(key) => key,
            None => {
                let pem = csr::new_key().map_err(io::Error::other)?;
                atomic::write_secret(&key_file(folder), pem.as_bytes())?;
                read_key(folder).ok_or_else(|| io::Error::other("the new key can't be read"))?
            }
        };
        let certificate = csr::own_certificate(&*key).map_err(io::Error::other)?;
        let asks = CertifiedKey::new(vec![certificate.into()], Arc::clone(&key));
        self.0.asking.send_replace(Some(Arc::new(asks)));
        csr::request(&*key).map_err(io::Error::other)
    }

    /// Takes the certificate that the management node has given for the key; false if it is none.
    pub fn take(&self, certificate: &[u8]) -> io::Result<bool> {
        let folder = self.folder()?;
        let Some(known) = read_key(folder).and_then(|key| certified(key, certificate)) else {
            return Ok(false);
        };
        atomic::write(&certificate_file(folder), certificate)?;
        self.0.known.send_replace(Some(Arc::new(known)));
        Ok(true)
    }

    /// The management node knows it no more.
    pub fn forget(&self) {
        self.0.known.send_replace(None);
    }

    fn folder(&self) -> io::Result<&Path> {
        let folder = self.0.folder.get().map(PathBuf::as_path);
        folder.ok_or_else(|| io::Error::other("there is no folder for this node's key"))
    }
}

impl ShownIdentity {
    /// That in the folder `state`.
    pub fn read(state: &Path) -> Option<Self> {
        let (_, key) = csr::request(&*read_key(state)?).ok()?;
        let certificate = atomic::read(&certificate_file(state)).unwrap_or_default();
        let text = String::from_utf8_lossy(&certificate);
        let until = text.lines().find_map(|line| line.strip_prefix("until: "));
        Some(Self { key, until: until.map(str::to_owned) })
    }
}

impl std::fmt::Display for ShownIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.until {
            Some(until) => write!(f, "the identity {} until {until}", self.key),
            None => write!(f, "the key {}, which has no certificate yet", self.key),
        }
    }
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let known = self.0.known.borrow().clone().or_else(|| self.0.asking.borrow().clone())?;
        schemes.contains(&SignatureScheme::ED25519).then_some(known)
    }

    fn has_certs(&self) -> bool {
        self.is_known() || self.0.asking.borrow().is_some()
    }
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("id")
}

fn certificate_file(folder: &Path) -> PathBuf {
    folder.join("id.crt")
}

/// What was damaged is no more than what is missing.
fn read_key(folder: &Path) -> Option<Arc<dyn SigningKey>> {
    let pem = atomic::read(&key_file(folder)).ok()?;
    let der = PrivatePkcs8KeyDer::from_pem_slice(&pem).ok()?;
    rustls::crypto::ring::sign::any_eddsa_type(&der).ok()
}

/// The key with its certificate, if that is its own.
fn certified(key: Arc<dyn SigningKey>, certificate: &[u8]) -> Option<CertifiedKey> {
    let certificate = CertificateDer::from_pem_slice(certificate).ok()?;
    let known = CertifiedKey::new(vec![certificate.into_owned()], key);
    known.keys_match().is_ok().then_some(known)
}
