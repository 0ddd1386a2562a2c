use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use provost_bundle::Limit;
use provost_store::location::{self, Location, PostgresConfig, ReadError, StoreKind};
use serde::{Deserialize, Deserializer, de};

pub(crate) mod enrol;
pub(crate) mod page;
pub(crate) mod receivers;
pub(crate) mod store;
pub(crate) mod tls;
pub(crate) mod xcat;

pub use enrol::EnrolConfig;
pub use page::{PageConfig, RackConfig};
pub(crate) use receivers::HOOKS;
pub use receivers::{HooksConfig, Secret, Template, WebhookConfig};
pub use store::{QuotaConfig, RetentionConfig};
pub use tls::{TlsConfig, TlsFiles};
pub use xcat::{XcatConfig, Xcatd};

/// `provostd.toml`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Config {
    /// The folder that the daemon writes to; created with mode 0700 where there is none.
    #[serde(default = "location::default_data")]
    pub data: PathBuf,
    /// The folder that `provostctl publish` writes to.
    pub www: PathBuf,
    /// Where records are kept.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub store: StoreKind,
    /// How the database of `store` is reached.
    #[serde(default)]
    pub postgres: PostgresConfig,
    /// The nodes' listener.
    #[serde(default = "listen", deserialize_with = "tls::address")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub listen: SocketAddr,
    /// The admins' listener over TCP: read-only, and without authentication, so there is none unless
    /// it is named.
    pub admin: Option<SocketAddr>,
    /// The group whose members may use `DATA/admin.sock`: a name, or a number.
    pub operators: Option<String>,
    /// The group whose members may use `DATA/read.sock`.
    pub readers: Option<String>,
    /// What installers get.
    #[serde(default)]
    pub node: NodeConfig,
    /// When a node is held.
    #[serde(default)]
    pub guard: Guard,
    /// How much is stored of each node.
    #[serde(default)]
    pub quota: QuotaConfig,
    /// How much of the nodes' history is kept.
    #[serde(default)]
    pub retention: RetentionConfig,
    /// How long after a node was due to report it counts as lost.
    #[serde(default = "lost_after")]
    pub lost_after: Limit,
    /// The nodes' tokens.
    #[serde(default)]
    pub tokens: TokensConfig,
    /// The listeners over TLS.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "tls::TlsSection"))]
    pub tls: TlsConfig,
    /// How nodes get identities.
    #[serde(default)]
    pub enroll: EnrolConfig,
    /// Receivers over HTTP of what happens to nodes.
    #[serde(default)]
    pub webhooks: Vec<WebhookConfig>,
    /// Programs that are run when something happens to nodes.
    #[serde(default)]
    pub hooks: HooksConfig,
    /// What `/metrics` has.
    #[serde(default)]
    pub metrics: MetricsConfig,
    /// The web page.
    #[serde(default)]
    pub page: PageConfig,
    /// Listeners for nodes that still run xCAT's own scripts; none by default.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "xcat::XcatFile"))]
    pub xcat: XcatConfig,
}

/// The nodes' tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct TokensConfig {
    /// Whether they count by plain HTTP, where others can read them.
    #[serde(default = "allowed")]
    pub allowed: bool,
}

impl Default for TokensConfig {
    fn default() -> Self {
        Self { allowed: allowed() }
    }
}

fn allowed() -> bool {
    true
}

/// What installers get besides the bundle.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct NodeConfig {
    /// The program that installers fetch for the architecture that it was built for, in place of that in
    /// `programs`. Without it, `provost` next to the daemon's own is one, where `programs` has no other.
    pub binary: Option<PathBuf>,
    /// The folder of all of them, as `ARCH/provost` with the architecture as `uname -m` prints it.
    pub programs: PathBuf,
    /// The URLs at which nodes reach `listen`, which installer files name; tried in order.
    #[serde(deserialize_with = "servers")]
    pub servers: Vec<String>,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self { binary: None, programs: "/usr/lib/provost/programs".into(), servers: Vec::new() }
    }
}

/// URLs as the installers' script needs them: with their port, and nothing after it.
fn servers<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<String>, D::Error> {
    let list = Vec::<String>::deserialize(list)?;
    let is_right = |url: &String| {
        let address = url.strip_prefix("http://").and_then(|at| at.rsplit_once(':'));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:%".contains(c);
        address.is_some_and(|(host, port)| {
            !host.is_empty() && host.chars().all(is_plain) && port.parse::<u16>().is_ok()
        })
    };
    match list.iter().find(|url| !is_right(url)) {
        None => Ok(list),
        Some(url) => {
            Err(de::Error::custom(format!("`servers`: {url:?} isn't like http://10.0.0.1:8480")))
        }
    }
}

