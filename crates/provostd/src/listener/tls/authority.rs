//! The authority of this management node: a key in DATA/ca, by which nodes know the server. It signs
//! provostd's own certificates, and those of nodes.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_bundle::Digest;
use provost_fs::{Durability, NewFile};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, SerialNumber, SubjectPublicKeyInfo,
    date_time_ymd,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::ParsedCertificate;

use super::pair::{MOST_PEM, Pair};

/// The authority's folder in DATA.
pub(super) const FOLDER: &str = "ca";
pub(super) const KEY: &str = "authority.key";
pub(super) const CERTIFICATE: &str = "authority.pem";
/// The present key, certified by the authority before it: for nodes that know only that one.
pub(super) const CROSS: &str = "cross.pem";
/// The certificate of the authority before it, as long as it counts.
pub(super) const OLD: &str = "old.pem";

/// Why there is no authority.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A file.
    #[error("{doing} {}", path.display())]
    File {
        /// What was tried, a gerund.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is another authority before this one already.
    #[error("rotating the CA: the old CA of the last rotation is still valid")]
    Unfinished,
    /// The key or a certificate can't be made or used.
    #[error("making a certificate with the key {}", path.display())]
    Crypto {
        /// The key's file.
        path: PathBuf,
        /// Why it failed.
        source: rcgen::Error,
    },
}

impl AuthorityError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, path, .. } if source.kind() == io::ErrorKind::NotFound => {
                format!("start provostd once, which makes {}", path.display())
            }
            Self::Unfinished => {
                "once all nodes have fetched a manifest with the present CA, drop the old one: \
                 provostd ca rotate --finish"
                    .to_owned()
            }
            Self::File { path, .. } => {
                format!("let provostd's user read and write it: namei -l {}", path.display())
            }
            Self::Crypto { path, .. } => format!(
                "restore {0} from a backup; or remove it and start provostd again, and name the new \
                 authority to the nodes: provostctl publish … --tls \"$(provostd ca show --tls)\"",
                path.display()
            ),
        }
    }
}

/// An authority.
pub(crate) struct Authority {
    pub(super) key: KeyPair,
    path: PathBuf,
    certificate: String,
    /// The certificates that lead to the authority before it.
    before: Vec<CertificateDer<'static>>,
}

impl Authority {
    /// The one in the daemon's folder `data`, which is made where there is none.
    pub(crate) fn open_or_make(data: &Path) -> Result<Self, AuthorityError> {
        match Self::open(data) {
            Err(AuthorityError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Self::make(data)
            }
            opened => opened,
        }
    }

    /// The one in the daemon's folder `data`.
    pub(crate) fn open(data: &Path) -> Result<Self, AuthorityError> {
        let folder = data.join(FOLDER);
        let read = |name| {
            let path = folder.join(name);
            provost_fs::read_given_text(&path, MOST_PEM).map_err(file("reading", &path))
        };
        let path = folder.join(KEY);
        let key = KeyPair::from_pem(&read(KEY)?).map_err(crypto(&path))?;
        let before = match [CROSS, OLD].map(|name| folder.join(name)) {
            files if files.iter().all(|file| file.exists()) => {
                files.iter().map(|file| read_certificate(file)).collect::<Result<_, _>>()?
            }
            _ => Vec::new(),
        };
        Ok(Self { key, certificate: read(CERTIFICATE)?, path, before })
    }

    /// Makes what is missing of it. The key comes to the disk before anything says that it counts.
    fn make(data: &Path) -> Result<Self, AuthorityError> {
        let folder = data.join(FOLDER);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(file("creating the folder", &folder))?;
        let path = folder.join(KEY);
        let new = KeyPair::generate().map_err(crypto(&path))?.serialize_pem();
        let create = || {
            let mut file = NewFile::at(&path)?;
            file.write(new.as_bytes())?;
            file.create(Durability::PowerCut)
        };
        match create() {
            // A crash came before the certificate.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            created => created.map_err(file("writing", &path))?,
        }
        let text = provost_fs::read_given_text(&path, MOST_PEM).map_err(file("reading", &path))?;
        let key = KeyPair::from_pem(&text).map_err(crypto(&path))?;
        let certificate = own_params(&key).self_signed(&key).map_err(crypto(&path))?.pem();
        let public = folder.join(CERTIFICATE);
        provost_fs::replace_with_mode(&public, certificate.as_bytes(), 0o644, Durability::PowerCut)
            .map_err(file("writing", &public))?;
        Ok(Self { key, path, certificate, before: Vec::new() })
    }

