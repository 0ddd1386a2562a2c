//! The modes of xCAT's xcatdsklspost, in a root of a node, against a real web server.

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{Web, WebKind, XcatServer};
use provost_tests::{Chroot, Out, program, skip_if};

/// Tells that it ran, and with what.
const TELL: &str = "#!/bin/bash\necho \"${0#./} $*\" >>/root/ran\necho \"output of ${0#./}\"\n\
                    echo \"$UPDATENODE $UPDATESECURITY\" >/root/updatenode\n";

/// What xCAT's management node makes, with all its sections.
fn mypostscript(more: &str) -> String {
    let list = |name: &str| {
        let part =
            |of: &str| format!("# {of}-{name}-start-here\n{of}-{name}\n# {of}-{name}-end-here\n");
        format!(
            "# {name}-start-here\n{}# {name}-end-here\n",
            ["defaults", "osimage", "node"].map(part).concat()
        )
    };
    format!(
        "NODE='cn001'\nexport NODE\nUPDATENODE=0\nexport UPDATENODE\n{more}\n{}{}",
        list("postscripts"),
        list("postbootscripts")
    )
}

const POST: [&str; 3] = ["defaults-postscripts", "osimage-postscripts", "node-postscripts"];
const BOOT: [&str; 3] =
    ["defaults-postbootscripts", "osimage-postbootscripts", "node-postbootscripts"];

/// A management node as it is, and a node that has nothing but the kernel's command line and what
/// the admin gave it: the program, and `unsigned = true`.
pub(super) struct Site {
    pub(super) server: XcatServer,
    pub(super) web: Web,
    pub(super) root: Chroot,
}

impl Site {
    pub(super) fn new() -> Self {
        skip_if(WebKind::Nginx.missing());
        let root = Chroot::new();
        let (server, web) = XcatServer::with_web(WebKind::Nginx);
        for name in POST.iter().chain(&BOOT).chain(&["extra", "sub/extra"]) {
            server.script(name, TELL);
        }
        server.script("bad", "#!/bin/bash\necho before\nfalse\nexit 3\n");
        server.mypostscript("cn001", &mypostscript(""));
        std::fs::copy(program("provost"), root.path("/usr/bin/provost")).unwrap();
        root.sh("mkdir -p /etc/provost").expect(0);
        let trust = "[trust]\nunsigned = true\n[report]\ndeadline = \"100ms\"\n";
        std::fs::write(root.path("/etc/provost/provost.toml"), trust).unwrap();
        let (host, port) = web.address().rsplit_once(':').unwrap();
        let line = format!("quiet XCAT={host}:3001 XCATHTTPPORT={port} NODE=cn001 nonodestatus\n");
        std::fs::write(root.path("/run/cmdline"), line).unwrap();
        root.sh("mount --bind /run/cmdline /proc/cmdline").expect(0);
        Self { server, web, root }
    }

    /// Which scripts have run since it was last asked.
    pub(super) fn ran(&self) -> Vec<String> {
        let out = self.root.sh("cat /root/ran 2>/dev/null; rm -f /root/ran");
        out.stdout.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// What `updatenode` runs on the node; `list` as it stands in the remote shell's line. All is on stdout;
    /// here, provost's own lines are moved away from those that xCAT has, too.
    fn update(&self, mode: &str, list: &str) -> Out {
        let server = self.web.address();
        let mut out = self.root.sh(&format!(
            "NODE=cn001 /opt/xcat/xcatdsklspost {mode} -m {server} '{list}' --tftp /tftpboot \
             --installdir /install --nfsv4 no -c -V"
        ));
        let lines = out.stdout.split_inclusive('\n');
        let (own, rest): (String, String) = lines.partition(|line| line.starts_with("provost:"));
        out.stderr += &own;
        out.stdout = rest;
        out
    }
}

#[test]
fn a_diskless_node_boots_by_xcats_own_unit_and_statelite_too() {
    let site = Site::new();
    site.root.sh("provost install --xcat").expect(0);
    for mode in ["", "4"] {
        let out = site.root.sh(&format!("/opt/xcat/xcatdsklspost {mode}")).expect(0);
        assert!(out.stdout.contains("output of node-postbootscripts\n"), "{}", out.stdout);
        assert_eq!(site.ran(), [POST, BOOT].concat(), "{}", out.stderr);
    }
    assert_eq!(site.root.text("/root/updatenode"), "0 \n");
    assert!(site.root.text("/var/log/xcat/xcat.log").contains("output of node-postscripts"));
}

/// What xCAT's litefile table makes writable, and `/root` for the scripts of these tests.
const STATELITE: &str = "cp -a /opt/xcat /run/kept && mkdir -p /xcatpost
for folder in /xcatpost /var /opt/xcat /root; do mount -t tmpfs tmpfs $folder; done
cp -a /run/kept/. /opt/xcat && mount -o remount,ro,bind /";

#[test]
fn a_statelite_node_whose_root_is_read_only_and_whose_scripts_are_on_a_mount_boots() {
    let site = Site::new();
    site.root.sh("provost install --xcat").expect(0);
    site.root.sh(STATELITE).expect(0);
    site.root.sh("touch /here").expect(1);
    site.root.sh("/opt/xcat/xcatdsklspost 4").expect(0);
    assert_eq!(site.ran(), [POST, BOOT].concat());

    // What was left of a run that was killed goes, and so does what isn't served any more.
    site.root.sh("mkdir /xcatpost/.xcatpost-killed && touch /xcatpost/gone").expect(0);
    let script = site.server.postscripts("sub/extra");
    std::fs::rename(&script, script.with_file_name("other")).unwrap();
    site.root.sh("/opt/xcat/xcatdsklspost 4").expect(0);
    let out = site.root.sh("cd /xcatpost && ls -A . sub").expect(0);
    let names: Vec<&str> = out.stdout.split_whitespace().collect();
    assert!(names.ends_with(&["sub", "xcatlib.sh", "sub:", "other"]), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with('.') && *name != ".:" || *name == "gone"));

