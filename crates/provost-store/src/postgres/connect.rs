use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;
use tokio::time::sleep;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{CONNECT, Failure, WAIT};
use super::peer::{KeepingVerifier, PeerCertificate};
use super::schema;
use crate::StoreError;
use crate::notice::Subscriptions;

/// How many connections one daemon has for requests; three more are for events, for
/// the watch and for deliveries.
const CONNECTIONS: usize = 8;
/// After what time without an answer from the server's machine a connection is given up.
const DEAD: Duration = Duration::from_secs(15);
/// How often the server's certificate is looked at.
const PEER: Duration = Duration::from_secs(3600);
/// Tables have a schema of their own; nobody waits for another's lock for ever, and a daemon that is frozen within a
/// transaction, or whose machine is gone, loses it with its locks; and a prepared statement is planned once. PostgreSQL
/// would plan one anew for each short list of nodes, which cost up to a third of its processor time.
const OPTIONS: &str = "-c search_path=provost -c lock_timeout=20s \
                       -c idle_in_transaction_session_timeout=10s \
                       -c plan_cache_mode=force_generic_plan";

/// Where the database is: `postgres://USER@HOST:PORT/NAME`. Its password isn't shown.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(Box<Config>);

impl FromStr for PostgresUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // What is wrong may be the password, so it isn't repeated.
        let form = "expected \"postgres://USER@HOST:PORT/NAME\"";
        let config: Config = text.parse().map_err(|_| format!("unreadable address; {form}"))?;
        let filled = |part: Option<&str>| part.is_some_and(|part| !part.is_empty());
        match (config.get_hosts(), filled(config.get_user()), filled(config.get_dbname())) {
            ([], _, _) => Err(format!("the address has no host; {form}")),
            (_, false, _) => Err(format!("the address has no user; {form}")),
            (_, _, false) => Err(format!("the address has no database; {form}")),
            _ => Ok(Self(Box::new(config))),
        }
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&self.0))
    }
}

/// The files that are needed to connect.
#[derive(Clone, Debug, Default)]
pub struct PostgresFiles {
    /// The password, on the first line.
    pub password: Option<PathBuf>,
    /// CA file (PEM) of the server; turns TLS on.
    pub ca: Option<PathBuf>,
}

/// A connection apart from the others, which has to be polled.
pub(super) type OwnConnection =
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// A database, and the connections to it.
pub(super) struct Database {
    config: Config,
    tls: MakeRustlsConnect,
    pool: Pool,
    /// What it is called in errors.
    pub(super) name: String,
    /// Of its server, where connections have TLS.
    pub(super) peer: Option<PeerCertificate>,
    is_made: OnceCell<()>,
    pub(super) subscriptions: Arc<Subscriptions>,
    /// How many daemons it has, when this one last looked.
    pub(super) daemons: AtomicU32,
}

impl Database {
    pub(super) fn new(url: &PostgresUrl, files: &PostgresFiles) -> Result<Self, StoreError> {
        let mut config = Config::clone(&url.0);
        if let Some(path) = &files.password {
            let text = read(path, "password_file")?;
            let first = text.lines().next().unwrap_or_default();
            config.password(first);
        }
        let requires_tls = config.get_ssl_mode() == SslMode::Require;
        let roots = match &files.ca {
            Some(path) => certificates(path)?,
            None if requires_tls => {
                let hint =
                    "set `ca` under [postgres] of provostd.toml to the CA file (PEM) of the server";
                let why = "sslmode=require needs a CA file";
                return Err(StoreError::new("reading `store`", hint, why));
            }
            None => RootCertStore::empty(),
        };
        config.ssl_mode(if files.ca.is_some() { SslMode::Require } else { SslMode::Disable });
        config
            .application_name("provostd")
            .options(OPTIONS)
            .connect_timeout(CONNECT)
            .tcp_user_timeout(DEAD)
            .keepalives_idle(DEAD);
        let name = name(&config);
        let peer = files.ca.is_some().then(PeerCertificate::default);
        let tls = MakeRustlsConnect::new(client_config(roots, peer.clone(), &name)?);
        let recycling_method = RecyclingMethod::Fast;
        let manager =
            Manager::from_config(config.clone(), tls.clone(), ManagerConfig { recycling_method });
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT))
            .create_timeout(Some(CONNECT))
            .build()
            .map_err(|e| Failure::Pool(e.to_string()).of("connecting to", &name))?;
        let (is_made, subscriptions, daemons) = (<_>::default(), <_>::default(), AtomicU32::new(1));
        Ok(Self { config, tls, pool, name, peer, is_made, subscriptions, daemons })
    }

    /// A connection that is free. The first one makes the tables of a new database.
    pub(super) async fn client(&self) -> Result<Object, Failure> {
        let mut client = self.pool.get().await?;
        self.is_made.get_or_try_init(async || schema::make(&mut client).await).await?;
        Ok(client)
    }

    /// Connects again and again, for ever: connections last, and the server may have another certificate since.
    pub(super) async fn watch_peer(self: Arc<Self>) {
        loop {
            sleep(PEER).await;
            // What fails here fails elsewhere as well, and is reported there.
            drop(self.connect().await);
        }
    }

    /// A connection apart from the others.
    pub(super) async fn connect(&self) -> Result<(Client, OwnConnection), Failure> {
        Ok(self.config.connect(self.tls.clone()).await?)
    }
}

fn name(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    format!("database {} at {host}{port}", config.get_dbname().unwrap_or_default())
}

fn client_config(
    roots: RootCertStore,
    peer: Option<PeerCertificate>,
    name: &str,
) -> Result<ClientConfig, StoreError> {
    let failed = |e: String| Failure::Pool(e).of("connecting to", name);
    let provider = Arc::new(ring::default_provider());
    let versions =
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let versions = versions.map_err(|e| failed(e.to_string()))?;
    let Some(kept) = peer else {
        return Ok(versions.with_root_certificates(roots).with_no_client_auth());
    };
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let inner = inner.map_err(|e| failed(e.to_string()))?;
    let verifier = Arc::new(KeepingVerifier { inner, kept });
    let config = versions.dangerous().with_custom_certificate_verifier(verifier);
    Ok(config.with_no_client_auth())
}

fn certificates(path: &Path) -> Result<RootCertStore, StoreError> {
    let text = read(path, "ca")?;
    let mut roots = RootCertStore::empty();
    let bad = |why: String| {
        let hint = "set `ca` under [postgres] of provostd.toml to a file of certificates, PEM";
        StoreError::new(format!("reading {}", path.display()), hint, why)
    };
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let certificate = certificate.map_err(|e| bad(e.to_string()))?;
        roots.add(certificate).map_err(|e| bad(e.to_string()))?;
    }
    if roots.is_empty() { Err(bad("it has no certificate".into())) } else { Ok(roots) }
}

/// The most bytes of a password or of certificates.
const MOST: u64 = 2 << 20;

fn read(path: &Path, key: &str) -> Result<String, StoreError> {
    provost_fs::read_given_text(path, MOST).map_err(|e| {
        let hint = format!(
            "set `{key}` under [postgres] of provostd.toml to a file that provostd's user may read"
        );
        StoreError::new(format!("reading {}", path.display()), hint, e)
    })
}
