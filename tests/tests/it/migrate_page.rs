//! docs/migrate-from-xcat.md and docs/migrate-all-from-xcat.md: their commands do what they say.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{Web, WebKind, XcatServer, mypostscript};
use provost_tests::{Chroot, Out, program, skip_if};

const ONE_NODE: &str = include_str!("../../../docs/migrate-from-xcat.md");
const ALL_NODES: &str = include_str!("../../../docs/migrate-all-from-xcat.md");
const SCRIPT: &str = "#!/bin/sh\necho \"I am ${0#./}\"\n";

/// A page's blocks of commands below `heading`, up to the next one.
fn commands(page: &'static str, heading: &str) -> Vec<&'static str> {
    let section = page.split_once(heading).unwrap().1.split("\n## ").next().unwrap();
    let blocks = section.split("\n```\n").skip(1).step_by(2);
    blocks.flat_map(str::lines).collect()
}

/// An xCAT management node, and a node of it with what xCAT has put there.
struct Site {
    server: XcatServer,
    web: Web,
    monitor: Monitor,
    root: Chroot,
}

impl Site {
    fn new() -> Self {
        skip_if(WebKind::Nginx.missing());
        let root = Chroot::new();
        let (server, web) = XcatServer::with_web(WebKind::Nginx);
        server.script("syslog", SCRIPT).script("otherpkgs", SCRIPT).script("xcatlib.sh", "");
        let lists = mypostscript("NODE='cn001'\nexport NODE", &["syslog"], &["otherpkgs"]);
        server.mypostscript("cn001", &lists);
        std::fs::create_dir(server.path("www/install/tools")).unwrap();
        std::fs::copy(program("provost"), server.path("www/install/tools/provost")).unwrap();
        // Its port isn't xCAT's here, since tests run side by side.
        let monitor = Monitor::start(Habit::Right);
        root.sh("mkdir -p /etc/provost/provost.d").expect(0);
        let port = format!("[source]\nmonitor_port = {}\n", monitor.port());
        std::fs::write(root.path("/etc/provost/provost.d/port.toml"), port).unwrap();
        root.sh("mkdir -p /opt/xcat; echo 'echo xcat' >/opt/xcat/xcatdsklspost").expect(0);
        let (host, port) = web.address().rsplit_once(':').unwrap();
        let info = format!("XCATSERVER={host}\nHTTPPORT={port}\nNODE=cn001\n");
        std::fs::write(root.path("/opt/xcat/xcatinfo"), info).unwrap();
        Self { server, web, monitor, root }
    }

    /// Runs a line of the page, as far as there are other machines here.
    fn run(&self, line: &str) -> Out {
        let line = line.replace("10.0.0.1:80", self.web.address());
        let line = line.replace("http://10.0.0.1/", &format!("http://{}/", self.web.address()));
        if let Some(files) = line.strip_prefix("scp ") {
            let (from, to) = files.split_once(" cn001:").unwrap();
            std::fs::copy(program(from), self.root.path(to)).unwrap();
            return self.root.sh(":");
        }
        match line.strip_prefix("ssh cn001 ") {
            Some(rest) => self.root.sh(rest.trim_matches('\'')),
            None => self.root.sh(&line),
        }
    }
}

#[test]
fn one_node_is_tried_and_given_back() {
    let site = Site::new();
    let before = site.root.text("/opt/xcat/xcatdsklspost");
    for line in commands(ONE_NODE, "## One node") {
        let out = site.run(line).expect(0);
        match line {
            "provost log syslog" => assert!(out.stdout.contains("I am syslog"), "{}", out.stdout),
            "provost install --xcat" => drop(out.says(&["xcatdsklspost.xcat"])),
            _ if line.starts_with("/opt/xcat/") => {
                assert!(out.stdout.contains("I am otherpkgs\n"), "{}", out.stdout);
            }
            _ => {}
        }
    }
    for line in commands(ONE_NODE, "## Going back") {
        site.run(line).expect(0);
    }
    assert_eq!(site.root.text("/opt/xcat/xcatdsklspost"), before);
    assert!(!site.root.path("/opt/xcat/xcatdsklspost.xcat").exists());
}

/// The page's lines in place of post.xcat's body, as nodeset fills them in for this site's node.
fn body(site: &Site) -> String {
    let lines = commands(ALL_NODES, "## Installed nodes");
    let end = lines.iter().position(|line| *line == "fi").unwrap();
    let (host, port) = site.web.address().rsplit_once(':').unwrap();
    let script = lines[..=end].join("\n");
    let script = [
        ("#ENV:MASTER_IP#", host),
        ("#TABLEBLANKOKAY:site:key=httpport:value#", port),
        ("#TABLE:site:key=installdir:value#", "/install"),
        ("#TABLE:nodelist:THISNODE:node#", "cn001"),
        ("/3002", &format!("/{}", site.monitor.port())),
    ]
    .iter()
    .fold(script, |script, (name, value)| script.replace(name, value));
    assert!(!script.contains('#'), "{script}");
    script
}

#[test]
fn an_installer_that_can_not_have_the_program_does_not_install_the_node_again() {
    let site = Site::new();
    let program = site.server.path("www/install/tools/provost");
    for text in [None, Some("MZ, for another machine\n")] {
        std::fs::remove_file(&program).unwrap_or_default();
        if let Some(text) = text {
            std::fs::write(&program, text).unwrap();
        }
        // It is busy with others, or doesn't find the node's name, at first.
        site.monitor.behave(Habit::Closes);
        let before = site.monitor.said().len();
        let script = body(&site).replace("wait in 5", "wait in 0");
        // By the shell of an installer of its own: dash here.
        let done = std::thread::scope(|scope| {
            let done = scope.spawn(|| site.root.sh(&script));
            site.monitor.is_visited();
            site.monitor.repair();
            done.join().unwrap()
        });
        done.expect(0);
        let said = site.monitor.said();
        assert_eq!(said[before..], ["next", "installstatus failed"]);
        assert!(!site.root.path("/opt/xcat/xcatdsklspost.xcat").exists());
    }
}

/// Where systemd looks for what a boot is to start.
const WANTS: &str = "/etc/systemd/system/multi-user.target.wants/";

/// Whether a boot starts `unit`.
fn starts(site: &Site, unit: &str) -> bool {
    site.root.path(&format!("{WANTS}{unit}.service")).symlink_metadata().is_ok()
}

#[test]
fn an_installer_runs_what_the_page_has_in_place_of_post_xcat() {
    let site = Site::new();
    // It knows nothing but what the page has written there.
    site.root.sh("rm -r /opt/xcat").expect(0);
    // Debian's has only one of the two.
    site.root.sh("if [ -x /usr/bin/wget ]; then rm -f /usr/bin/curl; fi").expect(0);
    site.root.sh(&format!("set -e\n{}", body(&site))).expect(0);
    assert!(starts(&site, "provost-boot"));
    // One unit is enough.
    assert!(!starts(&site, "provost-xcat"));
    let out = site.root.sh("provost boot; provost log otherpkgs").expect(0);
    assert!(out.stdout.contains("I am otherpkgs"), "{}", out.stdout);
    let said = ["installing", "postbooting", "booted"].map(|word| format!("installstatus {word}"));
    let [installing, postbooting, booted] = said;
    assert_eq!(site.monitor.said(), [installing, "next".to_owned(), postbooting, booted]);

    // It goes with the management node that updatenode names.
    let port = site.web.address().rsplit_once(':').unwrap().1;
    let moves = format!("/opt/xcat/xcatdsklspost 1 -M localhost:{port} syslog");
    site.root.sh(&moves);
    assert!(site.root.text("/opt/xcat/xcatinfo").contains("XCATSERVER=localhost\n"));
    let out = site.root.sh("provost check");
    assert!(out.stdout.contains(&format!("http://localhost:{port}")), "{}", out.stdout);
}

#[test]
fn a_mistake_in_the_configuration_is_told_and_does_not_install_the_node_again() {
    let site = Site::new();
    for mistake in [
        "[run]\ntimeuot = \"1h\"\n",
        "[run]\ntimeout = \"1x\"\n",
        "[trust\nunsigned = true\n",
        "[source]\nmonitor_port = 0\n",
        "[source]\ntftp_dir = \"/\"\n",
        "[source]\ninstall_dir = \"install/../x\"\n",
    ] {
        // Each is a node of its own.
        site.root.sh("rm -rf /var/lib/provost /var/log/provost").expect(0);
        std::fs::write(site.root.path("/etc/provost/provost.d/site.toml"), mistake).unwrap();
        let heard = site.monitor.said().len();
        site.root.sh(&body(&site)).says(&["provost.d/site.toml", "kickstart FAILED"]);
        assert!(site.root.text("/opt/xcat/xcatdsklspost").contains("/usr/bin/provost"));
        site.root.sh("provost install --remove").expect(0);
        // What it told when it began may not have been heard before what came of it was known.
        let failed = "installstatus failed".to_owned();
        let said = site.monitor.said()[heard..].to_vec();
        assert!(said.ends_with(&["next".to_owned(), failed.clone()]), "{mistake}: {said:?}");

        site.root.sh("provost boot").expect(2).says(&["provost.d/site.toml", "hint: "]);
        let more = site.monitor.said()[heard + said.len()..].to_vec();
        assert_eq!(more.last(), Some(&failed), "{mistake}");
        let journal = site.root.text("/var/log/provost/services/boot.json");
        assert!(journal.contains("provost.d/site.toml"), "{mistake}: {journal}");
    }
}

#[test]
fn a_disk_whose_kickstart_failed_runs_nothing_until_that_is_mended() {
    let site = Site::new();
    site.root.sh("rm -r /opt/xcat").expect(0);
    site.server.script("syslog", "#!/bin/sh\nexit 3\n");
    let out = site.root.sh(&body(&site)).expect(0);
    out.says(&["kickstart FAILED", "at boot nothing calls it", "provost kickstart"]);
    assert!(!starts(&site, "provost-boot") && !starts(&site, "provost-xcat"));
    // It doesn't install itself again either.
    let said = site.monitor.said();
    assert!(said.ends_with(&["next".to_owned(), "installstatus failed".to_owned()]), "{said:?}");
    // updatenode comes here all the same.
    assert!(site.root.text("/opt/xcat/xcatdsklspost").contains("/usr/bin/provost"));

    site.server.script("syslog", SCRIPT);
    site.root.sh("provost kickstart").expect(0);
    assert!(starts(&site, "provost-boot") && !starts(&site, "provost-xcat"));
}

/// What xCAT's own commands print of the site, and of a table that there isn't.
const XCAT: &str = r##"#!/bin/sh
case ${0##*/}:$* in
tabdump:site) printf '#key,value,comments,disable\n"master","127.0.0.1",,\n' ;;
tabdump:postscripts) printf '#node,postscripts,postbootscripts,comments,disable\n"xcatdefaults","syslog","otherpkgs",,\n' ;;
tabdump:nodelist | tabdump:nodegroup | tabdump:nodetype | tabdump:noderes | tabdump:networks | tabdump:routes) ;;
'lsdef:-t node -l -z') printf 'cn001:\n    objtype=node\n    groups=all\n' ;;
'lsdef:-t osimage -l -z') echo 'Could not find any object definitions to display.' ;;
*) echo "Error: $*" >&2; exit 1 ;;
esac
"##;

