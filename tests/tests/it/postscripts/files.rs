//! `syncfiles`.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use provost_tests::program;

use crate::postscripts::root::{Kind, Root};

const REMOVE: [(&str, &str); 1] = [("SYNCFILES_REMOVE", "yes")];

#[test]
fn files_come_whole_as_blocks_and_merged() {
    let root = Root::new(Kind::Chroot);
    root.write(
        "_sync/list",
        "\
# a comment
conf/app.conf -> /etc/app/app.conf 0640 root:mail
conf/*.txt -> /opt/app/
APPEND:
conf/hosts -> /etc/hosts
MERGE:
conf/passwd -> /etc/passwd
",
    );
    root.write("conf/app.conf", "a = 1\n");
    root.write("conf/one.txt", "1\n");
    root.write("conf/two words.txt", "2\n");
    root.write("conf/hosts", "10.0.0.1 mn\n");
    root.write(
        "conf/passwd",
        "slurm:x:777:777::/nonexistent:/bin/false\nman:x:6:12:changed:/:/bin/sh\n",
    );
    root.write("/etc/hosts", "127.0.0.1 localhost\n");
    root.settles("syncfiles", &[]);
    assert_eq!(root.text("/etc/app/app.conf"), "a = 1\n");
    assert_eq!(root.mode("/etc/app/app.conf"), 0o640);
    assert_eq!(root.sh("stat -c %U:%G /etc/app/app.conf", &[]).stdout, "root:mail\n");
    assert_eq!(root.text("/opt/app/two words.txt"), "2\n");
    assert!(root.text("/etc/hosts").starts_with("127.0.0.1 localhost\n# begin "));
    assert!(root.text("/etc/hosts").contains("\n10.0.0.1 mn\n# end "));
    let passwd = root.text("/etc/passwd");
    assert!(passwd.starts_with("root:x:0:0:") && passwd.contains("\nman:x:6:12:changed:"));
    assert!(passwd.ends_with("\nslurm:x:777:777::/nonexistent:/bin/false\n"), "{passwd}");

    // A later list without them, first without and then with the wish to have them removed.
    root.write("/opt/app/one.txt", "changed here\n");
    root.write("_sync/list", "conf/hosts -> /opt/hosts\n");
    let out = root.script("syncfiles", &[]).expect(0);
    assert!(out.stdout.contains("no longer listed, but not removed: /etc/app/app.conf"), "{out:?}");
    assert!(root.path("/etc/app/app.conf").exists());
    let out = root.script("syncfiles", &REMOVE).expect(0);
    assert!(
        !root.path("/etc/app/app.conf").exists() && !root.path("/opt/app/two words.txt").exists()
    );
    assert_eq!(root.text("/etc/hosts"), "127.0.0.1 localhost\n");
    assert_eq!(root.text("/opt/app/one.txt"), "changed here\n");
    out.says(&["changed since it was installed: /opt/app/one.txt"]);
    assert_eq!(root.text("/opt/hosts"), "10.0.0.1 mn\n");
}

#[test]
fn a_list_that_reaches_beyond_the_bundle_or_gives_root_away_is_refused() {
    let root = Root::new(Kind::Chroot);
    root.write("evil", "toor:x:0:0::/root:/bin/bash\n");
    root.write("root", "root::5:0::/root:/bin/bash\n");
    root.write("short", "nothing\n");
    let passwd = root.text("/etc/passwd");
    for (line, says) in [
        ("/etc/shadow -> /srv/x", "there is no _sync/root/etc/shadow"),
        ("/../etc/shadow -> /srv/x", "not in the bundle"),
        ("../../etc/shadow -> /srv/x", "not in the bundle"),
        ("evil -> srv/x", "not an absolute path"),
        ("evil -> /srv/../etc/x", "not an absolute path"),
        ("evil -> /etc/x 9999", "not a mode"),
        ("evil -> /etc/x 0644 a;b", "not an owner"),
        ("evil -> (cn1;id) /etc/x", "not nodes: 'cn1;id'"),
        ("evil -> (cn[1,2) /etc/x", "not nodes: 'cn[1"),
        ("none -> /etc/x", "there is no none"),
        ("https://example.org/x -> /etc/x", "a URL needs a digest"),
        ("EXECUTE:\n/bin/true", "line 2: not the script of a file"),
        ("EXECUTE:\n/evil.post", "/evil.post isn't installed by this list"),
        ("EXECUTEALWAYS:\n/bin/true", "/bin/true isn't installed by this list"),
        ("EXECUTE:\nevil -> /etc/x", "an arrow under EXECUTE:"),
        ("evil -> /srv/evil\nEXECUTEALWAYS:\nevil", "line 3: /srv/evil can't be run"),
        ("MERGE:\nevil -> /etc/passwd", "line 2: evil cannot be merged"),
        ("MERGE:\nroot -> /etc/passwd", "line 2: root cannot be merged"),
        ("MERGE:\nshort -> /etc/passwd", "line 2: short cannot be merged"),
    ] {
        root.write("_sync/list", &format!("{line}\n"));
        root.refuses("syncfiles", &[("NODE", "cn001")], &[says]);
    }
    assert_eq!(root.text("/etc/passwd"), passwd);
    assert!(!root.path("/etc/x").exists());
    let out = root.script("syncfiles", &[("NOSYNCFILES", "1")]).expect(0);
    assert!(out.stdout.starts_with("skipped: "));
}

/// A list as a site of xCAT's has it; each script notes that it ran.
const OF_XCAT: &str = "\
/tmp/share/file2 -> /tmp/file2
/tmp/share/file2.post -> /tmp/file2.post
/tmp/share/always /tmp/share/more -> /opt/scripts
EXECUTE:
/tmp/share/file2.post
EXECUTEALWAYS:
/tmp/share/always
APPEND:
/tmp/share/hosts -> /etc/hosts
MERGE:
/tmp/share/passwd -> /etc/passwd
";

/// Writes a program of the management node as `publish` puts it into the bundle.
fn program_of_mn(root: &Root, name: &str, text: &str) {
    root.write(&format!("_sync/root/tmp/share/{name}"), text);
    let path = format!("/run/bundle/_sync/root/tmp/share/{name}");
    fs::set_permissions(root.path(&path), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_synclist_of_xcat_is_read_as_it_is() {
    let root = Root::new(Kind::Chroot);
    let env = [("NODE", "cn001")];
    root.write("_sync/list", OF_XCAT);
    for (name, text) in [("file2", "2\n"), ("more", "m\n"), ("hosts", "10.0.0.1 mn\n")] {
        root.write(&format!("_sync/root/tmp/share/{name}"), text);
    }
    root.write("_sync/root/tmp/share/passwd", "slurm:x:777:777::/:/bin/false\n");
    let note = |what: &str| format!("#!/bin/sh\necho {what} $(cat /tmp/file2) >>/ran\n");
    program_of_mn(&root, "file2.post", &note("post"));
    program_of_mn(&root, "always", &note("always"));
    let sync = |code| root.script("syncfiles", &env).expect(code);
    let ran = || std::mem::take(&mut root.text("/ran")).replace('\n', ",");

    // All files are in place before a script runs.
    sync(0);
    assert_eq!(ran(), "post 2,always 2,");
    assert_eq!(root.text("/opt/scripts/more"), "m\n");
    assert!(
        root.text("/etc/hosts")
            .ends_with("\n10.0.0.1 mn\n# end syncfiles _sync/root/tmp/share/hosts\n")
    );
    assert!(root.text("/etc/passwd").ends_with("\nslurm:x:777:777::/:/bin/false\n"));
    // Nothing has changed: one runs each time, the other doesn't.
    sync(0);
    assert_eq!(ran(), "post 2,always 2,always 2,");
    // Changed here, and brought back.
    root.write("/tmp/file2", "changed\n");
    sync(0);
    assert_eq!(ran(), "post 2,always 2,always 2,post 2,always 2,");
    // One that failed runs again, although its file is in place.
    root.write("_sync/root/tmp/share/file2", "3\n");
    program_of_mn(&root, "file2.post", "#!/bin/sh\nexit 4\n");
    sync(1).says(&["line 5: /tmp/share/file2.post failed", "exit status 4"]);
    program_of_mn(&root, "file2.post", &note("again"));
    sync(0);
    assert!(ran().ends_with("post 2,always 2,again 3,always 3,"), "{}", ran());
    sync(0);
    assert!(ran().ends_with("again 3,always 3,always 3,"), "{}", ran());
}

#[test]
fn a_line_for_some_nodes_is_for_these_alone() {
    let root = Root::new(Kind::Chroot);
    root.write("a", "a\n");
    root.write("a.post", "#!/bin/sh\n");
    for (nodes, node, is_here) in [
        ("cn001", "cn001", true),
        ("cn001", "cn0011", false),
        ("cn000, cn001", "cn001", true),
        ("cn001-cn010", "cn009", true),
        ("cn001-cn010", "cn011", false),
        ("rack-1-rack-5", "rack-5", true),
        ("cn[001-003,7]", "cn007", true),
        ("cn[001-003,7]", "cn004", false),
        ("cn[001-003]-ib", "cn002-ib", true),
        ("cn[001-003]-ib", "cn002", false),
        ("cn001+2", "cn003", true),
        ("cn001+2", "cn004", false),
        ("compute", "cn001", true),
        ("login", "cn001", false),
        ("compute,-cn001", "cn001", false),
        ("-cn[001-002],compute", "cn002", false),
        ("compute,-cn002", "cn001", true),
    ] {
        let list = format!("a.post -> /srv/a.post\na -> ({nodes}) /srv/a\nEXECUTE:\na.post\n");
        root.write("_sync/list", &list);
        fs::set_permissions(root.path("/run/bundle/a.post"), Permissions::from_mode(0o755))
            .unwrap();
        let _ = fs::remove_file(root.path("/srv/a"));
        let env = [("NODE", node), ("GROUP", "compute,all")];
        let out = root.script("syncfiles", &env).expect(0);
        assert_eq!(root.path("/srv/a").exists(), is_here, "({nodes}) at {node}");
        assert_eq!(out.stdout.contains("+ /srv/a.post"), is_here, "({nodes}) at {node}");
    }
}

/// The SHA-256 of "hello\n".
const HELLO: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

#[test]
fn a_file_comes_by_its_address_if_its_digest_is_right() {
    let root = Root::new(Kind::Chroot);
    fs::copy(program("provost"), root.path("/usr/bin/provost")).unwrap();
    let server = root.listener();
    let url = format!("http://{}/fw.bin", server.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let other = HELLO.replace('b', "c");
    root.write("_sync/list", &format!("{url}#sha256={other} -> /opt/fw/\n"));
    root.refuses("syncfiles", &[], &["SHA-256"]);
    assert!(!root.path("/opt/fw/fw.bin").exists());

    // The owner without a group, the mode with and without its zero.
    for mode in ["0640", "600"] {
        root.write("_sync/list", &format!("{url}#sha256={HELLO} -> /opt/fw/ {mode} man\n"));
        root.settles("syncfiles", &[]);
    }
    assert_eq!(root.text("/opt/fw/fw.bin"), "hello\n");
    assert_eq!(root.mode("/opt/fw/fw.bin"), 0o600);
    assert_eq!(root.sh("stat -c %U /opt/fw/fw.bin", &[]).stdout, "man\n");

    root.write("_sync/list", "# nothing\n");
    root.script("syncfiles", &REMOVE).expect(0);
    assert!(!root.path("/opt/fw/fw.bin").exists());
}
