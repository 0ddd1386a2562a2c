//! The parsers that meet bytes from outside, as functions that take any bytes. Each neither panics nor
//! takes long, and what it accepts it can say again.
//!
//! cargo-fuzz runs one of them for as long as one likes; `tests/tests/it/parsers`, which has this file as a
//! module, runs all of them with inputs that are made of the corpus.
#![allow(clippy::unwrap_used, reason = "to fail is what they are for")]

use std::fs;
use std::io::Cursor;
use std::path::Path;

use provost_bundle::{Limit, Link, Manifest, Policy, PublicKey, Refresh, Tls, Trust};
use provost_node::settings::discover::Machine;
use provost_plan::mypostscript::MyPostscript;
use provost_plan::{Plan, Site, Step, nodes};
use provost_record::{Journal, Record, judge, runs, service_records};
use provost_steplog::Paint;
use provost_steplog::view::{Part, Reader, View};
use tempfile::TempDir;

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// All of them, by the names of their folders in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 14] = [
    ("header", header),
    ("journal", journal),
    ("kernel_line", kernel_line),
    ("lease", lease),
    ("manifest", manifest),
    ("mypostscript", mypostscript),
    ("node_set", node_set),
    ("plan", plan),
    ("record", record),
    ("refresh", refresh),
    ("signature", signature),
    ("site", site),
    ("step_log", step_log),
    ("tls", tls),
];

/// Its own key signs nothing here.
const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

/// The target of that name.
pub fn target(name: &str) -> Target {
    TARGETS.iter().find(|(target, _)| *target == name).expect("there is such a target").1
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Calls `with` with a folder that this thread keeps.
fn in_folder(with: impl FnOnce(&Path)) {
    thread_local!(static FOLDER: TempDir = TempDir::new().unwrap());
    FOLDER.with(|folder| with(folder.path()));
}

fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::parse(bytes) {
        let again = Manifest::parse(manifest.to_toml().unwrap().as_bytes()).unwrap();
        assert_eq!(again, manifest);
    }
}

fn plan(bytes: &[u8]) {
    if let Ok(plan) = Plan::parse(bytes) {
        let _ = plan.body();
    }
}

/// Headers of scripts, and the limits that they and the command lines take.
fn header(bytes: &[u8]) {
    let _ = Policy::from_script(bytes);
    let _ = text(bytes).parse::<Limit>();
}

/// Minisign's keys and signatures, and what says which key comes after which.
fn signature(bytes: &[u8]) {
    let trust = Trust::new(&[KEY.to_owned()], None, false).unwrap();
    let signature = text(bytes);
    let _ = PublicKey::from_line(&signature);
    let _ = Link::parse(&signature);
    assert!(trust.check_manifest(b"forged", Some(&signature)).is_err());
}

/// What says that a bundle still counts; half of the input is its signature.
fn refresh(bytes: &[u8]) {
    let (refresh, signature) = bytes.split_at(bytes.len() / 2);
    assert!(Refresh::verify(bytes, &text(signature), b"manifest", KEY).is_err());
    assert!(Refresh::verify(refresh, &text(signature), b"manifest", KEY).is_err());
}

/// What a manifest says of TLS.
fn tls(bytes: &[u8]) {
    if let Ok(tls) = text(bytes).parse::<Tls>() {
        assert_eq!(tls.to_string().parse::<Tls>().ok(), Some(tls));
    }
}

/// Journals, and OpenShift's service files.
fn journal(bytes: &[u8]) {
    if let Ok(records) = service_records(bytes) {
        let _ = judge(&records);
        let _ = runs(&records);
    }
    in_folder(|folder| {
        let path = folder.join("boot.json");
        fs::write(&path, bytes).unwrap();
        if let Ok(mut journal) = Journal::open(&path) {
            let _ = journal.close_interrupted(|_| Vec::new());
        }
        let _ = Journal::read(&path, 0);
    });
}

fn record(bytes: &[u8]) {
    if let Ok(record) = serde_json::from_slice::<Record>(bytes) {
        let _ = record.check_reportable();
        let _ = runs([&record]);
        let text = serde_json::to_vec(&record).unwrap();
        serde_json::from_slice::<Record>(&text).unwrap();
    }
}

fn step_log(bytes: &[u8]) {
    let reader = Reader { is_terminal: true, paint: Paint::always(false), width: Some(80) };
    for part in [Part::All, Part::Output, Part::Commands] {
        for json in [false, true] {
            let view = View { part, failed: json, json, reader };
            let mut shown = Vec::new();
            let _ = view.show(Cursor::new(bytes), &mut shown);
            assert!(!shown.contains(&0x1b), "a script writes to the terminal");
        }
    }
}

fn mypostscript(bytes: &[u8]) {
    let _ = MyPostscript::parse(&text(bytes));
}

/// `site.toml`, and the steps that xCAT's tables name.
fn site(bytes: &[u8]) {
    let text = text(bytes);
    if let Ok(site) = Site::parse(&text, Path::new("site.toml")) {
        let _ = site.plans();
    }
    for line in text.lines() {
        let _ = Step::parse(line);
        let _ = Step::parse_list(line);
    }
}

fn node_set(bytes: &[u8]) {
    if let Ok(mut names) = nodes::expand(&text(bytes)) {
        let mut again = nodes::expand(&nodes::fold(&names)).unwrap();
        for names in [&mut names, &mut again] {
            names.sort();
            names.dedup();
        }
        assert_eq!(again, names);
    }
}

/// What DHCP clients leave on a node's disk.
fn lease(bytes: &[u8]) {
    in_folder(|folder| {
        let path = folder.join("var/lib/dhcp");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("lease"), bytes).unwrap();
        let _ = Machine::at(folder).lease();
    });
}

/// The kernel's command line, and xCAT's `xcatinfo`.
fn kernel_line(bytes: &[u8]) {
    in_folder(|folder| {
        fs::create_dir_all(folder.join("proc")).unwrap();
        fs::write(folder.join("proc/cmdline"), bytes).unwrap();
        fs::write(folder.join("xcatinfo"), bytes).unwrap();
        let machine = Machine::at(folder);
        let line = machine.kernel_line();
        let _ = (line.get("provost.node"), line.has("BOOTIF"));
        let _ = machine.xcatinfo(Path::new("/"));
    });
}
