//! A key of Ed25519, the request for its certificate, and one of its own making, as bytes: with this kind
//! of key all lengths are known.

use ct_codecs::{Base64, Encoder};
use provost_bundle::Fingerprint;
use rustls::SignatureScheme;
use rustls::crypto::ring;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::SigningKey;

/// PKCS #8 (RFC 8410) up to the 32 bytes of the key.
const PKCS8: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
/// A request (RFC 2986) up to the public key: version 0, and a subject without a name, which the
/// management node gives.
const REQUEST: [u8; 9] = *b"\x30\x7f\x30\x33\x02\x01\x00\x30\x00";
/// Where what is signed begins in it.
const SIGNED: usize = 2;
/// A certificate (RFC 5280) up to the public key: version 3, number 1, this kind of signature, no issuer,
/// from 1970 until 2049, no subject. It says nothing: the management node knows the key.
const CERTIFICATE: [u8; 56] = *b"\x30\x81\xab\x30\x5f\xa0\x03\x02\x01\x02\x02\x01\x01\
    \x30\x05\x06\x03\x2b\x65\x70\x30\x00\x30\x1e\x17\x0d700101000000Z\x17\x0d491231235959Z\x30\x00";
/// Where what is signed begins in it.
const CERTIFIED: usize = 3;
/// No attributes.
const ATTRIBUTES: [u8; 2] = *b"\xa0\x00";
/// The algorithm, and the head of the signature's 64 bytes.
const SIGNATURE: [u8; 10] = *b"\x30\x05\x06\x03\x2b\x65\x70\x03\x41\x00";

/// A new secret key, PEM.
pub(crate) fn new_key() -> Result<String, rustls::Error> {
    let mut key = [0; 48];
    let (head, secret) = key.split_at_mut(PKCS8.len());
    head.copy_from_slice(&PKCS8);
    let random = ring::default_provider().secure_random;
    random.fill(secret).map_err(|_| rustls::Error::FailedToGetRandomBytes)?;
    let text = Base64::encode_to_string(key).map_err(|e| rustls::Error::General(e.to_string()))?;
    Ok(format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"))
}

/// The request for a certificate of `key`, which only its owner can make, and the key's fingerprint.
pub(crate) fn request(key: &dyn SigningKey) -> Result<(Vec<u8>, Fingerprint), rustls::Error> {
    let public = public(key)?;
    let request = signed(key, [&REQUEST[..], &public, &ATTRIBUTES].concat(), SIGNED)?;
    Ok((request, Fingerprint::of(&public)))
}

/// A certificate of `key` that nobody else has signed.
pub(crate) fn own_certificate(key: &dyn SigningKey) -> Result<Vec<u8>, rustls::Error> {
    signed(key, [&CERTIFICATE[..], &public(key)?].concat(), CERTIFIED)
}

fn public(key: &dyn SigningKey) -> Result<SubjectPublicKeyInfoDer<'_>, rustls::Error> {
    key.public_key().filter(|public| public.len() == 44).ok_or_else(unusable)
}

/// `der` with the signature of what begins at `from` in it.
fn signed(key: &dyn SigningKey, mut der: Vec<u8>, from: usize) -> Result<Vec<u8>, rustls::Error> {
    let signer = key.choose_scheme(&[SignatureScheme::ED25519]).ok_or_else(unusable)?;
    let signature = signer.sign(&der[from..])?;
    der.extend_from_slice(&SIGNATURE);
    der.extend_from_slice(&signature);
    Ok(der)
}

fn unusable() -> rustls::Error {
    rustls::Error::General("the key isn't one of Ed25519".to_owned())
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::sign::CertifiedKey;

    use super::*;

    #[test]
    fn a_request_has_the_lengths_that_it_says() {
        let pem = new_key().unwrap();
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).unwrap();
        let key = ring::sign::any_eddsa_type(&der).unwrap();
        let (request, _) = super::request(&*key).unwrap();
        assert_eq!(request.len(), 2 + 0x7f);
        assert_eq!(request[2 + 2 + 0x33..][..2], [0x30, 0x05]);
        assert_ne!(new_key().unwrap(), pem);
        let certificate = own_certificate(&*key).unwrap();
        assert_eq!(certificate.len(), 3 + 0xab);
        let own = CertifiedKey::new(vec![certificate.into()], key);
        own.keys_match().unwrap();
    }
}