    // One that can't be fetched changes nothing.
    site.server.script("extra", "#!/bin/sh\n# /// provost\n# timeout = \"never\"\n# ///\n");
    site.root.sh("/opt/xcat/xcatdsklspost 4").expect(3);
    assert_eq!(site.root.sh("cd /xcatpost && ls -A . sub").stdout, out.stdout);
    assert!(site.root.sh("cat /xcatpost/extra").stdout.contains("output of"));
}

#[test]
fn a_node_that_xcat_installed_runs_its_postbootscripts_once_or_where_the_site_says() {
    let site = Site::new();
    site.root.sh("mkdir -p /opt/xcat; touch /opt/xcat/xcatdsklspost /opt/xcat/xcatinstallpost");
    site.root.sh("provost install --xcat").expect(0);
    site.root.sh("/opt/xcat/xcatinstallpost").expect(0);
    assert_eq!(site.ran(), BOOT);
    // Every other boot.
    site.root.sh("/opt/xcat/xcatdsklspost 6").expect(0);
    assert!(site.ran().is_empty());
    let more = "RUNBOOTSCRIPTS='yes'\nexport RUNBOOTSCRIPTS";
    site.server.mypostscript("cn001", &mypostscript(more));
    site.root.sh("/opt/xcat/xcatdsklspost 6").expect(0);
    assert_eq!(site.ran(), BOOT);
}

#[test]
fn a_reboot_of_a_node_that_provost_has_never_seen_runs_no_postscripts() {
    let site = Site::new();
    site.root.sh("provost xcatdsklspost 6").expect(0);
    assert!(site.ran().is_empty());
}

#[test]
fn updatenode_runs_what_it_names_and_tells_how_it_went() {
    let site = Site::new();
    site.root.sh("provost install --xcat").expect(0);
    let out = site.update("1", "").expect(0);
    assert_eq!(site.ran(), [POST, BOOT].concat());
    let told = |script: &str| {
        format!(
            "postscript start..: {script}\noutput of {script}\n\
             postscript end....: {script} exited with code 0\n"
        )
    };
    let all: String = [POST, BOOT].concat().into_iter().map(told).collect();
    assert_eq!(out.stdout, all + "returned from postscript\n");
    assert_eq!(site.root.text("/root/updatenode"), "1 \n");

    for (list, expected) in [
        ("postscripts-start-here", POST.to_vec()),
        ("postbootscripts-start-here", BOOT.to_vec()),
        ("defaults-postscripts-start-here", POST[..1].to_vec()),
        ("node-postscripts-start-here", POST[2..].to_vec()),
        ("defaults-postbootscripts-start-here", BOOT[..1].to_vec()),
        ("osimage-postbootscripts-start-here", BOOT[1..2].to_vec()),
        ("node-postbootscripts-start-here", BOOT[2..].to_vec()),
        ("extra a b,sub/extra", vec!["extra a b", "sub/extra"]),
    ] {
        site.update("1", list).expect(0);
        assert_eq!(site.ran(), expected, "{list}");
    }
    for (mode, told) in [("2", "1 \n"), ("5", "1 1\n")] {
        site.update(mode, "extra").expect(0);
        assert_eq!(site.ran(), ["extra"]);
        assert_eq!(site.root.text("/root/updatenode"), told);
    }

    let failed = site.update("1", "extra,bad,extra").expect(1);
    let end = "before\npostscript end....: bad exited with code 3\nreturned from postscript\n";
    assert!(failed.stdout.ends_with(end), "{}", failed.stdout);
    failed.says(&["bad: FAILED"]);
    let failed = site.update("1", "missing").expect(1);
    assert_eq!(failed.stdout, "postscript missing does NOT exist.\nreturned from postscript\n");
    // Nothing of it is a second command.
    site.update("1", "extra;touch /root/injected").expect(1).says(&["`;`", "hint: "]);
    assert_eq!(site.ran(), ["extra"]);
    assert!(!site.root.path("/root/injected").exists());
}

