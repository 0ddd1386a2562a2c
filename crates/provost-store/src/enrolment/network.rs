use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// The addresses that have one beginning: `10.0.0.0/8`, or one address alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    /// How many bits are the same.
    bits: u8,
}

impl Network {
    /// The addresses that one client can have at once: its own; of IPv6 those of its link (RFC 4291, 2.5.4),
    /// of which anybody takes as many as he likes.
    pub fn of_client(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let link = address.to_bits() >> 64 << 64;
                Self { address: Ipv6Addr::from_bits(link).into(), bits: 64 }
            }
            address => Self { address, bits: 32 },
        }
    }

    /// Whether `address` is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        let differ = |a: u128, b: u128, width: u8| {
            let free = width - self.bits;
            (a ^ b).checked_shr(free.into()).unwrap_or(0) != 0
        };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => !differ(a.to_bits().into(), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => !differ(a.to_bits(), b.to_bits(), 128),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} isn't a network; expected one such as 10.0.0.0/8");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= width).ok_or_else(wrong)?,
            None => width,
        };
        Ok(match address.to_canonical() {
            // IPv4 within IPv6, as `contains` takes it.
            IpAddr::V4(mapped) if address.is_ipv6() && bits >= 96 => {
                Self { address: mapped.into(), bits: bits - 96 }
            }
            _ => Self { address, bits },
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(network: &str, address: &str) -> bool {
        network.parse::<Network>().unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn a_client_has_one_address_or_its_link() {
        let of = |address: &str| Network::of_client(address.parse().unwrap()).to_string();
        assert_eq!((of("10.1.2.3"), of("::ffff:10.1.2.3")), (of("10.1.2.3"), "10.1.2.3/32".into()));
        assert_eq!(of("fd00:0:0:1:2::9"), "fd00:0:0:1::/64");
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_as_it_does() {
        assert!(has("10.0.0.0/8", "10.255.0.1") && !has("10.0.0.0/8", "11.0.0.0"));
        assert!(has("10.1.2.3", "10.1.2.3") && !has("10.1.2.3", "10.1.2.2"));
        assert!(has("0.0.0.0/0", "192.0.2.1") && !has("0.0.0.0/0", "::1"));
        assert!(has("fd00::/64", "fd00::9") && !has("fd00::/64", "fd00:0:0:1::9"));
        assert!(has("::/0", "fd00::1") && has("10.0.0.0/31", "::ffff:10.0.0.1"));
        assert!(has("::ffff:10.0.0.1", "10.0.0.1") && has("::ffff:10.0.0.0/104", "10.9.9.9"));
        assert!(!has("::ffff:10.0.0.0/104", "11.0.0.0"));
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/", "10.0.0.0/-1"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