/// What `/metrics` has.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct MetricsConfig {
    /// Scripts of the site whose times have series of their own, besides the default scripts.
    #[serde(default)]
    pub steps: BTreeSet<String>,
}

/// When a node is held, so that it doesn't install or boot in a loop.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Guard {
    /// How many runs of kickstart and boot in a row may fail.
    #[serde(default = "max_attempts")]
    pub max_attempts: NonZeroU32,
}

impl Default for Guard {
    fn default() -> Self {
        Self { max_attempts: max_attempts() }
    }
}

fn listen() -> SocketAddr {
    ([0, 0, 0, 0], 8480).into()
}

fn lost_after() -> Limit {
    Limit::seconds(60)
}

fn max_attempts() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

/// Why the configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Of `[[webhooks]]`.
    #[error("{}: {}", path.display(), mistakes.join("\n"))]
    Webhooks {
        /// The file.
        path: PathBuf,
        /// A line each.
        mistakes: Vec<String>,
    },
    /// Of `[page]`.
    #[error("{}: {}", path.display(), mistakes.join("\n"))]
    Page {
        /// The file.
        path: PathBuf,
        /// A line each.
        mistakes: Vec<String>,
    },
}

impl ConfigError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Webhooks { .. } => "correct [[webhooks]]: provostd.toml(5) has its keys".into(),
            Self::Page { .. } => "correct [page]: provostd.toml(5) has its keys".into(),
            Self::Read(unreadable @ ReadError::Unreadable { .. }) => unreadable.hint().into(),
            Self::Read(wrong) if !wrong.is_about_keys() => wrong.hint().into(),
            Self::Read(ReadError::Invalid { .. }) => {
                "use these keys: data, www, store (\"sqlite\" or \"postgres://USER@HOST/NAME\"), [postgres] \
                 password_file and ca, listen and admin (\"ADDRESS:PORT\"), \
                 operators and readers (a group), lost_after, [guard] max_attempts, [node] binary, programs and servers, [quota] records_mib_per_hour, \
                 records_mib, records_per_hour, runs_per_hour, logs_mib_per_hour, logs_mib and reserve_mib, [retention] runs, age, logs and programs, \
                 [tokens] allowed, [tls] off, listen, admin, names, proxies, cert and key, [enroll] valid_for, \
                 [[webhooks]] name, url, events, template, secret, ca and window, [hooks] on_booted, on_failed, \
                 on_lost, on_continue, on_boot, on_rerun, timeout and window, [metrics] steps, [page] name, accent and url, [[page.racks]] \
                 name, racks, nodes, per_rack and row, and [xcat] monitor, xcatd, tls_cert, tls_key and dns"
                    .into()
            }
        }
    }
}

impl Config {
    /// Where the data is.
    fn location(&self) -> Location {
        let Self { data, www, store, postgres, .. } = self.clone();
        Location { data, www, store, postgres }
    }

