use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program;

/// The longest that a daemon may take to serve, on a busy machine.
const START: Duration = Duration::from_secs(60);

/// What a test has to add to provostd.toml.
pub(crate) const MORE: &str = "provostd.more.toml";

/// How many file descriptors a daemon may have, where a test limits that.
pub(crate) const FILES: &str = "provostd.files";

/// A running provostd.
pub struct Daemon {
    child: Child,
    data: PathBuf,
}

impl Daemon {
    /// Starts a daemon and waits until it says that it serves, as systemd would. `listen` is the
    /// nodes' listener, `127.0.0.1:0` for any free port.
    pub fn start(folder: &Path, www: &Path, listen: &str) -> Self {
        let data = folder.join("provostd");
        let config = folder.join("provostd.toml");
        let more = std::fs::read_to_string(folder.join(MORE)).unwrap_or_default();
        let store = if more.starts_with("store = ") { "" } else { "store = \"sqlite\"\n" };
        let mut text = format!(
            "data = {data:?}\nwww = {www:?}\n{store}listen = {listen:?}\nadmin = \"127.0.0.1:0\"\n{more}"
        );
        if !more.contains("[quota]") {
            // Tests run nodes again and again.
            text.push_str("\n[quota]\nruns_per_hour = 1000000\n");
        }
        if !more.contains("[tls]") {
            // At the same address again as well, if it ran before.
            let last = std::fs::read(data.join("listen.json")).unwrap_or_default();
            let last: Value = serde_json::from_slice(&last).unwrap_or_default();
            let tls = last["nodesTls"].as_str().unwrap_or("127.0.0.1:0");
            text.push_str(&format!("\n[tls]\nlisten = {tls:?}\n"));
        }
        std::fs::write(&config, text).unwrap();
        let mut command = match std::fs::read_to_string(folder.join(FILES)) {
            Ok(files) => {
                let mut command = Command::new("prlimit");
                command.arg(format!("--nofile={files}")).arg(program("provostd"));
                command
            }
            Err(_) => Command::new(program("provostd")),
        };
        command.arg("--config").arg(&config);
        serve(&mut command, folder, data)
    }

    /// The nodes' listener, `ADDRESS:PORT`.
    pub fn nodes(&self) -> String {
        self.address("nodes")
    }

    /// The admin's listener.
    pub fn admin(&self) -> String {
        self.address("admin")
    }

    /// The address of the listener that `listen.json` calls so.
    pub fn address(&self, listener: &str) -> String {
        let text = std::fs::read_to_string(self.data.join("listen.json")).unwrap();
        let listen: Value = serde_json::from_str(&text).unwrap();
        listen[listener].as_str().unwrap().to_owned()
    }

    /// The body of the admins' page at `path`, which there has to be.
    #[track_caller]
    pub fn get(&self, path: &str) -> String {
        let answer = self.answer(path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.split(' ').nth(1) == Some("200"), "{path}: {head}");
        body.to_owned()
    }

    /// What the admins' listener answers to a GET of `path`, with its head.
    pub fn answer(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.admin()).unwrap();
        let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What `provostctl --admin` takes.
    pub fn socket(&self) -> String {
        format!("unix:{}", self.data.join("admin.sock").display())
    }

    /// The daemon's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the daemon as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already; a test that cares has asked.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a daemon and waits until it says that it serves. Its log is in `folder`.
fn serve(command: &mut Command, folder: &Path, data: PathBuf) -> Daemon {
    let ready = folder.join("ready.sock");
    let _ = std::fs::remove_file(&ready);
    let socket = UnixDatagram::bind(&ready).unwrap();
    socket.set_read_timeout(Some(START)).unwrap();
    let log = File::options().create(true).append(true).open(folder.join("provostd.log"));
    let child = command
        .env("NOTIFY_SOCKET", &ready)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.unwrap())
        .spawn()
        .unwrap();
    let daemon = Daemon { child, data };
    let mut said = [0; 4096];
    loop {
        let n = socket.recv(&mut said).expect("provostd says that it is ready");
        if String::from_utf8_lossy(&said[..n]).lines().any(|l| l == "READY=1") {
            return daemon;
        }
    }
}
