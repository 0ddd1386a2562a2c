//! Names to addresses: by the hosts file, then by the name servers of resolv.conf.
//!
//! glibc's own lookup would load libraries of the host into a static binary. hickory asks the name servers that it
//! is given here. reqwest's feature `hickory-dns` isn't used: where resolv.conf names none it asks public ones,
//! which have no business on a provisioning network.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::Name;
use provost_bundle::Limit;
use reqwest::dns::{Addrs, Resolve, Resolving};
use resolv_conf::Config;

use crate::zone;

/// How long one name server may take, and how often each is asked.
const QUESTION: Duration = Duration::from_secs(2);
const TRIES: usize = 2;
/// How many name servers resolv.conf(5) allows.
const MOST_SERVERS: usize = 3;
/// The most bytes of a file of the system's, such as /etc/hosts of a large site.
const MOST: u64 = 64 << 20;

/// Where names are looked up. The files are read each time: DHCP may rewrite them.
#[derive(Clone, Debug)]
pub struct Names {
    hosts: PathBuf,
    resolv_conf: PathBuf,
    /// The name servers' port.
    port: u16,
    /// How long the lookup of one name may take, with all its questions.
    limit: Duration,
}

/// Why a name has no address.
#[derive(Debug)]
pub struct Unresolved {
    name: String,
    why: String,
    hint: &'static str,
}

impl std::fmt::Display for Unresolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "looking up the name {}: {}", zone::shown(&self.name), self.why)
    }
}

impl std::error::Error for Unresolved {}

impl Unresolved {
    /// What an admin can do about it.
    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

impl Names {
    /// `connect` is the time for a connection, of which the lookup is the first part.
    pub fn new(connect: Limit) -> Self {
        Self {
            hosts: "/etc/hosts".into(),
            resolv_conf: "/etc/resolv.conf".into(),
            port: 53,
            // Less than the connection's limit, so that the error names the lookup.
            limit: connect.duration() * 9 / 10,
        }
    }

    /// The addresses of `name`.
    pub async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Unresolved> {
        let hosts = provost_fs::read_given_text(&self.hosts, MOST).unwrap_or_default();
        let known = in_hosts(&hosts, name);
        if !known.is_empty() {
            return Ok(known);
        }
        let refused = |why: String, hint| Unresolved { name: name.to_owned(), why, hint };
        let file = self.resolv_conf.display();
        let text = provost_fs::read_given(&self.resolv_conf, MOST);
        let (conf, _) = Config::parse_with_errors(text.as_deref().unwrap_or_default());
        let servers = servers(&conf);
        if servers.is_empty() {
            let why = match text {
                Ok(_) => format!(
                    "{} doesn't know it, and {file} names no name server",
                    self.hosts.display()
                ),
                Err(e) => {
                    format!("{} doesn't know it, and reading {file}: {e}", self.hosts.display())
                }
            };
            let hint = "use the server's address, or add its name to /etc/hosts, or a name server to \
                        /etc/resolv.conf";
            return Err(refused(why, hint));
        }
        let check = "check the name and that it has an address: dig @ADDRESS NAME";
        let Some(names) = candidates(&conf, name) else {
            return Err(refused("it isn't a valid host name".to_owned(), check));
        };
        let asked: Vec<String> = servers.iter().map(IpAddr::to_string).collect();
        let asked = asked.join(", ");
        let silent = "use the server's address, or check why the name servers of /etc/resolv.conf \
                      don't answer: dig @ADDRESS NAME";
        match tokio::time::timeout(self.limit, self.ask(&servers, &names)).await {
            Ok(Ok(found)) if !found.is_empty() => Ok(found),
            Ok(Ok(_)) => {
                Err(refused(format!("the name servers don't know it, asked {asked}"), check))
            }
            Err(_) | Ok(Err(NetError::Timeout)) => {
                Err(refused(format!("no name server responded, asked {asked}"), silent))
            }
            Ok(Err(e)) => Err(refused(format!("{}, asked {asked}", reason(&e)), silent)),
        }
    }

    /// Asks one after the other, as glibc does: at many sites the second knows less than the first. One resolver for
    /// all of them wouldn't: hickory's time-out is for all together, and an error response ends its lookup.
    async fn ask(&self, servers: &[IpAddr], names: &[Name]) -> Result<Vec<IpAddr>, NetError> {
        let mut last = NetError::Timeout;
        for _ in 0..TRIES {
            for server in servers {
                match tokio::time::timeout(QUESTION, self.look_up_at(*server, names)).await {
                    Ok(Ok(found)) => return Ok(found),
                    Ok(Err(e)) => last = e,
                    Err(_) => {}
                }
            }
        }
        Err(last)
    }