    /// Its own certificate.
    fn certificate(&self) -> Result<CertificateDer<'static>, AuthorityError> {
        let path = self.path.with_file_name(CERTIFICATE);
        CertificateDer::from_pem_slice(self.certificate.as_bytes())
            .map_err(|e| file("reading", &path)(io::Error::other(e)))
    }

    /// By which public keys nodes may know it: its own, and that of the authority before it.
    pub(super) fn keys(&self) -> Result<Vec<Digest>, AuthorityError> {
        let mut keys = vec![Digest::of(&self.key.subject_public_key_info())];
        if let Some(old) = self.before.last() {
            let path = self.path.with_file_name(OLD);
            let parsed = ParsedCertificate::try_from(old);
            let parsed = parsed.map_err(|e| file("reading", &path)(io::Error::other(e)))?;
            keys.push(Digest::of(&parsed.subject_public_key_info()));
        }
        Ok(keys)
    }

    /// A new certificate for this server, by all of its `names` and addresses, with a new key, which
    /// is never on a disk.
    pub(crate) fn server(&self, names: Vec<String>) -> Result<Pair, AuthorityError> {
        let issue = || {
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(names)?;
            params.distinguished_name.push(DnType::CommonName, "provostd");
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            params.use_authority_key_identifier_extension = true;
            valid_always(&mut params);
            let issuer = Issuer::new(own_params(&self.key), &self.key);
            Ok((params.signed_by(&key, &issuer)?, key))
        };
        let (certificate, key) = issue().map_err(crypto(&self.path))?;
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut chain = vec![certificate.der().clone()];
        match self.before.is_empty() {
            true => chain.push(self.certificate()?),
            false => chain.extend_from_slice(&self.before),
        }
        let (cert_file, key_file) = (self.path.with_file_name(CERTIFICATE), self.path.clone());
        Ok(Pair { chain, key, cert_file, key_file })
    }
}

impl Authority {
    /// A new certificate, PEM, for the public key (SubjectPublicKeyInfo, DER) of a node.
    pub(crate) fn node(
        &self,
        name: &str,
        public_key: &SubjectPublicKeyInfo,
        until: Timestamp,
    ) -> Result<String, AuthorityError> {
        let issue = || {
            let mut params = CertificateParams::default();
            params.distinguished_name = DistinguishedName::new();
            params.distinguished_name.push(DnType::CommonName, name);
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            params.use_authority_key_identifier_extension = true;
            params.serial_number =
                Some(SerialNumber::from(uuid::Uuid::now_v7().into_bytes().to_vec()));
            // At a first boot a node's clock shows anything; the end is up to the server's.
            params.not_before = date_time_ymd(1970, 1, 1);
            params.not_after = date_time_ymd(1970, 1, 1)
                + std::time::Duration::from_secs(until.as_second().try_into().unwrap_or_default());
            let issuer = Issuer::new(own_params(&self.key), &self.key);
            params.signed_by(public_key, &issuer)
        };
        Ok(issue().map_err(crypto(&self.path))?.pem())
    }
}

/// What the authority's own certificate says. It has to be the same each time.
pub(super) fn own_params(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    let id = Digest::of(&key.subject_public_key_info()).to_string();
    params.distinguished_name.push(DnType::OrganizationName, "Provost");
    params.distinguished_name.push(DnType::CommonName, format!("authority {}", &id[..16]));
    // One authority below it: the next one, which it signs when that takes over.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(1));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    valid_always(&mut params);
    params
}

/// Nodes know for how long it counts by the manifest, which is signed for a month at a time; by a
/// clock they couldn't, which shows anything at a first boot.
fn valid_always(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(1970, 1, 1);
    params.not_after = date_time_ymd(9999, 12, 31);
}

fn read_certificate(path: &Path) -> Result<CertificateDer<'static>, AuthorityError> {
    let pem = provost_fs::read_given(path, MOST_PEM).map_err(file("reading", path))?;
    CertificateDer::from_pem_slice(&pem).map_err(|e| file("reading", path)(io::Error::other(e)))
}

pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuthorityError {
    move |source| AuthorityError::File { doing, path: path.to_owned(), source }
}

pub(super) fn crypto(path: &Path) -> impl FnOnce(rcgen::Error) -> AuthorityError {
    move |source| AuthorityError::Crypto { path: path.to_owned(), source }
}
