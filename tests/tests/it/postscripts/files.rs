//! `syncfiles`.

use std::io::{Read, Write};

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
        ("/etc/shadow -> /srv/x", "not in the bundle"),
        ("../../etc/shadow -> /srv/x", "not in the bundle"),
        ("evil -> srv/x", "not an absolute path"),
        ("evil -> /srv/../etc/x", "not an absolute path"),
        ("evil -> /etc/x 9999", "not a mode"),
        ("evil -> /etc/x 0644 a;b", "not an owner"),
        ("evil root -> /etc/x", "2 files for one destination"),
        ("none -> /etc/x", "there is no none"),
        ("https://example.org/x -> /etc/x", "a URL needs a digest"),
        ("EXECUTE:", "it runs no commands"),
        ("MERGE:\nevil -> /etc/passwd", "line 2: evil cannot be merged"),
        ("MERGE:\nroot -> /etc/passwd", "line 2: root cannot be merged"),
        ("MERGE:\nshort -> /etc/passwd", "line 2: short cannot be merged"),
    ] {
        root.write("_sync/list", &format!("{line}\n"));
        root.refuses("syncfiles", &[], &[says]);
    }
    assert_eq!(root.text("/etc/passwd"), passwd);
    assert!(!root.path("/etc/x").exists());
    let out = root.script("syncfiles", &[("NOSYNCFILES", "1")]).expect(0);
    assert!(out.stdout.starts_with("skipped: "));
}

/// The SHA-256 of "hello\n".
const HELLO: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

#[test]
fn a_file_comes_by_its_address_if_its_digest_is_right() {
    let root = Root::new(Kind::Chroot);
    std::fs::copy(program("provost"), root.path("/usr/bin/provost")).unwrap();
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
