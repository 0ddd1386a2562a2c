//! What makes a signature: minisign's secret key, or a command of the admin's, such as one that asks a
//! token or an HSM.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_bundle::{PublicKey, Signature};

/// Lines of a signature.
const LINES: usize = 4;

/// Makes signatures by one key.
#[derive(Clone)]
pub(crate) enum Signer {
    /// The key itself.
    Key(minisign::SecretKey),
    /// The command, for `sh -c`, and the file of the public key.
    Command(String, PathBuf),
}

/// Why there is no signature.
pub(crate) enum SignError {
    /// The cryptography failed.
    Crypto(String),
    /// The command did, as `what` says.
    Command { command: String, what: String },
}

impl Signer {
    /// A signature by the key `public`: the four lines that minisign reads.
    pub(crate) fn sign(
        &self,
        public: &PublicKey,
        bytes: &[u8],
        comment: &str,
    ) -> Result<String, SignError> {
        match self {
            Self::Key(key) => {
                let untrusted = Some("signature from provostctl");
                let signature = minisign::sign(None, key, bytes, Some(comment), untrusted);
                Ok(signature.map_err(|e| SignError::Crypto(e.to_string()))?.into_string())
            }
            Self::Command(command, key) => {
                let signature = run(command, key, bytes, comment).and_then(|text| {
                    let signature = Signature::decode(&text);
                    match signature.is_some_and(|one| public.verifies(bytes, &one)) {
                        true => Ok(text),
                        false => {
                            Err(format!("what it wrote isn't a signature by key {}", public.id()))
                        }
                    }
                });
                signature.map_err(|what| SignError::Command { command: command.clone(), what })
            }
        }
    }
}

/// What the command makes of the bytes. Its terminal is ours, so that it may ask for something.
fn run(command: &str, key: &Path, bytes: &[u8], comment: &str) -> Result<String, String> {
    let disk = |e: io::Error| format!("a temporary file for it: {e}");
    let folder = tempfile::tempdir().map_err(disk)?;
    let file = folder.path().join("file");
    fs::write(&file, bytes).map_err(disk)?;
    let mut sh = Command::new("sh");
    sh.args(["-c", command, "sh"]).arg(&file).arg(comment).arg(key);
    // What it prints isn't what provostctl prints.
    sh.stdout(io::stderr());
    let status = sh.status().map_err(|e| format!("starting sh: {e}"))?;
    if !status.success() {
        return Err(status.to_string());
    }
    let text = fs::read_to_string(folder.path().join("file.minisig"));
    let text = text.map_err(|e| format!("it wrote no signature to \"$1.minisig\": {e}"))?;
    Ok(text.lines().take(LINES).map(|line| format!("{line}\n")).collect())
}
