//! What this node is told about itself: merged from the command line, the environment, the
//! kernel command line and files, then checked.

mod fragment;
mod sources;

use std::path::PathBuf;

use provost_bundle::{Limit, Trust};
use reqwest::Url;

use crate::failure::Failure;
use crate::secrets::NAMES;
use fragment::Fragment;
pub(crate) use sources::Input;

/// The settings of a run, checked.
pub(crate) struct Settings {
    pub(crate) node: String,
    /// Tried in order. Each ends with a slash.
    pub(crate) servers: Vec<Url>,
    pub(crate) token: Option<Token>,
    pub(crate) trust: Trust,
    pub(crate) fetch: FetchLimits,
    pub(crate) proxy: Option<String>,
    pub(crate) ca: Option<Vec<u8>>,
    pub(crate) run: RunLimits,
    /// How long the last flush of a run may take.
    pub(crate) report_deadline: Limit,
    /// Which variables of the environment are secret: patterns of their names.
    pub(crate) redact: Vec<String>,
    #[allow(dead_code, reason = "the guard comes next")]
    pub(crate) guard: Guard,
}

/// A bearer token. It has no `Debug`, so that no log shows it.
#[derive(Clone)]
pub(crate) struct Token(pub(crate) String);

/// Where things are.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(crate) state: PathBuf,
    pub(crate) log: PathBuf,
}

/// How long fetching may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchLimits {
    pub(crate) connect: Limit,
    /// Without a byte.
    pub(crate) stall: Limit,
    /// In all, tries and waits included.
    pub(crate) deadline: Limit,
}

/// How long running may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    /// A script, where its policy doesn't say.
    pub(crate) timeout: Limit,
    /// Until a script is called slow.
    pub(crate) slow: Limit,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Limit,
    /// For descendants that hold a script's output after it has ended.
    pub(crate) leak: Limit,
    /// The whole run.
    pub(crate) deadline: Limit,
}

/// After what nothing runs any more until an admin has looked at the node.
#[allow(dead_code, reason = "the guard comes next")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    /// Runs of `kickstart` or `boot` in a row that don't end well.
    pub(crate) max_attempts: u32,
    /// Reboots in one run that its scripts ask for.
    pub(crate) max_reboots: u32,
}

impl Paths {
    /// The journal of a service.
    pub(crate) fn journal(&self, service: provost_record::Service) -> PathBuf {
        self.log.join(format!("services/{service}.json"))
    }

    /// The folder of a run's script logs.
    pub(crate) fn scripts(&self, run: &str) -> PathBuf {
        self.log.join("scripts").join(run)
    }
}

impl Input {
    /// Where things are; needs no more than the files themselves.
    pub(crate) fn paths(&self) -> Paths {
        let paths = &self.fragment.paths;
        let or = |path: &Option<PathBuf>, default: &str| path.clone().unwrap_or(default.into());
        Paths {
            state: or(&paths.state, "/var/lib/provost"),
            log: or(&paths.log, "/var/log/provost"),
        }
    }

    /// The node's name: as told, else the host name up to its first dot.
    pub(crate) fn node(&self) -> String {
        let host = || {
            let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
            name.split('.').next().unwrap_or_default().to_owned()
        };
        self.fragment.node.clone().unwrap_or_else(host)
    }

    /// Checks all that a run needs.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let Fragment { servers, token_file, trust, fetch, run, report, guard, log, .. } =
            &self.fragment;
        let node = self.node();
        if !provost_plan::is_node_name(&node) {
            let message = format!("the node's name {node:?} is none");
            return Err(Failure::config(
                message,
                "set `node` in provost.toml, e.g. node = \"cn001\"",
            ));
        }
        let servers = servers.as_deref().unwrap_or_default();
        if servers.is_empty() {
            return Err(Failure::config(
                "no server is configured to fetch from",
                "set `servers` in provost.toml, e.g. servers = [\"http://10.0.0.1:8480\"]",
            ));
        }
        let servers = servers.iter().map(|s| server(s)).collect::<Result<_, _>>()?;
        let keys = trust.keys.as_deref().unwrap_or_default();
        let unsigned = trust.unsigned.unwrap_or(false);
        if keys.is_empty() && trust.manifest_sha256.is_none() && !unsigned {
            return Err(Failure::config(
                "[trust] says nothing: there is no key that a bundle could be trusted by",
                "set [trust] keys = [\"RW…\"] to the line that `provostctl key new` printed \
                 (`unsigned = true` would run anything)",
            ));
        }
        let trust = Trust::new(keys, trust.manifest_sha256.as_deref(), unsigned)
            .map_err(|e| Failure::config(&e, e.hint()))?;
        let token = match (&self.token, token_file) {
            (Some(token), _) => Some(Token(token.trim().to_owned())),
            (None, Some(path)) => Some(read_token(path)?),
            (None, None) => None,
        };
        let ca = fetch.ca.as_ref().map(|path| {
            let failed = |e| format!("reading the CA certificates {}: {e}", path.display());
            std::fs::read(path)
                .map_err(|e| Failure::config(failed(e), "mend or remove `ca` under [fetch]"))
        });
        let or = |limit: Option<Limit>, seconds| limit.unwrap_or(Limit::seconds(seconds));
        Ok(Settings {
            node,
            servers,
            token,
            trust,
            fetch: FetchLimits {
                connect: or(fetch.connect_timeout, 5),
                stall: or(fetch.stall_timeout, 15),
                deadline: or(fetch.deadline, 600),
            },
            proxy: fetch.proxy.clone(),
            ca: ca.transpose()?,
            run: RunLimits {
                timeout: or(run.timeout, 1800),
                slow: or(run.slow, 60),
                grace: or(run.grace, 10),
                leak: or(run.leak, 2),
                deadline: or(run.deadline, 7200),
            },
            report_deadline: or(report.deadline, 30),
            redact: log.redact.clone().unwrap_or(NAMES.map(str::to_owned).to_vec()),
            guard: Guard {
                max_attempts: guard.max_attempts.unwrap_or(3),
                max_reboots: guard.max_reboots.unwrap_or(3),
            },
        })
    }
}

fn server(text: &str) -> Result<Url, Failure> {
    let refused = |why: String| {
        let hint = "write it as a URL, best with an address, e.g. http://10.0.0.1:8480";
        Failure::config(format!("the server {text:?} can't be used: {why}"), hint)
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

fn read_token(path: &std::path::Path) -> Result<Token, Failure> {
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
