//! An authority that gives out certificates, as xCAT sets one up with openssl.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Its configuration. Each certificate gets the names in `SAN`.
const CONFIG: &str = "[ca]\ndefault_ca = here\n[here]\ndatabase = index\nnew_certs_dir = .\n\
    serial = serial\ncertificate = ca.pem\nprivate_key = ca-key.pem\ndefault_md = sha256\n\
    default_days = 7300\nunique_subject = no\npolicy = names\n[names]\ncommonName = supplied\n\
    [server]\nsubjectAltName = ${ENV::SAN}\n";
/// From when on xCAT's certificates are valid, so that no clock is too late.
pub const XCATS_BEGIN: &str = "600101010101Z";

/// An authority in a folder of its own.
pub struct Authority {
    folder: PathBuf,
}

impl Authority {
    /// A new one.
    pub fn new(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let authority = Self { folder: folder.to_owned() };
        for (name, text) in [("config", CONFIG), ("index", ""), ("serial", "01\n")] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        authority.openssl(
            "",
            "req -x509 -newkey rsa:2048 -nodes -days 7300 -subj /CN=xCAT -keyout ca-key.pem \
             -out ca.pem",
        );
        authority
    }

    /// Its own certificate, PEM.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// Gives one out that is valid from `begin` on and for the names `san`. Returns it and its key.
    pub fn issue(&self, name: &str, san: &str, begin: &str) -> (PathBuf, PathBuf) {
        self.issue_with(name, san, &format!("-startdate {begin}"))
    }

    /// The same for one that ends at `end`.
    pub fn issue_until(&self, name: &str, san: &str, begin: &str, end: &str) -> (PathBuf, PathBuf) {
        self.issue_with(name, san, &format!("-startdate {begin} -enddate {end}"))
    }

    fn issue_with(&self, name: &str, san: &str, dates: &str) -> (PathBuf, PathBuf) {
        let at = |kind: &str| self.folder.join(format!("{name}{kind}.pem"));
        self.openssl(
            "",
            &format!(
                "req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}-key.pem \
                 -out {name}-request.pem"
            ),
        );
        self.openssl(
            san,
            &format!(
                "ca -batch -config config -extensions server {dates} \
                 -in {name}-request.pem -out {name}.pem"
            ),
        );
        (at(""), at("-key"))
    }

    fn openssl(&self, san: &str, args: &str) {
        let mut openssl = Command::new("openssl");
        openssl.args(args.split_whitespace()).env("SAN", san).current_dir(&self.folder);
        let done = openssl.output().unwrap();
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
