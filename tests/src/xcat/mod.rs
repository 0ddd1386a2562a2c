//! An xCAT management node in a temporary folder, and its nodes: a real web server, and the ports
//! of xcatd.

mod certificates;
pub mod monitor;
mod web;
mod xcatd;

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Node, Out, skip_if};

pub use certificates::{Authority, XCATS_BEGIN};
pub use web::{Web, WebKind};
pub use xcatd::{Habit, MOST_AT_ONCE, Xcatd};

/// A management node: what its web server serves.
pub struct XcatServer {
    folder: TempDir,
}

impl Default for XcatServer {
    fn default() -> Self {
        Self::new()
    }
}

impl XcatServer {
    /// One without scripts.
    pub fn new() -> Self {
        let server = Self { folder: TempDir::new().unwrap() };
        // Its web server runs as somebody else.
        std::fs::set_permissions(server.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for name in ["www/install/postscripts", "www/tftpboot/mypostscripts"] {
            std::fs::create_dir_all(server.path(name)).unwrap();
        }
        server
    }

    /// One without scripts, and its running web server. It skips the test where there is none of that
    /// kind.
    pub fn with_web(kind: WebKind) -> (Self, Web) {
        skip_if(kind.missing());
        let server = Self::new();
        let web = server.web(kind);
        (server, web)
    }

    /// A path below its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path below its scripts' folder.
    pub fn postscripts(&self, name: &str) -> PathBuf {
        self.path("www/install/postscripts").join(name)
    }

    /// Writes a script.
    pub fn script(&self, name: &str, text: &str) -> &Self {
        write(&self.postscripts(name), text);
        self
    }

    /// Has the web server serve `text` as the mypostscript of `node`.
    pub fn mypostscript(&self, node: &str, text: &str) -> &Self {
        write(&self.path("www/tftpboot/mypostscripts").join(format!("mypostscript.{node}")), text);
        self
    }

    /// Starts one more web server, of a kind that this machine has.
    pub fn web(&self, kind: WebKind) -> Web {
        Web::start(kind, &self.path(""))
    }

    /// A node whose management node has its web server at `web`, `ADDRESS:PORT`, and nobody at any
    /// other port.
    pub fn node(&self, name: &str, web: &str) -> XcatNode {
        let node = Node::new(name, self.path(&format!("nodes/{name}")));
        std::fs::write(node.path("token"), "no-token\n").unwrap();
        let node = XcatNode { node, web: web.to_owned() };
        node.configure("");
        node
    }
}

/// A node of an xCAT management node. Its `/xcatpost` and the like are in its folder.
pub struct XcatNode {
    node: Node,
    web: String,
}

impl XcatNode {
    /// Configures it anew: as before, and with `text`, whose first lines are in `[source]`.
    pub fn configure(&self, text: &str) {
        // Where nobody listens.
        let ports = ["xcatd_port", "monitor_port"].map(|key| match text.contains(key) {
            true => String::new(),
            false => format!("{key} = 1\n"),
        });
        let trust = if text.contains("[trust]") { "" } else { "[trust]\nunsigned = true\n" };
        // Nobody takes its status.
        let report =
            if text.contains("[report]") { "" } else { "[report]\ndeadline = \"100ms\"\n" };
        self.node.configure(&format!(
            "servers = [\"http://{}\"]\n[source]\nkind = \"xcat\"\n{}{text}\n{trust}{report}",
            self.web,
            ports.concat()
        ));
    }

    /// The newest end of `stage` in the journal of `service`.
    #[track_caller]
    pub fn end_of(&self, service: &str, stage: &str) -> Value {
        let journal = self.journal(service);
        let is_it = |e: &&Value| e["stage"] == stage && e["phase"] == "stage end";
        let end = journal.iter().rfind(is_it);
        end.unwrap_or_else(|| panic!("no end of {stage}: {journal:#?}")).clone()
    }

    /// Boots it, which is to end with `exit`.
    #[track_caller]
    pub fn boot(&self, exit: i32) -> Out {
        self.provost(&["boot"]).expect(exit)
    }

    /// The end of the fetch stage of its last boot.
    #[track_caller]
    pub fn fetched(&self) -> Value {
        self.end_of("boot", "fetch")
    }

    /// A path below its `/xcatpost`.
    pub fn xcatpost(&self, name: &str) -> PathBuf {
        self.node.path("xcatpost").join(name)
    }
}

impl std::ops::Deref for XcatNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

/// Whether the error of `record`, by this cause, says all of `parts`, and what to do.
#[track_caller]
pub fn says(record: &Value, cause: &str, parts: &[&str]) {
    assert_eq!(record["cause"], cause, "{record:#}");
    let text = format!("{} {}", record["errorMessage"], record["hint"]);
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in {text}"));
    assert!(record["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{record:#}");
}

/// The text of a mypostscript: a preamble, and the lists, a line each.
pub fn mypostscript(preamble: &str, postscripts: &[&str], postbootscripts: &[&str]) -> String {
    let list = |name: &str, lines: &[&str]| {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        format!(
            "# {name}-start-here\n# defaults-{name}-start-here\n{lines}# defaults-{name}-end-here\n\
             # osimage-{name}-start-here\n# osimage-{name}-end-here\n# node-{name}-start-here\n\
             # node-{name}-end-here\n# {name}-end-here\n"
        )
    };
    let lists = [list("postscripts", postscripts), list("postbootscripts", postbootscripts)];
    format!("{preamble}\n{}", lists.concat())
}

/// Writes a file that anybody can read, in folders that anybody can enter. It is some time old, and
/// each one of its own age, since HTTP can't tell two changes in one second apart.
fn write(path: &Path, text: &str) {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    let age = Duration::from_secs(86_400 - WRITTEN.fetch_add(1, Relaxed));
    file.set_modified(SystemTime::now() - age).unwrap();
    file.set_permissions(PermissionsExt::from_mode(0o644)).unwrap();
}
