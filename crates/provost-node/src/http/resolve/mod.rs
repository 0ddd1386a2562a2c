//! Names to addresses: by the hosts file, then by the name servers of resolv.conf.
//!
//! glibc's own lookup would load libraries of the host into a static binary. A resolver library
//! (hickory) would be a tenth of that binary, and falls back to public name servers, which have no
//! business on a provisioning network.

mod question;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use provost_bundle::Limit;
use provost_record::order;
use question::{Kind, Question, Reply};
use reqwest::dns::{Addrs, Resolve, Resolving};

/// How long one name server may take, and how often each is asked.
const QUESTION: Duration = Duration::from_secs(2);
const TRIES: usize = 2;
/// How many name servers resolv.conf(5) allows.
const MOST_SERVERS: usize = 3;

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
        write!(f, "looking up the name {}: {}", self.name, self.why)
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
        let hosts = std::fs::read_to_string(&self.hosts).unwrap_or_default();
        let known = in_hosts(&hosts, name);
        if !known.is_empty() {
            return Ok(known);
        }
        let refused = |why: String, hint| Unresolved { name: name.to_owned(), why, hint };
        let file = self.resolv_conf.display();
        let text = std::fs::read_to_string(&self.resolv_conf);
        let conf = Conf::parse(text.as_deref().unwrap_or_default());
        if conf.servers.is_empty() {
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
        let asked: Vec<String> = conf.servers.iter().map(IpAddr::to_string).collect();
        let asked = asked.join(", ");
        let silent = "use the server's address, or check why the name servers of /etc/resolv.conf \
                      don't answer: dig @ADDRESS NAME";
        match tokio::time::timeout(self.limit, self.ask(&conf, name)).await {
            Ok(Ok(found)) if !found.is_empty() => Ok(found),
            Ok(Ok(_)) => {
                let hint = "check the name and that it has an address: dig @ADDRESS NAME";
                Err(refused(format!("the name servers don't know it, asked {asked}"), hint))
            }
            Err(_) => Err(refused(format!("no name server responded, asked {asked}"), silent)),
            Ok(Err(e)) if e.kind() == io::ErrorKind::TimedOut => {
                Err(refused(format!("no name server responded, asked {asked}"), silent))
            }
            Ok(Err(e)) => Err(refused(format!("{e}, asked {asked}"), silent)),
        }
    }

    /// Asks one after the other, as glibc does: at many sites the second knows less than the
    /// first.
    async fn ask(&self, conf: &Conf, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut last = io::ErrorKind::TimedOut.into();
        for _ in 0..TRIES {
            for server in &conf.servers {
                let server = SocketAddr::new(*server, self.port);
                match tokio::time::timeout(QUESTION, look_up_at(server, &conf.names(name))).await {
                    Ok(Ok(found)) => return Ok(found),
                    Ok(Err(e)) => last = e,
                    Err(_) => {}
                }
            }
        }
        Err(last)
    }
}

/// The addresses of `name` in the `reply` to a question of this node, whose number it needn't have; none if it
/// isn't one, or has none. A name server may say anything.
pub fn addresses_in(reply: &[u8], name: &str) -> Vec<IpAddr> {
    let of_kind = |kind| {
        let question = Question::of(name, kind)?;
        let mut reply = reply.to_vec();
        reply.get_mut(..2)?.copy_from_slice(&question.id());
        match question.read(&reply)? {
            Reply::Addresses(found) => Some(found),
            Reply::Code(_) | Reply::Truncated => None,
        }
    };
    [Kind::A, Kind::Aaaa].into_iter().filter_map(of_kind).flatten().collect()
}

/// The addresses that `server` knows for the first of `names` that has any.
async fn look_up_at(server: SocketAddr, names: &[String]) -> io::Result<Vec<IpAddr>> {
    for name in names {
        for kind in [Kind::A, Kind::Aaaa] {
            let found = question::ask(server, name, kind).await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Ok(Vec::new())
}

impl Resolve for Names {
    fn resolve(&self, name: reqwest::dns::Name) -> Resolving {
        let names = self.clone();
        Box::pin(async move {
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
    order::sort_by_key(&mut found, IpAddr::is_ipv6);
    found
}

/// The part of resolv.conf(5) that we use.
struct Conf {
    servers: Vec<IpAddr>,
    search: Vec<String>,
    ndots: usize,
}

impl Conf {
    fn parse(text: &str) -> Self {
        let mut conf = Self { servers: Vec::new(), search: Vec::new(), ndots: 1 };
        for line in text.lines() {
            let mut words =
                line.split(['#', ';']).next().unwrap_or_default().split_ascii_whitespace();
            match words.next() {
                // The zone of a link-local address has no place in an address.
                Some("nameserver") => {
                    let address: Option<IpAddr> =
                        words.next().and_then(|a| a.split('%').next()?.parse().ok());
                    conf.servers.extend(address);
                }
                // The last line of either counts.
                Some("domain" | "search") => {
                    conf.search = words.map(str::to_owned).collect();
                }
                Some("options") => {
                    let mut dots =
                        words.filter_map(|word| word.strip_prefix("ndots:")?.parse().ok());
                    conf.ndots = dots.next_back().unwrap_or(conf.ndots).min(15);
                }
                _ => {}
            }
        }
        conf.servers.truncate(MOST_SERVERS);
        conf
    }

    /// The names to ask for, in order, to find `name`.
    fn names(&self, name: &str) -> Vec<String> {
        let mut names: Vec<String> = match name.ends_with('.') {
            true => Vec::new(),
            false => self.search.iter().map(|domain| format!("{name}.{domain}")).collect(),
        };
        let is_whole = name.matches('.').count() >= self.ndots;
        names.insert(if is_whole { 0 } else { names.len() }, name.to_owned());
        names
    }
}

#[cfg(test)]
mod tests;
