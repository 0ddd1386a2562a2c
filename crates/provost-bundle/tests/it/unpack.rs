//! Packs that no publisher of ours would write.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

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
        made: None,
        expires: None,
        plans_since: None,
        refresh_key: None,
        tls: None,
        revoked: Vec::new(),
        key: KEY.to_owned(),
        key_link: None,
        rehearsal: false,
        pack: Pack { sha256: Digest::of(b""), size: 1 << 20 },
        files: files.iter().map(entry).collect(),
    }
}

type Entry<'a> = (EntryType, &'a [u8], &'a [u8]);

/// An archive of entries as they are given, whatever they are.
fn archive(entries: &[Entry]) -> Vec<u8> {
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

fn pack(entries: &[Entry]) -> Vec<u8> {
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
    let refused = |entries: &[Entry]| {
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
    assert!(matches!(error, UnpackError::IncomingFile(_)), "{error}");
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
        // Not what of the archive is missing by that: that would be another's fault.
        let error = attempt(&good[..cut]).unwrap_err();
        let is_told = matches!(error, UnpackError::Read(_) | UnpackError::Compression(_));
        assert!(is_told, "cut at {cut}: {error}");
    }
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let into = tempfile::tempdir().unwrap();
        let done = unpack(&*bytes, &manifest, into.path());
        let run = fs::read(into.path().join("run"));
        assert!(run.is_err() || run.unwrap() == b"run", "bit {bit}: {done:?}");
        assert!(done.is_err() || into.path().join("run").exists(), "bit {bit}");
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

/// A pack that is read from a disk, which may break.
struct Disk<'a> {
    pack: &'a [u8],
    read: &'a AtomicUsize,
    breaks_at: usize,
}

impl Read for Disk<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.read.load(Ordering::Relaxed);
        if read >= self.breaks_at {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()));
        }
        let read = self.pack.read(buffer)?;
        self.read.fetch_add(read, Ordering::Relaxed);
        Ok(read)
    }
}

/// Unpacks an archive that doesn't fit into a pipe at once, up to where the disk breaks. Returns
/// what comes of it, and how many bytes of the pack were read.
fn from_disk(archive: &[u8], breaks_at: usize) -> (Result<(), UnpackError>, usize) {
    let mut manifest = manifest(&[("run", Mode::Program), ("large", Mode::Data)]);
    let large = &mut manifest.files[1];
    (large.size, large.sha256) = (NOISE as u64, Digest::of(&noise()));
    let pack = zstd::encode_all(archive, 1).unwrap();
    manifest.pack.size = pack.len() as u64;
    let (tell, told) = mpsc::channel();
    // A thread that hangs is left behind.
    std::thread::spawn(move || {
        let (into, read) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
        let disk = Disk { pack: &pack, read: &read, breaks_at };
        let done = unpack(disk, &manifest, into.path());
        tell.send((done, read.into_inner())).unwrap();
    });
    told.recv_timeout(Duration::from_secs(60)).expect("it comes to an end")
}

/// Bytes.
const NOISE: usize = 4 << 20;

/// What can't be compressed.
fn noise() -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..NOISE).map(|_| next()).collect()
}

#[test]
fn nothing_is_decompressed_in_vain_and_nobody_waits_for_what_never_comes() {
    let noise = noise();
    let large: Entry = (FILE, b"large", &noise);
    let good = archive(&[large, (FILE, b"run", b"run")]);
    let (done, read) = from_disk(&good, usize::MAX);
    done.unwrap();
    assert!(read > NOISE);

    // The first file is refused: the rest isn't even read.
    let (done, read) = from_disk(&archive(&[(FILE, b"run", b"rum"), large]), usize::MAX);
    assert!(matches!(done, Err(UnpackError::IncomingFile(_))), "{done:?}");
    assert!(read < NOISE / 2, "{read} bytes");

    // Nor is what comes after the archive's end.
    let (done, read) = from_disk(&[&*good, &noise, &noise, &noise].concat(), usize::MAX);
    done.unwrap();
    assert!(read < NOISE * 2, "{read} bytes");

    for breaks_at in [0, 1, NOISE / 2] {
        let (done, _) = from_disk(&good, breaks_at);
        let is_told = matches!(done, Err(UnpackError::Read(_) | UnpackError::Compression(_)));
        assert!(is_told, "{done:?}");
    }
}
