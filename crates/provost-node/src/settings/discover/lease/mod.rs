//! DHCP leases, as the clients leave them on disk: ISC dhclient, dhcpcd, NetworkManager and
//! systemd-networkd.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::read::read;

/// Where the clients keep their leases. The format is known by the content: distributions choose
/// names and places freely.
const FOLDERS: [&str; 8] = [
    "var/lib/dhcp",
    "var/lib/dhclient",
    "var/lib/NetworkManager",
    "run/NetworkManager/devices",
    "run/systemd/netif/leases",
    "var/lib/dhcpcd",
    "var/lib/dhcpcd5",
    "var/db/dhcpcd",
];

/// A lease that hasn't expired.
pub struct Lease {
    /// The client's file.
    pub path: PathBuf,
    /// The DHCP server, then the server to boot from, where that is another one.
    pub servers: Vec<Ipv4Addr>,
}

/// One lease in a file.
#[derive(Debug, Default, PartialEq)]
struct Terms {
    /// The server's identifier (option 54).
    giver: Option<Ipv4Addr>,
    /// The next server (siaddr).
    next: Option<Ipv4Addr>,
    /// None: never, or its client removes the file in time.
    expires: Option<Timestamp>,
}

impl Terms {
    fn servers(&self) -> Vec<Ipv4Addr> {
        let is_host = |a: &Ipv4Addr| {
            !(a.is_unspecified() || a.is_broadcast() || a.is_loopback() || a.is_multicast())
        };
        let mut servers: Vec<_> = self.giver.into_iter().chain(self.next).collect();
        servers.retain(is_host);
        servers.dedup();
        servers
    }

    fn holds(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|end| end > now)
    }
}

/// The newest lease below `root` that is valid at `now` and names a server. Each client rewrites
/// its file when it renews, so the newest file has the newest lease.
pub(crate) fn newest(root: &Path, now: Timestamp) -> Option<Lease> {
    let mut files: Vec<(Timestamp, PathBuf)> = FOLDERS
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flat_map(|entries| entries.flatten())
        .filter_map(|entry| {
            let written = entry.metadata().ok().filter(|m| m.is_file())?.modified().ok()?;
            Some((Timestamp::try_from(written).ok()?, entry.path()))
        })
        .collect();
    files.sort();
    files.into_iter().rev().find_map(|(written, path)| {
        let terms = terms(&read(&path)?, written);
        let servers = terms.iter().rfind(|t| t.holds(now) && !t.servers().is_empty())?.servers();
        Some(Lease { path, servers })
    })
}

/// The leases in a file, newest last.
fn terms(bytes: &[u8], written: Timestamp) -> Vec<Terms> {
    if let Some(terms) = packet(bytes, written) {
        return vec![terms];
    }
    let text = String::from_utf8_lossy(bytes);
    let leases = dhclient(&text);
    if leases.is_empty() { vec![assignments(&text, written)] } else { leases }
}

/// dhclient.leases(5). An unfinished lease doesn't count; `lease6` is of another protocol.
fn dhclient(text: &str) -> Vec<Terms> {
    let mut leases = Vec::new();
    let mut open: Option<Terms> = None;
    for line in text.lines().map(str::trim) {
        match (line, &mut open) {
            ("lease {", _) => open = Some(Terms::default()),
            ("}", _) => leases.extend(open.take()),
            (line, Some(terms)) => {
                let statement = line.split(';').next().unwrap_or_default();
                let words: Vec<&str> = statement.split_ascii_whitespace().collect();
                match words[..] {
                    ["option", "dhcp-server-identifier", address] => {
                        terms.giver = address.parse().ok();
                    }
                    ["next-server", address] => terms.next = address.parse().ok(),
                    ["expire", "epoch", seconds] => {
                        let seconds = seconds.parse().ok();
                        terms.expires = seconds.and_then(|s| Timestamp::from_second(s).ok());
                    }
                    // The day of the week comes first; the time is UTC.
                    ["expire", _, date, time] => {
                        let format = "%Y/%m/%d %H:%M:%S %z";
                        terms.expires =
                            Timestamp::strptime(format, format!("{date} {time} +0000")).ok();
                    }
                    _ => {}
                }
            }
            (_, None) => {}
        }
    }
    leases
}

/// dhcpcd keeps the server's packet as it came (RFC 2131 section 2, options by RFC 2132). The
/// lease time counts from when the file was written.
fn packet(bytes: &[u8], written: Timestamp) -> Option<Terms> {
    const SIADDR: usize = 20;
    const COOKIE: usize = 236;
    const SERVER_IDENTIFIER: u8 = 54;
    const LEASE_TIME: u8 = 51;
    let mut rest = bytes.get(COOKIE..)?.strip_prefix(&[99, 130, 83, 99])?;
    let four = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).ok();
    let mut terms =
        Terms { next: four(&bytes[SIADDR..SIADDR + 4]).map(Ipv4Addr::from), ..Terms::default() };
    loop {
        rest = match *rest {
            [] | [255, ..] => return Some(terms),
            [0, ..] => &rest[1..],
            [code, length, ..] => {
                let end = 2 + usize::from(length);
                let Some(value) = rest.get(2..end) else { return Some(terms) };
                match code {
                    SERVER_IDENTIFIER => terms.giver = four(value).map(Ipv4Addr::from),
                    LEASE_TIME => {
                        let seconds = four(value).map(u32::from_be_bytes);
                        // All ones: the lease never expires.
                        let seconds = seconds.filter(|s| *s != u32::MAX);
                        terms.expires = seconds.and_then(|s| after(written, s.into()));
                    }
                    _ => {}
                }
                &rest[end..]
            }
            [_] => return Some(terms),
        };
    }
}

/// `KEY=VALUE` lines: systemd-networkd, NetworkManager (whose own client once was networkd's), and
/// the variables of dhcpcd's hooks, which older versions left in a file.
fn assignments(text: &str, written: Timestamp) -> Terms {
    let mut terms = Terms::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches(['\'', '"']);
        match key.trim().trim_start_matches("new_") {
            "SERVER_ADDRESS" | "dhcp_server_identifier" | "DHCPSID" => {
                terms.giver = value.parse().ok();
            }
            "NEXT_SERVER" | "next-server" | "DHCPSIADDR" => terms.next = value.parse().ok(),
            "LIFETIME" | "dhcp_lease_time" | "LEASETIME" => {
                // Seconds, or of a newer networkd a time span such as `1h 30min`.
                let span = || value.parse::<SignedDuration>().ok().map(|d| d.as_secs());
                let seconds = value.parse().ok().or_else(span);
                terms.expires = seconds.and_then(|s| after(written, s));
            }
            _ => {}
        }
    }
    terms
}

fn after(begin: Timestamp, seconds: i64) -> Option<Timestamp> {
    begin.checked_add(SignedDuration::from_secs(seconds)).ok()
}

#[cfg(test)]
mod tests;
