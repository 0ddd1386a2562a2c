use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use rustix::process::{getegid, geteuid};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Daemon, OldKernel, Out, program};

/// A management node: a key, scripts, a site, what is published, and a daemon.
pub struct Cluster {
    folder: TempDir,
    daemon: Option<Daemon>,
}

/// A node, with a root of its own.
pub struct Node {
    name: String,
    folder: PathBuf,
}

/// The group that gets what is published: that of this test's web servers (see [`crate::WebServer`]), or the
/// user's own, who can give files to no other.
pub fn web_group() -> &'static str {
    static OWN: LazyLock<String> = LazyLock::new(|| getegid().as_raw().to_string());
    if geteuid().is_root() { "65534" } else { &OWN }
}

impl Default for Cluster {
    fn default() -> Self {
        Self::new()
    }
}

impl Cluster {
    /// A management node with a key, and nothing else yet.
    pub fn new() -> Self {
        let cluster = Self { folder: TempDir::new().unwrap(), daemon: None };
        std::fs::create_dir(cluster.scripts()).unwrap();
        cluster.ctl(&["key", "new", "--out", cluster.path("key").to_str().unwrap()]).expect(0);
        cluster
    }

    /// A path below the cluster's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The scripts' folder.
    pub fn scripts(&self) -> PathBuf {
        self.path("scripts")
    }

    /// What is published.
    pub fn www(&self) -> PathBuf {
        self.path("www")
    }

    /// Writes a script.
    pub fn script(&self, name: &str, text: &str) -> &Self {
        let path = self.scripts().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        self
    }

    /// Writes `site.toml`.
    pub fn site(&self, text: &str) -> &Self {
        std::fs::write(self.path("site.toml"), text).unwrap();
        self
    }

    /// Runs `provostctl publish`.
    pub fn publish(&self) -> Out {
        self.publish_with(&[])
    }

    /// Runs `provostctl publish` with more arguments.
    pub fn publish_with(&self, more: &[&str]) -> Out {
        let path = |name: &str| self.path(name).display().to_string();
        let (site, scripts, www) = (path("site.toml"), path("scripts"), path("www"));
        let key = path("key/provost.key");
        let mut args =
            vec!["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
        args.extend(["--group", web_group()]);
        args.extend(more);
        self.ctl(&args)
    }

    /// What `provostctl publish --tls` takes.
    pub fn tls(&self) -> String {
        let line = self.daemon_command(&["ca", "show", "--tls"]).expect(0).stdout;
        line.trim_end().to_owned()
    }

    /// Runs `provostd ARGS` with the daemon's configuration.
    pub fn daemon_command(&self, args: &[&str]) -> Out {
        let mut command = Command::new(program("provostd"));
        command.arg("--config").arg(self.path("provostd.toml")).args(args);
        command.stdin(Stdio::null()).output().unwrap().into()
    }

    /// Adds to the configuration of daemons that are started from now on; a line `store = …` comes first.
    pub fn configure_daemon(&self, text: &str) -> &Self {
        std::fs::write(self.path(crate::daemon::MORE), text).unwrap();
        self
    }

    /// The daemon may have so many file descriptors from its next start on.
    pub fn limit_daemon_files(&self, files: u32) -> &Self {
        std::fs::write(self.path(crate::daemon::FILES), files.to_string()).unwrap();
        self
    }

    /// Starts the daemon, at the same address again if it ran before.
    pub fn start(&mut self) -> &Daemon {
        let listen = self.daemon.take().map(|d| d.nodes());
        let listen = listen.as_deref().unwrap_or("127.0.0.1:0");
        self.daemon.insert(Daemon::start(self.folder.path(), &self.www(), listen))
    }

    /// The running daemon.
    pub fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("the daemon was started")
    }

    /// Kills the daemon. Returns the address where its nodes look for it.
    pub fn kill_daemon(&mut self) -> String {
        let daemon = self.daemon.take().expect("the daemon was started");
        let address = daemon.nodes();
        daemon.kill();
        address
    }

    /// Starts another daemon at `address`, which publishes the same, with a folder of its own.
    pub fn start_another(&self, address: &str) -> Daemon {
        self.start_in("another", address)
    }

    /// The same, in the folder `name`.
    pub fn start_in(&self, name: &str, address: &str) -> Daemon {
        let folder = self.path(name);
        std::fs::create_dir_all(&folder).unwrap();
        let more = crate::daemon::MORE;
        std::fs::copy(self.path(more), folder.join(more)).unwrap();
        Daemon::start(&folder, &self.www(), address)
    }

    /// Starts the daemon at `address`.
    pub fn start_at(&mut self, address: &str) {
        self.daemon = Some(Daemon::start(self.folder.path(), &self.www(), address));
    }

