//! The certificates by which xcatd is known.

use std::sync::Arc;

use provost_node::settings::Settings;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// TLS to an xcatd that is known by the certificates under `ca`. None where this process has no
/// cryptography.
pub(super) fn client_config(settings: &Settings) -> Option<ClientConfig> {
    let known = settings.ca.clone();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(known.iter().flatten().cloned());
    let provider = Arc::clone(CryptoProvider::get_default()?);
    let verifier = KnownCertificates { known, roots, provider };
    let config = ClientConfig::builder();
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Some(config.with_no_client_auth())
}

/// A certificate is accepted if it is one of these, whatever it says; or if one of these has signed it
/// and it has the name or address of the server. xCAT's own certificates can be accepted the first way
/// only: they are valid from 1960 on, which UnixTime can't represent, they have no address, and their
/// authority has issued one to each user as well. Where none is configured any is accepted, as by
/// xCAT's own client.
#[derive(Debug)]
struct KnownCertificates {
    known: Option<Vec<CertificateDer<'static>>>,
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for KnownCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.as_ref().is_some_and(|known| !known.contains(end_entity)) {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            let roots = &self.roots;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                roots,
                intermediates,
                now,
                algorithms,
            )?;
            verify_server_name(&certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
