//! What of all that a node is told can be used, and what is wrong with the rest.

use std::fmt::Display;
use std::path::{self, Path};

use provost_bundle::{Trust, TrustError};
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::fragment::{Fragment, Kind, Offline};
use super::messages::MessageSettings;
use super::{FetchLimits, Guard, Input, Origin, Paths, Settings, Token, Xcat};
use crate::failure::Failure;

impl Input {
    /// Where things are; needs no more than the files themselves.
    pub fn paths(&self) -> Paths {
        self.fragment.paths.clone()
    }

    /// Whether the management node is xCAT's.
    pub fn is_xcat(&self) -> bool {
        self.fragment.source.kind == Kind::Xcat
    }

    /// The node's name at a management node that counts its attempts, which xCAT's doesn't.
    pub fn known_there(&self) -> Option<&str> {
        Some(&*self.fragment.node).filter(|_| !self.is_xcat())
    }

    /// Where messages go.
    pub fn messages(&self) -> Result<MessageSettings, Failure> {
        let log = &self.fragment.log;
        MessageSettings::read(&log.syslog, &log.journal)
    }

    /// Whether a run that failed is told at the login prompt.
    pub fn notices(&self) -> bool {
        self.fragment.log.notices
    }

    /// After what nothing runs any more; the guard looks before anything is checked.
    pub fn guard(&self) -> Guard {
        self.fragment.guard
    }

    /// The node's name: as told, else the host name up to its first dot.
    pub fn node(&self) -> String {
        self.fragment.node.clone()
    }

