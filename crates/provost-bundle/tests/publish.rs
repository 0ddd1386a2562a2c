//! Publishing to a real folder, under a umask that would keep everything private.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use provost_bundle::{
    Limit, Manifest, Mode, Pack, Policy, Publication, PublishError, Published, SecretKey, Trust,
    publish, unpack,
};
use tempfile::TempDir;

/// An admin's folders, and what is to be published from them.
struct Admin {
    home: TempDir,
    key: SecretKey,
    overrides: BTreeMap<String, Policy>,
    wanted: BTreeMap<String, String>,
    plans: BTreeMap<String, String>,
}

impl Admin {
    fn new() -> Self {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let home = tempfile::tempdir().unwrap();
        let key = SecretKey::new_pair(&home.path().join("key")).unwrap();
        let admin = Self {
            home,
            key,
            overrides: BTreeMap::new(),
            wanted: BTreeMap::from([(
                "syslog".to_owned(),
                "defaults.postscripts (site.toml:3)".to_owned(),
            )]),
            plans: BTreeMap::from([
                ("cn001".to_owned(), "x = 1\n".to_owned()),
                ("cn002".to_owned(), "x = 2\n".to_owned()),
            ]),
        };
        admin.write("syslog", "#!/bin/sh\n# /// provost\n# timeout = \"5m\"\n# ///\necho\n", 0o644);
        admin.write("sub/tool", "#!/bin/sh\nexit 0\n", 0o755);
        admin.write("sub/data", "data\r\nof Windows\r\n", 0o644);
        admin.write("copy", "data\r\nof Windows\r\n", 0o644);
        admin.write(".git/config", "private", 0o600);
        admin.write("syslog~", "", 0o600);
        admin
    }

    fn scripts(&self) -> PathBuf {
        self.home.path().join("scripts")
    }

    fn www(&self) -> PathBuf {
        self.home.path().join("srv/www")
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) {
        let path = self.scripts().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.home.path()) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn publish(&self) -> Result<Published, PublishError> {
        self.publish_to(&self.www())
    }

    fn publish_to(&self, to: &Path) -> Result<Published, PublishError> {
        let (scripts, overrides, wanted) = (&self.scripts(), &self.overrides, &self.wanted);
        publish(&Publication { scripts, overrides, wanted, plans: &self.plans, key: &self.key, to })
    }

    /// What a node makes of what is published: the manifest, every file, every plan.
    fn fetch(&self) -> Manifest {
        let www = self.www();
        let trust = Trust::new(&[self.key.public_line().to_owned()], None, false).unwrap();
        let read = |file: &str| fs::read(www.join(file)).unwrap();
        let signature =
            |file: &str| fs::read_to_string(www.join(format!("{file}.minisig"))).unwrap();
        let bytes = read("manifest.toml");
        trust.check_manifest(&bytes, Some(&signature("manifest.toml"))).unwrap();
        let manifest = Manifest::parse(&bytes).unwrap();
        let into = tempfile::tempdir().unwrap();
        unpack(&*read(&manifest.pack.path()), &manifest, into.path()).unwrap();
        assert_eq!(provost_bundle::Digest::of(&read(&manifest.pack.path())), manifest.pack.sha256);
        for file in &manifest.files {
            assert_eq!(provost_bundle::Digest::of(&read(&file.object_path())), file.sha256);
        }
        for node in self.plans.keys() {
            let file = format!("plans/{node}.toml");
            trust.check_plan(&file, &read(&file), Some(&signature(&file)), &manifest).unwrap();
        }
        manifest
    }

    fn plan(&self, node: &str) -> String {
        fs::read_to_string(self.www().join(format!("plans/{node}.toml"))).unwrap()
    }
}

/// Everything under a folder: inode, mode, time of change and content of each file.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u64, u32, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut content = Vec::new();
        if metadata.is_dir() {
            all.extend(snapshot(&path));
        } else if metadata.is_file() {
            content = fs::read(&path).unwrap();
        }
        all.insert(path, (metadata.ino(), metadata.mode(), metadata.ctime_nsec(), content));
    }
    all
}

