//! A certificate with its chain and its secret key, and what a listener makes of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use provost_bundle::Digest;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{NoClientAuth, ParsedCertificate};
use tokio_rustls::rustls::{self, ServerConfig};

use super::any_key::AnyKey;

/// Why a certificate can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file isn't PEM, or can't be read.
    #[error("reading {}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// Why.
        source: pem::Error,
    },
    /// The certificate and the key don't fit.
    #[error("using {} with {}", cert.display(), key.display())]
    Pair {
        /// The certificate.
        cert: PathBuf,
        /// Its key.
        key: PathBuf,
        /// Why.
        source: rustls::Error,
    },
}

/// The most bytes of a file of keys or certificates.
pub(super) const MOST_PEM: u64 = 2 << 20;

/// For how long a certificate counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CertificateValidity {
    /// Whose: the server's, the authority's or the database's.
    pub(crate) name: &'static str,
    pub(crate) begins: Timestamp,
    pub(crate) ends: Timestamp,
}

impl CertificateValidity {
    /// That of the certificate `der`.
    pub(crate) fn of(name: &'static str, der: &[u8]) -> Option<Self> {
        let (_, parsed) = x509_parser::parse_x509_certificate(der).ok()?;
        let validity = parsed.validity();
        let begins = Timestamp::from_second(validity.not_before.timestamp()).ok()?;
        // What ends with the year 9999 is beyond what a timestamp can say.
        let ends = Timestamp::from_second(validity.not_after.timestamp());
        Some(Self { name, begins, ends: ends.unwrap_or(Timestamp::MAX) })
    }
}

/// What a server proves by TLS who it is.
pub(crate) struct Pair {
    /// The server's certificate first.
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
    /// Where the certificate is from, or its authority's.
    pub(super) cert_file: PathBuf,
    pub(super) key_file: PathBuf,
}

impl Pair {
    /// Reads both from their files.
    pub(crate) fn read(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = Self::certificates(cert)?;
        let unreadable = |source| TlsError::Pem { path: key.to_owned(), source };
        let pem =
            provost_fs::read_given(key, MOST_PEM).map_err(pem::Error::Io).map_err(unreadable)?;
        let secret = PrivateKeyDer::from_pem_slice(&pem).map_err(unreadable)?;
        Ok(Self { chain, key: secret, cert_file: cert.to_owned(), key_file: key.to_owned() })
    }

    /// Reads certificates from a file.
    pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let pem = provost_fs::read_given(path, MOST_PEM).map_err(pem::Error::Io);
        pem.and_then(|pem| CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>())
            .map_err(|source| TlsError::Pem { path: path.to_owned(), source })
    }

    /// The digest of the public key by which nodes know the server: that of the topmost certificate.
    pub(crate) fn public_key(&self) -> Result<Digest, TlsError> {
        let last = self.chain.last().ok_or(rustls::Error::NoCertificatesPresented);
        let parsed = last.and_then(ParsedCertificate::try_from);
        let parsed = parsed.map_err(|source| self.misfit(source))?;
        Ok(Digest::of(&parsed.subject_public_key_info()))
    }

    /// For how long the server's certificate counts, and that of the authorities above it which ends first.
    pub(crate) fn validity(&self) -> Vec<CertificateValidity> {
        let mut chain = self.chain.iter();
        let server = chain.next().and_then(|der| CertificateValidity::of("server", der));
        let above = chain.filter_map(|der| CertificateValidity::of("authority", der));
        server.into_iter().chain(above.min_by_key(|authority| authority.ends)).collect()
    }

    /// The server's side of TLS, which asks for no certificate.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        self.acceptor_with(Arc::new(NoClientAuth))
    }

    /// The same for clients that may prove to have a key, by any certificate that has it.
    pub(crate) fn acceptor_of_keys(&self) -> Result<TlsAcceptor, TlsError> {
        self.acceptor_with(Arc::new(AnyKey::new()))
    }

    fn acceptor_with(&self, clients: Arc<dyn ClientCertVerifier>) -> Result<TlsAcceptor, TlsError> {
        self.config(clients).map_err(|source| self.misfit(source)).map(TlsAcceptor::from)
    }

    fn config(
        &self,
        clients: Arc<dyn ClientCertVerifier>,
    ) -> Result<Arc<ServerConfig>, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients)
            .with_single_cert(self.chain.clone(), self.key.clone_key())?;
        // A client that comes again needs no signature, and the server no memory.
        config.ticketer = ring::Ticketer::new()?;
        Ok(Arc::new(config))
    }

    fn misfit(&self, source: rustls::Error) -> TlsError {
        TlsError::Pair { cert: self.cert_file.clone(), key: self.key_file.clone(), source }
    }
}
