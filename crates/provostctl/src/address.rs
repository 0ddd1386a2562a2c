//! Where provostd's admin API is, and what proves who asks.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use provost_http::zone;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Certificate, ClientBuilder, Url};

use crate::failure::Failure;

/// The longest file with a token or certificates, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// Where it is, and what proves who asks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Admin {
    /// Address of provostd's admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT
    #[arg(
        id = "admin",
        long = "admin",
        global = true,
        help_heading = "Connection",
        value_name = "URL",
        env = "PROVOSTCTL_ADMIN",
        default_value = "unix:/var/lib/provostd/admin.sock"
    )]
    pub(crate) at: Address,
    /// CA file (PEM) of the server, for https: see provostd ca show
    #[arg(
        long,
        global = true,
        help_heading = "Connection",
        value_name = "FILE",
        env = "PROVOSTCTL_CA"
    )]
    ca: Option<PathBuf>,
    /// File with your token, for https: see provostctl admin add
    #[arg(
        long,
        global = true,
        help_heading = "Connection",
        value_name = "FILE",
        env = "PROVOSTCTL_TOKEN_FILE"
    )]
    token_file: Option<PathBuf>,
}

/// The address of the daemon's admin API.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Unix(PathBuf),
    Http(Url),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.strip_prefix("unix:"), zone::parse_url(text)) {
            (Some(path), _) if !path.is_empty() => Ok(Self::Unix(path.into())),
            (None, Ok(url)) if ["http", "https"].contains(&url.scheme()) => Ok(Self::Http(url)),
            _ => Err("expected unix:PATH, https://HOST:PORT or http://ADDRESS:PORT".into()),
        }
    }
}

impl fmt::Display for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Http(url) => f.write_str(&zone::shown(url.as_str())),
        }
    }
}

impl Admin {
    /// Whether the daemon has to prove who it is, and who asks as well.
    pub(crate) fn is_tls(&self) -> bool {
        matches!(&self.at, Address::Http(url) if url.scheme() == "https")
    }

    /// The URL of the API's first path. A socket is an address of its own; a host is needed, and
    /// unused.
    pub(crate) fn base(&self) -> Option<Url> {
        match &self.at {
            Address::Unix(_) => Url::parse("http://localhost").ok(),
            Address::Http(url) => Some(url.clone()),
        }
    }

    /// Adds to an HTTP client what it needs to come there. A token goes over TLS alone.
    pub(crate) fn reach(&self, client: ClientBuilder) -> Result<ClientBuilder, Failure> {
        let zoned = self.base().and_then(|url| {
            let host = url.host_str()?.to_owned();
            Some((zone::resolve(&host)?, host))
        });
        let client = match zoned {
            Some((Ok(address), host)) => client.resolve(&host, address),
            Some((Err(why), _)) => {
                return Err(Failure::new(format!("using {self}: {why}"), zone::HINT));
            }
            None => client,
        };
        let client = match &self.at {
            Address::Unix(path) => return Ok(self.trust_nobody(client).unix_socket(path.clone())),
            Address::Http(_) if !self.is_tls() => return Ok(self.trust_nobody(client)),
            Address::Http(_) => client.tls_certs_only(self.authorities()?),
        };
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.bearer()?);
        Ok(client.default_headers(headers))
    }

    /// There is no TLS, and it has to work on a machine without certificates.
    fn trust_nobody(&self, client: ClientBuilder) -> ClientBuilder {
        client.tls_certs_only([])
    }

    fn authorities(&self) -> Result<Vec<Certificate>, Failure> {
        let hint = "write it on the management node: provostd ca show >provost-ca.pem; then: \
                    provostctl --ca provost-ca.pem";
        let Some(file) = &self.ca else {
            let error = format!("asking provostd at {self}: no authority's certificate is given");
            return Err(Failure::new(error, hint));
        };
        let wrong = |why: &dyn fmt::Display| {
            Failure::new(format!("reading the certificate {}: {why}", file.display()), hint)
        };
        let text = read(file).map_err(|e| wrong(&e))?;
        let authorities = Certificate::from_pem_bundle(&text).map_err(|e| wrong(&e))?;
        match authorities.is_empty() {
            true => Err(wrong(&"it has no certificate in PEM")),
            false => Ok(authorities),
        }
    }

    fn bearer(&self) -> Result<HeaderValue, Failure> {
        let hint = "make one on the management node: provostctl admin add NAME --role read >FILE; \
                    then: provostctl --token-file FILE";
        let Some(file) = &self.token_file else {
            let error = format!("asking provostd at {self}: no token is given");
            return Err(Failure::new(error, hint));
        };
        let wrong = |why: &dyn fmt::Display| {
            Failure::new(format!("reading the token {}: {why}", file.display()), hint)
        };
        let text = read(file).map_err(|e| wrong(&e))?;
        let token = String::from_utf8_lossy(&text);
        let token = token.trim();
        if token.is_empty() || token.contains(char::is_whitespace) {
            return Err(wrong(&"it isn't one token on one line"));
        }
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|e| wrong(&e))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    provost_fs::read(file, MAX_FILE)
}
