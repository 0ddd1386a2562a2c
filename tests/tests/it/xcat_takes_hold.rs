//! `install --xcat` takes hold of all that calls xCAT's programs on a node, whatever was done to the node
//! since, or `provost check` says that it doesn't.

use provost_tests::Out;

use super::xcat_modes::Site;

/// What a management node serves, and what xCAT's own download puts in its place again.
const LIBRARY: &str = "#!/bin/bash\nmsgutil_r() { :; }\n";
/// xCAT's own programs, and the copy that its updatenode makes of one.
const OWN: &str = "#!/bin/bash\n[ -f /xcatpost/xcatlib.sh ] && . /xcatpost/xcatlib.sh\n\
                   echo own >>/root/ran\n";
/// The scripts of xCAT's on a node, and its library if it has one.
const FILES: &str = "cd /; for f in opt/xcat/xcat*post* xcatpost/xcatlib.sh; do \
                     [ -e $f ] && echo \"$f $(stat -c %a $f)\" && cat $f; done; true";

/// What is done to a node before something is called.
const STATES: [(&str, &str); 5] = [
    ("before the first run", "rm -rf /xcatpost /var/lib/provost; provost install --xcat"),
    ("after a run", "provost run extra"),
    ("after rm -rf /xcatpost", "rm -rf /xcatpost"),
    ("as cleanupxcatpost leaves it", "rm -rf /xcatpost/*"),
    (
        "after xCAT's download",
        "rm -rf /xcatpost; mkdir /xcatpost; cp /root/library /xcatpost/xcatlib.sh",
    ),
];

impl Site {
    /// A node with xCAT's own programs.
    fn of_xcat(programs: &[&str]) -> Self {
        let site = Self::new();
        site.server.script("xcatlib.sh", LIBRARY);
        site.root.sh("mkdir -p /opt/xcat /etc/systemd/system").expect(0);
        for path in programs.iter().chain(&["/tmp/fileAbCd.dsh"]) {
            std::fs::write(site.root.path(path), OWN).unwrap();
        }
        std::fs::write(site.root.path("/root/library"), LIBRARY).unwrap();
        site.root.sh("chmod 755 /opt/xcat/*").expect(0);
        site
    }

    /// An unmodified `updatenode -P extra`.
    fn updatenode(&self) -> Out {
        let server = self.web.address();
        self.root.sh(&format!(
            "export NODE=cn001; bash /tmp/fileAbCd.dsh 1 -m {server} extra --tftp /tftpboot \
             --installdir /install --nfsv4 no -c"
        ))
    }

    /// Whether `call` comes here, or `provost check` says before that it won't.
    fn is_held_or_told(&self, state: &str, call: impl Fn() -> Out) {
        let check = self.root.sh("provost check");
        let told = check.stdout.contains("updatenode will be xCAT's own: ")
            && check.stdout.contains("run: provost install --xcat");
        let out = call();
        let ran = self.ran();
        assert!(!ran.is_empty(), "{state}: nothing has run: {}{}", out.stdout, out.stderr);
        if ran.contains(&"own".to_owned()) {
            assert!(told, "{state}: check doesn't say so: {}", check.stdout);
            check.expect(2);
        }
    }
}

/// Everything that calls, in each state of a node with these programs of xCAT's.
fn matrix(programs: &[&str], boot: &str) {
    let site = Site::of_xcat(programs);
    let before = site.root.sh(FILES).stdout;
    site.root.sh("provost install --xcat").expect(0);
    for (state, does) in STATES {
        site.root.sh(does).expect(0);
        site.ran();
        site.is_held_or_told(state, || site.updatenode());
        // It is easily had again.
        site.root.sh(does).expect(0);
        site.root.sh("provost install --xcat").expect(0);
        site.root.sh("provost check").expect(0);
        site.ran();
        site.updatenode().expect(0);
        assert_eq!(site.ran(), ["extra"], "{state}");

        // A boot is always ours, and heals the rest.
        site.root.sh(does).expect(0);
        site.ran();
        site.root.sh(boot).expect(0);
        let ran = site.ran();
        assert!(!ran.contains(&"own".to_owned()), "{state}: {ran:?}");
        site.updatenode().expect(0);
        assert_eq!(site.ran(), ["extra"], "{state}");
    }
    for (state, does) in STATES {
        site.root.sh("rm -rf /xcatpost; provost install --xcat").expect(0);
        site.root.sh(does).expect(0);
        let library = site.root.sh("[ -e /xcatpost/xcatlib.sh ]").code == Some(0);
        site.root.sh("provost install --remove").expect(0);
        let files = site.root.sh(FILES).stdout;
        let expected = match (state, library) {
            ("before the first run", _) | (_, false) => before.clone(),
            _ => {
                let mode = site.root.sh("stat -c %a /xcatpost/xcatlib.sh").stdout;
                format!("{before}xcatpost/xcatlib.sh {mode}{LIBRARY}")
            }
        };
        assert_eq!(files, expected, "{state}");
    }
}

#[test]
fn on_a_diskless_node() {
    matrix(&["/opt/xcat/xcatdsklspost"], "/opt/xcat/xcatdsklspost");
}

#[test]
fn on_an_installed_node() {
    let programs = ["/opt/xcat/xcatdsklspost", "/opt/xcat/xcatinstallpost"];
    matrix(&programs, "/opt/xcat/xcatinstallpost");
}

#[test]
fn on_a_node_that_is_installed_by_provost() {
    matrix(&["/opt/xcat/xcatdsklspost"], "provost kickstart");
}

#[test]
fn xcats_own_programs_in_their_place_again_are_told() {
    let site = Site::of_xcat(&["/opt/xcat/xcatdsklspost"]);
    site.root.sh("provost install --xcat && provost run extra").expect(0);
    // As genimage does.
    std::fs::write(site.root.path("/opt/xcat/xcatdsklspost"), OWN).unwrap();
    let told = site.root.sh("provost check").expect(2).stdout;
    assert!(told.contains("the next boot will be xCAT's own"), "{told}");
    site.root.sh("provost install --remove").expect(0);
    assert!(!site.root.path("/opt/xcat/xcatdsklspost.xcat").exists());
    assert_eq!(site.root.text("/opt/xcat/xcatdsklspost"), OWN);
}
