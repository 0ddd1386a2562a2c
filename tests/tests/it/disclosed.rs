//! A marker stands in every secret of a site: none is in what leaves a machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Cluster, Node, Out, missing, pipe, skip_if};

use crate::enrolment::client::join_token;

/// What would be found of a secret in any form.
const MARK: &str = "mark3d";

/// Prints what it knows in all ways, and leaves a process behind that has a secret as argument.
const BLABS: &str = r#"#!/bin/bash
# /// provost
# leak = "warn"
# ///
printenv
set -x
true "--password=$ROOT_PASSWORD" "--pin=$PIN"
printf '%q\n' "$ROOT_PASSWORD" "$PIN"
printf %s "$ROOT_PASSWORD" | base64 -w0
setsid bash -c 'read -r line <"$0"' "$GO" "--pin=$PIN" </dev/null >/dev/null 2>&1 &
echo "no login with $ROOT_PASSWORD" >&2
exit 3
"#;

/// Arguments of a kernel: of Provost, of an installer, of others.
const KERNEL: &str = "quiet provost.node=cn001 provost.join=mark3d-join provost.token=mark3d-token \
                      rd.iscsi.password=\"mark3d words\" inst.ks=http://h/ks?token=mark3d \
                      root=http://me:mark3d@h/image ip=dhcp";

/// A site with secrets, and a node that has booted by a join token.
struct Site {
    cluster: Cluster,
    node: Node,
    /// Secrets that can't have the marker.
    made: Vec<String>,
}

fn site() -> Site {
    let mut cluster = Cluster::new();
    let node = cluster.node_without_token("cn001");
    pipe(&node.path("go"));
    cluster.script("blabs", BLABS);
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"blabs --with \\\"mark3d it's\\\"\"]\n\
         env = {{ ROOT_PASSWORD = \"mark3d it's\", GO = {:?} }}\n\
         env_secret = {{ PIN = \"mark3d \\\"pin\\\" $x\" }}\n",
        node.path("go")
    ));
    cluster.publish().expect(0);
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let join = join_token(&cluster, "cn001", &[]);
    fs::write(node.path("join"), format!("{join}\n")).unwrap();
    fs::write(node.path("token"), "").unwrap();
    configure(&cluster, &node, "");
    let admin = cluster.ctl(&["admin", "add", "carol", "--role", "operate"]).expect(0).stdout;
    let admin = admin.split_whitespace().last().unwrap().to_owned();
    // The marker in base64.
    Site { cluster, node, made: vec![join, admin, "bWFyazNk".to_owned()] }
}

/// Without the token file, which this node has none of.
fn configure(cluster: &Cluster, node: &Node, more: &str) {
    let join = format!("join_file = {:?}\n", node.path("join"));
    node.configure(&format!("{join}{}{more}", cluster.settings_for(&[&cluster.daemon().nodes()])));
    let text = fs::read_to_string(node.path("provost.toml")).unwrap();
    let kept = text.split_inclusive('\n').filter(|line| !line.starts_with("token_file"));
    fs::write(node.path("provost.toml"), kept.collect::<String>()).unwrap();
}

/// The files below `folder` in which `text` stands.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let out = Command::new("grep").args(["-raF", "-m1", "-e", text]).arg(folder).output().unwrap();
    String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
}

/// Unpacks a bundle into a folder of its own.
fn unpacked(bundle: &str, into: &Path) -> PathBuf {
    fs::create_dir_all(into).unwrap();
    let tar = Command::new("tar").args(["-xzf", bundle.trim(), "-C"]).arg(into).status();
    assert!(tar.unwrap().success());
    into.to_owned()
}

impl Site {
    /// The secrets by the words that would be found of them.
    fn secrets(&self) -> Vec<String> {
        let pem = fs::read_to_string(self.node.path("state/id")).unwrap();
        let key = pem.lines().nth(1).unwrap().to_owned();
        [MARK.to_owned(), key].into_iter().chain(self.made.clone()).collect()
    }

    #[track_caller]
    fn are_not_in(&self, folder: &Path) {
        for secret in self.secrets() {
            assert_eq!(files_with(folder, &secret), [""; 0], "{secret}");
        }
    }

    /// Runs `provost` under a kernel whose command line has secrets, with machinery that shows them.
    fn under_kernel(&self, args: &[&str]) -> Out {
        let fake = |name: &str, text: &str| {
            let path = self.node.path("fakes").join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        };
        fake(
            "dmesg",
            "echo \"[0.0] Command line: $(cat /proc/cmdline)\"\necho rd.iscsi.password=mark3d words",
        );
        fake("systemctl", "printf 'CGroup: /x\\n  ├─7 x --password=mark3d\\n  └─8 mark3d\\n'");
        let cmdline = self.node.path("cmdline");
        fs::write(&cmdline, format!("{KERNEL}\n")).unwrap();
        let line = format!("mount --bind {cmdline:?} /proc/cmdline && exec \"$@\"");
        let by = ["unshare", "-m", "sh", "-c", &line, "sh"];
        self.node.command_by(&by, args).output().unwrap().into()
    }
}