    /// Reads the file at `path`. Relative paths in it start at its folder.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let (config, folder) = location::read::<Self>(path)?;
        let mistakes = receivers::mistakes(&config.webhooks);
        if !mistakes.is_empty() {
            return Err(ConfigError::Webhooks { path: path.to_owned(), mistakes });
        }
        let mistakes = page::mistakes(&config.page);
        if !mistakes.is_empty() {
            return Err(ConfigError::Page { path: path.to_owned(), mistakes });
        }
        let Location { data, www, store, postgres } = config.location().relative_to(&folder);
        let files = config
            .tls
            .files
            .map(|files| TlsFiles { cert: folder.join(files.cert), key: folder.join(files.key) });
        let tls = TlsConfig { files, ..config.tls };
        let xcatd = config.xcat.xcatd.map(|xcatd| Xcatd {
            tls_cert: folder.join(xcatd.tls_cert),
            tls_key: folder.join(xcatd.tls_key),
            ..xcatd
        });
        let file = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        let NodeConfig { binary, programs, servers } = config.node;
        let node = NodeConfig { binary: file(binary), programs: folder.join(programs), servers };
        let webhook = |webhook: WebhookConfig| WebhookConfig { ca: file(webhook.ca), ..webhook };
        let webhooks = config.webhooks.into_iter().map(webhook).collect();
        let hooks = HooksConfig {
            on_booted: file(config.hooks.on_booted),
            on_failed: file(config.hooks.on_failed),
            on_lost: file(config.hooks.on_lost),
            on_continue: file(config.hooks.on_continue),
            on_boot: file(config.hooks.on_boot),
            on_rerun: file(config.hooks.on_rerun),
            ..config.hooks
        };
        let xcat = XcatConfig { xcatd, ..config.xcat };
        Ok(Self { data, www, store, postgres, node, tls, webhooks, hooks, xcat, ..config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        toml::from_str::<Config>(text).unwrap_err().to_string()
    }

    fn age(text: &str) -> store::Age {
        text.to_owned().try_into().unwrap()
    }

    #[test]
    fn a_missing_key_has_a_default_and_an_unknown_one_is_refused() {
        let config: Config = toml::from_str("www = '/srv/www'").unwrap();
        assert_eq!((config.listen.port(), config.admin), (8480, None));
        assert_eq!(config.store, StoreKind::Sqlite);
        assert_eq!((config.guard.max_attempts.get(), config.lost_after), (3, Limit::seconds(60)));
        assert!(error("www = '/w'\nlisten_on = 1").contains("listen_on"));
        assert!(error("www = '/w'\n[guard]\nmax_attempts = 0").contains("max_attempts"));
        assert!(error("www = '/w'\nguard = 3").contains("expected a table"));
        assert_eq!((config.retention.runs.get(), config.retention.age), (20, age("90d")));
        assert_eq!((config.retention.programs, age("1y")), (age("365d"), age("8760h")));
        for wrong in ["90", "-1d", "0d", "ages"] {
            assert!(error(&format!("www = '/w'\n[retention]\nage = '{wrong}'")).contains("90d"));
        }
        assert!(error("").contains("www"));
        assert!(config.xcat.monitor.is_none() && config.xcat.xcatd.is_none() && !config.xcat.dns);
        assert!(error("www = '/w'\n[xcat]\nxcatd = '0.0.0.0:3001'").contains("tls_cert"));
        assert!(error("www = '/w'\n[xcat]\nport = 3002").contains("port"));
    }

    #[test]
    fn a_backup_finds_the_data_where_the_daemon_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provostd.toml");
        for text in [
            "www = 'www'",
            "www = '/w'\ndata = 'd'\nlisten = '127.0.0.1:1'\nstore = 'postgres://u@db/x'\n\
             [postgres]\npassword_file = 'pw'\nca = '/ca'",
        ] {
            std::fs::write(&file, text).unwrap();
            let (config, location) = (Config::load(&file).unwrap(), Location::load(&file).unwrap());
            assert!(location.www.is_absolute());
            assert_eq!(format!("{:?}", config.location()), format!("{location:?}"));
        }
        // It knows each key, and no other one.
        let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/examples/provostd.toml");
        Location::load(Path::new(all)).unwrap();
        std::fs::write(&file, "www = '/w'\ndta = '/d'").unwrap();
        let error = Location::load(&file).unwrap_err();
        let ConfigError::Read(known) = Config::load(&file).unwrap_err() else { panic!() };
        assert_eq!(format!("{error:?}"), format!("{known:?}"));
    }

    #[test]
    fn a_wrong_store_is_refused_and_no_password_is_shown() {
        let error = |store: &str| {
            let text = format!("www='/w'\nstore='{store}'");
            toml::from_str::<Config>(&text).unwrap_err().message().to_owned()
        };
        for (store, why) in [
            ("mysql://u:secret@db", "\"mysql\""),
            ("postgres://u:secret@db", "no database"),
            ("postgres://:secret@db/x", "no user"),
            ("postgres://u:secret@db/x?sslmode=maybe", "unreadable"),
        ] {
            let error = error(store);
            assert!(error.contains(why) && !error.contains("secret"), "{error}");
        }
        let good: Config =
            toml::from_str("www='/w'\nstore='postgres://u:secret@db:5433/x'").unwrap();
        assert_eq!(format!("{:?}", good.store), "Postgres(database x at db:5433)");
    }

    #[test]
    fn nodes_reach_tls_two_ports_above_unless_it_is_off_or_elsewhere() {
        let address = |text: &str| {
            let config: Config = toml::from_str(&format!("www = '/w'\n{text}")).unwrap();
            config.tls.address(config.listen).map(|address| address.to_string())
        };
        assert_eq!(address("").as_deref(), Some("0.0.0.0:8482"));
        assert_eq!(address("listen = '127.0.0.1:0'").as_deref(), Some("127.0.0.1:0"));
        assert_eq!(address("[tls]\nlisten = '10.0.0.1:443'").as_deref(), Some("10.0.0.1:443"));
        assert_eq!(address("[tls]\noff = true"), None);
        assert!(error("www = '/w'\n[tls]\ncert = 'x'").contains("together"));
        assert!(error("www = '/w'\n[tls]\nport = 1").contains("port"));
        assert!(error("www = '/w'\n[tls]\nnames = ['ü']").contains("ASCII"));
        for wrong in ["10.0.0.0/33", "proxy.example.org", ""] {
            let error = error(&format!("www = '/w'\n[tls]\nproxies = ['10.0.0.2', '{wrong}']"));
            assert!(error.contains(&format!("`proxies`: {wrong:?} isn't a network")), "{error}");
        }
    }
}
