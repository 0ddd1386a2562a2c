//! Records what today's programs write and say.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_tests::faults::Faulty;
use provost_tests::{Cluster, Node, Out, Postgres, SOON, pipe, processes};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::exchange::{Exchange, Listener, Sent};
use super::{Printed, RETENTION, Recording, copy, document};

const ONCE: &str = "#!/bin/sh\n# /// provost\n# when = \"once\"\n# ///\necho once\n";
const CHANGE: &str = "#!/bin/bash\n# /// provost\n# when = \"change\"\n# inputs = [\"COLOUR\"]\n# ///\n\
     echo \"$COLOUR\"\nsh -c 'echo to \"$1\"' sh \"$1\"\n";
const FAILS: &str = "#!/bin/bash\nset -e\nsetup() {\n    sh -c 'echo no disk >&2; exit 7'\n}\n\
     echo setting up\nsetup\n";
const SLOW: &str = "#!/bin/sh\necho begun\nread line <\"$GATE\"\necho \"$line\"\n";

/// What provostctl is asked of the store.
const OF_STORE: [&str; 10] = [
    "nodes",
    "nodes --group",
    "show cn001 --runs 5",
    "show cn002 --runs 5",
    "show cn003",
    "show cn005",
    "show cn009",
    "log cn002 fails",
    "admin list",
    "audit",
];
/// What each node is asked.
const OF_NODE: [&str; 3] = ["status", "analyze", "log"];

/// A site on which all that is recorded has happened.
struct Site {
    cluster: Cluster,
    nodes: Vec<Node>,
    exchanges: Vec<Exchange>,
}

#[test]
#[ignore = "writes the folder of this version in tests/compat anew"]
fn record() {
    let folder = TempDir::new().unwrap();
    let recording = Recording(folder.path().join("recording"));
    fs::create_dir(&recording.0).unwrap();
    let (before, after) = (folder.path().join("before.db"), folder.path().join("after.db"));

    let site = Site::make(None, |cluster| {
        snapshot(cluster, &before);
        copy(&cluster.www(), &recording.path("www"));
    });
    let Site { cluster, nodes, exchanges } = &site;
    snapshot(cluster, &after);
    copy(&cluster.www(), &recording.path("www-tls"));
    for (file, name) in [(before, "sqlite/before.db.zst"), (after, "sqlite/after.db.zst")] {
        recording.write(name, zstd::encode_all(&*fs::read(file).unwrap(), 19).unwrap());
    }
    copy(&cluster.path("provostd/logs"), &recording.path("sqlite/logs"));
    recording.write_json("sqlite/printed.json", &printed(|args| cluster.ctl(args), &OF_STORE));
    let (config, backup) = (cluster.path("provostd.toml"), recording.path("site.backup"));
    let (config, backup) = (config.to_str().unwrap(), backup.to_str().unwrap());
    cluster.ctl(&["backup", "--to", backup, "--config", config]).expect(0);

    fs::copy(cluster.path("key/provost.pub"), recording.path("key.pub")).unwrap();
    recording.write_json("exchanges.json", exchanges);
    for node in nodes {
        let path = |name: &str| format!("nodes/{}/{name}", node.name());
        let all = printed(|args| node.provost(args), &OF_NODE);
        recording.write_json(&path("printed.json"), &all);
        for name in ["state", "log", "token"] {
            if node.path(name).exists() {
                copy(&node.path(name), &recording.path(&path(name)));
            }
        }
        // As the program has it in itself; it writes it again.
        fs::remove_dir_all(recording.path(&path("state/lib"))).unwrap();
    }

    let server = Postgres::start();
    let site = Site::make(Some(&server), |_| ());
    let all = printed(|args| site.cluster.ctl(args), &OF_STORE);
    recording.write_json("postgres/printed.json", &all);
    recording.write("postgres/site.sql", server.dump("site"));

    // In place of an earlier one, now that all of it is there.
    let place = Recording::of_today().0;
    let _ = fs::remove_dir_all(&place);
    copy(&recording.0, &place);
}