    /// The addresses that `server` knows for the first of `names` that has any.
    async fn look_up_at(&self, server: IpAddr, names: &[Name]) -> Result<Vec<IpAddr>, NetError> {
        check_route(SocketAddr::new(server, self.port))?;
        let resolver = self.resolver(server)?;
        for name in names {
            match resolver.lookup_ip(name.clone()).await {
                Ok(found) if found.iter().next().is_some() => return Ok(found.iter().collect()),
                Err(e) if !e.is_no_records_found() => return Err(e),
                _ => {}
            }
        }
        Ok(Vec::new())
    }

    /// A resolver that asks `server` alone, once, and remembers nothing.
    fn resolver(&self, server: IpAddr) -> Result<TokioResolver, NetError> {
        let mut server = NameServerConfig::udp_and_tcp(server);
        server.connections.iter_mut().for_each(|connection| connection.port = self.port);
        let mut options = ResolverOpts::default();
        options.attempts = 0;
        options.cache_size = 0;
        options.edns0 = false;
        options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
        // A port of hickory's choice may be that of a service which starts just then.
        options.os_port_selection = true;
        options.timeout = QUESTION;
        // hickory would keep the whole file in memory, which is large where it names each node.
        options.use_hosts_file = ResolveHosts::Never;
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            .with_options(options)
            .build()
    }
}

/// Why the kernel sends nothing to `server`, such as that there is no route: hickory would only say that it has no
/// connection. To connect a UDP socket sends nothing.
fn check_route(server: SocketAddr) -> io::Result<()> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    UdpSocket::bind((any, 0))?.connect(server)
}

/// Why a name server is of no use, in the words of dig(1) or of the kernel.
fn reason(error: &NetError) -> String {
    match error {
        NetError::Dns(DnsError::ResponseCode(code)) => {
            let name = format!("{code:?}").to_uppercase();
            format!("the name server responded {name} (code {})", u16::from(*code))
        }
        // Without the words "io error", which hickory puts before it.
        NetError::Io(e) => e.to_string(),
        e => e.to_string(),
    }
}

impl Resolve for Names {
    fn resolve(&self, name: reqwest::dns::Name) -> Resolving {
        let names = self.clone();
        Box::pin(async move {
            if let Some(address) = zone::resolve(name.as_str()) {
                let unknown =
                    |why| Unresolved { name: name.as_str().to_owned(), why, hint: zone::HINT };
                let address = address.map_err(unknown)?;
                return Ok(Box::new(std::iter::once(address)) as Addrs);
            }
            let found = names.look_up(name.as_str()).await?;
            // The port is that of the URL.
            Ok(Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

/// The addresses of `name` in a hosts file, those of IPv4 first.
fn in_hosts(text: &str, name: &str) -> Vec<IpAddr> {
    let name = name.trim_end_matches('.');
    let address = |line: &str| {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let address: IpAddr = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    };
    let mut found: Vec<IpAddr> = text.lines().filter_map(address).collect();
    found.sort_by_key(IpAddr::is_ipv6);
    found
}

/// The name servers to ask, without the zone of a link-local address, which an address has no place for.
fn servers(conf: &Config) -> Vec<IpAddr> {
    conf.nameservers.iter().map(IpAddr::from).take(MOST_SERVERS).collect()
}

/// The names to ask for, in order, to find `name` (`search` and `ndots` in resolv.conf(5)). None if it can't be
/// that of a host.
fn candidates(conf: &Config, name: &str) -> Option<Vec<Name>> {
    let name = Name::from_ascii(name).ok().filter(|name| name.num_labels() > 0)?;
    let in_domain =
        |domain: &String| name.clone().append_domain(&Name::from_ascii(domain).ok()?).ok();
    let mut names: Vec<Name> = match name.is_fqdn() {
        true => Vec::new(),
        false => conf.get_last_search_or_domain().filter_map(in_domain).collect(),
    };
    let is_whole = u32::from(name.num_labels()) > conf.ndots;
    let mut whole = name;
    whole.set_fqdn(true);
    names.insert(if is_whole { 0 } else { names.len() }, whole);
    Some(names)
}

#[cfg(test)]
mod tests;
