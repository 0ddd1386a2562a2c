//! The web servers of management nodes, as distributions ship them.

use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{missing, processes, skip, skip_part};

/// How long it may take to start.
const START: Duration = Duration::from_secs(20);

/// Whose web server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebKind {
    /// Apache, which xCAT sets up.
    Apache,
    /// Apache whose files have no tags.
    ApacheWithoutTags,
    /// nginx, whose listings have links to the folder above.
    Nginx,
    /// nginx without listings.
    NginxWithoutIndex,
}

impl WebKind {
    /// Those of `kinds` that this machine can start. It skips the test where it can start none.
    pub fn available(kinds: &[Self]) -> Vec<Self> {
        let (here, others) =
            kinds.iter().partition::<Vec<Self>, _>(|kind| kind.missing().is_none());
        let missing: BTreeSet<_> = others.into_iter().filter_map(Self::missing).collect();
        if here.is_empty() {
            skip(&Vec::from_iter(missing).join("; "))
        }
        missing.iter().for_each(|missing| skip_part(missing));
        here
    }

    /// What is missing here to start one.
    pub fn missing(self) -> Option<String> {
        let package = if self.program() == "nginx" { "nginx-light" } else { "apache2" };
        // Others may not have its folder in their PATH.
        let root = missing::root("start a web server as nobody");
        root.or_else(|| missing::program(self.program(), package))
    }

    fn program(self) -> &'static str {
        match self {
            Self::Apache | Self::ApacheWithoutTags => "apache2",
            Self::Nginx | Self::NginxWithoutIndex => "nginx",
        }
    }
}

/// A running web server, as somebody who isn't root.
pub struct Web {
    child: Child,
    address: String,
    log: PathBuf,
}

impl Web {
    /// Serves `FOLDER/www`.
    pub(super) fn start(kind: WebKind, folder: &Path) -> Self {
        let program = kind.program();
        let at = folder.join(format!("{kind:?}"));
        std::fs::create_dir_all(&at).unwrap();
        // It takes no free port by itself.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let www = folder.join("www");
        let (config, args) = match kind {
            WebKind::Apache | WebKind::ApacheWithoutTags => {
                let tags = if kind == WebKind::Apache { "MTime Size" } else { "None" };
                let text = format!("{}FileETag {tags}\n", apache(&at, &www, &address));
                (text, ["-DFOREGROUND", "-f"])
            }
            WebKind::Nginx => (nginx(&at, &www, &address, "on"), ["-e", "stderr"]),
            WebKind::NginxWithoutIndex => (nginx(&at, &www, &address, "off"), ["-e", "stderr"]),
        };
        let file = at.join("server.conf");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(program);
        command.args(args);
        if program == "nginx" {
            command.arg("-c");
        }
        let said = std::fs::File::create(at.join("said")).unwrap();
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let child = command.spawn().unwrap();
        let server = Self { child, address, log: at.join("access.log") };
        let answers = processes::until(START, || TcpStream::connect(&server.address).is_ok());
        let said = std::fs::read_to_string(at.join("said")).unwrap();
        assert!(answers, "{program} doesn't start: {said}");
        server
    }

    /// Where it is, `ADDRESS:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it was asked for and how it answered, `PATH STATUS` each, once all of `these` are
    /// among them: it takes its notes after it has answered.
    pub fn asked(&self, these: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        processes::until(START, || {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            lines = log.lines().map(str::to_owned).collect();
            these.iter().all(|line| lines.contains(line))
        });
        lines
    }

    /// Forgets what it was asked for.
    pub fn forget(&self) {
        std::fs::File::create(&self.log).unwrap();
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        // So that it ends its workers, too.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

fn apache(at: &Path, www: &Path, address: &str) -> String {
    let (at, www) = (at.display(), www.display());
    let modules: String = ["mpm_event", "authz_core", "autoindex", "dir", "mime"]
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .concat();
    // As many as Debian's, which has them serve 150 at once.
    format!(
        "{modules}StartServers 2\nThreadsPerChild 25\nMaxRequestWorkers 150\nServerRoot {at}\nServerName localhost\nListen {address}\nPidFile {at}/pid\n\
         User nobody\nGroup nogroup\nErrorLog {at}/error.log\nTypesConfig /etc/mime.types\n\
         DefaultRuntimeDir {at}\nMutex file:{at}\nLogFormat \"%U %>s\" short\n\
         CustomLog {at}/access.log short\nDocumentRoot {www}\n<Directory {www}>\n\
         Options Indexes FollowSymLinks\nIndexOptions FancyIndexing\nRequire all granted\n\
         </Directory>\n"
    )
}

fn nginx(at: &Path, www: &Path, address: &str, autoindex: &str) -> String {
    let (at, www) = (at.display(), www.display());
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {at}/{name};\n"))
        .concat();
    format!(
        "user nobody nogroup;\ndaemon off;\nworker_processes 1;\npid {at}/pid;\n\
         error_log {at}/error.log;\nevents {{}}\nhttp {{\nlog_format short '$uri $status';\n\
         access_log {at}/access.log short;\n{temporary}server {{\nlisten {address};\nroot {www};\n\
         autoindex {autoindex};\n}}\n}}\n"
    )
}
