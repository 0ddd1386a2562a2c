//! The site, and an admin who does what the documentation says, and no more.

use std::collections::BTreeSet;
use std::fs;

use provost_tests::{Cluster, InstalledPrograms, Node, Out};

use super::plan::Event;
use crate::enrolment::client::join_token;
use crate::enrolment::nodes::{boot_with, without_token};
use crate::keys::publish;
use crate::keys::rotations::rotate;

/// The versions of the year: the same programs, which say that they are of them.
pub(super) const VERSIONS: [&str; 4] = ["0.1.7", "0.1.8", "0.1.9", env!("CARGO_PKG_VERSION")];

/// What a node has of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A bearer token and a disk.
    Token,
    /// An identity, which expires, and a disk.
    Identity,
    /// A bearer token in its image. It remembers nothing.
    Diskless,
}

pub(super) struct Site {
    cluster: Cluster,
    nodes: Vec<(Kind, Node)>,
    /// The folder of the key that signs.
    key: String,
    rotations: usize,
    publishes: usize,
    programs: InstalledPrograms,
    /// How often the programs of the management node, and those of the nodes, were upgraded.
    upgrades: [usize; 2],
    /// The nodes whose identity the admin was told of before it expired.
    told: BTreeSet<String>,
    /// How often an expired identity was replaced.
    joins: usize,
}

impl Site {
    pub(super) fn new(nodes: usize, programs: InstalledPrograms) -> Self {
        let mut cluster = Cluster::new();
        cluster.script("hello", "#!/bin/sh\necho hello\n");
        cluster.site(&format!(
            "[groups.all]\nnodes = \"cn[001-{nodes:03}]\"\npostscripts = [\"hello\"]\n"
        ));
        cluster.start();
        // Where it stays when its folder is lost.
        let tls = cluster.daemon().address("nodesTls");
        cluster.configure_daemon(&format!("[tls]\nlisten = {tls:?}\n"));
        publish(&cluster, "key/provost.key", &["--tls", &cluster.tls()]).expect(0);
        let kinds = [Kind::Token, Kind::Identity, Kind::Diskless];
        let nodes = (0..nodes).map(|n| (kinds[n % 3], format!("cn{:03}", n + 1)));
        let nodes = nodes.map(|(kind, name)| (kind, node(&cluster, kind, &name))).collect();
        let (key, told) = ("key".to_owned(), BTreeSet::new());
        let (rotations, publishes, joins) = (0, 0, 0);
        Self { cluster, nodes, key, rotations, publishes, programs, upgrades: [0; 2], told, joins }
    }

    pub(super) fn handle(&mut self, event: &Event) {
        match event {
            Event::Publish => self.publish(),
            Event::RotateKey => {
                self.rotations += 1;
                let next = format!("key-{}", self.rotations);
                rotate(&self.cluster, &self.key, &next).expect(0);
                self.key = next;
            }
            Event::Boot(node) => self.boot(*node),
            Event::Timers(nodes) => nodes.iter().for_each(|node| self.timer(*node)),
            Event::UpgradeServer => {
                let version = self.upgrade(0, &["provostd", "provostctl"]);
                let address = self.cluster.kill_daemon();
                self.cluster.start_at(&address);
                let versions = self.cluster.ctl_json(&["compat"]);
                assert_eq!([&versions["provostd"], &versions["provostctl"]], [version; 2]);
            }
            Event::UpgradeNodes => drop(self.upgrade(1, &["provost"])),
            Event::Backup => drop(self.with_config(&["backup", "--to"]).expect(0)),
            Event::LoseBoth => self.lose(&["provostd", "www"]),
            Event::LoseData => self.lose(&["provostd"]),
            Event::LoseWww => {
                fs::remove_dir_all(self.cluster.www()).unwrap();
                self.publish();
            }
        }
    }

    /// What `provostctl expiry` says; the admin does nothing about it yet.
    pub(super) fn note_what_expires(&mut self) {
        let now = jiff::Timestamp::now();
        let told = self.expiring_identities().into_iter();
        let told = told.filter(|(name, expires)| *expires > now || self.told.contains(name));
        // One that was renewed since has no reason to fail.
        self.told = told.map(|(name, _)| name).collect();
    }

