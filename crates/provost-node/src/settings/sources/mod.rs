use std::io::ErrorKind;
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;
use toml::de::{DeTable, DeValue, Deserializer};

use super::fragment::Fragment;
use super::usable::server;
use super::values::{self, Origin, Overruled, Values};
use crate::failure::Failure;
use crate::settings::discover::{self, Machine};

/// Where the configuration is where nobody says otherwise.
const DEFAULT: &str = "/etc/provost/provost.toml";
/// Where xCAT's note is where nobody says otherwise.
const XCAT: &str = "/opt/xcat";
/// The port of provostd. xCAT's ports, which stand beside its addresses, are other services'.
const PORT: u16 = 8480;
/// The port of an xCAT management node's web server.
const HTTP_PORT: u16 = 80;

/// A value that the command line gives, by its key.
pub type Flag = (&'static str, toml::Value, Origin);

/// What all sources together say, not yet checked as a whole.
pub struct Input {
    /// The configuration file.
    pub(crate) config: (PathBuf, Origin),
    pub(crate) values: Values,
    pub(crate) fragment: Fragment,
    /// A token that was given directly.
    pub(crate) token: Option<(String, Origin)>,
    /// What is wrong in the files. It is left out of the values; no script runs with it.
    pub mistakes: Vec<Failure>,
}

impl Input {
    /// Reads all sources: the flags, the environment, the kernel's command line, the configuration
    /// file with its drop-ins (`provost.d/*.toml` beside it, the last by name counting most), what xCAT
    /// noted, the DHCP leases, the host's name. What one says, the next ones can't change. A file
    /// that was asked for must be there.
    pub fn read(config: Option<(PathBuf, Origin)>, flags: Vec<Flag>) -> Self {
        Self::read_on(&Machine::here(), config, flags, |name| std::env::var(name).ok())
    }

    /// The configuration file and its drop-ins.
    pub fn files(&self) -> Vec<PathBuf> {
        let file = &self.config.0;
        let drop_ins = drop_ins(file).unwrap_or_default();
        std::iter::once(file.clone()).chain(drop_ins).filter(|path| path.exists()).collect()
    }

    fn read_on(
        machine: &Machine,
        config: Option<(PathBuf, Origin)>,
        flags: Vec<Flag>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let must_exist = config.is_some();
        let config = config.unwrap_or((DEFAULT.into(), Origin::Default));
        let (mut values, mut token, mut mistakes) = (Values::default(), None, Vec::new());

        for (key, value, origin) in flags {
            values.offer(key, value, origin);
        }
        let variable = |name: &str| format!("PROVOST_{}", name.to_ascii_uppercase());
        said(&mut values, &mut token, |name| {
            let name = variable(name);
            let value = environment(&name).filter(|value| !value.is_empty())?;
            Some((value, Origin::Environment(name)))
        });
        let kernel = machine.kernel_line();
        said(&mut values, &mut token, |name| {
            Some((kernel.get(&format!("provost.{name}"))?.to_owned(), Origin::Kernel))
        });
        let mut ports = [
            ("source.xcatd_port", None, "XCAT"),
            (
                "source.monitor_port",
                kernel.get("XCATIPORT").and_then(|p| p.parse().ok()),
                "XCATIPORT",
            ),
        ];
        if let Some((host, port)) = kernel.get("XCAT").and_then(discover::host_and_port) {
            values.offer("servers", vec![host], Origin::KernelOfXcat("XCAT"));
            ports[0].1 = port.and_then(NonZeroU16::new);
        }
        for (key, port, name) in ports {
            if let Some(port) = port {
                values.offer(key, i64::from(port.get()), Origin::KernelOfXcat(name));
            }
        }
        if let Some(node) = kernel.get("NODE").filter(|node| provost_plan::is_node_name(node)) {
            values.offer("node", node, Origin::KernelOfXcat("NODE"));
        }
        files(&config.0, must_exist, &mut values, &mut mistakes);
        if let Some(ip) = kernel.get("LOGSERVER").and_then(|ip| ip.parse::<IpAddr>().ok()) {
            values.offer("log.syslog", format!("udp://{ip}"), Origin::KernelOfXcat("LOGSERVER"));
        }
        // As xCAT's own scripts, a node of its has all of its sources, one after the other: one of
        // them may be of times long past.
        let is_told = !matches!(values.origin("servers"), None | Some(Origin::KernelOfXcat(_)))
            && can_be_asked(&mut values, &mut mistakes);
        let mut http_port = kernel.get("XCATHTTPPORT").and_then(|port| port.parse().ok());
        let folder = values.text("paths.xcat").unwrap_or(XCAT);
        if let Some(info) = machine.xcatinfo(Path::new(folder)) {
            http_port = http_port.or(info.http_port);
            let origin = || Origin::XcatInfo(info.path.clone());
            if let Some(host) = info.server.filter(|_| !is_told) {
                values.add("servers", vec![host], origin());
            }
            for (key, value) in [("node", info.node), ("source.install_dir", info.install_dir)] {
                if let Some(value) = value {
                    values.offer(key, value, origin());
                }
            }
        }
        let is_known = values.origin("servers").is_some();
        if is_known && !is_told {
            infer(&mut values);
        }
        let is_xcat = values.text("source.kind") == Some("xcat");
        // Whoever answers DHCP isn't to see the token that is meant for another, whom a file with a
        // mistake may name.
        if !is_told
            && (is_xcat || (!is_known && mistakes.is_empty()))
            && let Some(lease) = machine.lease()
        {
            let hosts = lease.servers.iter().map(ToString::to_string);
            values.add("servers", hosts.collect(), Origin::Lease(lease.path));
        }
        if !is_told {
            let port = if is_xcat { http_port.unwrap_or(HTTP_PORT) } else { PORT };
            values.replace("servers", |hosts| urls(hosts, port));
        }
        values.offer("node", host_name(), Origin::HostName);
        let fragment = conclude(&mut values, &mut mistakes);
        Self { config, values, fragment, token, mistakes }
    }

    /// ` (from WHERE)`, for a message about the value of `key`.
    pub(crate) fn from(&self, key: &str) -> String {
        self.values.origin(key).map_or(String::new(), |origin| format!(" (from {origin})"))
    }

    /// Every value by its key, with where it comes from.
    pub fn values(&self) -> impl Iterator<Item = (&str, &toml::Value, &Origin)> {
        self.values.iter()
    }

    /// What the files say in vain, since others that are asked before have said it.
    pub fn overruled(&self) -> &[Overruled] {
        self.values.overruled()
    }

    /// The configuration file.
    pub fn config(&self) -> &(PathBuf, Origin) {
        &self.config
    }

    /// Where a token comes from that was given directly.
    pub fn token_origin(&self) -> Option<&Origin> {
        self.token.as_ref().map(|(_, origin)| origin)
    }
}

/// What a management node is that xCAT names, where nobody says. Keys that a bundle must be signed
/// with are no use with xCAT's, unless somebody has published beside it, and says so.
fn infer(values: &mut Values) {
    let keys = ["trust.keys", "trust.manifest_sha256"];
    if keys.iter().all(|key| values.origin(key).is_none()) {
        values.offer("source.kind", "xcat", Origin::Inferred("servers"));
    }
}

/// Whether any of the servers that somebody has told can be asked. If none can, they are left out:
/// that is told to those that others name.
fn can_be_asked(values: &mut Values, mistakes: &mut Vec<Failure>) -> bool {
    let from = values.origin("servers").map_or(String::new(), |origin| format!(" (from {origin})"));
    let mut wrong = Vec::new();
    for text in values.list("servers") {
        match server(text, &from) {
            Ok(_) => return true,
            Err(failure) => wrong.push(failure),
        }
    }
    if wrong.is_empty() {
        return true;
    }
    mistakes.extend(wrong);
    values.remove("servers");
    false
}

/// The servers of which only the hosts are known.
fn urls(hosts: &toml::Value, port: u16) -> toml::Value {
    let url = |host: &toml::Value| format!("http://{}:{port}", host.as_str().unwrap_or_default());
    hosts.as_array().into_iter().flatten().map(url).collect::<Vec<_>>().into()
}

/// What may be said in few words: the environment and the kernel's command line.
fn said(
    values: &mut Values,
    token: &mut Option<(String, Origin)>,
    get: impl Fn(&str) -> Option<(String, Origin)>,
) {
    let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    if let Some((node, origin)) = get("node") {
        values.offer("node", node, origin);
    }
    for (name, key) in [("server", "servers"), ("key", "trust.keys")] {
        if let Some((text, origin)) = get(name) {
            values.offer(key, list(text), origin);
        }
    }
    if token.is_none() {
        *token = get("token");
    }
}

/// The drop-ins, the last one first, then the file itself.
fn files(file: &Path, must_exist: bool, values: &mut Values, mistakes: &mut Vec<Failure>) {
    let drop_ins = drop_ins(file).unwrap_or_else(|failure| {
        mistakes.push(failure);
        Vec::new()
    });
    for path in drop_ins.iter().rev().map(PathBuf::as_path).chain([file]) {
        match std::fs::read_to_string(path) {
            Ok(text) => read_file(path, &text, values, mistakes),
            Err(e) if e.kind() == ErrorKind::NotFound && path == file && !must_exist => {}
            Err(e) => mistakes.push(unreadable(path, &e)),
        }
    }
}

/// Each value is checked by itself, so that one mistake doesn't hide the rest.
fn read_file(path: &Path, text: &str, values: &mut Values, mistakes: &mut Vec<Failure>) {
    let mut wrong = |at: usize, what: &str| {
        let line = 1 + text[..at].matches('\n').count();
        let message = format!("{}:{line}: {what}", path.display());
        let hint = "mend that line; an unknown key may be a slip of the pen";
        mistakes.push(Failure::config(message, hint));
    };
    let at = |e: &toml::de::Error| e.span().map_or(0, |span| span.start);
    // What stands in the other lines may be all that there is to tell the mistake by.
    let (spans, broken) = DeTable::parse_recoverable(text);
    if let Some(e) = broken.first() {
        wrong(at(e), e.message());
    }
    let table = Table::deserialize(Deserializer::from(spans.clone())).unwrap_or_default();
    for (key, value) in values::leaves(&table) {
        match values::check(&key, &value) {
            Ok(()) if value.is_table() => {}
            Ok(()) => values.offer(&key, value, Origin::File(path.to_owned())),
            // It may stand in the wrong section only by the mistake that was told.
            Err(_) if !broken.is_empty() => {}
            Err(e) => wrong(begin(spans.get_ref(), &key), &format!("{key}: {}", e.message())),
        }
    }
}

/// Where in its file a key stands, in bytes.
fn begin(table: &DeTable<'_>, key: &str) -> usize {
    let (name, rest) = key.split_once('.').map_or((key, None), |(name, rest)| (name, Some(rest)));
    let Some((found, value)) = table.iter().find(|(key, _)| *key.get_ref() == name) else {
        return 0;
    };
    match (value.get_ref(), rest) {
        (DeValue::Table(inner), Some(rest)) => begin(inner, rest),
        _ => found.span().start,
    }
}

/// Each value was checked by itself, so that this finds what only shows in the whole.
fn conclude(values: &mut Values, mistakes: &mut Vec<Failure>) -> Fragment {
    values.conclude().unwrap_or_else(|e| {
        let hint = "see the configuration files and their drop-ins";
        mistakes.push(Failure::config(e.message(), hint));
        Values::default().conclude().expect("a test holds the defaults to be whole")
    })
}

fn drop_ins(file: &Path) -> Result<Vec<PathBuf>, Failure> {
    let folder = file.with_extension("d");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(unreadable(&folder, &e)),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path, e: &std::io::Error) -> Failure {
    let message = format!("reading the configuration {}: {e}", path.display());
    Failure::config(message, "give the right file with --config, and see that root can read it")
}

/// Up to its first dot.
fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
