use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{Daemon, missing, processes};

/// How long it may take to start.
const START: Duration = Duration::from_secs(20);
/// Where Debian's libnginx-mod-stream is.
const STREAM_MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";

/// A TCP proxy between nodes and a daemon, by the sample of its configuration. It listens at
/// [`TcpProxy::ADDRESS`], at the daemon's ports, and the daemon sees it come from there.
pub struct TcpProxy {
    child: Child,
}

impl TcpProxy {
    /// Its address. Nodes of a test are at 127.0.0.1.
    pub const ADDRESS: &str = "127.0.0.2";

    /// What is missing here to start nginx.
    pub fn nginx_missing() -> Option<String> {
        let module = || {
            let is_here = Path::new(STREAM_MODULE).is_file();
            (!is_here).then(|| "no nginx module stream (Debian's libnginx-mod-stream)".to_owned())
        };
        missing::program("nginx", "nginx-light").or_else(module)
    }

    /// Starts an nginx before `daemon`, which is a cache as well, with its own files in `folder`.
    pub fn nginx(folder: &Path, daemon: &Daemon) -> Self {
        let at = folder.display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};\n"))
            .concat();
        let cache = sample("nginx-cache.conf", daemon)
            .replace("/var/cache/nginx/provost", &format!("{at}/cache"));
        let pass_through = sample("nginx-pass-through.conf", daemon).replace(
            "proxy_protocol on;",
            &format!("proxy_protocol on;\nproxy_bind {};", Self::ADDRESS),
        );
        // As root it would become somebody who may not write here.
        let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
        let text = format!(
            "load_module {STREAM_MODULE};\n{user}daemon off;\nworker_processes 1;\npid {at}/nginx.pid;\n\
             error_log {at}/nginx.log;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{cache}}}\n{pass_through}"
        );
        let config = write(folder, "nginx.conf", &text);
        let mut command = Command::new("nginx");
        command.arg("-c").arg(config).arg("-e").arg(folder.join("nginx.log"));
        Self::start(command, folder, daemon)
    }

    /// What is missing here to start haproxy.
    pub fn haproxy_missing() -> Option<String> {
        missing::program("haproxy", "haproxy")
    }

    /// Starts a haproxy before `daemon`, with its own files in `folder`.
    pub fn haproxy(folder: &Path, daemon: &Daemon) -> Self {
        let from = format!("send-proxy-v2 source {}", Self::ADDRESS);
        let text = sample("haproxy.cfg", daemon).replace("send-proxy-v2", &from);
        let config = write(folder, "haproxy.cfg", &text);
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(config);
        Self::start(command, folder, daemon)
    }

    fn start(mut command: Command, folder: &Path, daemon: &Daemon) -> Self {
        let log = std::fs::File::create(folder.join("proxy.log")).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let proxy = Self { child };
        let answers = processes::until(START, || {
            ["nodes", "nodesTls"]
                .iter()
                .all(|listener| TcpStream::connect(Self::before(&daemon.address(listener))).is_ok())
        });
        assert!(answers, "the proxy doesn't start: see {}", folder.display());
        proxy
    }

    /// Where it passes connections on to the listener at `address`.
    pub fn before(address: &str) -> String {
        format!("{}:{}", Self::ADDRESS, address.rsplit_once(':').unwrap().1)
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        // So that it ends its worker, too.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// A sample, with the addresses of a test before `daemon`.
fn sample(name: &str, daemon: &Daemon) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut text = std::fs::read_to_string(root.join("dist/examples").join(name)).unwrap();
    for (port, listener) in [("8480", "nodes"), ("8482", "nodesTls")] {
        let at = daemon.address(listener);
        let own = TcpProxy::before(&at);
        text = text
            .replace(&format!("10.0.0.1:{port}"), &at)
            .replace(&format!("bind :{port}"), &format!("bind {own}"))
            .replace(&format!("listen {port};"), &format!("listen {own};"));
    }
    assert!(!text.contains("10.0.0.1:"), "{text}");
    text
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}