    /// The nodes whose identity expires soon or has expired, and when.
    fn expiring_identities(&self) -> Vec<(String, jiff::Timestamp)> {
        let expiring = self.cluster.ctl_json(&["expiry"]);
        let mut identities = Vec::new();
        for one in expiring.as_array().unwrap().iter().filter(|one| one["soon"] == true) {
            assert_ne!(one["what"], "publication", "nobody refreshes it: {one}");
            let text = |key: &str| one[key].as_str().unwrap();
            if one["what"] == "identity" {
                identities.push((text("name").to_owned(), text("expires").parse().unwrap()));
            }
        }
        identities
    }

    /// Each node's last run succeeded, by what `provostd` knows of it.
    pub(super) fn assert_nodes_have_booted(&self) {
        for (_, node) in &self.nodes {
            let status = self.cluster.status(node.name());
            assert_eq!(status["status"], "booted", "{status}");
        }
        eprintln!("{} identities had expired and were replaced", self.joins);
    }

    /// The management node runs it, and each node's last report came from it.
    pub(super) fn assert_all_is_of_the_last_version(&self) {
        let versions = self.cluster.ctl_json(&["compat"]);
        let [.., last] = VERSIONS;
        assert_eq!((&versions["provostd"], self.upgrades), (&last.into(), [3; 2]));
        let programs = versions["programs"].as_array().unwrap();
        assert_eq!((programs.len(), &programs[0]["version"]), (1, &last.into()), "{versions}");
        assert_eq!(programs[0]["count"], self.nodes.len(), "{versions}");
    }

    /// Installs the next version of these programs.
    fn upgrade(&mut self, part: usize, names: &[&str]) -> &'static str {
        self.upgrades[part] += 1;
        let version = VERSIONS[self.upgrades[part]];
        self.programs.install(names, version);
        version
    }

    fn publish(&mut self) {
        self.publishes += 1;
        let text = format!("#!/bin/sh\necho hello {}\n", self.publishes);
        self.cluster.script("hello", &text);
        publish(&self.cluster, &format!("{}/provost.key", self.key), &[]).expect(0);
    }

    fn boot(&mut self, node: usize) {
        let (kind, node) = &self.nodes[node];
        if *kind == Kind::Diskless {
            let _ = fs::remove_dir_all(node.path("state"));
        }
        let first = *kind == Kind::Identity && !node.path("state/id.crt").exists();
        let out = if first { self.join(node) } else { node.provost(&["boot"]) };
        if out.code == Some(3) && self.told.remove(node.name()) {
            self.joins += 1;
            self.join(node).expect(0);
        } else {
            out.expect(0);
        }
        let ran = node.path("log/services/boot.json");
        let ran = fs::read_to_string(ran).unwrap();
        assert!(ran.trim_end().trim_end_matches(']').trim_end().ends_with('}'), "{ran}");
    }

    /// `provost-renew.timer`, which only an identity needs.
    fn timer(&self, node: usize) {
        let (kind, node) = &self.nodes[node];
        if *kind == Kind::Identity {
            node.provost(&["report"]).expect(0);
        }
    }

    fn join(&self, node: &Node) -> Out {
        boot_with(node, &join_token(&self.cluster, node.name(), &[]))
    }

    fn with_config(&self, args: &[&str]) -> Out {
        let [file, config] = ["site.backup", "provostd.toml"].map(|name| self.cluster.path(name));
        let more = [file.to_str().unwrap(), "--config", config.to_str().unwrap()];
        self.cluster.ctl(&[args, &more].concat())
    }

    /// Disks are lost; then what docs/backup.md says is done.
    fn lose(&mut self, folders: &[&str]) {
        let address = self.cluster.kill_daemon();
        for folder in folders {
            fs::remove_dir_all(self.cluster.path(folder)).unwrap();
        }
        self.with_config(&["restore", "--from"]).expect(0);
        self.cluster.start_at(&address);
        self.publish();
        // An identity that had expired before the backup and was replaced since has expired again.
        self.told = self.expiring_identities().into_iter().map(|(name, _)| name).collect();
    }
}

fn node(cluster: &Cluster, kind: Kind, name: &str) -> Node {
    let node = cluster.node(name);
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[fetch]\ndeadline = \"20s\"\n"));
    if kind == Kind::Identity {
        without_token(&node);
    }
    node
}
