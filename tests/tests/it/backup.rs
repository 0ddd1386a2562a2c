//! A management node that is lost, and comes back from a backup: its nodes go on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use fastrand::Rng;
use provost_tests::{
    Cluster, Node, Out, Postgres, SOON, missing, pipe, processes, program, seed, skip_if, skip_part,
};

/// Says that it began, then waits until a test writes to the pipe; then prints.
const WAITS: &str = "#!/bin/sh\necho begun >\"$ROOT/begun\"\nread line <\"$ROOT/go\"\n";

/// A cluster that is backed up.
struct Backed {
    cluster: Cluster,
    server: Option<Postgres>,
}

impl Backed {
    fn new(server: Option<Postgres>) -> Self {
        let mut cluster = Cluster::new();
        if let Some(server) = &server {
            cluster.configure_daemon(&format!("store = {:?}\n", server.database("site")));
        }
        cluster.start();
        Self { cluster, server }
    }

    fn file(&self) -> PathBuf {
        self.cluster.path("site.backup")
    }

    fn run(&self, args: &[&str]) -> Out {
        let config = self.cluster.path("provostd.toml").display().to_string();
        self.cluster.ctl(&[args, &["--config", &config]].concat())
    }

    fn backup(&self) -> Out {
        self.run(&["backup", "--to", self.file().to_str().unwrap()])
    }

    fn restore(&self) -> Out {
        self.run(&["restore", "--from", self.file().to_str().unwrap()])
    }

    fn start_restore(&self) -> Child {
        let mut command = Command::new(program("provostctl"));
        let config = self.cluster.path("provostd.toml");
        command.args(["restore", "--from"]).arg(self.file()).arg("--config").arg(config);
        command.spawn().unwrap()
    }

    /// All is gone but the key, the configuration and the backup. Returns where the nodes look for the
    /// daemon.
    fn lose(&mut self) -> String {
        // At the same addresses again.
        let store = match &self.server {
            Some(server) => format!("store = {:?}\n", server.address("site")),
            None => String::new(),
        };
        let tls = self.cluster.daemon().address("nodesTls");
        self.cluster.configure_daemon(&format!("{store}[tls]\nlisten = {tls:?}\n"));
        let address = self.cluster.kill_daemon();
        fs::remove_dir_all(self.cluster.path("provostd")).unwrap();
        fs::remove_dir_all(self.cluster.www()).unwrap();
        fs::remove_file(self.cluster.path("key/provost.published.toml")).unwrap();
        if let Some(server) = &self.server {
            server.sql("site", "DROP SCHEMA provost CASCADE");
        }
        address
    }
}

fn generation(out: &Out) -> u64 {
    let after = out.stdout.split("generation ").nth(1).unwrap();
    after.split(' ').next().unwrap().parse().unwrap()
}

fn nodes_go_on(server: Option<Postgres>) {
    let mut site = Backed::new(server);
    let cluster = &site.cluster;
    let root = cluster.path("root");
    fs::create_dir(&root).unwrap();
    ["begun", "go"].iter().for_each(|name| pipe(&root.join(name)));
    cluster.script("one", "#!/bin/sh\necho one\n").script("waits", WAITS);
    cluster.script("fails", "#!/bin/sh\necho because\nexit 7\n");
    cluster.site(&format!(
        "[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"one\"]\n\
         [nodes.cn002]\npostscripts = [\"waits\"]\nenv = {{ ROOT = {root:?} }}\n\
         [nodes.cn003]\npostscripts = [\"fails\"]\n"
    ));
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let nodes: Vec<Node> = (1..=3).map(|n| cluster.node(&format!("cn00{n}"))).collect();
    nodes[0].provost(&["boot"]).expect(0);
    nodes[2].provost(&["boot"]).expect(1);
    let mut over_it = nodes[1].spawn(&["boot"]);
    fs::read(root.join("begun")).unwrap();
    let stage = || cluster.status("cn002")["stage"] == "waits";
    assert!(processes::until(SOON, stage), "its records until then are stored");

    let ssh_authority = cluster.daemon_command(&["ca", "show", "--ssh"]).expect(0).stdout;
    let made = site.backup().expect(0);
    assert!(made.stdout.contains("3 nodes, 3 runs, "), "{}", made.stdout);
    made.says(&["the signing key isn't in it", "secret keys of this server"]);
    assert_eq!(fs::metadata(site.file()).unwrap().permissions().mode() & 0o777, 0o600);
    if let Some(missing) = missing::program("zstd", "zstd") {
        skip_part(&missing);
    } else {
        let listed = Command::new("tar").args(["--zstd", "-tf"]).arg(site.file()).output();
        let listed = Out::from(listed.unwrap()).expect(0).stdout;
        assert!(listed.contains("data/ca/authority.key"), "{listed}");
    }

    // What the backup doesn't know: a newer generation, and records.
    cluster.script("one", "#!/bin/sh\necho two\n").publish().expect(0);
    let newest = generation(&cluster.publish_with(&["--generation-above", "7"]).expect(0));
    nodes[0].provost(&["boot"]).expect(0);
    let address = site.lose();
    let restored = site.restore().expect(0);
    assert!(restored.stdout.starts_with("restored 3 nodes, 3 runs, "), "{}", restored.stdout);
    restored.says(&["publish again: provostctl publish"]);
    site.restore().expect(1).says(&["it isn't empty", "mv "]);
    site.cluster.start_at(&address);

    let cluster = &site.cluster;
    let restored = cluster.daemon_command(&["ca", "show", "--ssh"]).expect(0).stdout;
    assert_eq!(restored, ssh_authority);
    let log = cluster.ctl(&["log", "cn003", "fails"]).expect(0);
    assert!(log.stdout.contains("because"), "{}", log.stdout);
    // One that runs all the while goes on, where its records have a gap.
    fs::write(root.join("go"), "now\n").unwrap();
    assert_eq!(over_it.wait().unwrap().code(), Some(0));
    nodes[1].provost(&["report"]).expect(0);
    assert_eq!(cluster.status("cn002")["status"], "booted");
    // One that has seen nothing newer boots; one that has says so, and with that what is to be published.
    nodes[2].provost(&["boot"]).expect(1);
    nodes[0].provost(&["boot"]).expect(3).says(&["older than"]);
    nodes[0].provost(&["report"]).expect(0);
    let published = cluster.publish().expect(0);
    assert!(generation(&published) > newest, "{published:?}");
    nodes[0].provost(&["boot"]).expect(0);
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "booted");
    assert_eq!(shown["runs"].as_array().unwrap().len(), 3, "one is lost: {shown:#}");
}

