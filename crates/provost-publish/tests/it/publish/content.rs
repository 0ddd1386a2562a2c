//! What is published, and when it is another.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use provost_bundle::{Digest, Limit, Manifest, Mode, Policy, Refresh, Tls, Validity};
use provost_publish::{Generations, Published, SecretKey};

use super::{Admin, snapshot};

#[test]
fn what_is_published_can_be_fetched_by_everybody() {
    let mut admin = Admin::new();
    admin.overrides.insert("syslog".to_owned(), Policy { retries: Some(2), ..Policy::default() });
    let published = admin.publish().unwrap();
    let generations = Generations { bundle: 1, highest_plan: 1, sum_of_plans: 2 };
    assert_eq!(
        published,
        Published { generation: 1, generations, files: 4, plans: 2, changed: true }
    );
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
    let newest = admin.www().join(provost_api::published::NEWEST_PACK);
    assert_eq!(fs::canonicalize(&newest).unwrap(), admin.www().join(manifest.pack.path()));
    for (path, (_, mode, ..)) in snapshot(&admin.www()) {
        let expected = match () {
            // Of a link the mode says nothing.
            () if path == newest => 0o777,
            () if path.is_dir() => 0o755,
            // Only the daemon's group reads what may have secrets.
            () if path.parent() == Some(&admin.www().join("plans")) => 0o640,
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
fn what_was_published_is_signed_again_when_it_gets_old_or_somebody_asks() {
    let mut admin = Admin::new();
    admin.publish().unwrap();
    let first = admin.fetch();
    let time =
        |manifest: &Manifest| manifest.made.unwrap().duration_until(manifest.expires.unwrap());
    assert_eq!(time(&first), Validity::DEFAULT);

    (admin.refresh, admin.valid_for) = (true, Validity::DEFAULT * 2);
    let again = admin.publish().unwrap();
    assert_eq!((again.generation, again.changed), (1, true));
    let refreshed = admin.fetch();
    assert_eq!((time(&refreshed), refreshed.created), (Validity::DEFAULT * 2, first.created));
    assert!(admin.plan_text("cn002").contains(&refreshed.expires.unwrap().to_string()));
    admin.refresh = false;
    assert!(!admin.publish().unwrap().changed);

    // Who may refresh it is named once, and is named in what comes after.
    let other = SecretKey::new_pair(&admin.home.path().join("other")).unwrap();
    admin.refresh_key = Some(other.public().clone());
    assert!(admin.publish().unwrap().changed);
    admin.refresh_key = None;
    assert!(!admin.publish().unwrap().changed);
    assert_eq!(admin.fetch().refresh_key.as_deref(), Some(other.public_line()));

    // So is the way by TLS, until it is taken back.
    let tls: Tls = format!("8482:{}", Digest::of(b"key")).parse().unwrap();
    admin.tls = Some(Some(tls.clone()));
    assert!(admin.publish().unwrap().changed);
    admin.tls = None;
    assert!(!admin.publish().unwrap().changed);
    assert_eq!(admin.fetch().tls, Some(tls));
    admin.tls = Some(None);
    assert!(admin.publish().unwrap().changed);
    assert_eq!(admin.fetch().tls, None);
    admin.tls = None;

    // More than half of its time is over.
    for file in ["manifest.toml", "plans/cn001.toml", "plans/cn002.toml"] {
        let text = fs::read_to_string(admin.www().join(file)).unwrap();
        // The manifest may have been signed a second later.
        let made = text.lines().find_map(|line| line.strip_prefix("made = \"")).unwrap();
        let made: jiff::Timestamp = made.trim_end_matches('"').parse().unwrap();
        let before = made - Validity::DEFAULT * 5;
        let old = text.replacen(&format!("made = \"{made}"), &format!("made = \"{before}"), 1);
        assert_ne!(old, text);
        fs::write(admin.www().join(file), old).unwrap();
    }
    assert!(admin.publish().unwrap().changed);
    assert!(admin.fetch().made >= first.made);
    assert_eq!(admin.plan("cn001"), "generation = 1\nx = 1\n");
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
            let repaired = admin.publish().unwrap();
            assert_eq!((repaired.generation, repaired.changed), (1, true), "{file}");
            assert_eq!(admin.fetch(), manifest, "{file}");
            assert_eq!(admin.plan("cn001"), "generation = 1\nx = 1\n", "{file}");
            let mode = fs::metadata(admin.www().join(file)).unwrap().mode() & 0o777;
            let right = if file.starts_with("plans/") { 0o640 } else { 0o644 };
            assert_eq!(mode, right, "{file}");
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
    assert_eq!(admin.publish().unwrap().generation, 2, "by it one knows who has fetched it");
    assert_eq!(admin.fetch().key, admin.key.public_line());
    assert!(!admin.publish().unwrap().changed);
}

#[test]
fn a_refresh_is_about_one_manifest_and_by_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let [key, other] =
        ["a", "b"].map(|name| SecretKey::new_pair(&folder.path().join(name)).unwrap());
    let validity = Validity::from_now(Validity::DEFAULT);
    let text = Refresh::new(b"manifest", validity).to_toml().unwrap();
    let signature = key.sign(text.as_bytes(), "").unwrap();
    let verify = |manifest: &[u8], key: &SecretKey| {
        Refresh::verify(text.as_bytes(), &signature, manifest, key.public_line())
    };
    assert_eq!(verify(b"manifest", &key), Ok(validity));
    assert!(verify(b"another", &key).unwrap_err().contains("another bundle"));
    assert!(verify(b"manifest", &other).unwrap_err().contains("isn't signed by key"));
    let longer = text.replacen("20", "30", 1);
    assert!(
        Refresh::verify(longer.as_bytes(), &signature, b"manifest", key.public_line()).is_err()
    );
}