#[test]
fn the_copy_that_an_unmodified_updatenode_makes_hands_over() {
    let site = Site::new();
    site.server.script("xcatlib.sh", "#!/bin/bash\nmsgutil_r() { :; }\n");
    site.root.sh("provost install --xcat").expect(0);
    // Each boot has the library anew.
    for _ in 0..2 {
        site.root.sh("/opt/xcat/xcatdsklspost").expect(0);
        site.ran();
        let copy = "#!/bin/bash\n[ -f /xcatpost/xcatlib.sh ] && . /xcatpost/xcatlib.sh\n\
                    rm -rf /xcatpost\n";
        std::fs::write(site.root.path("/tmp/fileAbCd.dsh"), copy).unwrap();
        let server = site.web.address();
        let line = format!(
            "export NODE=cn001; bash /tmp/fileAbCd.dsh 1 -m {server} 'extra \"a b\"' --tftp \
             /tftpboot --installdir /install --nfsv4 no -c"
        );
        let out = site.root.sh(&line).expect(0);
        assert_eq!(site.ran(), ["extra \"a b\""]);
        for told in
            ["output of extra\n", "postscript end....: extra exited with code 0\n", "returned from"]
        {
            assert!(out.stdout.contains(told), "{}", out.stdout);
        }
        assert!(site.root.path("/xcatpost/extra").exists());
    }
}

#[test]
fn a_kickstart_and_the_first_boot_after_it_need_nothing_of_post_xcat() {
    let site = Site::new();
    site.root.sh("provost kickstart").expect(0);
    assert_eq!(site.ran(), POST);
    let wants = "/etc/systemd/system/multi-user.target.wants/provost-boot.service";
    assert!(std::fs::symlink_metadata(site.root.path(wants)).is_ok());
    // The disk's kernel is told nothing; what the installer was told is in files.
    site.root.sh("umount /proc/cmdline").expect(0);
    site.root.sh("/usr/bin/provost boot").expect(0);
    assert_eq!(site.ran(), BOOT);
    site.root.sh("/usr/bin/provost boot").expect(0);
    assert!(site.ran().is_empty());
}

#[test]
fn a_server_of_times_long_past_is_passed_over_and_the_monitor_is_where_the_kernel_says() {
    let site = Site::new();
    let monitor = Monitor::start(Habit::Right);
    let (host, port) = site.web.address().rsplit_once(':').unwrap();
    let trust = "[trust]\nunsigned = true\n[report]\ndeadline = \"1m\"\n";
    std::fs::write(site.root.path("/etc/provost/provost.toml"), trust).unwrap();
    let line = format!(
        "XCAT=127.0.0.9:3001 XCATHTTPPORT={port} XCATIPORT={} NODE=cn001\n",
        monitor.port()
    );
    std::fs::write(site.root.path("/run/cmdline"), line).unwrap();
    site.root.sh("mkdir -p /opt/xcat").expect(0);
    std::fs::write(site.root.path("/opt/xcat/xcatinfo"), format!("XCATSERVER={host}\n")).unwrap();
    let told = site.root.sh("provost check").expect(0).stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "XCAT=, then file /opt/xcat/xcatinfo",
        &format!("source.monitor_port {} kernel command line, XCATIPORT=", monitor.port()),
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    let out = site.root.sh("provost xcatdsklspost").expect(0);
    assert_eq!(site.ran(), [POST, BOOT].concat());
    assert_eq!(monitor.said().last().map(String::as_str), Some("installstatus booted"));
    out.says(&[&format!("http://127.0.0.9:{port}/")]);
}
