//! What is looked at before anything is published.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use provost_bundle::Policy;
use provost_publish::PublishError;

use super::{Admin, snapshot};

#[test]
fn all_problems_are_named_and_nothing_is_written() {
    let mut admin = Admin::new();
    admin.write("private", "#!/bin/sh\n", 0o600);
    admin.write("closet/file", "x", 0o644);
    fs::set_permissions(admin.scripts().join("closet"), fs::Permissions::from_mode(0o700)).unwrap();
    let secret = fs::read(admin.home.path().join("key/provost.key")).unwrap();
    admin.write("secret.key", &secret, 0o600);
    admin.write("open.key", &secret, 0o644);
    admin.write("empty", "", 0o644);
    admin.write("crlf", "#!/bin/sh\r\necho\r\n", 0o755);
    admin.write("bare", "echo\n", 0o755);
    admin.write("bom", "\u{feff}#!/bin/sh\n", 0o755);
    admin.write("header", "#!/bin/sh\n# /// provost\n# timout = \"5m\"\n# ///\n", 0o755);
    admin.write("fetch", "#!/bin/sh\n", 0o755);
    admin.write("-rf", "x", 0o644);
    admin.write("new\nline", "x", 0o644);
    admin.write("compiled", b"\x7fELF\0\r\n", 0o755);
    let at = |name: &str| admin.scripts().join(name);
    symlink("nowhere", at("dangling")).unwrap();
    symlink("/etc/passwd", at("outside")).unwrap();
    symlink("self", at("self")).unwrap();
    symlink("syslog", at("fine")).unwrap();
    symlink("sub", at("also-fine")).unwrap();
    fs::create_dir(at("ring")).unwrap();
    fs::set_permissions(at("ring"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("..", at("ring/up")).unwrap();
    let fifo = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), fifo).unwrap();
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"lat\xedn");
    fs::write(admin.scripts().join(name), "x").unwrap();
    admin.required.insert("sysl0g".to_owned(), "groups.a.postscripts (site.toml:9)".to_owned());
    admin.required.insert("sub/data".to_owned(), "nodes.b.postscripts (site.toml:12)".to_owned());
    admin.overrides.insert("unheard-of".to_owned(), Policy::default());

    let Err(PublishError::Refused(problems)) = admin.publish() else { panic!("not refused") };
    let mut expected = vec![
        ("private", "others can't read it", "chmod a+r"),
        ("secret.key", "has a minisign secret key", "move it out"),
        ("open.key", "has a minisign secret key", "move it out"),
        ("closet", "others can't read the folder", "chmod a+rx"),
        ("empty", "is empty", "remove it"),
        ("crlf", "line 1 ends in CRLF", "sed -i"),
        ("bare", "doesn't begin with #!", "#!/bin/sh"),
        ("bom", "doesn't begin with #!", "byte-order mark"),
        ("header:3", "unknown field `timout`", "# timeout"),
        ("fetch", "reserved", "rename"),
        ("-rf", "like an option", "plain name"),
        ("new\nline", "control character", "plain name"),
        ("dangling", "leads to nowhere", "put the file there"),
        ("outside", "leaves the scripts' folder, to /etc/passwd", "copy the file"),
        ("self", "back to itself", "remove the link"),
        ("ring/up", "back to a folder", "remove the link"),
        ("fifo", "isn't a regular file", "remove it"),
        ("lat\u{fffd}n", "isn't UTF-8", "rename"),
        ("sysl0g", "groups.a.postscripts (site.toml:9) names it", "write syslog"),
        ("sub/data", "line 1 ends in CRLF", "sed -i"),
        ("sub/data", "doesn't begin with #!", "chmod a-x"),
        ("unheard-of", "scripts.unheard-of names it", "put it into"),
    ];
    for problem in &problems {
        let found = expected.iter().position(|(file, what, fix)| {
            problem.file == admin.scripts().join(file).display().to_string()
                && problem.what.contains(what)
                && problem.fix.contains(fix)
        });
        let found = found.unwrap_or_else(|| panic!("unexpected: {problem:?}"));
        expected.remove(found);
    }
    assert!(expected.is_empty(), "not found: {expected:?}");
    assert!(!admin.home.path().join("srv").exists());

    // The fixes do help.
    fs::remove_dir_all(admin.scripts()).unwrap();
    let admin = Admin::new();
    admin.publish().unwrap();
    let before = snapshot(&admin.home.path().join("srv"));
    admin.write("private", "#!/bin/sh\n", 0o600);
    assert!(admin.publish().is_err());
    assert_eq!(snapshot(&admin.home.path().join("srv")), before);
    admin.write("private", "#!/bin/sh\n", 0o644);
    assert_eq!(admin.publish().unwrap().generation, 2);
}

#[test]
fn links_inside_the_tree_are_followed() {
    let admin = Admin::new();
    symlink("syslog", admin.scripts().join("fine")).unwrap();
    symlink("sub", admin.scripts().join("other")).unwrap();
    admin.publish().unwrap();
    let manifest = admin.fetch();
    let sha256 = |name: &str| manifest.file(name).unwrap().sha256;
    assert_eq!(sha256("fine"), sha256("syslog"));
    assert_eq!(sha256("other/tool"), sha256("sub/tool"));
}
