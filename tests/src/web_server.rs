use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::processes;

/// How long it may take to start.
const START: Duration = Duration::from_secs(20);

/// An nginx that runs as nobody, as web servers do: it serves a folder, and passes reports on.
pub struct WebServer {
    child: Child,
    address: String,
}

impl WebServer {
    /// Starts one with the files of `www`, which passes reports on to `daemon`, and has its own
    /// files in `folder`. None where there is no nginx, or where this isn't root.
    pub fn start(folder: &Path, www: &Path, daemon: &str) -> Option<Self> {
        let there = Command::new("nginx").arg("-v").stderr(Stdio::null()).status().is_ok();
        if !there || !rustix::process::geteuid().is_root() {
            return None;
        }
        // It takes no free port by itself.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let (at, www) = (folder.display(), www.display());
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};\n"))
            .concat();
        let text = format!(
            "user nobody nogroup;\ndaemon off;\nworker_processes 1;\npid {at}/nginx.pid;\n\
             error_log {at}/nginx.log;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}\
             server {{\nlisten {address};\nroot {www};\n\
             location /v1/ {{ proxy_pass http://{daemon}; }}\n}}\n}}\n"
        );
        let config = folder.join("nginx.conf");
        std::fs::write(&config, text).unwrap();
        let child = Command::new("nginx")
            .args(["-c", config.to_str().unwrap(), "-e"])
            .arg(folder.join("nginx.log"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, address };
        let answers = processes::until(START, || TcpStream::connect(&server.address).is_ok());
        assert!(answers, "nginx doesn't start: see {at}/nginx.log");
        Some(server)
    }

    /// Where it is, `ADDRESS:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        // So that it ends its worker, too.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}
