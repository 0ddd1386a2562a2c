//! Servers that nobody has configured: those of xCAT's notes and of DHCP leases.

use std::path::Path;

use crate::failure::Failure;
use crate::settings::discover::{KernelLine, Machine};
use crate::settings::origin::Origin;
use crate::settings::server;
use crate::settings::values::Values;

/// The folder of xcatinfo, unless `paths.xcat` is another one.
const XCAT: &str = "/opt/xcat";
/// The port of provostd. The ports next to xCAT's addresses are those of other services.
const PORT: u16 = 8480;
/// The port of an xCAT management node's web server.
const HTTP_PORT: u16 = 80;

/// Offers what xcatinfo says, and the servers that it and DHCP leases name, unless servers are
/// configured.
pub(crate) fn offer(
    machine: &Machine,
    kernel: &KernelLine,
    values: &mut Values,
    mistakes: &mut Vec<Failure>,
) {
    let is_configured = !matches!(values.origin("servers"), None | Some(Origin::KernelOfXcat(_)))
        && any_is_usable(values, mistakes);
    let noted_port = offer_xcatinfo(machine, values, is_configured);
    if is_configured {
        return;
    }
    let is_known = values.origin("servers").is_some();
    if is_known {
        infer_kind(values);
    }
    let is_xcat = values.text("source.kind") == Some("xcat");
    // Like xCAT's own scripts, a node of xCAT asks the servers of all sources in turn, because one
    // of them may be out of date. Else a DHCP server gets no token that is meant for a server which
    // a file with a mistake may name.
    if (is_xcat || (!is_known && mistakes.is_empty()))
        && let Some(lease) = machine.lease()
    {
        let hosts = lease.servers.iter().map(ToString::to_string);
        values.add("servers", hosts.collect(), Origin::Lease(lease.path));
    }
    let http_port = kernel.get("XCATHTTPPORT").and_then(|port| port.parse().ok()).or(noted_port);
    let port = if is_xcat { http_port.unwrap_or(HTTP_PORT) } else { PORT };
    values.replace("servers", |hosts| urls(hosts, port));
}

/// Offers what xcatinfo says. Returns its port of the web server.
fn offer_xcatinfo(machine: &Machine, values: &mut Values, is_configured: bool) -> Option<u16> {
    let folder = values.text("paths.xcat").unwrap_or(XCAT);
    let info = machine.xcatinfo(Path::new(folder))?;
    let origin = || Origin::XcatInfo(info.path.clone());
    if let Some(host) = info.server.filter(|_| !is_configured) {
        values.add("servers", vec![host], origin());
    }
    for (key, value) in [("node", info.node), ("source.install_dir", info.install_dir)] {
        if let Some(value) = value {
            values.offer(key, value, origin());
        }
    }
    info.http_port
}

/// A server that xCAT names is an xCAT management node. Where a bundle must be signed, only the
/// admin can say so: xCAT signs nothing.
fn infer_kind(values: &mut Values) {
    let keys = ["trust.keys", "trust.manifest_sha256"];
    if keys.iter().all(|key| values.origin(key).is_none()) {
        values.offer("source.kind", "xcat", Origin::Inferred("servers"));
    }
}

/// Whether any of the configured servers is a valid URL. If none is, they are removed: the mistake
/// can then be reported to servers of other sources.
fn any_is_usable(values: &mut Values, mistakes: &mut Vec<Failure>) -> bool {
    let from = values.from("servers");
    let mut wrong = Vec::new();
    for text in values.list("servers") {
        match server::parse(text, &from) {
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

/// The URLs of servers of which only the hosts are known.
fn urls(hosts: &toml::Value, port: u16) -> toml::Value {
    let url = |host: &toml::Value| format!("http://{}:{port}", host.as_str().unwrap_or_default());
    hosts.as_array().into_iter().flatten().map(url).collect::<Vec<_>>().into()
}
