//! What programs of earlier versions wrote and said, recorded in `tests/compat/VERSION`: today's read and answer it.

mod exchange;
mod management_node;
mod node;
mod record;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use provost_tests::{Cluster, Node, Out};
use regex::Regex;
use serde_json::Value;

/// So that nothing of it goes because of its age.
const RETENTION: &str = "[retention]\nage = \"36500d\"\nlogs = \"36500d\"\n";

/// What each JSON document was, by the command's arguments.
type Printed = BTreeMap<String, Value>;

/// What the programs of one version wrote and said.
struct Recording(PathBuf);

impl Recording {
    /// All that there are.
    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compat");
        let folders = fs::read_dir(folder).unwrap().map(|entry| Self(entry.unwrap().path()));
        let mut all: Vec<Self> = folders.collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        assert!(!all.is_empty(), "nothing is recorded");
        all
    }

    /// That of today's programs.
    fn of_today() -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let (minor, _) = version.rsplit_once('.').unwrap();
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("compat").join(minor))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What a command of that version printed.
    fn printed(&self, name: &str) -> Printed {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    fn write_json(&self, name: &str, content: &impl serde::Serialize) {
        self.write(name, serde_json::to_string_pretty(content).unwrap() + "\n");
    }

    /// A cluster with what was published, whose daemon isn't started.
    fn published(&self) -> Cluster {
        let cluster = Cluster::new();
        copy(&self.path("www"), &cluster.www());
        fs::copy(self.path("key.pub"), cluster.path("key/provost.pub")).unwrap();
        cluster.configure_daemon(RETENTION);
        cluster
    }

    /// A cluster with the SQLite database of that name, whose daemon runs.
    fn cluster(&self, database: &str) -> Cluster {
        let mut cluster = self.published();
        let data = cluster.path("provostd");
        fs::create_dir(&data).unwrap();
        let packed = fs::read(self.path(database)).unwrap();
        fs::write(data.join("provost.db"), zstd::decode_all(&*packed).unwrap()).unwrap();
        copy(&self.path("sqlite/logs"), &data.join("logs"));
        cluster.start();
        cluster
    }

    /// Publishes what was published in the end, which names TLS to nodes.
    fn publish_tls(&self, cluster: &Cluster) {
        copy(&self.path("www-tls"), &cluster.www());
    }

    /// A node with the token that it had, if it had one, and nothing else yet.
    fn new_node(&self, cluster: &Cluster, name: &str, server: &str) -> Node {
        let node = cluster.node_without_token(name);
        node.configure(&cluster.settings_for(&[server]));
        let token = self.path(&format!("nodes/{name}/token"));
        if token.exists() {
            fs::copy(token, node.path("token")).unwrap();
        }
        node
    }

    /// The same with all that it had written.
    fn node(&self, cluster: &Cluster, name: &str, server: &str) -> Node {
        let node = self.new_node(cluster, name, server);
        for folder in ["state", "log"] {
            copy(&self.path(&format!("nodes/{name}/{folder}")), &node.path(folder));
        }
        node
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg("-T").arg(from).arg(to).output().unwrap();
    Out::from(copied).expect(0);
}

/// Its JSON document, with temporary folders as `[DIR]`.
fn document(out: Out) -> Value {
    static FOLDER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(/[\w.-]+)*/\.tmp\w{6}\b").unwrap());
    serde_json::from_str(&FOLDER.replace_all(&out.stdout, "[DIR]")).unwrap()
}

/// Asserts that `today` has all that `recorded` has; an object may have more keys.
#[track_caller]
fn includes(today: &Value, recorded: &Value, place: &str) {
    match (today, recorded) {
        (Value::Object(today), Value::Object(recorded)) => {
            for (key, value) in recorded {
                let place = format!("{place}.{key}");
                let own = today.get(key).unwrap_or_else(|| panic!("{place} is gone: {value}"));
                includes(own, value, &place);
            }
        }
        (Value::Array(today), Value::Array(recorded)) => {
            assert_eq!(today.len(), recorded.len(), "{place}: {today:#?}");
            for (at, (own, value)) in today.iter().zip(recorded).enumerate() {
                includes(own, value, &format!("{place}[{at}]"));
            }
        }
        _ => assert_eq!(today, recorded, "{place}"),
    }
}
