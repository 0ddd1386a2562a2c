//! Nodes that can be reached by a real sshd.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::{Node, program, skip};

const SSHD: &str = "/usr/sbin/sshd";

/// An ssh client's way to the nodes of a cluster: each name leads to an sshd of its own.
pub struct Network {
    folder: TempDir,
    config: String,
}

impl Default for Network {
    fn default() -> Self {
        Self::new()
    }
}

impl Network {
    /// A network without nodes. It skips the test where this machine has no sshd.
    pub fn new() -> Self {
        if !Path::new(SSHD).exists() {
            skip(&format!("no {SSHD} (Debian's openssh-server)"))
        }
        let folder = TempDir::new().unwrap();
        // sshd insists on it where it is started as root.
        let _ = std::fs::create_dir_all("/run/sshd");
        for name in ["host", "admin"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.path().join(name));
            assert!(keygen.status().unwrap().success());
        }
        let config = format!(
            "Host *\nHostName 127.0.0.1\nIdentityFile {}\nIdentitiesOnly yes\n\
             StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n",
            folder.path().join("admin").display()
        );
        Self { folder, config }
    }

    /// A path below the folder of the client's files.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets `node` be reached, with its own configuration and programs.
    pub fn join(&mut self, node: &Node) {
        let host = format!("HostKey {}", self.path("host").display());
        self.join_with(node, &host);
    }

    /// The same with the lines `host_keys` in sshd's configuration.
    pub fn join_with(&mut self, node: &Node, host_keys: &str) {
        let name = node.name();
        let programs = program("provost").parent().unwrap().display().to_string();
        let text = format!(
            "{host_keys}\nAuthorizedKeysFile {admin}.pub\nStrictModes no\nUsePAM no\n\
             PermitRootLogin yes\nPasswordAuthentication no\nPidFile none\n\
             SetEnv PROVOST_CONFIG={toml} PATH={fakes}:{programs}:/usr/bin:/bin\n",
            admin = self.path("admin").display(),
            toml = node.path("provost.toml").display(),
            fakes = node.path("fakes").display(),
        );
        let config = self.path(&format!("{name}.conf"));
        std::fs::write(&config, text).unwrap();
        std::fs::set_permissions(self.path("host"), PermissionsExt::from_mode(0o600)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.lead(name, &listener);
        // Ends with the test's process.
        std::thread::spawn(move || {
            while let Ok((connection, _)) = listener.accept() {
                serve(connection, &config);
            }
        });
    }

    /// A node that is off: its address refuses.
    pub fn join_dead(&mut self, name: &str) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.lead(name, &listener);
    }

    /// A node that accepts, and then says nothing. It does so as long as what is returned lives.
    #[must_use]
    pub fn join_mute(&mut self, name: &str) -> TcpListener {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.lead(name, &listener);
        listener
    }

    /// The client's configuration file.
    pub fn config(&self) -> String {
        let path = self.path("config");
        std::fs::write(&path, &self.config).unwrap();
        path.display().to_string()
    }

    /// The same of a client that knows only the keys in `known_hosts`, by the nodes' names.
    pub fn strict_config(&self, known_hosts: &Path) -> String {
        let path = self.path("strict");
        let known_hosts = format!("UserKnownHostsFile {}", known_hosts.display());
        let text = self.config.replace("UserKnownHostsFile /dev/null", &known_hosts);
        std::fs::write(&path, text.replace("StrictHostKeyChecking no\n", "")).unwrap();
        path.display().to_string()
    }

    fn lead(&mut self, name: &str, listener: &TcpListener) {
        let port = listener.local_addr().unwrap().port();
        // ssh takes the first value that it finds.
        self.config = format!("Host {name}\nPort {port}\nHostKeyAlias {name}\n{}", self.config);
    }
}

fn serve(connection: TcpStream, config: &Path) {
    let output = OwnedFd::from(connection.try_clone().unwrap());
    let mut sshd = Command::new(SSHD);
    sshd.args(["-i", "-f"]).arg(config);
    let sshd = sshd.stdin(OwnedFd::from(connection)).stdout(output).stderr(Stdio::null()).spawn();
    std::thread::spawn(move || sshd.unwrap().wait());
}
