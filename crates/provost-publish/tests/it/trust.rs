//! Keys, signatures and trust, also against the stock `minisign`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use provost_bundle::{Digest, Link, Manifest, Pack, PublicKey, Trust, TrustError, Verdict};
use provost_publish::{SecretKey, Succession};
use provost_tests::{missing, skip_if};
use tempfile::TempDir;

fn new_key() -> (TempDir, SecretKey) {
    let dir = tempfile::tempdir().unwrap();
    let key = SecretKey::new_pair(dir.path()).unwrap();
    (dir, key)
}

fn trust(keys: &[&SecretKey]) -> Trust {
    let lines: Vec<String> = keys.iter().map(|key| key.public_line().to_owned()).collect();
    Trust::new(&lines, None, false).unwrap()
}

fn manifest(key: &SecretKey) -> Manifest {
    Manifest {
        format: 1,
        generation: 1,
        created: "2026-11-20T17:00:00Z".parse().unwrap(),
        made: None,
        expires: None,
        plans_since: None,
        refresh_key: None,
        tls: None,
        revoked: Vec::new(),
        key: key.public_line().to_owned(),
        key_link: None,
        rehearsal: false,
        pack: Pack { sha256: Digest::of(b""), size: 0 },
        files: Vec::new(),
    }
}

#[test]
fn a_new_pair_is_private_and_never_replaces_another() {
    let (dir, key) = new_key();
    let path = dir.path().join("provost.key");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!format!("{key:?}").contains(&fs::read_to_string(&path).unwrap()[60..80]));
    let public = fs::read_to_string(dir.path().join("provost.pub")).unwrap();
    assert_eq!(public.lines().nth(1), Some(key.public_line()));

    let before = fs::read(&path).unwrap();
    let error = SecretKey::new_pair(dir.path()).unwrap_err();
    assert!(error.hint().contains("another folder"), "{error}");
    fs::remove_file(dir.path().join("provost.pub")).unwrap();
    assert!(SecretKey::new_pair(dir.path()).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);

    assert!(!SecretKey::load(&path).unwrap().readable_by_others());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let loaded = SecretKey::load(&path).unwrap();
    assert!(loaded.readable_by_others());
    assert_eq!(loaded.public_line(), key.public_line());
}

#[test]
fn what_is_no_usable_secret_key_is_said() {
    let (dir, _) = new_key();
    let load = |text: &[u8]| {
        let path = dir.path().join("other");
        fs::write(&path, text).unwrap();
        SecretKey::load(&path).unwrap_err()
    };
    let public = fs::read(dir.path().join("provost.pub")).unwrap();
    assert!(load(&public).to_string().contains("it is a public key"));
    // What a key with a password begins with: Ed, Sc, B2.
    let sealed = format!("untrusted comment: x\nRWRTY0Iy{}=\n", "A".repeat(203));
    let error = load(sealed.as_bytes());
    assert!(error.to_string().contains("password") && error.hint().contains("minisign -C -W"));
    let key = fs::read_to_string(dir.path().join("provost.key")).unwrap();
    let damaged = format!("{}AAAA{}", &key[..key.len() - 104], &key[key.len() - 100..]);
    assert!(load(damaged.as_bytes()).to_string().contains("damaged"));
    for bad in [&b""[..], b"\n\n", b"x\nRWQ\n", b"\xff\n\xff\n", &[b'x'; 100_000]] {
        assert!(load(bad).to_string().contains("isn't a minisign secret key"));
    }
    let missing = SecretKey::load(&dir.path().join("none")).unwrap_err();
    assert!(missing.hint().contains("provostctl key new"), "{}", missing.hint());
}

#[test]
fn only_what_a_trusted_key_signed_is_trusted() {
    let ((_a, ours), (_b, theirs)) = (new_key(), new_key());
    let signature = ours.sign(b"bytes", "file:manifest.toml").unwrap();
    let verdict = trust(&[&theirs, &ours]).check_manifest(b"bytes", Some(&signature));
    assert_eq!(verdict, Ok(Verdict::Key(ours.public().id())));

    let refuse = |bytes: &[u8], signature: Option<&str>, trust: &Trust| {
        let error = trust.check_manifest(bytes, signature).unwrap_err();
        assert!(error.to_string().contains("manifest.toml") && !error.hint().is_empty());
        error
    };
    let trusted = trust(&[&ours]);
    assert!(matches!(refuse(b"bytez", Some(&signature), &trusted), TrustError::Altered { .. }));
    assert!(matches!(refuse(b"bytes", None, &trusted), TrustError::Missing { .. }));
    assert!(matches!(refuse(b"bytes", Some("<html>"), &trusted), TrustError::Garbled { .. }));
    let stranger = refuse(b"bytes", Some(&signature), &trust(&[&theirs])).to_string();
    assert!(stranger.contains(&ours.public().id()) && stranger.contains(&theirs.public().id()));
    let nothing = refuse(b"bytes", Some(&signature), &Trust::default());
    assert!(nothing.hint().contains("[trust] keys") && nothing.hint().contains("unsigned"));
    // A comment that isn't the one that was signed.
    let forged = signature.replace("file:manifest.toml", "file:manifest.tomb");
    assert!(matches!(refuse(b"bytes", Some(&forged), &trusted), TrustError::Altered { .. }));
}

