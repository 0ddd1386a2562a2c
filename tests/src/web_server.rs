use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{missing, processes};

/// How long it may take to start.
const START: Duration = Duration::from_secs(20);

/// An nginx that runs as nobody, as web servers do.
pub struct WebServer {
    child: Child,
    address: String,
    folder: PathBuf,
}

impl WebServer {
    /// What is missing here to start one.
    pub fn missing() -> Option<String> {
        // Others may not have its folder in their PATH.
        let root = missing::root("start nginx as nobody");
        root.or_else(|| missing::program("nginx", "nginx-light"))
    }

    /// Starts one that serves the files of `www`, passes reports on to `daemon`, and has its own
    /// files in `folder`.
    pub fn start(folder: &Path, www: &Path, daemon: &str) -> Self {
        let www = www.display();
        Self::with_sites(folder, |address| {
            format!(
                "access_log off;\nserver {{\nlisten {address};\nroot {www};\n\
                 location /v1/ {{ proxy_pass http://{daemon}; }}\n}}\n"
            )
        })
    }

    /// Starts a cache before `daemon`, by the sample of its configuration; otherwise the same.
    pub fn cache(folder: &Path, daemon: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let sample = std::fs::read_to_string(root.join("dist/examples/nginx-cache.conf")).unwrap();
        let cache = format!("{}/cache", folder.display());
        let log = folder.join("access.log");
        Self::with_sites(folder, |address| {
            let sample = sample
                .replace("listen 8480", &format!("listen {address}"))
                .replace("10.0.0.1:8480", daemon)
                .replace("/var/cache/nginx/provost", &cache);
            format!(
                "log_format cached '$upstream_cache_status $uri';\naccess_log {} cached;\n{sample}",
                log.display()
            )
        })
    }

    /// Starts one with the sites that `sites` has at an address.
    fn with_sites(folder: &Path, sites: impl FnOnce(&str) -> String) -> Self {
        // It takes no free port by itself.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let at = folder.display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};\n"))
            .concat();
        let text = format!(
            "user nobody nogroup;\ndaemon off;\nworker_processes 1;\npid {at}/nginx.pid;\n\
             error_log {at}/nginx.log;\nevents {{}}\nhttp {{\n{temporary}{}}}\n",
            sites(&address)
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
        let server = Self { child, address, folder: folder.to_owned() };
        let answers = processes::until(START, || TcpStream::connect(&server.address).is_ok());
        assert!(answers, "nginx doesn't start: see {at}/nginx.log");
        server
    }

    /// The requests for published files that a cache has passed on, and those that it has answered
    /// itself, a path each.
    pub fn passed_on(&self) -> [Vec<String>; 2] {
        let log = std::fs::read_to_string(self.folder.join("access.log")).unwrap();
        let requests = log.lines().filter_map(|line| line.split_once(' '));
        let cached = requests.filter(|(status, _)| *status != "-");
        // What is stale is asked for again at the same time.
        let (own, others) = cached.partition::<Vec<_>, _>(|(status, _)| *status == "HIT");
        [others, own].map(|some| some.into_iter().map(|(_, path)| path.to_owned()).collect())
    }

    /// Where it is, `ADDRESS:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The id of its first process.
    pub fn pid(&self) -> u32 {
        self.child.id()
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
