//! The folder that is published to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use provost_publish::{Access, Changes, FileVersion, PublishError, Published, Used};

use super::{Admin, snapshot};

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

/// Puts the published files back as they were `then`.
fn restore(admin: &Admin, then: &BTreeMap<PathBuf, (u64, u32, i64, Vec<u8>)>) {
    fs::remove_dir_all(admin.www()).unwrap();
    for (path, (_, mode, _, content)) in then {
        if mode & 0o170_000 == 0o100_000 {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
}

#[test]
fn generations_go_on_above_what_nodes_have_seen_where_the_folder_is_lost_or_restored() {
    let mut admin = Admin::new();
    admin.publish().unwrap();
    let backup = snapshot(&admin.www());
    admin.plans.insert("cn001".to_owned(), "x = 3\n".to_owned());
    admin.write("syslog", "#!/bin/sh\necho 2\n", 0o644);
    let last = admin.publish().unwrap();
    admin.used.published = last.generations;
    assert!(!admin.publish().unwrap().changed, "nothing is lost");

    // Restored: the same content is another generation than the one that nodes have of it.
    restore(&admin, &backup);
    let published = admin.publish().unwrap();
    assert_eq!(published.generation, 3);
    assert!(admin.plan("cn001").starts_with("generation = 3\n"), "{}", admin.plan("cn001"));
    assert!(admin.plan("cn002").starts_with("generation = 3\n"), "{}", admin.plan("cn002"));
    admin.used.published = published.generations;

    // Lost.
    fs::remove_dir_all(admin.www()).unwrap();
    assert_eq!(admin.publish().unwrap().generation, 4);
    assert!(admin.plan("cn002").starts_with("generation = 4\n"), "{}", admin.plan("cn002"));
    admin.fetch();

    // Nodes have seen more than anybody here knows.
    admin.used = Used { bundle: 7, ..Used::default() };
    admin.used.plans.insert("cn002".to_owned(), 9);
    assert_eq!(admin.publish().unwrap().generation, 8);
    assert!(admin.plan("cn001").starts_with("generation = 4\n"), "{}", admin.plan("cn001"));
    assert!(admin.plan("cn002").starts_with("generation = 10\n"), "{}", admin.plan("cn002"));
    admin.used.above = 50;
    assert_eq!(admin.publish().unwrap().generation, 51);
    assert!(admin.plan("cn001").starts_with("generation = 51\n"), "{}", admin.plan("cn001"));
    admin.fetch();
}

#[test]
fn a_check_and_a_look_at_the_changes_write_nothing() {
    let mut admin = Admin::new();
    let look = |admin: &Admin| -> Changes {
        let before = snapshot(admin.home.path());
        let changes = admin.prepare(Access::Read, |prepared| {
            prepared.check().unwrap();
            prepared.changes().unwrap()
        });
        assert_eq!(snapshot(admin.home.path()), before);
        changes
    };
    let all = look(&admin);
    assert_eq!((all.from, all.to, all.files.len(), all.plans.len()), (None, 1, 4, 2));
    admin.publish().unwrap();
    let none = look(&admin);
    assert_eq!((none.from, none.to, none.files.len(), none.plans.len()), (Some(1), 1, 0, 0));

    admin.write("syslog", "#!/bin/sh\necho 2\n", 0o644);
    fs::remove_file(admin.scripts().join("copy")).unwrap();
    admin.plans.remove("cn001");
    admin.plans.insert("cn002".to_owned(), "x = 5\n".to_owned());
    admin.plans.insert("cn003".to_owned(), "x = 3\n".to_owned());
    let some = look(&admin);
    assert_eq!((some.from, some.to), (Some(1), 2));
    let files: Vec<_> =
        some.files.iter().map(|f| (&*f.path, f.before.is_some(), f.after.is_some())).collect();
    assert_eq!(files, [("copy", true, false), ("syslog", true, true)]);
    let syslog = &some.files[1];
    let text = |version: &Option<FileVersion>| {
        String::from_utf8(version.as_ref().unwrap().content.clone().unwrap()).unwrap()
    };
    assert!(text(&syslog.before).contains("timeout") && text(&syslog.after).ends_with("echo 2\n"));
    let plans: Vec<_> = some.plans.into_iter().map(|p| (p.node, p.before, p.after)).collect();
    let plan = |generation, body: &str| Some((generation, body.to_owned()));
    assert_eq!(
        plans,
        [
            ("cn001".to_owned(), plan(1, "x = 1\n"), None),
            ("cn002".to_owned(), plan(1, "x = 2\n"), plan(2, "x = 5\n")),
            ("cn003".to_owned(), None, plan(1, "x = 3\n")),
        ]
    );
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

#[test]
fn other_users_of_the_management_node_read_no_secret_of_a_plan() {
    let mut admin = Admin::new();
    admin.publish().unwrap();
    let www = admin.www();
    let file = |name: &str| fs::metadata(www.join("plans").join(name)).unwrap();
    for name in ["cn001.toml", "cn001.toml.minisig", ".generations.toml"] {
        assert_eq!(file(name).mode() & 0o777, 0o640, "{name}");
    }
    // What an earlier version has published is closed too.
    let plan = www.join("plans/cn001.toml");
    fs::set_permissions(&plan, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(admin.publish().unwrap().changed);
    assert_eq!(file("cn001.toml").mode() & 0o777, 0o640);
    admin.group = Some(file("cn001.toml").gid());
    assert!(!admin.publish().unwrap().changed, "it has that group");
}