/// The JSON documents of commands.
fn printed(run: impl Fn(&[&str]) -> Out, commands: &[&str]) -> Printed {
    let ask = |command: &&str| {
        let args: Vec<&str> = command.split(' ').chain(["--format", "json"]).collect();
        ((*command).to_owned(), document(run(&args)))
    };
    commands.iter().map(ask).collect()
}

/// The daemon's database as it is now, while it runs.
fn snapshot(cluster: &Cluster, to: &Path) {
    let database = rusqlite::Connection::open(cluster.path("provostd/provost.db")).unwrap();
    database.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
}

impl Site {
    fn make(server: Option<&Postgres>, before: impl Fn(&Cluster)) -> Self {
        let mut cluster = Cluster::new();
        let gate = cluster.path("gate");
        pipe(&gate);
        let store = server.map(|s| format!("store = {:?}\n", s.database("site")));
        cluster.configure_daemon(&format!("{}{RETENTION}", store.unwrap_or_default()));
        cluster.script("once", ONCE).script("change", CHANGE).script("fails", FAILS);
        cluster.script("slow", SLOW).script("last", "#!/bin/sh\necho last\n");
        cluster.site(&format!(
            "[groups.all]\nnodes = \"cn[001-002]\"\npostscripts = [\"once\", \"change /scratch\"]\n\
             postbootscripts = [\"last\"]\nenv = {{ COLOUR = \"green\" }}\n\
             [nodes.cn002]\npostscripts = [\"fails\"]\n\
             [nodes.cn003]\npostscripts = [\"slow\"]\nenv = {{ GATE = {gate:?} }}\n\
             [nodes.\"cn[005-009]\"]\npostscripts = [\"last\"]\n"
        ));
        cluster.publish_with(&["--valid-for", "36500d"]).expect(0);
        cluster.start();
        let nodes: Vec<Node> = (1..=3).map(|n| cluster.node(&format!("cn00{n}"))).collect();
        before(&cluster);

        let proxy = Faulty::before(cluster.daemon().nodes());
        nodes.iter().for_each(|node| node.configure(&cluster.settings_for(&[proxy.address()])));
        nodes[0].provost(&["boot"]).expect(0);
        nodes[0].provost(&["run", "change", "/other"]).expect(0);
        nodes[0].provost(&["boot"]).expect(0);
        nodes[1].provost(&["boot"]).expect(1);
        let mut boot = nodes[2].command(&["boot"]).env("PROVOST_BEAT", "100ms").spawn().unwrap();
        let beats = || proxy.exchanges().iter().any(|e| e.request.path.ends_with("/beat"));
        assert!(processes::until(10 * SOON, beats), "no beat came");
        fs::write(&gate, "enough\n").unwrap();
        assert!(boot.wait().unwrap().success());

        let exchanges = proxy.exchanges().into_iter().filter_map(Exchange::seen).collect();
        let mut site = Self { cluster, nodes, exchanges };
        site.administrate();
        site.boot_by_tls();
        site.enrol();
        site
    }

    /// A node with an identity. From now on the nodes' own files and reports go by TLS alone, where no proxy sees them.
    fn boot_by_tls(&mut self) {
        let tls = self.cluster.tls();
        self.cluster.publish_with(&["--valid-for", "36500d", "--tls", &tls]).expect(0);
        let node = self.cluster.node_without_token("cn009");
        let join = self.cluster.ctl(&["join", "cn009"]).expect(0).stdout;
        let join = join.trim().trim_start_matches("cn009 ");
        node.configure(&self.cluster.settings_for(&[&self.cluster.daemon().nodes()]));
        let config = fs::read_to_string(node.path("provost.toml")).unwrap();
        let lines = config.lines().filter(|line| !line.starts_with("token_file"));
        fs::write(node.path("provost.toml"), lines.collect::<Vec<_>>().join("\n")).unwrap();
        let boot = node.command(&["boot"]).env("PROVOST_JOIN", join).output();
        Out::from(boot.unwrap()).expect(0);
        self.nodes.push(node);
    }