#[test]
fn nodes_go_on_after_a_restore() {
    nodes_go_on(None);
}

#[test]
fn nodes_go_on_after_a_restore_to_postgres() {
    nodes_go_on(Some(Postgres::start()));
}

/// A site of one node that has booted.
fn small() -> Backed {
    let site = Backed::new(None);
    site.cluster.script("one", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    site.cluster.publish().expect(0);
    site.cluster.node("cn001").provost(&["boot"]).expect(0);
    site
}

#[test]
fn a_damaged_backup_is_refused_and_nothing_is_changed() {
    let mut rng = Rng::with_seed(seed());
    let mut site = small();
    site.backup().expect(0);
    site.lose();
    let whole = fs::read(site.file()).unwrap();
    let content = zstd::decode_all(&*whole).ok();
    let refused = |bytes: &[u8]| {
        fs::write(site.file(), bytes).unwrap();
        site.restore().expect(1).says(&["it is no whole backup", "nothing was changed"]);
        assert!(!site.cluster.www().exists() && !site.cluster.path("provostd").exists());
    };
    for _ in 0..20 {
        refused(&whole[..rng.usize(..whole.len())]);
        let mut damaged = whole.clone();
        damaged[rng.usize(..whole.len())] ^= 1 << rng.u8(..8);
        // Some bits of what is packed say nothing of the content.
        if zstd::decode_all(&*damaged).ok() != content {
            refused(&damaged);
        }
    }
    refused(b"");
    refused(&[&whole[..], &whole[..]].concat());
    fs::write(site.file(), &whole).unwrap();
    site.restore().expect(0);
}

#[test]
fn a_restore_that_is_killed_is_not_served_and_is_begun_anew() {
    let mut rng = Rng::with_seed(seed());
    let mut site = small();
    // So that it takes a while.
    for n in 0..300 {
        site.cluster.script(&format!("more{n}"), &format!("#!/bin/sh\n# {n}\n"));
    }
    site.cluster.publish().expect(0);
    site.backup().expect(0);
    let before = fs::read(site.cluster.www().join("manifest.toml")).unwrap();
    let address = site.lose();
    let (data, mut half) = (site.cluster.path("provostd"), 0);
    for _ in 0..12 {
        let mut child = site.start_restore();
        let marker = data.join("restore.partial");
        processes::until(SOON, || marker.exists() || child.try_wait().unwrap().is_some());
        processes::until(Duration::from_millis(rng.u64(0..100)), || false);
        child.kill().unwrap();
        child.wait().unwrap();
        if data.join("restore.partial").exists() {
            half += 1;
            site.cluster.daemon_command(&[]).expect(1).says(&["was cut off", "restore it again"]);
        } else if data.join("provost.db").exists() {
            break;
        }
    }
    assert!(half > 0, "none was cut off between its beginning and its end");
    if !data.join("provost.db").exists() || data.join("restore.partial").exists() {
        site.restore().expect(0);
    }
    assert_eq!(fs::read(site.cluster.www().join("manifest.toml")).unwrap(), before);
    site.cluster.start_at(&address);
    assert_eq!(site.cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_restore_that_is_killed_as_it_begins_leaves_nothing_that_keeps_another_one_from_it() {
    let mut site = small();
    site.backup().expect(0);
    site.lose();
    let data = site.cluster.path("provostd");
    for _ in 0..50 {
        let mut child = site.start_restore();
        // Without a pause: it takes a moment from its folder to its mark.
        while !data.exists() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        let mut left = fs::read_dir(&data).unwrap().flatten().map(|entry| entry.file_name());
        let marker = data.join("restore.partial");
        assert!(marker.exists() || left.next().is_none(), "{:?}", left.collect::<Vec<_>>());
        fs::remove_dir_all(&data).unwrap();
    }
    site.restore().expect(0);
}

#[test]
fn a_restore_to_postgres_that_is_killed_at_its_end_is_begun_anew() {
    let mut site = Backed::new(Some(Postgres::start()));
    site.cluster.script("one", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    site.cluster.publish().expect(0);
    site.cluster.node("cn001").provost(&["boot"]).expect(0);
    site.backup().expect(0);
    let address = site.lose();
    // What marks the folder until all is there.
    let marker = site.cluster.path("provostd/restore.partial");
    let mut child = site.start_restore();
    let read = || fs::read(&marker).unwrap_or_default();
    assert!(processes::until(SOON, || !read().is_empty()));
    let mark = read();
    child.kill().unwrap();
    child.wait().unwrap();
    let restored = site.restore().expect(0).stdout;
    fs::write(&marker, mark).unwrap();
    assert_eq!(site.restore().expect(0).stdout, restored);
    site.cluster.start_at(&address);
    assert_eq!(site.cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_configuration_with_an_unknown_key_is_refused() {
    let site = small();
    let config = site.cluster.path("provostd.toml");
    let text = fs::read_to_string(&config).unwrap().replacen("data = ", "dta = ", 1);
    fs::write(&config, text).unwrap();
    site.backup().expect(2).says(&["unknown field `dta`", "provostd.toml", "hint: "]);
    assert!(!site.file().exists());
    site.restore().expect(2).says(&["unknown field `dta`"]);
}

#[test]
fn a_full_disk_is_named_and_a_backup_that_was_there_stays() {
    skip_if(missing::mounts());
    let mut site = small();
    site.backup().expect(0);
    let whole = fs::read(site.file()).unwrap();
    let config = site.cluster.path("provostd.toml");
    // On a file system of its own, which has no room for it.
    let full = |folder: &Path, size: &str, args: &[&str]| {
        let mount = format!("mount -t tmpfs -o size={size},mode=700 none \"$0\" && exec \"$@\"");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &mount]).arg(folder);
        command.arg(program("provostctl")).args(args);
        command.arg("--config").arg(&config);
        Out::from(command.output().unwrap())
    };
    let (small, file) = (site.cluster.path("small"), site.file());
    fs::create_dir(&small).unwrap();
    let to = small.join("site.backup");
    let out = full(&small, "4k", &["backup", "--to", to.to_str().unwrap()]);
    out.expect(1).says(&["No space left on device", "and has room"]);
    assert_eq!(fs::read(site.file()).unwrap(), whole);
    let data = site.cluster.path("provostd");
    site.cluster.kill_daemon();
    fs::remove_dir_all(&data).unwrap();
    fs::create_dir(&data).unwrap();
    let out = full(&data, "4k", &["restore", "--from", file.to_str().unwrap()]);
    out.expect(1).says(&["No space left on device", "where there is room"]);
    site.restore().expect(0);
}

#[test]
fn a_backup_takes_the_place_of_no_device_or_pipe() {
    let backed = Backed::new(None);
    let (pipe, link) = (backed.cluster.path("pipe"), backed.cluster.path("link"));
    provost_tests::pipe(&pipe);
    std::os::unix::fs::symlink("site.backup", &link).unwrap();
    let out = backed.run(&["backup", "--to", pipe.to_str().unwrap()]).expect(1);
    out.says(&["it is there, and no regular file", "hint: run it as root; name a file"]);
    assert!(!fs::symlink_metadata(&pipe).unwrap().is_file());
    fs::write(backed.file(), "old").unwrap();
    backed.run(&["backup", "--to", link.to_str().unwrap()]).expect(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    backed.restore().expect(1);
}

#[test]
fn what_is_published_stays_where_it_is_there() {
    let mut site = small();
    site.backup().expect(0);
    site.cluster.script("one", "#!/bin/sh\necho new\n").publish().expect(0);
    let newest = fs::read(site.cluster.www().join("manifest.toml")).unwrap();
    site.cluster.kill_daemon();
    fs::remove_dir_all(site.cluster.path("provostd")).unwrap();
    site.restore().expect(0).says(&["with generation 2, and stays as it is"]);
    assert_eq!(fs::read(site.cluster.www().join("manifest.toml")).unwrap(), newest);
}