    /// Runs provostctl.
    pub fn ctl(&self, args: &[&str]) -> Out {
        let mut command = Command::new(program("provostctl"));
        if let Some(daemon) = &self.daemon {
            command.env("PROVOSTCTL_ADMIN", daemon.socket());
        }
        command.args(args).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs provostctl and reads the JSON document that it prints.
    pub fn ctl_json(&self, args: &[&str]) -> Value {
        self.ctl(&[args, &["--format", "json"]].concat()).expect(0).json()
    }

    /// What the daemon counts, as Prometheus reads it.
    pub fn metrics(&self) -> String {
        self.daemon().get("/metrics")
    }

    /// The node object of `node`.
    pub fn status(&self, node: &str) -> Value {
        self.ctl_json(&["show", node])["node"].clone()
    }

    /// The publisher's public key.
    pub fn key(&self) -> String {
        let text = std::fs::read_to_string(self.path("key/provost.pub")).unwrap();
        text.lines().last().unwrap().to_owned()
    }

    /// Sets a node up: its configuration, and a token from the daemon.
    pub fn node(&self, name: &str) -> Node {
        let node = self.node_without_token(name);
        let token = self.ctl(&["token", "--force", name]).expect(0).stdout;
        std::fs::write(node.path("token"), token).unwrap();
        node.configure(&self.settings_for(&[&self.daemon().nodes()]));
        node
    }

    /// A node without a token and a configuration.
    pub fn node_without_token(&self, name: &str) -> Node {
        Node::new(name, self.path(&format!("nodes/{name}")))
    }

    /// The part of a node's configuration that says where its servers are, `ADDRESS:PORT` each,
    /// and whom it trusts.
    pub fn settings_for(&self, servers: &[&str]) -> String {
        let servers: Vec<String> = servers.iter().map(|s| format!("http://{s}")).collect();
        format!("servers = {servers:?}\n[trust]\nkeys = [\"{}\"]\n", self.key())
    }
}

impl Node {
    /// A node in `folder`, without configuration.
    pub(crate) fn new(name: &str, folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        let node = Self { name: name.to_owned(), folder };
        node.make_fakes();
        node
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A path below the node's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes the node's configuration: its name, token and paths, and `text`.
    pub fn configure(&self, text: &str) {
        let names = ["state", "log", "etc", "xcatpost", "xcat", "xcat_log"];
        let paths = names.map(|name| format!("{name} = {:?}\n", self.path(name))).concat();
        let head = format!("node = {:?}\ntoken_file = {:?}\n", self.name, self.path("token"));
        let tail = format!("[paths]\n{paths}");
        std::fs::write(self.path("provost.toml"), head + text + &tail).unwrap();
    }

    /// Programs that would reboot the machine under the tests; these only take notes.
    fn make_fakes(&self) {
        let fakes = self.path("fakes");
        std::fs::create_dir_all(&fakes).unwrap();
        let notes = self.path("reboots");
        let text = format!("#!/bin/sh\necho \"${{0##*/}} $*\" >>'{}'\n", notes.display());
        for name in ["systemctl", "reboot", "shutdown"] {
            std::fs::write(fakes.join(name), &text).unwrap();
            let executable = PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(fakes.join(name), executable).unwrap();
        }
    }

    /// The reboots that `provost` has asked the machine for, a command line each.
    pub fn reboots(&self) -> Vec<String> {
        let notes = std::fs::read_to_string(self.path("reboots")).unwrap_or_default();
        let asks = |line: &&str| line.contains("reboot") && !line.contains("start");
        notes.lines().filter(asks).map(str::to_owned).collect()
    }

    /// The command `provost ARGS` on this node. It finds no program that could reboot the machine
    /// under the test.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_by(&[], args)
    }

    /// The same, by a program that is given it as its last arguments.
    pub fn command_by(&self, by: &[&str], args: &[&str]) -> Command {
        // The kernel is outside: a filter that an ordinary user sets takes setuid programs their rights.
        let kernel = OldKernel::of_all_nodes().map(OldKernel::by);
        let mut words = kernel.iter().flatten().map(String::as_str).chain(by.iter().copied());
        let mut command = match words.next() {
            Some(first) => {
                let mut command = Command::new(first);
                command.args(words).arg(program("provost"));
                command
            }
            None => Command::new(program("provost")),
        };
        command.arg("--config").arg(self.path("provost.toml")).args(args).stdin(Stdio::null());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.path("fakes")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        // Not those of the machine under the test, nor the name that xCAT's shells have.
        command.env("SERVICE_RECORDS_DIR", self.path("openshift")).env_remove("NODE");
        command
    }

    /// Runs a line of shell on this node, with the programs of the node and of the management
    /// node.
    pub fn shell(&self, line: &str, cluster: &Cluster) -> Out {
        let mut command = Command::new("sh");
        let programs = program("provost").parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.path("fakes"), programs].into_iter();
        let folders = folders.chain(std::env::split_paths(&path));
        command
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("PROVOST_CONFIG", self.path("provost.toml"))
            .env("PROVOSTCTL_ADMIN", cluster.daemon().socket())
            .args(["-c", line])
            .stdin(Stdio::null());
        command.output().unwrap().into()
    }

    /// Runs `provost ARGS` on this node.
    pub fn provost(&self, args: &[&str]) -> Out {
        self.command(args).output().unwrap().into()
    }

    /// Starts `provost ARGS` on this node.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// `provost status --format json`.
    pub fn status(&self) -> Value {
        self.provost(&["status", "--format", "json"]).expect(0).json()
    }

    /// The journal of a service, which has to be a JSON array.
    pub fn journal(&self, service: &str) -> Vec<Value> {
        let path = self.path(&format!("log/services/{service}.json"));
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }
}

/// Makes a named pipe: a script that reads from it waits until the test writes to it.
pub fn pipe(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
}