    fn ask(&mut self, listener: Listener, request: Sent) -> Value {
        let exchange = Exchange::ask(&self.cluster, listener, request);
        let body = exchange.answer.body.json();
        self.exchanges.push(exchange);
        body.unwrap_or_default()
    }

    fn get(&mut self, path: &str) -> Value {
        self.ask(Listener::Admin, Sent::new("GET", path, ""))
    }

    fn post(&mut self, path: &str, body: Value) -> Value {
        self.ask(Listener::Socket, Sent::new("POST", path, &body.to_string()))
    }

    /// Identities by a join token, and by approval.
    fn enrol(&mut self) {
        let folder = self.cluster.path("clients");
        fs::create_dir(&folder).unwrap();
        let request = |node: &str| {
            let file = |kind: &str| folder.join(format!("{node}.{kind}"));
            let made = Command::new("openssl")
                .args(["req", "-new", "-newkey", "ed25519", "-nodes", "-subj", "/CN=anything"])
                .arg("-keyout")
                .arg(file("key"))
                .arg("-out")
                .arg(file("csr"))
                .output();
            Out::from(made.unwrap()).expect(0);
            let path = format!("/v1/nodes/{node}/enroll");
            Sent::new("POST", &path, &fs::read_to_string(file("csr")).unwrap())
                .with("user-agent", concat!("provost/", env!("CARGO_PKG_VERSION")))
        };
        let (joins, waits) = (request("cn005"), request("cn006"));
        let hour = 3_600_000;
        let join = self.post("/v1/join", json!({ "nodes": ["cn005"], "forMs": hour }));
        let token = format!("Bearer {}", join[0]["token"].as_str().unwrap());
        self.ask(Listener::NodesTls, joins.with("authorization", &token));
        self.ask(Listener::NodesTls, waits.clone());
        let pending = self.get("/v1/pending");
        assert_eq!(pending[0]["node"], "cn006", "{pending}");
        self.post("/v1/approve", json!({ "node": "cn006" }));
        self.ask(Listener::NodesTls, waits);
        self.post("/v1/windows", json!({ "nodes": ["cn007"], "forMs": hour }));
        self.get("/v1/windows");
        self.post("/v1/windows/close", json!({}));
    }

    /// What an admin and the web page ask, and change.
    fn administrate(&mut self) {
        let failed = self.get("/v1/nodes/cn002?runs=2");
        let run = failed["node"]["run"].as_str().unwrap().to_owned();
        let log = failed["runs"][0]["stages"].as_array().unwrap();
        let log = log.iter().find_map(|stage| stage["log"].as_str()).unwrap().to_owned();
        for path in [
            "/v1/nodes",
            "/v1/nodes?nodes=cn[001-002]",
            "/v1/nodes/cn001",
            "/v1/nodes/nobody",
            &format!("/v1/runs/{run}/records"),
            &format!("/v1/runs/{run}/logs/{log}"),
            "/v1/scripts",
            "/v1/groups",
            "/v1/generations",
            "/v1/prune",
            "/healthz",
        ] {
            self.get(path);
        }
        self.post("/v1/tokens", json!({ "nodes": ["cn004"], "force": true }));
        self.post("/v1/tokens", json!({ "nodes": ["cn008"] }));
        self.post("/v1/release", json!({ "nodes": ["cn002"] }));
        self.post("/v1/remove", json!({ "nodes": ["cn004"] }));
        self.post("/v1/revoke", json!({ "nodes": ["cn006"] }));
        self.post(
            "/v1/admins",
            json!({ "name": "lee", "role": "read", "forMs": 1_000_000_000_u64 }),
        );
        self.post("/v1/admins", json!({ "name": "kim", "role": "operate", "forMs": 60_000 }));
        self.post("/v1/admins/remove", json!({ "name": "kim" }));
        self.get("/v1/admins");
        self.get("/v1/audit");
    }
}
