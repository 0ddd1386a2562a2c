//! The folder that is published to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use provost_bundle::{PublishError, Published};

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
