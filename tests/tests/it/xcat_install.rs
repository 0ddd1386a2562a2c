//! `provost install --xcat` and the way back.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Chroot, Out, missing, program, skip_part};
use tempfile::TempDir;

const ORIGINAL: &str = "#!/bin/sh\necho \"xCAT's own: $*\"\nexit 7\n";

/// A node with its own places for all that is written, and its own copy of the program.
struct Node(TempDir);

impl Node {
    fn new(trust: &str) -> Self {
        let node = Self(TempDir::new().unwrap());
        let at = |name: &str| node.path(name);
        let text = format!(
            "servers = [\"http://127.0.0.1:1\"]\n{trust}[fetch]\ndeadline = \"1s\"\n[report]\ndeadline = \"1s\"\n[paths]\n\
             state = {:?}\nlog = {:?}\netc = {:?}\nxcat = {:?}\nxcatpost = {:?}\nxcat_log = {:?}\n",
            at("state"),
            at("log"),
            at("etc"),
            at("xcat"),
            at("xcatpost"),
            at("xcat_log"),
        );
        node.write("provost.toml", &text, 0o644);
        // Not by this process, whose other children would hold it open for writing for an instant.
        let copied = Command::new("cp").arg(program("provost")).arg(at("provost")).status();
        assert!(copied.unwrap().success());
        node
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    fn provost(&self, args: &[&str]) -> Out {
        let mut command = Command::new(self.path("provost"));
        command.arg("--config").arg(self.path("provost.toml")).args(args).output().unwrap().into()
    }

    /// What is called at boot and by others.
    fn called(&self, name: &str, args: &[&str]) -> Out {
        Command::new(self.path("xcat").join(name)).args(args).output().unwrap().into()
    }

    /// All that is below the folders that an installation touches: what it is, and its bytes.
    fn snapshot(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("xcat"), self.path("etc/systemd")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let bytes = match (meta.is_dir(), std::fs::read_link(&path)) {
                    (true, _) => Vec::new(),
                    (_, Ok(to)) => to.into_os_string().into_encoded_bytes(),
                    _ => std::fs::read(&path).unwrap(),
                };
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path, meta.permissions().mode(), bytes));
            }
        }
        found.sort();
        found
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_node_of_xcats_is_taken_over_and_given_back_as_it_was() {
    let node = Node::new("[trust]\nunsigned = true\n");
    node.write("xcat/xcatdsklspost", ORIGINAL, 0o750);
    node.write("xcat/xcatinstallpost", ORIGINAL, 0o755);
    node.write("xcat/xcatinfo", "NODE=cn001\n", 0o644);
    node.write("etc/systemd/system/xcatpostinit1.service", "[Unit]\n", 0o644);
    let before = node.snapshot();

    let said = node.provost(&["install", "--xcat"]).expect(0);
    let said = said.says(&["is kept as", "xcatdsklspost.xcat", "xcatpostinit1 calls it"]);
    assert!(!said.stderr.contains("nothing will run"), "{}", said.stderr);
    // Nothing else would run the scripts a second time.
    assert!(!node.path("etc/systemd/system/provost-xcat.service").exists());
    for name in ["xcatdsklspost", "xcatinstallpost"] {
        assert_eq!(text(&node.path(&format!("xcat/{name}.xcat"))), ORIGINAL);
    }
    node.called("xcatdsklspost", &["9"]).expect(2).says(&["no mode \"9\"", "hint: "]);
    // It runs, as far as it can here.
    let out = node.called("xcatdsklspost", &["1", "-m", "127.0.0.1:1", "syslog"]).expect(3);
    assert!(out.stdout.contains("returned from postscript"), "{}", out.stdout);
    node.called("xcatinstallpost", &[]).expect(3);

    let after = node.snapshot();
    node.provost(&["install", "--xcat"]).expect(0);
    assert_eq!(node.snapshot(), after);

    node.provost(&["install", "--remove"]).expect(0).says(&["is xCAT's again"]);
    assert_eq!(node.snapshot(), before);
    node.provost(&["install", "--xcat", "--remove"]).expect(0);
    assert_eq!(node.snapshot(), before);
}

