use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;

/// `/opt/xcat/xcatinfo`, which xCAT writes into the roots that it installs.
pub struct XcatInfo {
    /// The file.
    pub path: PathBuf,
    /// The management or service node, fit for a URL.
    pub server: Option<String>,
    /// The node's name.
    pub node: Option<String>,
    /// The web server's port.
    pub http_port: Option<u16>,
    /// The folder of the postscripts there.
    pub install_dir: Option<String>,
}

impl XcatInfo {
    /// Lines `KEY=VALUE`, as a shell sources them; later ones win.
    pub(crate) fn parse(path: PathBuf, text: &str) -> Self {
        let get = |name: &str| {
            let values = text.lines().filter_map(|line| {
                line.trim().strip_prefix(name)?.strip_prefix('=')?.trim().split('#').next()
            });
            let unquoted = |value: &str| value.trim().trim_matches(['\'', '"']).to_owned();
            values.map(unquoted).rfind(|value| !value.is_empty())
        };
        let server = get("XCATSERVER").and_then(|text| host(&text));
        let node = get("NODE").filter(|name| provost_plan::is_node_name(name));
        let http_port = get("HTTPPORT").and_then(|port| port.parse().ok());
        let install_dir = get("INSTALLDIR").filter(|path| path.starts_with('/'));
        Self { path, server, node, http_port, install_dir }
    }
}

/// The host in `HOST` or `HOST:PORT`, as xCAT writes it, fit for a URL; none if it isn't valid.
pub fn host(text: &str) -> Option<String> {
    Some(host_and_port(text)?.0)
}

/// The same, with the port.
pub fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let bracketed = |address: Ipv6Addr| format!("[{address}]");
    if let Ok(address) = text.parse() {
        return Some((bracketed(address), None));
    }
    if let Some((inner, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None if rest.is_empty() => None,
            None => return None,
        };
        return Some((bracketed(inner.parse().ok()?), port));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (text, None),
    };
    let is_name = || {
        let known = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'.';
        host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.bytes().all(known)
    };
    (host.parse::<IpAddr>().is_ok() || is_name()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_address_or_a_name_with_or_without_a_port() {
        for (text, expected) in [
            ("10.0.0.1:3001", Some("10.0.0.1")),
            ("10.0.0.1", Some("10.0.0.1")),
            ("mn.cluster:3001", Some("mn.cluster")),
            ("fd00::1", Some("[fd00::1]")),
            ("[fd00::1]:3001", Some("[fd00::1]")),
            ("[fd00::1]", Some("[fd00::1]")),
            ("[fd00::1]3001", None),
            ("[fd00::1", None),
            ("", None),
            (":3001", None),
            ("mn:http", None),
            ("a b", None),
            ("http://mn", None),
            ("-o", None),
            ("mn/../x", None),
        ] {
            assert_eq!(host(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn xcatinfo_is_read_as_a_shell_would_and_nonsense_is_skipped() {
        let parse = |text| XcatInfo::parse("xcatinfo".into(), text);
        let info = parse(
            "XCATSERVER=10.0.0.9\nINSTALLDIR='/install'\nHTTPPORT='80'\nNODE='cn007'\n\
             XCATSERVER='10.0.0.1'\nREBOOT=TRUE\n",
        );
        assert_eq!(info.server.as_deref(), Some("10.0.0.1"));
        assert_eq!(info.node.as_deref(), Some("cn007"));
        assert_eq!((info.http_port, info.install_dir.as_deref()), (Some(80), Some("/install")));
        for text in ["", "XCATSERVER=\nNODE=''\n", "\0\u{fffd}=\nXCATSERVER=$(id)\nNODE=../x\n"] {
            let info = parse(text);
            assert!(info.server.is_none() && info.node.is_none(), "{text:?}");
        }
    }
}