#[test]
fn what_the_page_signs_is_what_nodes_run() {
    let site = Site::new();
    // Nothing empty is published.
    site.server.script("xcatlib.sh", "#!/bin/sh\n");
    let folder = tempfile::TempDir::new().unwrap();
    for name in ["lsdef", "tabdump"] {
        let path = folder.path().join(name);
        std::fs::write(&path, XCAT).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let section = ALL_NODES.split_once("\n## Signatures\n").unwrap().1;
    let script = section.split("\n```\n").nth(1).unwrap();
    assert!(script.contains("--group apache"), "{script}");
    // The web server's, here.
    let script = script.replace("--group apache", "--group nogroup");
    let script = script.replace("/install", site.server.path("www/install").to_str().unwrap());
    let bin = program("provostctl");
    let path = [folder.path(), bin.parent().unwrap(), "/usr/bin".as_ref(), "/bin".as_ref()];
    let mut sh = Command::new("sh");
    sh.args(["-ec", &script]).current_dir(&folder).env("PATH", std::env::join_paths(path).unwrap());
    Out::from(sh.stdin(Stdio::null()).output().unwrap()).expect(0);

    let key = std::fs::read_to_string(folder.path().join("provost.pub")).unwrap();
    let key = key.lines().last().unwrap();
    let config = format!("[source]\nkind = \"xcat\"\n[trust]\nkeys = [{key:?}]\n");
    std::fs::copy(program("provost"), site.root.path("/usr/bin/provost")).unwrap();
    std::fs::write(site.root.path("/etc/provost/provost.toml"), config).unwrap();
    let out = site.root.sh("provost check && provost boot").expect(0);
    assert!(!out.stderr.contains("unsigned"), "{}", out.stderr);
    let out = site.root.sh("provost log syslog; provost log otherpkgs").expect(0);
    assert!(out.stdout.contains("I am syslog") && out.stdout.contains("I am otherpkgs"));

    // Where the group was forgotten.
    let plan = site.server.path("www/install/provost/plans/cn001.toml");
    std::os::unix::fs::chown(&plan, None, Some(0)).unwrap();
    let out = site.root.sh("provost check").expect(3);
    assert!(out.stdout.contains("publish again with --group"), "{}", out.stdout);
}