#[test]
fn xcat_works_as_before_once_the_program_is_removed() {
    let node = Node::new("");
    node.write("xcat/xcatdsklspost", ORIGINAL, 0o755);
    node.write("xcat/xcatinstallpost", ORIGINAL, 0o755);
    node.provost(&["install", "--xcat"]).expect(0);
    node.called("xcatdsklspost", &["6"]).expect(2).says(&["[trust]"]);

    std::fs::remove_file(node.path("provost")).unwrap();
    let out = node.called("xcatdsklspost", &["1", "-m", "a b", ""]).expect(7);
    assert_eq!(out.stdout, "xCAT's own: 1 -m a b \n");
    node.called("xcatinstallpost", &[]).expect(7);
}

/// systemd takes `unit` as it stands, and would start it.
#[track_caller]
fn understood(unit: &Path) {
    if let Some(missing) = missing::program("systemd-analyze", "systemd") {
        return skip_part(&missing);
    }
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no", "--recursive-errors=no"]).arg(unit);
    let said = Out::from(command.output().unwrap()).expect(0).stderr;
    assert!(!said.contains("provost-xcat"), "{said}");
}

#[test]
fn a_node_that_xcat_has_nothing_on_gets_a_unit_of_its_own() {
    let node = Node::new("");
    // It doesn't decide whom to trust.
    let said = node.provost(&["install", "--xcat"]).expect(0);
    said.says(&["nothing will run yet: [trust] is empty", "unsigned = true"]);
    assert!(!node.path("xcat/xcatinstallpost").exists());
    let unit = node.path("etc/systemd/system/provost-xcat.service");
    let wants = node.path("etc/systemd/system/multi-user.target.wants/provost-xcat.service");
    assert_eq!(std::fs::read_link(&wants).unwrap(), unit);
    let told = text(&unit);
    let program = node.path("provost").display().to_string();
    assert!(told.contains(&format!("\nConditionPathExists={program}\n")), "{told}");
    assert!(told.contains(&format!("\nExecStart='{program}' --config ")), "{told}");
    assert!(told.contains(" xcatdsklspost\n"), "{told}");
    // Nor does it run beside what is enabled later.
    assert!(told.contains("/multi-user.target.wants/provost-boot.service\n"), "{told}");
    understood(&unit);

    node.provost(&["install", "--remove"]).expect(0);
    assert_eq!(node.snapshot(), []);
}

#[test]
fn what_somebody_else_put_there_since_is_theirs() {
    let node = Node::new("");
    node.write("xcat/xcatdsklspost", ORIGINAL, 0o755);
    node.provost(&["install", "--xcat"]).expect(0);
    // An image is made anew, say.
    let newer = ORIGINAL.replace("own", "newer");
    std::fs::remove_file(node.path("xcat/xcatdsklspost")).unwrap();
    node.write("xcat/xcatdsklspost", &newer, 0o755);
    node.provost(&["install", "--remove"]).expect(0).says(&["isn't what provost put there"]);
    assert_eq!(text(&node.path("xcat/xcatdsklspost")), newer);
    node.provost(&["install", "--xcat"]).expect(0);
    node.provost(&["install", "--remove"]).expect(0);
    assert_eq!(text(&node.path("xcat/xcatdsklspost")), newer);
}

#[test]
fn by_the_name_of_xcats_it_is_that_program_and_unknown_arguments_run_nothing() {
    let node = Node::new("[trust]\nunsigned = true\n");
    std::fs::create_dir(node.path("xcat")).unwrap();
    std::os::unix::fs::symlink(node.path("provost"), node.path("xcat/xcatdsklspost")).unwrap();
    for args in [&["3"][..], &["6", "-V"], &["1", "-m", "mn", "a", "b"], &["1", "-x", "mn", "a"]] {
        let out = node.called("xcatdsklspost", args).expect(2).says(&["hint: ", "updatenode"]);
        assert_eq!(out.stdout, "");
    }
    node.provost(&["install"]).expect(2).says(&["--xcat"]);
    assert!(!node.path("log").exists() && !node.path("state").exists());
}

