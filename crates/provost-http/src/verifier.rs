//! By what a server is known over TLS: the public keys that the manifest names, else the certificates
//! of the configuration.

use std::sync::Arc;

use provost_bundle::{Digest, Tls};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use crate::private_transport::PrivateTransport;

/// The client's side of TLS, without and with this node's identity. `ca` are the certificates of the
/// configuration.
pub(crate) fn configs(
    ca: &[CertificateDer<'static>],
    transport: PrivateTransport,
) -> Result<(ClientConfig, ClientConfig), Error> {
    let mut roots = RootCertStore::empty();
    for certificate in ca {
        roots.add(certificate.clone())?;
    }
    let provider = Arc::new(ring::default_provider());
    let identity = Arc::new(transport.identity().clone());
    let verifier = Verifier { roots, transport, provider: Arc::clone(&provider) };
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut private = config.clone().with_no_client_auth();
    private.client_auth_cert_resolver = identity;
    Ok((config.with_no_client_auth(), private))
}

#[derive(Debug)]
struct Verifier {
    roots: RootCertStore,
    transport: PrivateTransport,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn is_signed(
        &self,
        certificate: &ParsedCertificate<'_>,
        chain: &[CertificateDer<'_>],
        roots: &RootCertStore,
        at: UnixTime,
    ) -> Result<(), Error> {
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(certificate, roots, chain, at, algorithms)
    }

    /// The same at a time at which the certificates are valid: at a first boot this node's clock shows
    /// anything. For how long an authority counts is up to the manifest that names it.
    fn is_signed_at_its_time(
        &self,
        certificate: &ParsedCertificate<'_>,
        chain: &[CertificateDer<'_>],
        roots: &RootCertStore,
        now: UnixTime,
    ) -> Result<(), Error> {
        let mut at = now;
        // At most once for each certificate of a chain.
        for _ in 0..=chain.len() {
            match self.is_signed(certificate, chain, roots, at) {
                Err(Error::InvalidCertificate(CertificateError::ExpiredContext {
                    not_after,
                    ..
                })) => at = not_after,
                Err(Error::InvalidCertificate(CertificateError::NotValidYetContext {
                    not_before,
                    ..
                })) => at = not_before,
                verified => return verified,
            }
        }
        self.is_signed(certificate, chain, roots, at)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let keys = self.transport.keys();
        let is_named = |certificate: &ParsedCertificate<'_>| {
            keys.contains(&Digest::of(&certificate.subject_public_key_info()))
        };
        if is_named(&certificate) {
            return Ok(ServerCertVerified::assertion());
        }
        let authority = intermediates
            .iter()
            .find(|der| ParsedCertificate::try_from(*der).is_ok_and(|parsed| is_named(&parsed)));
        if let Some(authority) = authority {
            let mut roots = RootCertStore::empty();
            roots.add(authority.clone().into_owned())?;
            self.is_signed_at_its_time(&certificate, intermediates, &roots, now)?;
            // provostd's own authority gives the name to servers only, whose addresses it needn't
            // know.
            let server =
                ServerName::try_from(Tls::SERVER).map_err(|_| Error::General(String::new()))?;
            verify_server_name(&certificate, &server)
                .or_else(|_| verify_server_name(&certificate, name))?;
        } else {
            self.is_signed(&certificate, intermediates, &self.roots, now)?;
            verify_server_name(&certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
