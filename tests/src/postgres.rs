use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::{Out, processes, skip_if};

/// The longest that a server may take to serve: it may have to repair what a kill has left.
const START: Duration = Duration::from_secs(60);
/// Who owns the databases: not the server's administrator, as on a real one.
const OWNER: &str = "provostd";

/// A PostgreSQL server in a temporary folder, which ends with the test.
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    /// Only for connections with TLS; others use a socket of its own.
    port: u16,
    /// Whether it syncs what it writes (`fsync`): a kill leaves the kernel's part in any case.
    syncs: bool,
    child: Option<Child>,
}

impl Postgres {
    /// The password of the databases' owner. Over the socket it isn't needed.
    pub const PASSWORD: &str = "a b/c:@%'\"";
    /// Who runs the server in place of root, which it refuses.
    pub const USER: u32 = 65534;

    /// What is missing here to start one.
    pub fn missing() -> Option<String> {
        programs().is_none().then(|| "no PostgreSQL (Debian's postgresql)".to_owned())
    }

    /// Starts one that syncs nothing. It skips the test where there is no PostgreSQL.
    pub fn start() -> Self {
        Self::start_that(false)
    }

    /// Starts one that syncs what it writes, as a real one does.
    pub fn start_synced() -> Self {
        Self::start_that(true)
    }

    fn start_that(syncs: bool) -> Self {
        skip_if(Self::missing());
        let programs = programs().unwrap();
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let own = folder.path().join("server");
        fs::create_dir(&own).unwrap();
        if geteuid().is_root() {
            chown(&own, Some(Self::USER), Some(Self::USER)).unwrap();
        }
        let mut server = Self { folder, programs, port: 0, syncs, child: None };
        let data = server.path("data");
        let args = [
            "--username=postgres",
            "--auth=trust",
            "--no-sync",
            "--encoding=UTF8",
            "--lc-messages=C",
        ];
        let made = server
            .run_as_owner(&server.programs.join("initdb"))
            .args(args)
            .arg("-D")
            .arg(&data)
            .output()
            .unwrap();
        Out::from(made).expect(0);
        let access = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(server.path("data/pg_hba.conf"), access).unwrap();
        server.make_certificate();
        loop {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            server.port = free.local_addr().unwrap().port();
            drop(free);
            if server.starts() {
                break;
            }
            // Another program may have taken the port in between.
            let log = fs::read_to_string(server.log()).unwrap();
            assert!(log.contains("Address already in use"), "{log}");
        }
        let password = Self::PASSWORD.replace('\'', "''");
        server.sql("postgres", &format!("CREATE ROLE {OWNER} LOGIN PASSWORD '{password}'"));
        server
    }

    /// Makes a database. Returns its address, by the server's socket.
    pub fn database(&self, name: &str) -> String {
        self.database_in(name, "pg_default")
    }

    /// The same, in a tablespace.
    pub fn database_in(&self, name: &str, tablespace: &str) -> String {
        let create = format!("CREATE DATABASE {name} OWNER {OWNER} TABLESPACE {tablespace}");
        self.sql("postgres", &create);
        self.address(name)
    }

    /// The address of a database, by the server's socket.
    pub fn address(&self, name: &str) -> String {
        let socket = self.path("").display().to_string().replace('/', "%2F");
        format!("postgres://{OWNER}@{socket}:{}/{name}", self.port)
    }

    /// The address of a database by TCP, with the name of the server's machine.
    pub fn over_tcp(&self, name: &str, host: &str) -> String {
        format!("postgres://{OWNER}@{host}:{}/{name}", self.port)
    }

    /// The certificate of the server, for the name `localhost`; signed by itself.
    pub fn certificate(&self) -> PathBuf {
        self.path("server.pem")
    }

