//! Packs that no publisher of ours would write.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_bundle::{Digest, FileEntry, Manifest, Mode, Pack, Policy, UnpackError, unpack};
use tar::{EntryType, Header};

const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

/// A manifest of files that hold their own names.
fn manifest(files: &[(&str, Mode)]) -> Manifest {
    let entry = |(path, mode): &(&str, Mode)| FileEntry {
        path: (*path).to_owned(),
        mode: *mode,
        size: path.len() as u64,
        sha256: Digest::of(path.as_bytes()),
        policy: Policy::default(),
    };
    Manifest {
        format: Manifest::FORMAT,
        generation: 1,
        created: "2026-11-20T17:00:00Z".parse().unwrap(),
        key: KEY.to_owned(),
        pack: Pack { sha256: Digest::of(b""), size: 1 << 20 },
        files: files.iter().map(entry).collect(),
    }
}

/// An archive of entries as they are given, whatever they are.
fn archive(entries: &[(EntryType, &[u8], &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, path, content) in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path);
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o7777);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn pack(entries: &[(EntryType, &[u8], &[u8])]) -> Vec<u8> {
    zstd::encode_all(&*archive(entries), 1).unwrap()
}

const FILE: EntryType = EntryType::Regular;

#[test]
fn a_pack_is_unpacked_with_the_manifests_modes() {
    let into = tempfile::tempdir().unwrap();
    let long = format!("{}/{}", "a".repeat(150), "b".repeat(200));
    let manifest =
        manifest(&[("run", Mode::Program), ("sub/data", Mode::Data), (&long, Mode::Data)]);
    let entries: [(_, &[u8], &[u8]); 4] = [
        (FILE, b"sub/data", b"sub/data"),
        (EntryType::GNULongName, b"././@LongLink", long.as_bytes()),
        (FILE, b"short", long.as_bytes()),
        (FILE, b"run", b"run"),
    ];
    unpack(&*pack(&entries), &manifest, into.path()).unwrap();
    for file in &manifest.files {
        let path = into.path().join(&file.path);
        assert_eq!(fs::read_to_string(&path).unwrap(), file.path);
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, file.mode.bits());
    }
}

#[test]
fn what_the_manifest_does_not_say_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let into = outside.path().join("in/to");
    let refused = |entries: &[(EntryType, &[u8], &[u8])]| {
        let _ = fs::remove_dir_all(outside.path().join("in"));
        fs::create_dir_all(&into).unwrap();
        let manifest = manifest(&[("run", Mode::Program), ("sub/data", Mode::Data)]);
        let error = unpack(&*pack(entries), &manifest, &into).unwrap_err();
        assert!(!error.hint().is_empty());
        assert!(
            fs::read_dir(outside.path()).unwrap().count() == 1,
            "{error} left something outside"
        );
        error.to_string()
    };
    for (entries, named) in [
        (&[(FILE, &b"../evil"[..], &b"x"[..])][..], "../evil"),
        (&[(FILE, b"/tmp/evil", b"x")], "/tmp/evil"),
        (&[(FILE, b"sub/../run", b"run")], "sub/../run"),
        (&[(FILE, b"./run", b"run")], "./run"),
        (&[(FILE, b"other", b"x")], "other"),
        (&[(FILE, b"run", b"run"), (FILE, b"run", b"run")], "run is in it twice"),
        (&[(FILE, b"run", b"run")], "sub/data isn't in it"),
        (&[(FILE, b"run", b"rum")], "verifying run"),
        (&[(FILE, b"run", b"ru")], "verifying run: expected 3 bytes, got 2"),
        (&[(FILE, b"run", b"runrun")], "verifying run: expected 3 bytes, got more"),
        (&[(EntryType::Symlink, b"run", b"")], "run"),
        (&[(EntryType::Link, b"run", b"")], "run"),
        (&[(EntryType::Char, b"run", b"")], "run"),
        (&[(EntryType::Fifo, b"run", b"")], "run"),
        (&[(EntryType::Directory, b"sub", b"")], "sub"),
        (&[(EntryType::XHeader, b"run", b"20 path=../../evil\n")], "run"),
        (&[(EntryType::GNULongName, b"l", b"run"), (EntryType::GNULongName, b"l", b"run")], "run"),
        (&[(EntryType::GNULongName, b"l", &[b'x'; 4096])], "l"),
        (&[(FILE, b"r\xffn", b"run")], "r\u{fffd}n"),
        (&[], "isn't in it"),
    ] {
        let error = refused(entries);
        assert!(error.contains(named), "{error} doesn't name {named}");
    }
}

#[test]
fn a_refused_file_is_not_there_and_a_verified_one_may_be() {
    let into = tempfile::tempdir().unwrap();
    let manifest = manifest(&[("run", Mode::Program), ("sub/data", Mode::Program)]);
    let entries: [(_, &[u8], &[u8]); 2] =
        [(FILE, b"run", b"run"), (FILE, b"sub/data", b"sub/dat!")];
    let error = unpack(&*pack(&entries), &manifest, into.path()).unwrap_err();
    assert!(matches!(error, UnpackError::Arrival(_)), "{error}");
    assert!(into.path().join("run").exists() && !into.path().join("sub/data").exists());
    // Nothing that is there already is written through, be it a link to elsewhere.
    let victim = into.path().join("victim");
    fs::remove_file(into.path().join("run")).unwrap();
    fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, into.path().join("run")).unwrap();
    assert!(unpack(&*pack(&entries), &manifest, into.path()).is_err());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
}

#[test]
fn a_damaged_or_greedy_pack_is_an_error() {
    let manifest = manifest(&[("run", Mode::Program)]);
    let good = pack(&[(FILE, b"run", b"run")]);
    let attempt = |bytes: &[u8]| {
        let into = tempfile::tempdir().unwrap();
        unpack(bytes, &manifest, into.path())
    };
    attempt(&good).unwrap();
    for cut in 0..good.len() - 8 {
        assert!(attempt(&good[..cut]).is_err(), "cut at {cut}");
    }
    assert!(attempt(b"<html>not found</html>").is_err());
    // A window that would make the node need more memory.
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(21).unwrap();
    std::io::Write::write_all(&mut encoder, &archive(&[(FILE, b"run", b"run")])).unwrap();
    let greedy = encoder.finish().unwrap();
    assert!(matches!(attempt(&greedy), Err(UnpackError::Compression(_))));
    // Much from little: a long name that never ends.
    let zeros = vec![b'x'; 64 << 20];
    let bomb = pack(&[(EntryType::GNULongName, b"l", &zeros)]);
    assert!(matches!(attempt(&bomb), Err(UnpackError::NotAFile { .. })));
    assert!(!Path::new("x").exists());
}