#[test]
fn what_is_published_can_be_fetched_by_everybody() {
    let mut admin = Admin::new();
    admin.overrides.insert("syslog".to_owned(), Policy { retries: Some(2), ..Policy::default() });
    let published = admin.publish().unwrap();
    assert_eq!(published, Published { generation: 1, files: 4, plans: 2, changed: true });
    let manifest = admin.fetch();
    let names: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["copy", "sub/data", "sub/tool", "syslog"]);
    let syslog = manifest.file("syslog").unwrap();
    assert_eq!(syslog.mode, Mode::Program, "a script that a plan runs can be run");
    assert_eq!(
        (syslog.policy.timeout, syslog.policy.retries),
        (Some(Limit::seconds(300)), Some(2))
    );
    assert_eq!(manifest.file("sub/data").unwrap().mode, Mode::Data);
    assert_eq!(admin.plan("cn001"), "generation = 1\nx = 1\n");
    let newest = admin.www().join(Pack::NEWEST);
    assert_eq!(fs::canonicalize(&newest).unwrap(), admin.www().join(manifest.pack.path()));
    for (path, (_, mode, ..)) in snapshot(&admin.www()) {
        let expected = match () {
            // Of a link the mode says nothing.
            () if path == newest => 0o777,
            () if path.is_dir() => 0o755,
            () => 0o644,
        };
        assert_eq!(mode & 0o7777, expected, "{}", path.display());
    }
    assert_eq!(fs::metadata(admin.www()).unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn the_same_twice_rewrites_nothing() {
    let admin = Admin::new();
    admin.publish().unwrap();
    let before = snapshot(&admin.home.path().join("srv"));
    let again = admin.publish().unwrap();
    assert_eq!((again.generation, again.changed), (1, false));
    assert_eq!(snapshot(&admin.home.path().join("srv")), before);

    // Elsewhere, later, by somebody else: the pack is the same.
    let elsewhere = Admin::new();
    elsewhere.write("syslog", fs::read(admin.scripts().join("syslog")).unwrap(), 0o600 | 0o044);
    elsewhere.publish().unwrap();
    assert_eq!(elsewhere.fetch().pack, admin.fetch().pack);
}

#[test]
fn a_generation_grows_only_with_what_it_counts() {
    let mut admin = Admin::new();
    admin.publish().unwrap();
    let first = admin.fetch();

    // A plan alone.
    admin.plans.insert("cn001".to_owned(), "x = 9\n".to_owned());
    assert_eq!(admin.publish().unwrap().generation, 1);
    assert_eq!(admin.fetch(), first);
    assert_eq!(admin.plan("cn001"), "generation = 2\nx = 9\n");
    assert_eq!(admin.plan("cn002"), "generation = 1\nx = 2\n");

    // Scripts alone; what a node may be fetching just now stays for one generation.
    for (generation, change) in [(2, "#!/bin/sh\necho 2\n"), (3, "#!/bin/sh\necho 3\n")] {
        admin.write("syslog", change, 0o644);
        assert_eq!(admin.publish().unwrap().generation, generation);
        let www = admin.www();
        let there = |file: String| www.join(file).exists();
        assert_eq!(there(first.pack.path()), generation == 2);
        assert_eq!(there(first.file("syslog").unwrap().object_path()), generation == 2);
        assert!(there(first.file("sub/tool").unwrap().object_path()));
        if generation == 2 {
            admin.publish().unwrap();
            admin.plans.insert("cn002".to_owned(), "x = 3\n".to_owned());
            admin.publish().unwrap();
            assert!(there(first.pack.path()), "a plan's change isn't a generation");
        }
    }
    admin.write("sub/data", "data\r\nof Windows\r\n", 0o644);
    assert!(!admin.publish().unwrap().changed);
    admin.overrides.insert("copy".to_owned(), Policy { retries: Some(1), ..Policy::default() });
    assert_eq!(admin.publish().unwrap().generation, 4, "a policy counts");

    // A node that went away and comes back isn't given an older plan.
    let gone = admin.plans.remove("cn001").unwrap();
    admin.publish().unwrap();
    assert!(!admin.www().join("plans/cn001.toml").exists());
    admin.plans.insert("cn001".to_owned(), "x = 10\n".to_owned());
    admin.publish().unwrap();
    assert_eq!(admin.plan("cn001"), "generation = 3\nx = 10\n");
    admin.plans.insert("cn001".to_owned(), gone);
    fs::remove_file(admin.www().join("plans/.generations.toml")).unwrap();
    admin.publish().unwrap();
    assert_eq!(admin.plan("cn001"), "generation = 4\nx = 9\n");
    admin.fetch();
}

#[test]
fn damage_is_mended_under_the_same_generation() {
    let admin = Admin::new();
    admin.publish().unwrap();
    let manifest = admin.fetch();
    let files = [
        manifest.file("syslog").unwrap().object_path(),
        manifest.pack.path(),
        "manifest.toml.minisig".to_owned(),
        "plans/cn001.toml".to_owned(),
        "plans/cn001.toml.minisig".to_owned(),
        "plans/.generations.toml".to_owned(),
    ];
    type Damage = fn(&Path);
    let damages: [Damage; 5] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| {
            let mut bytes = fs::read(path).unwrap();
            let last = bytes.len() - 2;
            bytes[last] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap(),
        |path| {
            fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap()
        },
    ];
    for file in &files {
        for damage in damages {
            damage(&admin.www().join(file));
            let mended = admin.publish().unwrap();
            assert_eq!((mended.generation, mended.changed), (1, true), "{file}");
            assert_eq!(admin.fetch(), manifest, "{file}");
            assert_eq!(admin.plan("cn001"), "generation = 1\nx = 1\n", "{file}");
            assert_eq!(fs::metadata(admin.www().join(file)).unwrap().mode() & 0o777, 0o644);
            assert!(!admin.publish().unwrap().changed, "{file}");
        }
    }
    // Of a manifest that says nothing certain any more, the next generation is a newer one.
    fs::write(admin.www().join("manifest.toml"), "format = 1\ngeneration = 1\nfil").unwrap();
    assert_eq!(admin.publish().unwrap().generation, 2);
    admin.fetch();
}

#[test]
fn another_key_signs_everything_again() {
    let mut admin = Admin::new();
    admin.publish().unwrap();
    admin.key = SecretKey::new_pair(&admin.home.path().join("other")).unwrap();
    assert_eq!(admin.publish().unwrap().generation, 1);
    assert_eq!(admin.fetch().key, admin.key.public_line());
    assert!(!admin.publish().unwrap().changed);
}

#[test]
fn all_problems_are_named_and_nothing_is_written() {
    let mut admin = Admin::new();
    admin.write("private", "#!/bin/sh\n", 0o600);
    admin.write("closet/file", "x", 0o644);
    fs::set_permissions(admin.scripts().join("closet"), fs::Permissions::from_mode(0o700)).unwrap();
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
    admin.wanted.insert("sysl0g".to_owned(), "groups.a.postscripts (site.toml:9)".to_owned());
    admin.wanted.insert("sub/data".to_owned(), "nodes.b.postscripts (site.toml:12)".to_owned());
    admin.overrides.insert("unheard-of".to_owned(), Policy::default());

    let Err(PublishError::Refused(problems)) = admin.publish() else { panic!("not refused") };
    let mut expected = vec![
        ("private", "others can't read it", "chmod a+r"),
        ("closet", "others can't read the folder", "chmod a+rx"),
        ("empty", "is empty", "take it out"),
        ("crlf", "line 1 ends in CRLF", "sed -i"),
        ("bare", "doesn't begin with #!", "#!/bin/sh"),
        ("bom", "doesn't begin with #!", "byte-order mark"),
        ("header:3", "unknown field `timout`", "# timeout"),
        ("fetch", "no script may be called so", "rename"),
        ("-rf", "as an option", "plain name"),
        ("new\nline", "control character", "plain name"),
        ("dangling", "leads to nowhere", "put the file there"),
        ("outside", "leaves the scripts' folder, to /etc/passwd", "copy the file"),
        ("self", "back to itself", "take the link out"),
        ("ring/up", "back to a folder", "take the link out"),
        ("fifo", "no regular file", "take it out"),
        ("lat\u{fffd}n", "isn't UTF-8", "rename"),
        ("sysl0g", "groups.a.postscripts (site.toml:9) wants it", "did you mean syslog?"),
        ("sub/data", "line 1 ends in CRLF", "sed -i"),
        ("sub/data", "doesn't begin with #!", "chmod a-x"),
        ("unheard-of", "scripts.unheard-of is about it", "put it into"),
    ];
    for problem in &problems {
        let found = expected.iter().position(|(file, what, mend)| {
            problem.file == admin.scripts().join(file).display().to_string()
                && problem.what.contains(what)
                && problem.mend.contains(mend)
        });
        let found = found.unwrap_or_else(|| panic!("unexpected: {problem:?}"));
        expected.remove(found);
    }
    assert!(expected.is_empty(), "not found: {expected:?}");
    assert!(!admin.home.path().join("srv").exists());

    // The mends do mend.
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

#[test]
fn what_was_not_published_is_never_replaced() {
    let admin = Admin::new();
    let refused = |to: &Path| {
        let before = snapshot(admin.home.path());
        let error = admin.publish_to(to).unwrap_err();
        assert!(matches!(error, PublishError::NotOurs { .. }), "{error}");
        assert!(!error.hint().is_empty());
        assert_eq!(snapshot(admin.home.path()), before, "{error}");
        error.to_string()
    };
    let www = admin.www();
    fs::create_dir_all(www.join("objects")).unwrap();
    assert!(refused(&www).contains("no manifest.toml"));
    fs::remove_dir(www.join("objects")).unwrap();
    admin.publish().unwrap();
    fs::write(www.join("index.html"), "mine").unwrap();
    assert!(refused(&www).contains("index.html"));
    fs::remove_file(www.join("index.html")).unwrap();
    fs::write(www.join("manifest.toml"), "name = \"a rust crate\"\n").unwrap();
    assert!(refused(&www).contains("manifest.toml"));
    refused(&admin.scripts());
    refused(&admin.scripts().join("www"));
    refused(admin.home.path());
    refused(Path::new("/"));
}

#[test]
fn the_folder_may_be_a_link_and_a_killed_publish_leaves_nothing_behind() {
    let admin = Admin::new();
    let real = admin.home.path().join("real");
    fs::create_dir(&real).unwrap();
    fs::create_dir(admin.home.path().join("srv")).unwrap();
    symlink(&real, admin.www()).unwrap();
    let left = admin.home.path().join(".real.publish-Xyz");
    fs::create_dir_all(left.join("objects")).unwrap();
    admin.publish().unwrap();
    assert!(admin.www().is_symlink() && real.join("manifest.toml").exists());
    assert!(!left.exists());
    admin.fetch();

    // Killed between the two steps of a file system that can't exchange folders.
    fs::rename(&real, admin.home.path().join(".real.publish-old")).unwrap();
    admin.write("syslog", "#!/bin/sh\necho 2\n", 0o644);
    assert_eq!(admin.publish_to(&real).unwrap().generation, 2);
    let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(".real");
    assert!(!fs::read_dir(admin.home.path()).unwrap().any(|e| hidden(&e.unwrap().file_name())));
}

#[test]
fn publishes_take_turns() {
    let admin = Admin::new();
    let done: Vec<Published> = std::thread::scope(|scope| {
        let publishes: Vec<_> = (0..8).map(|_| scope.spawn(|| admin.publish().unwrap())).collect();
        publishes.into_iter().map(|publish| publish.join().unwrap()).collect()
    });
    assert_eq!(done.iter().filter(|published| published.changed).count(), 1);
    assert!(done.iter().all(|published| published.generation == 1));
    admin.fetch();
}
