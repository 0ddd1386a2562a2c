//! No packet leaves this machine: which interface to look at.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use reqwest::Url;

use crate::resolve::Unresolved;
use crate::{innermost, zone};

/// All interfaces: a folder for each.
const INTERFACES: &str = "/sys/class/net";

/// What to do where a request to `url` failed because no interface of this machine leads there; none where it
/// failed for another reason.
pub fn hint(error: &(dyn std::error::Error + 'static), url: &Url) -> Option<String> {
    let error = innermost(error);
    let host = url.host_str().unwrap_or_default();
    if let (Some(zone), Some(_)) = (zone::of(host), error.downcast_ref::<Unresolved>()) {
        return Some(up(&zone));
    }
    match error.downcast_ref::<io::Error>()?.kind() {
        ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown | ErrorKind::AddrNotAvailable => {}
        _ => return None,
    }
    if let Some(zone) = zone::of(host) {
        return Some(up(&zone));
    }
    let host = host.trim_matches(['[', ']']);
    Some(match &down(Path::new(INTERFACES))[..] {
        [] => format!(
            "give an interface an address in the network of {host}, or a route there: ip route get {host}"
        ),
        down => format!(
            "bring up the interface that leads to {host} (down: {}): ip link set {} up",
            down.join(", "),
            down[0]
        ),
    })
}

fn up(zone: &str) -> String {
    format!(
        "bring up {zone}, which the address of the server names: ip link set {zone} up; ip -6 address show {zone}"
    )
}

/// The interfaces below `folder` that could be up and aren't, of this machine's hardware.
fn down(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_down = |entry: &fs::DirEntry| {
        fs::read_to_string(entry.path().join("operstate")).is_ok_and(|state| {
            matches!(state.trim(), "down" | "lowerlayerdown" | "notpresent" | "dormant")
        })
    };
    let mut down: Vec<String> = entries
        .filter(|entry| entry.path().join("device").exists() && is_down(entry))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    down.sort_unstable();
    down
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: i32) -> io::Error {
        io::Error::from_raw_os_error(number)
    }

    #[test]
    fn the_interface_of_an_address_is_named() {
        // ENETUNREACH, EADDRNOTAVAIL and ENETDOWN; ECONNREFUSED and EHOSTUNREACH are the other side's.
        let zoned = zone::parse_url("http://[fe80::41%enP1]:8480").unwrap();
        for number in [101, 99, 100] {
            let hint = hint(&error(number), &zoned).unwrap();
            assert!(hint.contains("ip link set enP1 up"), "{hint}");
        }
        let plain = Url::parse("http://192.0.2.7:8480").unwrap();
        let text = hint(&error(101), &plain).unwrap();
        assert!(text.contains("192.0.2.7"), "{text}");
        for number in [111, 113] {
            assert_eq!(hint(&error(number), &plain), None);
        }
    }

    #[test]
    fn interfaces_that_are_down_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for (name, state) in
            [("ifb0", "down"), ("eth1", "down"), ("eth0", "lowerlayerdown"), ("eth2", "up")]
        {
            // A virtual one has no device.
            let inside = if name == "ifb0" { "power" } else { "device" };
            fs::create_dir_all(folder.path().join(name).join(inside)).unwrap();
            fs::write(folder.path().join(name).join("operstate"), format!("{state}\n")).unwrap();
        }
        assert_eq!(down(folder.path()), ["eth0", "eth1"]);
        assert!(down(&folder.path().join("none")).is_empty());
    }
}