    /// Runs a statement as the server's administrator. Returns what it prints, a line a row.
    #[track_caller]
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let out = self.client(database, statement).output().unwrap();
        Out::from(out).expect(0).stdout.trim().to_owned()
    }

    /// PostgreSQL's own client, which runs a statement as the server's administrator.
    pub fn client(&self, database: &str, statement: &str) -> Command {
        let mut client = Command::new(self.programs.join("psql"));
        client
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--username=postgres"])
            .arg("--host")
            .arg(self.path(""))
            .arg("--port")
            .arg(self.port.to_string())
            .args(["--dbname", database, "--command", statement]);
        client
    }

    /// A database as SQL, without owners.
    pub fn dump(&self, database: &str) -> String {
        let dump =
            self.as_owner("pg_dump", database).args(["--no-owner", "--no-privileges"]).output();
        let text = Out::from(dump.unwrap()).expect(0).stdout;
        // psql of some versions doesn't know these commands.
        let is_sql =
            |line: &&str| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict");
        text.lines().filter(is_sql).map(|line| format!("{line}\n")).collect()
    }

    /// Fills a new database from such SQL. Returns its address.
    pub fn load(&self, database: &str, sql: &Path) -> String {
        let address = self.database(database);
        let load = self
            .as_owner("psql", database)
            .args(["--no-psqlrc", "--quiet", "--file"])
            .arg(sql)
            .output();
        Out::from(load.unwrap()).expect(0);
        address
    }

    /// A program of PostgreSQL's, by the databases' owner.
    fn as_owner(&self, program: &str, database: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.args(["--username", OWNER, "--dbname", database]).arg("--host").arg(self.path(""));
        command.arg("--port").arg(self.port.to_string());
        command
    }

    /// What it has logged.
    pub fn logged(&self) -> String {
        fs::read_to_string(self.log()).unwrap()
    }

    /// The id of its first process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Ends all of its processes at once, as a power cut would, but for what the kernel has.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It ends all others, and writes nothing more (an immediate shutdown).
            let pid = Pid::from_child(&child);
            kill_process(pid, Signal::QUIT).unwrap();
            // It may be frozen, and so may those that it ends: those it kills in the end.
            kill_process(pid, Signal::CONT).unwrap();
            child.wait().unwrap();
        }
    }

    /// Freezes all of its processes, or lets them go on: it takes connections and requests, and answers none.
    pub fn freeze(&self, is_frozen: bool) {
        let first = Pid::from_raw(self.pid() as i32).unwrap();
        let signal = if is_frozen { Signal::STOP } else { Signal::CONT };
        kill_process(first, signal).unwrap();
        // It makes no others once it stands still.
        let is_as_asked =
            || processes::look(self.pid() as i32).is_some_and(|p| p.is_stopped() == is_frozen);
        assert!(processes::until(START, is_as_asked), "the server still runs");
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid()));
        for child in children.unwrap().split_whitespace() {
            let child = Pid::from_raw(child.parse().unwrap()).unwrap();
            // One may have ended.
            let _ = kill_process(child, signal);
        }
    }

    /// Starts it after a kill.
    pub fn start_again(&mut self) {
        assert!(self.starts(), "{}", fs::read_to_string(self.log()).unwrap());
    }

    /// Starts it. Returns whether it serves.
    fn starts(&mut self) -> bool {
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = self.run_as_owner(&self.programs.join("postgres"));
        let fsync = if self.syncs { "fsync=on" } else { "fsync=off" };
        for option in [fsync, "ssl=on", "listen_addresses=127.0.0.1"] {
            command.args(["-c", option]);
        }
        let file = |name: &str, file: &str| format!("{name}={}", self.path(file).display());
        command
            .args(["-c", &file("ssl_cert_file", "server.pem")])
            .args(["-c", &file("ssl_key_file", "server.key")])
            .args(["-c", &format!("unix_socket_directories={}", self.path("").display())])
            .arg("-p")
            .arg(self.port.to_string())
            .arg("-D")
            .arg(self.path("data"))
            .stdout(Stdio::null())
            .stderr(log);
        let mut child = command.spawn().unwrap();
        let mut has_ended = false;
        let serves = processes::until(START, || {
            has_ended = child.try_wait().unwrap().is_some();
            let mut ask = Command::new(self.programs.join("pg_isready"));
            ask.arg("--quiet")
                .arg("--host")
                .arg(self.path(""))
                .arg("-p")
                .arg(self.port.to_string());
            has_ended || ask.status().unwrap().success()
        });
        self.child = Some(child);
        serves && !has_ended
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("server").join(name)
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// A program as a user that isn't root; it ends with this process.
    fn run_as_owner(&self, program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]).current_dir(self.path("")).stdin(Stdio::null());
        if geteuid().is_root() {
            let user = Self::USER.to_string();
            command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        }
        command.arg(program);
        command
    }

    fn make_certificate(&self) {
        let args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
                    -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                    -addext basicConstraints=critical,CA:FALSE -keyout server.key -out server.pem";
        let mut openssl = self.run_as_owner(Path::new("openssl"));
        Out::from(openssl.args(args.split_whitespace()).output().unwrap()).expect(0);
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The folder of the newest server's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    versions.extend(std::env::split_paths(&path));
    versions.into_iter().rev().find(|folder: &PathBuf| is_server(folder))
}

fn is_server(folder: &Path) -> bool {
    ["initdb", "postgres", "psql", "pg_isready"].iter().all(|name| folder.join(name).is_file())
}