#[test]
fn a_pinned_manifest_vouches_for_its_publishers_plans() {
    let ((_a, ours), (_b, theirs)) = (new_key(), new_key());
    let bytes = manifest(&ours).to_toml().unwrap().into_bytes();
    let digest = Digest::of(&bytes);
    let pinned = Trust::new(&[], Some(&digest.to_string()), false).unwrap();
    assert_eq!(pinned.check_manifest(&bytes, None), Ok(Verdict::Digest(digest)));
    assert!(matches!(pinned.check_manifest(b"x", None), Err(TrustError::OtherDigest { .. })));

    let manifest = Manifest::parse(&bytes).unwrap();
    let check = |key: &SecretKey| {
        let signature = key.sign(b"plan", "").unwrap();
        pinned.check_plan("plans/cn001.toml", b"plan", Some(&signature), &manifest)
    };
    assert_eq!(check(&ours), Ok(Verdict::Key(ours.public().id())));
    assert!(check(&theirs).unwrap_err().to_string().contains("plans/cn001.toml"));
}

#[test]
fn links_count_from_a_trusted_key_on_and_the_first_one_of_a_key_stays() {
    let keys: Vec<(TempDir, SecretKey)> = (0..4).map(|_| new_key()).collect();
    let [a, b, c, thief] = [0, 1, 2, 3].map(|n| &keys[n].1);
    let by = |known: &Succession, key: &SecretKey, next: &SecretKey| {
        known.clone().with_next(key, next.public()).unwrap()
    };
    let known = by(&by(&Succession::default(), a, b), b, c);
    let read = Succession::parse(&known.to_toml().unwrap()).unwrap();
    assert_eq!(read, known);
    let after = |trust: Trust, known: &Succession| -> Vec<PublicKey> {
        let links: Vec<Link> = known.links().iter().rev().cloned().collect();
        let signer = links[0].next.line().to_owned();
        trust.following(&signer, &links, known.last_link()).keys()
    };
    for told in [&[a][..], &[b], &[c], &[a, c], &[a, b, c]] {
        assert_eq!(after(trust(told), &known), [c.public().clone()]);
    }
    assert_eq!(after(trust(&[thief]), &known), [thief.public().clone()]);
    let revoked = trust(&[a]).without(&[b.public_line().to_owned()]);
    assert_eq!(after(revoked, &known), [a.public().clone()], "b names no other key any more");
    // Who steals the first key names another one, too late for who knows the second.
    let other = by(&Succession::default(), a, thief);
    let links: Vec<Link> = known.links().iter().rev().cloned().collect();
    let told = trust(&[a]).following(c.public_line(), &links, known.last_link());
    assert_eq!(after(told, &other), [c.public().clone()]);
    assert_eq!(known.clone().or_further(other.clone()), known);
    assert_eq!(Succession::default().or_further(known.clone()), known);

    let forged = known.to_toml().unwrap().replace(c.public_line(), thief.public_line());
    assert!(Succession::parse(&forged).unwrap_err().contains("it isn't signed by key"));
    let mixed = [known.links()[0].text(), other.links()[0].text()];
    let mixed = format!("links = {mixed:?}\n");
    assert!(Succession::parse(&mixed).unwrap_err().contains("doesn't follow"));
}

#[test]
fn unsigned_is_explicit_and_alone() {
    let unsigned = Trust::new(&[], None, true).unwrap();
    assert_eq!(unsigned.check_manifest(b"x", None), Ok(Verdict::Unsigned));
    let (_dir, key) = new_key();
    let both = Trust::new(&[key.public_line().to_owned()], None, true);
    assert_eq!(both.unwrap_err(), TrustError::Contradiction);
    let error = Trust::new(&["RWQnonsense".to_owned()], None, false).unwrap_err();
    assert!(error.to_string().contains("RWQnonsense"));
    assert!(Trust::new(&[], Some("abc"), false).unwrap_err().to_string().contains("abc"));
}

/// Whether the stock tool succeeds.
fn minisign(args: &[&str], dir: &Path) -> bool {
    Command::new("minisign").args(args).current_dir(dir).output().unwrap().status.success()
}

#[test]
fn the_stock_tool_and_we_understand_each_other() {
    skip_if(missing::program("minisign", "minisign"));
    let (dir, key) = new_key();
    let dir = dir.path();
    fs::write(dir.join("file"), "bytes").unwrap();
    fs::write(dir.join("file.minisig"), key.sign(b"bytes", "file:file").unwrap()).unwrap();
    let verify = ["-V", "-m", "file", "-P", key.public_line()];
    assert!(minisign(&verify, dir), "minisign -V refused our signature");
    fs::write(dir.join("file"), "bytez").unwrap();
    assert!(!minisign(&verify, dir));

    // Its key signs for us, and our key signs for it.
    assert!(minisign(&["-G", "-W", "-p", "its.pub", "-s", "its.key"], dir));
    let its = SecretKey::load(&dir.join("its.key")).unwrap();
    let public = fs::read_to_string(dir.join("its.pub")).unwrap();
    assert_eq!(public.lines().nth(1), Some(its.public_line()));
    // minisign leaves leading zeros of the id out.
    assert!(public.contains(its.public().id().trim_start_matches('0')));
    for (secret, key) in [("provost.key", &key), ("its.key", &its)] {
        assert!(minisign(&["-S", "-m", "file", "-s", secret], dir));
        let signature = fs::read_to_string(dir.join("file.minisig")).unwrap();
        let verdict = trust(&[key]).check_manifest(b"bytez", Some(&signature));
        assert_eq!(verdict, Ok(Verdict::Key(key.public().id())));
    }
    // The form that minisign wrote before 0.10.
    assert!(minisign(&["-S", "-l", "-m", "file", "-s", "its.key"], dir));
    let legacy = fs::read_to_string(dir.join("file.minisig")).unwrap();
    assert!(trust(&[&its]).check_manifest(b"bytez", Some(&legacy)).is_err());
}
