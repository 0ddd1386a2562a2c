//! Link-local addresses, which need the interface that they are reached by: `http://[fe80::41%eth0]:8480`
//! (RFC 4007; `%25` in a URL, RFC 6874). The URL library has no place for that, so the host becomes a name
//! below [`SUFFIX`], as Windows writes such addresses, which [`Names`](crate::resolve::Names) knows.

use std::borrow::Cow;
use std::fmt::Write;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};

use reqwest::Url;

/// What such a name ends with. Before it stands the address, with `-` for `:`, and `s` and the interface, in which
/// `_` comes before a capital letter, which a URL wouldn't keep, and before another `_`.
const SUFFIX: &str = ".ipv6-literal.net";
/// The interfaces that have an address of IPv6: ADDRESS INDEX PREFIX SCOPE FLAGS NAME, in hexadecimal.
const INTERFACES: &str = "/proc/net/if_inet6";
/// What to do where an interface isn't known.
pub const HINT: &str = "name an interface of this machine that is up, after the %: ip -6 address";

/// Parses a URL whose host may be an address with an interface.
///
/// # Errors
///
/// Why it is no URL.
pub fn parse_url(text: &str) -> Result<Url, String> {
    let plain = || Url::parse(text).map_err(|e| e.to_string());
    let Some((before, rest)) = text.split_once("://[") else { return plain() };
    let Some((host, after)) = rest.split_once(']') else { return plain() };
    let Some((address, zone)) = split(host) else { return plain() };
    Url::parse(&format!("{before}://{}{after}", name(address, zone))).map_err(|e| e.to_string())
}

/// Parses an address and port such as `[fe80::41%eth0]:8480`.
///
/// # Errors
///
/// Why it is none, or that there is no such interface.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let host = text.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    let zoned = host.and_then(|(host, port)| Some((split(host)?, port.parse().ok()?)));
    match zoned {
        Some(((address, zone), port)) => {
            Ok(SocketAddrV6::new(address, port, 0, index(zone)?).into())
        }
        None => text.parse().map_err(|e: std::net::AddrParseError| e.to_string()),
    }
}

/// The address, port 0, of a name that [`parse_url`] made; none of another name.
///
/// # Errors
///
/// That there is no such interface.
pub fn resolve(name: &str) -> Option<Result<SocketAddr, String>> {
    let (address, zone) = parts(name)?;
    Some(index(&zone).map(|index| SocketAddrV6::new(address, 0, 0, index).into()))
}

/// The interface in a name that [`parse_url`] made.
pub fn of(name: &str) -> Option<String> {
    parts(name).map(|(_, zone)| zone)
}

/// `text` with such names as the user wrote them.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(SUFFIX) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(SUFFIX) {
        let end = at + SUFFIX.len();
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let begin = rest[..at].rfind(|c| !is_of_host(c)).map_or(0, |before| before + 1);
        shown += &rest[..begin];
        match parts(&rest[begin..end]) {
            // Writing to a String can't fail.
            Some((address, zone)) => drop(write!(shown, "[{address}%{zone}]")),
            None => shown += &rest[begin..end],
        }
        rest = &rest[end..];
    }
    Cow::Owned(shown + rest)
}

/// An address and its interface.
fn split(host: &str) -> Option<(Ipv6Addr, &str)> {
    let (address, zone) = host.split_once('%')?;
    let zone = zone.strip_prefix("25").filter(|zone| !zone.is_empty()).unwrap_or(zone);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_zone = !zone.is_empty() && zone.chars().all(is_name);
    is_zone.then_some((address.parse().ok()?, zone))
}

fn name(address: Ipv6Addr, zone: &str) -> String {
    // A name must not begin with a dash.
    let address = match address.to_string() {
        text if text.starts_with(':') => format!("0{text}"),
        text => text,
    };
    let mut escaped = String::new();
    for c in zone.chars() {
        if c.is_ascii_uppercase() || c == '_' {
            escaped.push('_');
        }
        escaped.push(c.to_ascii_lowercase());
    }
    format!("{}s{escaped}{SUFFIX}", address.replace(':', "-"))
}

fn parts(name: &str) -> Option<(Ipv6Addr, String)> {
    let (address, escaped) = name.strip_suffix(SUFFIX)?.split_once('s')?;
    let mut zone = String::new();
    let mut chars = escaped.chars();
    while let Some(c) = chars.next() {
        zone.push(if c == '_' { chars.next()?.to_ascii_uppercase() } else { c });
    }
    Some((address.replace('-', ":").parse().ok()?, zone))
}

/// The index of an interface.
fn index(zone: &str) -> Result<u32, String> {
    if let Ok(index) = zone.parse() {
        return Ok(index);
    }
    let interfaces = std::fs::read_to_string(INTERFACES).unwrap_or_default();
    let of = |line: &str| {
        let mut columns = line.split_ascii_whitespace();
        let index = u32::from_str_radix(columns.nth(1)?, 16).ok()?;
        (columns.nth(3)? == zone).then_some(index)
    };
    let none = || format!("this machine has no interface {zone} with an IPv6 address");
    interfaces.lines().find_map(of).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_its_interface_and_is_shown_as_it_was_written() {
        for text in ["http://[fe80::41%eth0]:8480/x", "http://[fe80::41%25eth0]:8480/x"] {
            let url = parse_url(text).unwrap();
            assert_eq!(url.port(), Some(8480));
            assert_eq!(shown(url.as_str()), "http://[fe80::41%eth0]:8480/x");
            let said = format!("asking {url}: no");
            assert_eq!(shown(&said), "asking http://[fe80::41%eth0]:8480/x: no");
        }
        assert_eq!(parse_url("http://[fe80::1]:1/").unwrap().as_str(), "http://[fe80::1]:1/");
        assert!(parse_url("http://[fe80::1%]:1/").is_err());
        assert_eq!(shown("http://www.example/"), "http://www.example/");
    }

    #[test]
    fn an_interface_is_found_by_its_name() {
        let url = parse_url("http://[fe80::1%enP2_p1]/").unwrap();
        assert_eq!(shown(url.as_str()), "http://[fe80::1%enP2_p1]/");
        let lo = resolve("0--1slo.ipv6-literal.net");
        if std::fs::read_to_string(INTERFACES).is_ok_and(|text| text.contains(" lo\n")) {
            assert_eq!(lo.unwrap().unwrap().to_string(), "[::1%1]:0");
            assert_eq!(parse_address("[::1%lo]:80").unwrap().to_string(), "[::1%1]:80");
        }
        assert_eq!(parse_address("127.0.0.1:80").unwrap().port(), 80);
        let error = parse_address("[fe80::1%nowhere0]:80").unwrap_err();
        assert!(error.contains("no interface nowhere0"), "{error}");
        assert!(resolve("www.example").is_none());
    }
}