    /// Checks all that a run needs.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let (settings, failures) = self.usable();
        failures.into_iter().next().map_or(Ok(settings), Err)
    }

    /// What of it can be used, and what can't: that is left out of the settings, which then trust
    /// and reach less than was meant, never more.
    pub fn usable(&self) -> (Settings, Vec<Failure>) {
        let Fragment { node, fetch, run, report, log, .. } = &self.fragment;
        let mut failures = self.mistakes.clone();
        if !provost_plan::is_node_name(node) {
            let message = format!("the node's name {node:?}{} is none", self.from("node"));
            let hint = "set `node` in provost.toml, e.g. node = \"cn001\"";
            failures.push(Failure::config(message, hint));
        }
        let mut note = |failure| failures.push(failure);
        let xcat = self.xcat(&mut note);
        let mut servers = self.servers(&mut note);
        if let Some(xcat) = xcat.as_ref().filter(|xcat| xcat.is_published) {
            let folder = |url: &mut Url| {
                url.set_path(&format!("{}{}/provost/", url.path(), xcat.install_dir))
            };
            servers.iter_mut().for_each(folder);
        }
        let named = Some(&self.config).filter(|(_, origin)| *origin != Origin::Default);
        let settings = Settings {
            // Scripts have a working folder of their own.
            config: named.and_then(|(file, _)| path::absolute(file).ok()),
            node: node.clone(),
            servers,
            token: self.token().map_err(&mut note).ok().flatten(),
            trust: self.trust().map_err(&mut note).unwrap_or_default(),
            fetch: FetchLimits {
                connect: fetch.connect_timeout,
                stall: fetch.stall_timeout,
                deadline: fetch.deadline,
                last_good: fetch.offline == Offline::LastGood,
            },
            proxy: fetch.proxy.clone(),
            ca: fetch.ca.as_ref().and_then(|path| read_ca(path).map_err(&mut note).ok()),
            run: *run,
            report_deadline: report.deadline,
            redact: log.redact.clone(),
            guard: self.guard(),
            xcat,
        };
        self.messages().map_err(&mut note).ok();
        (settings, failures)
    }

    fn servers(&self, note: &mut impl FnMut(Failure)) -> Vec<Url> {
        let servers = &self.fragment.servers;
        if servers.is_empty() {
            note(Failure::config(
                "no server is configured to fetch from",
                "set `servers` in provost.toml, e.g. servers = [\"http://10.0.0.1:8480\"]",
            ));
        }
        let from = self.from("servers");
        servers.iter().filter_map(|text| server(text, &from).map_err(&mut *note).ok()).collect()
    }

    /// What there is to know of xCAT's management node, if it is one. Of a folder that can't be used
    /// nothing is fetched; it is xCAT's all the same, and is told so.
    fn xcat(&self, note: &mut impl FnMut(Failure)) -> Option<Xcat> {
        let Fragment { source, trust, .. } = &self.fragment;
        if source.kind == Kind::Provost {
            return None;
        }
        let mut folder = |key: &str, text: &str| {
            let path = text.trim_matches('/').to_owned();
            if let Err(e) = provost_bundle::check_path(&path) {
                let message = format!("the folder {text:?}{} can't be used: {e}", self.from(key));
                note(Failure::config(message, format!("set {key} as in /install")));
                return String::new();
            }
            path
        };
        Some(Xcat {
            install_dir: folder("source.install_dir", &source.install_dir),
            tftp_dir: folder("source.tftp_dir", &source.tftp_dir),
            xcatd_port: source.xcatd_port.get(),
            monitor_port: source.monitor_port.get(),
            is_published: !trust.keys.is_empty() || trust.manifest_sha256.is_some(),
        })
    }

    fn trust(&self) -> Result<Trust, Failure> {
        let trust = &self.fragment.trust;
        if trust.keys.is_empty() && trust.manifest_sha256.is_none() && !trust.unsigned {
            let (message, hint) = match self.fragment.source.kind {
                Kind::Provost => (
                    "[trust] says nothing: there is no key that a bundle could be trusted by",
                    "set [trust] keys = [\"RW…\"] to the line that `provostctl key new` printed \
                     (`unsigned = true` would run anything)",
                ),
                Kind::Xcat => (
                    "[trust] says nothing, and an xCAT management node signs nothing",
                    "set [trust] unsigned = true to run what it serves, as xCAT itself does; or \
                     publish beside it and set keys",
                ),
            };
            return Err(Failure::config(message, hint));
        }
        let wrong = |e: TrustError| {
            let from = match e {
                TrustError::Key(_) => self.from("trust.keys"),
                TrustError::Digest(_) => self.from("trust.manifest_sha256"),
                _ => String::new(),
            };
            Failure::config(format!("{e}{from}"), e.hint())
        };
        Trust::new(&trust.keys, trust.manifest_sha256.as_deref(), trust.unsigned).map_err(wrong)
    }

    fn token(&self) -> Result<Option<Token>, Failure> {
        match (&self.token, &self.fragment.token_file) {
            (Some((token, _)), _) => Ok(Some(Token(token.trim().to_owned()))),
            (None, Some(path)) => read_token(path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn read_ca(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let failed = |why: &dyn Display, hint: &str| {
        let message = format!("reading the CA certificates {}: {why}", path.display());
        Failure::config(message, hint)
    };
    let pem = std::fs::read(path).map_err(|e| failed(&e, "mend or remove `ca` under [fetch]"))?;
    let hint = "`ca` under [fetch] must name a file of PEM certificates";
    let known = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let known = known.map_err(|e| failed(&e, hint))?;
    // Where there are none, anybody would do.
    if known.is_empty() { Err(failed(&"there is none in it", hint)) } else { Ok(known) }
}

pub(crate) fn server(text: &str, from: &str) -> Result<Url, Failure> {
    let refused = |why: String| {
        let hint = "write it as a URL, best with an address, e.g. http://10.0.0.1:8480";
        Failure::config(format!("the server {text:?}{from} can't be used: {why}"), hint)
    };
    let mut url = Url::parse(text).map_err(|e| refused(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused("it isn't an http or https URL".to_owned()));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

fn read_token(path: &Path) -> Result<Token, Failure> {
    let failed = |why: String| {
        let hint = "put there what `provostctl token NODE` prints, readable by root alone";
        Failure::config(format!("reading the token {}: {why}", path.display()), hint)
    };
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    // The line of `provostctl token` is taken as well: NODE TOKEN.
    let token = text.split_ascii_whitespace().last().unwrap_or_default();
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(failed("it isn't a token".to_owned()));
    }
    Ok(Token(token.to_owned()))
}
