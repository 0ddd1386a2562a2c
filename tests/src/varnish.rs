use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{missing, processes};

/// How long it may take to start: it compiles its configuration.
const START: Duration = Duration::from_secs(60);

/// A varnish, by the sample of its configuration.
pub struct Varnish {
    child: Child,
    address: String,
}

impl Varnish {
    /// What is missing here to start one.
    pub fn missing() -> Option<String> {
        missing::program("varnishd", "varnish")
    }

    /// Starts one before `daemon`, with its own files in `folder`.
    pub fn start(folder: &Path, daemon: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let sample = std::fs::read_to_string(root.join("dist/examples/varnish-cache.vcl")).unwrap();
        let (host, port) = daemon.split_once(':').unwrap();
        let (config, own) = (folder.join("cache.vcl"), folder.join("varnish"));
        let text = sample.replace("10.0.0.1", host).replace("\"8480\"", &format!("{port:?}"));
        std::fs::write(&config, text).unwrap();
        // It takes no free port by itself.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let log = std::fs::File::create(folder.join("varnish.log")).unwrap();
        let child = Command::new("varnishd")
            .args(["-F", "-j", "none", "-s", "malloc,64m", "-a", &address, "-T", "none", "-n"])
            .arg(own)
            .arg("-f")
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Self { child, address };
        let answers = processes::until(START, || TcpStream::connect(&server.address).is_ok());
        let log = || std::fs::read_to_string(folder.join("varnish.log")).unwrap();
        assert!(answers, "varnish doesn't start: {}", log());
        server
    }

    /// Where it is, `ADDRESS:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Varnish {
    fn drop(&mut self) {
        // So that it ends its worker, too.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}