#[test]
fn an_image_needs_no_proc() {
    let image = Chroot::new();
    std::fs::copy(program("provost"), image.path("/usr/bin/provost")).unwrap();
    for called in ["provost", "./provost"] {
        image.sh("rm -rf /opt/xcat; mountpoint -q /proc && umount -l /proc");
        let script = format!("[ ! -e /proc/self ] && cd /usr/bin && {called} install --xcat");
        image.sh(&script).expect(0);
        let wrapper = image.text("/opt/xcat/xcatdsklspost");
        assert!(wrapper.contains("exec '/usr/bin/provost' xcatdsklspost"), "{wrapper}");
    }
}

#[test]
fn a_folder_that_takes_no_files_is_told() {
    let node = Node::new("");
    std::fs::write(node.path("xcat"), "no folder").unwrap();
    let out = node.provost(&["install", "--xcat"]).expect(2);
    out.says(&["xcatdsklspost in its place", "hint: run it as root"]);
}

#[test]
fn what_updatenode_copies_to_the_node_hands_over_and_without_the_program_goes_on_as_xcat() {
    let library = "#!/bin/bash\nmsgutil_r() { :; }\n";
    // As the first lines of the management node's own script are.
    let copy = "#!/bin/bash\n[ -f \"$XCATPOST/xcatlib.sh\" ] && . \"$XCATPOST/xcatlib.sh\"\n\
                echo \"as xCAT does: $*\"\n";
    let node = Node::new("");
    node.write("xcatpost/xcatlib.sh", library, 0o755);
    node.write("xcat/xcatdsklspost", ORIGINAL, 0o755);
    node.write("fileAbCdEf.dsh", copy, 0o755);
    node.write("other.dsh", copy, 0o755);
    let updatenode = |program: &str, args: &[&str]| -> Out {
        let mut command = Command::new(node.path(program));
        command.env("XCATPOST", node.path("xcatpost")).env("NODE", "cn001");
        command.args(args).output().unwrap().into()
    };
    let args = ["1", "-m", "127.0.0.1:1", "a b,c", "--tftp", "/tftpboot"];
    let before = updatenode("fileAbCdEf.dsh", &args).expect(0).stdout;

    node.provost(&["install", "--xcat"]).expect(0);
    node.provost(&["install", "--xcat"]).expect(0);
    let lines = text(&node.path("xcatpost/xcatlib.sh"));
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.starts_with("#!/bin/bash\n"));
    // It says why it runs nothing.
    let shown = updatenode("fileAbCdEf.dsh", &args).expect(2).stdout;
    assert!(shown.contains("[trust]") && shown.ends_with("returned from postscript\n"), "{shown}");
    // Any program that sources it isn't meant, however strict it is.
    assert_eq!(updatenode("other.dsh", &["1"]).expect(0).stdout, "as xCAT does: 1\n");
    let strict = format!("set -eu; . '{}'; echo on", node.path("xcatpost/xcatlib.sh").display());
    let out: Out = Command::new("bash").args(["-c", &strict]).output().unwrap().into();
    assert_eq!(out.expect(0).stdout, "on\n");

    std::fs::rename(node.path("provost"), node.path("away")).unwrap();
    assert_eq!(updatenode("fileAbCdEf.dsh", &args).expect(0).stdout, before);
    std::fs::rename(node.path("away"), node.path("provost")).unwrap();
    node.provost(&["install", "--remove"]).expect(0);
    assert_eq!(text(&node.path("xcatpost/xcatlib.sh")), library);
}
