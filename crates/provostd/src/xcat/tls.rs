use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::config::Xcatd;

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

/// The TLS side of the listener.
pub(crate) fn acceptor(xcatd: &Xcatd) -> Result<TlsAcceptor, TlsError> {
    let unreadable = |path: &PathBuf| {
        let path = path.clone();
        move |source| TlsError::Pem { path, source }
    };
    let (cert, key) = (&xcatd.tls_cert, &xcatd.tls_key);
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(unreadable(cert))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key))?;
    let pair = |source| TlsError::Pair { cert: cert.clone(), key: key.clone(), source };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        // Some xCAT nodes send a certificate; it proves nothing here.
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(pair)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
