//! A throw-away machine for scripts that do harm: even if a sandbox had a hole, they would change nothing of
//! the machine that runs the tests.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use provost_tests::{Out, missing, program, skip_if};
use tempfile::TempDir;

/// Makes a machine of this one's files, in `$1`: with its own mounts, processes, network, names and IPC.
/// Its disk `/dev/sda` is a file, and no other device than those without content can be opened in it. What is in
/// `/sys` can only be read.
const BEGIN: &str = r#"set -e
mount -t tmpfs -o nodev,size=256m tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o "nodev,lowerdir=/,upperdir=$1/upper,workdir=$1/work" root
cd root
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o nodev tmpfs dev
for name in full null random tty urandom zero; do
    : >"dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
ln -s /proc/self/fd dev/fd
echo 'the disk' >dev/sda
mount -t tmpfs -o nodev tmpfs run
mount -t tmpfs -o nodev tmpfs mnt
mkdir mnt/old marker marker/folder marker/plain
printf 'one\ntwo\nthree\n' >marker/conf
echo old >marker/gone
echo inner >marker/folder/inner
ln -s conf marker/link
ip link set lo up
hostname outer
pivot_root . mnt/old
umount -l mnt/old
echo ready
exec cat"#;

/// What a hole in a sandbox would change, but for processes.
const LOOK: &str = r"hostname; date +%Y%m
find /marker /etc /boot /dev /run /usr/local /opt /srv -xdev -maxdepth 3 -printf '%p %M %U:%G %s %l %y\n' | sort
cat /marker/* /dev/sda /etc/passwd /etc/hosts 2>/dev/null
cat /proc/self/mountinfo | sort; ip route; ip -o addr; ip -o link
sysctl -n net.ipv4.ip_forward kernel.msgmax kernel.hostname; ipcs -m; umask; echo data >/dev/null";

pub(super) struct Outer {
    holder: Child,
    pid: String,
    folder: TempDir,
}

impl Outer {
    /// It skips the test where this machine can't have one.
    pub(super) fn new() -> Self {
        skip_if(missing::mounts());
        skip_if(missing::process_namespaces());
        skip_if(missing::networks());
        let folder = TempDir::new().unwrap();
        for name in ["machine", "scripts", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]);
        command.args(["--propagation", "private", "bash", "-c", BEGIN, "begin"]);
        command.arg(folder.path().join("machine"));
        let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "no machine could be made");
        let children = format!("/proc/{0}/task/{0}/children", holder.id());
        let pid = fs::read_to_string(children).unwrap().trim().to_owned();
        let outer = Self { holder, pid, folder };
        // Nothing may ever run on another machine than this one.
        assert_eq!(outer.sh("cat /marker/gone; hostname").stdout, "old\nouter\n");
        outer
    }

    /// A file beside the machine, which it sees at the same path.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn script(&self, name: &str, text: &str) -> &Self {
        self.script_as_it_is(name, &format!("#!/bin/bash\n{text}\n"))
    }

    /// With its own first line.
    pub(super) fn script_as_it_is(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path("scripts").join(name), text).unwrap();
        self
    }

    pub(super) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--target", &self.pid, "--mount", "--net", "--uts", "--ipc", "--pid", "--root"]);
        command.args(["--", "/usr/bin/env", "-C", "/", program]).args(args).stdin(Stdio::null());
        command.env("TMPDIR", self.path("tmp")).env("LC_ALL", "C");
        command
    }

    /// Runs shell commands in it.
    pub(super) fn sh(&self, commands: &str) -> Out {
        self.command("/bin/bash", &["-c", commands]).output().unwrap().into()
    }

    /// Lets other users read what is beside the machine.
    pub(super) fn for_all(&self) {
        let folder = self.path("").display().to_string();
        self.sh(&format!("chmod -R a+rX {folder}; chmod 1777 {folder}/tmp")).expect(0);
    }

    /// Runs a program as an ordinary user.
    pub(super) fn as_user(&self, program: &str, args: &[&str]) -> Out {
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", program];
        self.command("setpriv", &[&user, args].concat()).output().unwrap().into()
    }

    /// `provostctl try`, as an ordinary user.
    pub(super) fn attempt_as_user(&self, script: &str, options: &[&str]) -> Out {
        let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        self.attempt_by(&user, script, options)
    }

    /// The same by a program, which is given it as its last arguments.
    pub(super) fn attempt_by(&self, by: &[&str], script: &str, options: &[&str]) -> Out {
        let args = self.arguments(script, options);
        let args: Vec<&str> = by.iter().copied().chain(args.iter().map(String::as_str)).collect();
        self.command(args[0], &args[1..]).output().unwrap().into()
    }

    /// `provostctl try`, for cn001 of a site that has a secret.
    pub(super) fn attempt(&self, script: &str, options: &[&str]) -> Out {
        let args = self.arguments(script, options);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.command(args[0], &args[1..]).output().unwrap().into()
    }

    /// Its command line.
    fn arguments(&self, script: &str, options: &[&str]) -> Vec<String> {
        let site = self.path("site.toml");
        fs::write(&site, "[nodes.cn001]\nenv = { ROOTPASSWD = \"verysecret\" }\n").unwrap();
        let script = self.path("scripts").join(script);
        let ctl = program("provostctl");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let mut all = vec![text(&ctl), "try".to_owned(), "--site".to_owned(), text(&site)];
        all.extend(["--node".to_owned(), "cn001".to_owned(), text(&script)]);
        all.extend(options.iter().map(|option| (*option).to_owned()));
        all
    }

    /// All that a hole would change.
    pub(super) fn look(&self) -> String {
        self.sh(LOOK).expect(0).stdout
    }

    /// The processes in it, but for the one that asks.
    pub(super) fn processes(&self) -> String {
        self.sh("for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null; done").stdout
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        // It ends with its process 1.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
