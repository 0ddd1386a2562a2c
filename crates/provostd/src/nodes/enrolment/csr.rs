//! A request for a certificate (PKCS #10), PEM or DER. Its signature proves that who made it has the
//! secret part of its key. Nothing else in it counts: the node's name is in the URL, and what a
//! certificate says is up to provostd.

use axum::http::StatusCode;
use provost_bundle::Fingerprint;
use rcgen::SubjectPublicKeyInfo;
use tokio_rustls::rustls::pki_types::CertificateSigningRequestDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;

use crate::listener::refusal::Refusal;

/// The longest, in bytes.
pub(super) const MAX: usize = 16 * 1024;

/// The key that was proved.
pub(super) struct ProvedKey {
    pub(super) public_key: SubjectPublicKeyInfo,
    pub(super) fingerprint: Fingerprint,
}

impl ProvedKey {
    pub(super) fn of_request(body: &[u8]) -> Result<Self, Refusal> {
        let refused = |why: String| {
            Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the body isn't a request for a certificate: {why}"),
                "send PKCS #10, PEM or DER, with a key of Ed25519 or ECDSA: openssl req -new",
            )
        };
        let der = match body.starts_with(b"-----") {
            true => CertificateSigningRequestDer::from_pem_slice(body)
                .map_err(|e| refused(e.to_string()))?,
            false => CertificateSigningRequestDer::from(body),
        };
        let (rest, csr) =
            X509CertificationRequest::from_der(&der).map_err(|e| refused(e.to_string()))?;
        if !rest.is_empty() {
            return Err(refused("something follows it".to_owned()));
        }
        csr.verify_signature().map_err(|e| refused(e.to_string()))?;
        let key = csr.certification_request_info.subject_pki.raw;
        let public_key = SubjectPublicKeyInfo::from_der(key).map_err(|e| refused(e.to_string()))?;
        Ok(Self { public_key, fingerprint: Fingerprint::of(key) })
    }
}