#[test]
fn no_secret_is_in_what_leaves_a_node() {
    skip_if(missing::mounts());
    let site = site();
    let Site { cluster, node, .. } = &site;
    let mut said = String::new();
    let mut hear = |out: Out| said += &format!("{}{}\n", out.stdout, out.stderr);
    hear(node.provost(&["--verbose", "boot"]).expect(1));
    hear(node.provost(&["report"]));
    // What a script or another version keeps there is nobody's business.
    for name in ["state/kept", "log/core", "state/xcat.json"] {
        fs::write(node.path(name), MARK).unwrap();
    }
    configure(cluster, node, "[fetch]\nproxy = \"http://me:mark3d@127.0.0.1:1\"\n");
    let bundles = node.path("bundles");
    fs::create_dir(&bundles).unwrap();
    let gather = site.under_kernel(&["gather", "--to", bundles.to_str().unwrap()]).expect(0);
    for args in [
        &["check"][..],
        &["check", "--format", "json"],
        &["status"],
        &["status", "--format", "json"],
        &["log", "blabs"],
        &["log", "blabs", "--commands", "--format", "json"],
        &["analyze"],
        &["analyze", gather.stdout.trim()],
    ] {
        hear(site.under_kernel(args));
    }
    let bundle = unpacked(&gather.stdout, &node.path("unpacked"));
    fs::write(node.path("go"), "\n").unwrap();
    for secret in site.secrets() {
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(&secret)).collect();
        assert_eq!(lines, [""; 0], "{secret}");
    }
    fs::remove_file(node.path("log/core")).unwrap();
    site.are_not_in(&node.path("log"));
    site.are_not_in(&bundle);
    // It has what helps all the same.
    assert!(!files_with(&bundle, "ip=dhcp").is_empty());
    assert!(!files_with(&bundle, "[redacted:ROOT_PASSWORD]").is_empty());
}

#[test]
fn no_secret_is_in_what_leaves_a_management_node() {
    let site = site();
    let Site { cluster, node, made } = &site;
    node.provost(&["boot"]).expect(1);
    fs::write(node.path("go"), "\n").unwrap();
    let to = cluster.path("gathered");
    fs::create_dir(&to).unwrap();
    let config = cluster.path("no-ssh");
    fs::write(&config, "Host *\n  ProxyCommand false\n").unwrap();
    let ssh = ["--ssh-config", config.to_str().unwrap()];
    let gather = [&["gather", "--to", to.to_str().unwrap(), "cn001"][..], &ssh].concat();
    let mut said = String::new();
    for args in [
        &gather[..],
        &["nodes", "--format", "json"],
        &["show", "cn001"],
        &["show", "cn001", "--format", "json"],
        &["log", "cn001", "blabs"],
        &["audit"],
        &["admin", "list"],
        &["plan", "cn001"],
    ] {
        let out = cluster.ctl(args);
        said += &format!("{}{}\n", out.stdout, out.stderr);
    }
    said += &cluster.metrics();
    for page in ["/", "/nodes/cn001"] {
        said += &cluster.daemon().answer(page);
    }
    for secret in site.secrets() {
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(&secret)).collect();
        assert_eq!(lines, [""; 0], "{secret}");
    }
    let bundle = fs::read_dir(&to).unwrap().next().unwrap().unwrap().path();
    site.are_not_in(&unpacked(bundle.to_str().unwrap(), &cluster.path("unpacked")));
    site.are_not_in(&cluster.path("provostd"));

    // A backup has the secrets of the site, for which it is kept as secret, but nothing else.
    for path in [cluster.path("provostd/notes"), cluster.www().join("provost.key")] {
        fs::write(path, "mark3d elsewhere").unwrap();
    }
    let file = cluster.path("site.backup");
    let daemon = cluster.path("provostd.toml").display().to_string();
    let backup = ["backup", "--to", file.to_str().unwrap(), "--config", &daemon];
    cluster.ctl(&backup).expect(0);
    skip_if(missing::program("zstd", "zstd"));
    let held = cluster.path("held");
    fs::create_dir(&held).unwrap();
    let tar = Command::new("tar").args(["--zstd", "-xf"]).arg(&file).arg("-C").arg(&held).status();
    assert!(tar.unwrap().success());
    let mut found = files_with(&held, MARK);
    // The plan has the argument as the site wrote it, and so has the history of what was published.
    found.retain(|line| !["secrets/", "plans/", ".provost/"].iter().any(|of| line.contains(of)));
    assert_eq!(found, [""; 0]);
    let signing = fs::read_to_string(cluster.path("key/provost.key")).unwrap();
    let signing = signing.lines().nth(1).unwrap().to_owned();
    for secret in made.iter().chain([&signing]) {
        assert_eq!(files_with(&held, secret), [""; 0], "{secret}");
    }
}

/// A secret key, as the lines of its file have it.
fn lines_of_key(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let is_key = |line: &&str| line.len() > 40 && !line.contains([' ', '-', ':']);
    let lines: Vec<String> = text.lines().filter(is_key).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{}", file.display());
    lines
}

#[test]
fn the_database_has_no_key_that_signs() {
    let site = site();
    site.node.provost(&["boot"]).expect(1);
    fs::write(site.node.path("go"), "\n").unwrap();
    let data = site.cluster.path("provostd");
    for file in ["../key/provost.key", "ca/authority.key", "refresh/provost.key"] {
        let own = data.join(file).display().to_string();
        for line in lines_of_key(&data.join(file)) {
            let mut found = files_with(&data, &line);
            found.retain(|path| !path.starts_with(&own));
            assert_eq!(found, [""; 0], "{file}");
        }
    }
}
