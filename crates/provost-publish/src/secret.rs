//! Secret keys, known by what is in the file: what is published is readable by everybody.

use ct_codecs::{Base64, Decoder};

/// Shorter lines of base64 are no key, in characters.
const SHORTEST: usize = 32;

/// What kind of secret key the text has; none if it has none. A script that only looks for a key's
/// first line, or prints it, has none.
pub(crate) fn kind(text: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(text).ok()?;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(kind) = begins(line) {
            // RFC 1421: headers such as `Proc-Type: 4,ENCRYPTED` and a blank line may come first.
            let mut body = lines.clone().take(8).filter(|l| !l.is_empty() && !l.contains(": "));
            if body.next().is_some_and(is_base64) {
                return Some(kind);
            }
        } else if is_minisign(line) {
            return Some("a minisign secret key");
        }
    }
    None
}

fn begins(line: &str) -> Option<&'static str> {
    let name = line.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
    match name {
        "OPENSSH PRIVATE KEY" => Some("an OpenSSH secret key"),
        "PGP PRIVATE KEY BLOCK" => Some("a PGP secret key"),
        _ if name.ends_with("PRIVATE KEY") => Some("a PEM secret key"),
        _ => None,
    }
}

fn is_base64(line: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
    line.len() >= SHORTEST && line.bytes().all(allowed)
}

/// A secret key of minisign: its algorithm, that of its encryption, and 154 or 158 bytes in all.
fn is_minisign(line: &str) -> bool {
    (200..=216).contains(&line.len())
        && Base64::decode_to_vec(line, None)
            .is_ok_and(|bytes| bytes.len() >= 150 && bytes.starts_with(b"Ed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW";

    #[test]
    fn keys_are_known_by_their_content() {
        let pem = |name: &str| format!("-----BEGIN {name}-----\n{BODY}\n-----END {name}-----\n");
        for (text, expected) in [
            (pem("OPENSSH PRIVATE KEY"), "an OpenSSH secret key"),
            (pem("RSA PRIVATE KEY"), "a PEM secret key"),
            (pem("PGP PRIVATE KEY BLOCK").replacen('\n', "\n\n", 1), "a PGP secret key"),
            (
                pem("EC PRIVATE KEY").replacen('\n', "\nProc-Type: 4,ENCRYPTED\n\n", 1),
                "a PEM secret key",
            ),
            (
                format!("#!/bin/sh\ncat >/etc/key <<END\n{}END\n", pem("PRIVATE KEY")),
                "a PEM secret key",
            ),
        ] {
            assert_eq!(kind(text.as_bytes()), Some(expected), "{text}");
        }
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let secret = pair.sk.to_box(None).unwrap().to_string();
        assert_eq!(kind(secret.as_bytes()), Some("a minisign secret key"));
        let secret = pair.sk.to_box(None).unwrap().to_string().replace('\n', "\r\n");
        assert_eq!(kind(secret.as_bytes()), Some("a minisign secret key"));
        assert_eq!(kind(pair.pk.to_box().unwrap().to_string().as_bytes()), None);
    }

    #[test]
    fn what_only_speaks_of_keys_is_none() {
        for text in [
            "#!/bin/sh\ngrep -q 'BEGIN RSA PRIVATE KEY' \"$1\"\n",
            "#!/bin/sh\necho '-----BEGIN RSA PRIVATE KEY-----'\n",
            "-----BEGIN RSA PRIVATE KEY-----\nput your key here\n",
            "-----BEGIN CERTIFICATE-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n",
            "",
        ] {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
        }
        assert_eq!(kind(b"\xff-----BEGIN PRIVATE KEY-----"), None);
    }
}
