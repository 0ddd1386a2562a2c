//! The addresses of this machine, as far as other machines may reach it by them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use crate::failure::{Failure, WRONG};

/// Addresses for documentation (RFC 5737, RFC 3849): nothing is sent there.
const FAR: [(IpAddr, IpAddr); 2] = [
    (IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
    (IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))),
];

/// Where nodes reach this machine.
pub(super) struct Addresses {
    /// Addresses or host names.
    pub(super) chosen: Vec<String>,
    /// Others of this machine, which nobody has named.
    pub(super) others: Vec<IpAddr>,
}

impl Addresses {
    /// Those that are `named`, or the one of the default route, or the only one.
    pub(super) fn find(named: &[String]) -> Result<Self, Failure> {
        Self::of(named, default_route(), &own())
    }

    fn of(named: &[String], default: Option<IpAddr>, own: &[IpAddr]) -> Result<Self, Failure> {
        let chosen: Vec<String> = match (named, default, own) {
            ([], Some(address), _) => vec![address.to_string()],
            ([], None, [only]) => vec![only.to_string()],
            ([], None, []) => {
                let error = "finding this machine's address: it has none but for itself";
                let hint = "name the one by which nodes reach it: --address 10.0.0.1";
                return Err(Failure::new(error, hint).with_code(WRONG));
            }
            ([], None, several) => {
                let several: Vec<_> = several.iter().map(IpAddr::to_string).collect();
                let error = format!(
                    "finding this machine's address: no default route, and it has {}",
                    several.join(", ")
                );
                let hint =
                    format!("name the one by which nodes reach it: --address {}", several[0]);
                return Err(Failure::new(error, hint).with_code(WRONG));
            }
            (named, ..) => {
                let bare = named.iter().map(|name| name.trim_matches(['[', ']']).to_owned());
                let chosen: Vec<String> = bare.collect();
                if let Some(wrong) = chosen.iter().find(|name| !is_address(name)) {
                    let error = format!("{wrong:?} is no address or host name");
                    let hint = "name one by which nodes reach this machine: --address 10.0.0.1";
                    return Err(Failure::new(error, hint).with_code(WRONG));
                }
                chosen
            }
        };
        let is_other = |address: &&IpAddr| !chosen.contains(&address.to_string());
        let others = own.iter().filter(is_other).copied().collect();
        Ok(Self { chosen, others })
    }

    /// Whether one of them is of IPv6.
    pub(super) fn has_v6(&self) -> bool {
        self.chosen.iter().any(|address| address.parse::<Ipv6Addr>().is_ok())
    }

    /// The URLs of the port `port` there.
    pub(super) fn urls(&self, port: u16) -> Vec<String> {
        let url = |address: &String| match address.parse::<Ipv6Addr>() {
            Ok(address) => format!("http://[{address}]:{port}"),
            Err(_) => format!("http://{address}:{port}"),
        };
        self.chosen.iter().map(url).collect()
    }
}

/// Whether it may stand for a host in a URL.
fn is_address(name: &str) -> bool {
    let is_of_names = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let (address, zone) = name.split_once('%').unwrap_or((name, "zone"));
    let is_v6 = address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty();
    is_v6 || !name.is_empty() && name.chars().all(is_of_names)
}

/// The address from which this machine would reach others far away.
fn default_route() -> Option<IpAddr> {
    let from = |(here, far): &(IpAddr, IpAddr)| {
        let socket = UdpSocket::bind((*here, 0)).ok()?;
        socket.connect((*far, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    FAR.iter().find_map(from)
}

/// All but those of loopback and of one link.
fn own() -> Vec<IpAddr> {
    // The kernel's tables, proc_net(5): local addresses of IPv4, each below its network; those of IPv6.
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let mut own = v4(&read("/proc/net/fib_trie"));
    own.extend(v6(&read("/proc/net/if_inet6")));
    own
}

fn v4(table: &str) -> Vec<IpAddr> {
    let mut own = Vec::new();
    let mut last = None;
    for line in table.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = last
            && !address.is_loopback()
            && !address.is_link_local()
            && !own.contains(&IpAddr::V4(address))
        {
            own.push(address.into());
        }
    }
    own
}

fn v6(table: &str) -> Vec<IpAddr> {
    let address = |line: &str| {
        let bits = u128::from_str_radix(line.split_whitespace().next()?, 16).ok()?;
        let address = Ipv6Addr::from_bits(bits);
        let is_far = !address.is_loopback() && !address.is_unicast_link_local();
        is_far.then_some(IpAddr::V6(address))
    };
    table.lines().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_routes_address_is_taken_and_the_others_are_named() {
        let own: [IpAddr; 2] = [[10, 0, 0, 1].into(), [192, 168, 0, 1].into()];
        let of = |named: &[&str], default: Option<IpAddr>, own: &[IpAddr]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            let found = Addresses::of(&named, default, own);
            found.map(|found| (found.urls(8480), found.others)).map_err(|failure| failure.error)
        };
        let first = vec!["http://10.0.0.1:8480".to_owned()];
        assert_eq!(of(&[], Some(own[0]), &own), Ok((first.clone(), vec![own[1]])));
        assert_eq!(of(&[], None, &own[..1]), Ok((first, vec![])));
        let both = of(&["mn", "[fd00::1]"], Some(own[0]), &own).unwrap();
        assert_eq!(
            both,
            (vec!["http://mn:8480".into(), "http://[fd00::1]:8480".into()], own.into())
        );
        assert!(of(&[], None, &own).unwrap_err().contains("it has 10.0.0.1, 192.168.0.1"));
        assert!(of(&[], None, &[]).unwrap_err().contains("none but for itself"));
    }

    #[test]
    fn the_kernels_tables_are_read() {
        let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     \
                     |-- 10.0.0.0\n        /8 link UNICAST\n     |-- 10.0.0.1\n        /32 host LOCAL\n     \
                     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 169.254.1.1\n        /32 host LOCAL\n\
                     Local:\n     |-- 10.0.0.1\n        /32 host LOCAL\n";
        assert_eq!(v4(table), [IpAddr::from([10, 0, 0, 1])]);
        let table = "00000000000000000000000000000001 01 80 10 80       lo\n\
                     fd000000000000000000000000000001 02 40 00 80     eth0\n\
                     fe800000000000000000000000000001 02 40 20 80     eth0\n";
        assert_eq!(v6(table), ["fd00::1".parse::<IpAddr>().unwrap()]);
    }
}
