//! The certificate by which the database's server has proved itself, so that its end is seen before it comes.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

/// The last one, in DER.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerCertificate(Arc<Mutex<Option<Vec<u8>>>>);

impl PeerCertificate {
    pub(super) fn get(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, certificate: &[u8]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(certificate.to_vec());
    }
}

/// Verifies as usual, and keeps the certificate.
#[derive(Debug)]
pub(super) struct KeepingVerifier {
    pub(super) inner: Arc<WebPkiServerVerifier>,
    pub(super) kept: PeerCertificate,
}

impl ServerCertVerifier for KeepingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let inner = &self.inner;
        let verified =
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
        self.kept.keep(end_entity);
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
