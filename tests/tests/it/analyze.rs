//! `provost analyze` of services' record files: ours and others', whole and damaged.

use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Cluster, Node, Out, program};
use tempfile::TempDir;

/// A file's text from its entries, in short: a phase, then what else its entry has.
fn file(entries: &[(&str, &str)]) -> String {
    let entry = |(phase, more): &(&str, &str)| match more.is_empty() {
        true => format!("{{\"phase\":\"{phase}\"}}"),
        false => format!("{{\"phase\":\"{phase}\",{more}}}"),
    };
    format!("[\n{}\n]\n", entries.iter().map(entry).collect::<Vec<_>>().join(",\n"))
}

const START: (&str, &str) = ("service start", "");
const GOOD: (&str, &str) = ("service end", "\"result\":\"success\"");
const BAD: (&str, &str) = ("service end", "\"result\":\"failure\",\"errorMessage\":\"no route\"");
const PULL: (&str, &str) = ("stage start", "\"stage\":\"pull\"");
const PULLED: (&str, &str) = ("stage end", "\"stage\":\"pull\",\"result\":\"success\"");
const NOT_PULLED: (&str, &str) = (
    "stage end",
    "\"stage\":\"pull\",\"result\":\"failure\",\"errorMessage\":\"one\\ntwo\\nthree\"",
);

struct Bundle {
    folder: TempDir,
}

impl Bundle {
    fn of(files: &[(&str, &str)]) -> Self {
        let bundle = Self { folder: TempDir::new().unwrap() };
        for (path, text) in files {
            let path = bundle.path("files").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        bundle
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Packs the files by the system's tar.
    fn pack(&self, options: &str, what: &[&str]) -> PathBuf {
        let path = self.path("bundle");
        let mut tar = Command::new("tar");
        tar.arg(options).arg(&path).arg("-C").arg(self.path("files")).args(what);
        assert!(tar.status().unwrap().success());
        path
    }

    fn analyze(path: &Path, more: &[&str]) -> Out {
        let mut command = Command::new(program("provost"));
        command.args(["--config", "/dev/null", "analyze", "--file"]).arg(path).args(more);
        command.output().unwrap().into()
    }
}

/// Each is judged by itself, by its last entry, as OpenShift's own reader does.
#[expect(clippy::too_many_lines, reason = "it is a table")]
#[test]
fn each_record_file_has_its_verdict() {
    let post = |phase, result| (phase, format!("\"postCommand\":\"tidy\"{result}"));
    let (post_start, post_good, post_bad) = (
        post("post-command start", ""),
        post("post-command end", ",\"result\":\"success\""),
        post("post-command end", ",\"result\":\"failure\",\"errorLine\":\"9 main /x\""),
    );
    let pair = |(phase, more): &(&'static str, String)| (*phase, more.clone());
    let file_of = |entries: &[(&'static str, String)]| {
        file(&entries.iter().map(|(p, m)| (*p, m.as_str())).collect::<Vec<_>>())
    };
    let own = |(phase, more): (&'static str, &str)| (phase, more.to_owned());
    let outside = (
        "service end",
        "\"result\":\"failure\",\"errorLine\":\"25 main /usr/local/bin/x.sh\",\
         \"errorMessage\":\"sh: no\",\"command\":\"cp a b\",\"exitCode\":4,\"cause\":\"exit\"",
    );
    let stop =
        ("service end", "\"result\":\"failure\",\"cause\":\"interrupted\",\"signal\":\"SIGTERM\"");
    let cut_off = ("service end", "\"result\":\"failure\",\"cause\":\"interrupted\"");
    let pre_bad = ("pre-command end", "\"preCommand\":\"look\",\"result\":\"failure\"");
    let pre_good = ("pre-command end", "\"preCommand\":\"look\",\"result\":\"success\"");
    let pre_start = ("pre-command start", "\"preCommand\":\"look\"");
    let whole = file(&[START, PULL, PULLED, GOOD]);
    let cases: Vec<(&str, String, i32, &[&str])> = vec![
        ("whole", whole.clone(), 0, &["svc                      succeeded\n"]),
        ("no stage", file(&[START, GOOD]), 0, &["succeeded\n"]),
        ("never began", "[]".into(), 1, &["not executed"]),
        ("began", file(&[START]), 0, &["in progress\n"]),
        ("in a stage", file(&[START, PULL]), 0, &["in progress in the stage pull\n"]),
        ("between stages", file(&[START, PULL, PULLED]), 0, &["in progress"]),
        (
            "stage failed",
            file(&[START, PULL, NOT_PULLED]),
            1,
            &["FAILED: the stage pull: failed\n", "output   one\n", " two\n", " three\n"],
        ),
        (
            "service failed with its stage",
            file(&[START, PULL, NOT_PULLED, BAD]),
            1,
            &["FAILED: the stage pull: failed\n", "output   no route\n"],
        ),
        (
            "failed outside a stage",
            file(&[START, PULL, PULLED, outside]),
            1,
            &[
                "FAILED: exit status 4\n",
                "line     25 main /usr/local/bin/x.sh\n",
                "command  cp a b\n",
                "output   sh: no\n",
            ],
        ),
        (
            "a stage failed, was retried, and the service failed later",
            file(&[START, PULL, NOT_PULLED, PULL, PULLED, BAD]),
            1,
            &["FAILED: failed\n", "output   no route\n"],
        ),
        (
            "a stage failed and is retried",
            file(&[START, PULL, NOT_PULLED, PULL]),
            1,
            &["in progress in the stage pull; it failed before: the stage pull: failed\n"],
        ),
        (
            "a retry succeeded",
            file(&[START, PULL, NOT_PULLED, PULL, PULLED, GOOD]),
            0,
            &["succeeded\n"],
        ),
        (
            "failed, then succeeded",
            file(&[START, BAD, START, GOOD]),
            0,
            &["succeeded (2 starts)\n"],
        ),
        (
            "succeeded, then failed",
            file(&[START, GOOD, START, BAD]),
            1,
            &["FAILED (2 starts): failed\n"],
        ),
        (
            "restarts again and again",
            file(&[START, BAD, START, BAD, START]),
            1,
            &["in progress (3 starts); it failed before: failed\n", "output   no route\n"],
        ),
        ("succeeded, runs again", file(&[START, GOOD, START]), 0, &["in progress (2 starts)\n"]),
        ("stopped", file(&[START, stop]), 0, &["stopped: interrupted by SIGTERM\n"]),
        ("stopped, restarted", file(&[START, stop, START]), 0, &["in progress (2 starts)"]),
        ("cut off", file(&[START, cut_off]), 1, &["FAILED: interrupted\n"]),
        (
            "pre-command failed",
            file(&[pre_start, pre_bad]),
            1,
            &["FAILED: the pre-command look: failed\n"],
        ),
        ("pre-command alone", file(&[pre_start, pre_good]), 1, &["not executed"]),
        ("pre-command, running", file(&[pre_start, pre_good, START]), 0, &["in progress\n"]),
        (
            "post-command succeeded",
            file_of(&[own(START), own(GOOD), pair(&post_start), pair(&post_good)]),
            0,
            &["succeeded\n"],
        ),
        (
            "post-command failed",
            file_of(&[own(START), own(GOOD), pair(&post_start), pair(&post_bad)]),
            1,
            &["FAILED: the post-command tidy: failed\n", "line     9 main /x\n"],
        ),
        (
            "post-command runs",
            file_of(&[own(START), own(GOOD), pair(&post_start)]),
            0,
            &["in progress\n"],
        ),
        (
            "times of any order",
            whole.replace("\"phase\"", "\"timestamp\":\"x\",\"phase\""),
            0,
            &["succeeded"],
        ),
        (
            "keys of others",
            whole.replace("\"phase\"", "\"seq\":\"a\",\"phase\""),
            0,
            &["succeeded"],
        ),
        ("no bracket at its end", whole.replace(']', ""), 0, &["succeeded"]),
        ("NULs behind", format!("{whole}\0\0\0"), 0, &["succeeded"]),
        ("empty", String::new(), 2, &["unreadable: the file is empty\n"]),
        ("no array", "{}".into(), 2, &["unreadable: the file is not a JSON array of records\n"]),
        ("no JSON", "hello".into(), 2, &["unreadable: the file is not a JSON array"]),
        (
            "cut",
            whole[..whole.len() - 20].into(),
            2,
            &["unreadable: the file is cut off in entry 4"],
        ),
        ("a phase of a newer program", whole.replace("service end", "tea"), 0, &["in progress"]),
        ("no record", "[1]".into(), 2, &["unreadable: entry 1 is not a record"]),
        ("two arrays", format!("{whole}{whole}"), 2, &["unreadable: there is other text"]),
    ];
    assert!(cases.len() >= 20);
    for (name, text, code, texts) in cases {
        let bundle = Bundle::of(&[("log-bundle-1/bootstrap/services/svc.json", &text)]);
        let path = bundle.pack("-czf", &["log-bundle-1"]);
        let out = Bundle::analyze(&path, &[]);
        assert_eq!(out.code, Some(code), "{name}: {out:?}");
        for text in texts {
            assert!(out.stdout.contains(text), "{name}: no {text:?} in\n{}", out.stdout);
        }
        let json = Bundle::analyze(&path, &["--format", "json"]).expect(code).json();
        assert_eq!(json["services"][0]["service"], "svc", "{name}: {json}");
    }
}

#[test]
fn a_bundle_may_have_any_layout_that_openshifts_reader_takes() {
    let (good, bad) = (file(&[START, GOOD]), file(&[START, PULL, NOT_PULLED]));
    let inner = "log-bundle-1/log-bundle-bootstrap/bootstrap/services/bootkube.json";
    for (options, path) in [
        ("-cf", "bootstrap/services/bootkube.json"),
        ("-czf", "bootstrap/services/bootkube.json"),
        ("-czf", "./bootstrap/services/bootkube.json"),
        ("-cf", "log-bundle-1/bootstrap/services/bootkube.json"),
        ("-czf", inner),
    ] {
        let other = path.replace("bootkube", "release-image");
        let no_service = path.replace("bootkube", "a.b");
        let bundle = Bundle::of(&[(path, &bad), (&other, &good), (&no_service, "")]);
        let out = Bundle::analyze(&bundle.pack(options, &["."]), &[]).expect(1);
        let at = |text: &str| out.stdout.find(text).unwrap_or_else(|| panic!("{out:?}"));
        assert!(at("FAILED: the stage pull") < at("release-image            succeeded"));
        assert!(!out.stdout.contains("a.b") && !out.stdout.contains("not executed"), "{out:?}");
    }
    // One that can't be read doesn't hide the others; what OpenShift's bootstrap has and this
    // lacks is named.
    let folder = "b/bootstrap/services";
    let bundle = Bundle::of(&[
        (&format!("{folder}/x.json"), ""),
        (&format!("{folder}/bootkube.json"), &good),
    ]);
    let out = Bundle::analyze(&bundle.pack("-cf", &["b"]), &[]).expect(1).stdout;
    for text in ["bootkube                 succeeded", "x                        unreadable: "] {
        assert!(out.contains(text), "{out}");
    }
    assert!(out.contains("release-image was not executed: it has no record\n"), "{out}");

    let bundle = Bundle::of(&[("b/nothing", "")]);
    let out = Bundle::analyze(&bundle.pack("-czf", &["b"]), &[]).expect(2);
    out.says(&["it has no bootstrap/services/SERVICE.json", "hint: "]);
    // What is no bundle isn't printed.
    let path = bundle.path("notes");
    std::fs::write(&path, "one secret line\nand another\n".repeat(50)).unwrap();
    let said = Bundle::analyze(&path, &[]).expect(2).stderr;
    assert!(said.contains("notes: no tar or tar.gz archive") && !said.contains("secret"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn a_bundle_that_was_cut_off_says_so_and_what_it_has_counts() {
    let noise: String = (0..200_000u32)
        .map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 28) as u8))
        .collect();
    let files = [("b/bootstrap/services/a.json", &file(&[START, GOOD])), ("b/z", &noise)];
    let bundle = Bundle::of(&files.map(|(path, text)| (path, text.as_str())));
    let path = bundle.pack("-czf", &["b/bootstrap", "b/z"]);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let out = Bundle::analyze(&path, &[]).expect(1).stdout;
    assert!(out.contains("a                        succeeded\n"), "{out}");
    assert!(out.contains("the rest of the bundle is damaged: "), "{out}");
}

#[test]
fn thousands_of_entries_are_judged() {
    let stages = (0..2500).flat_map(|_| [PULL, PULLED]);
    let entries: Vec<_> = [START].into_iter().chain(stages).chain([BAD]).collect();
    let bundle = Bundle::of(&[("b/bootstrap/services/svc.json", &file(&entries))]);
    let out = Bundle::analyze(&bundle.pack("-czf", &["b"]), &[]).expect(1).stdout;
    assert!(out.contains("FAILED: failed\n"), "{out}");
}

fn booted() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("fine", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"fine\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    (cluster, node)
}

#[test]
fn services_of_others_are_judged_beside_the_nodes_own() {
    let (_cluster, node) = booted();
    let folder = node.path("openshift");
    std::fs::create_dir_all(&folder).unwrap();
    let analyze = |code| {
        let mut command = node.command(&["analyze"]);
        let out = Out::from(command.env("SERVICE_RECORDS_DIR", &folder).output().unwrap());
        out.expect(code).stdout
    };
    let text = analyze(0);
    assert!(text.contains("services:\n  boot                     succeeded\n"), "{text}");
    std::fs::write(folder.join("bootkube.json"), file(&[START, PULL, NOT_PULLED])).unwrap();
    let text = analyze(1);
    assert!(
        text.contains("\n  bootkube                 FAILED: the stage pull: failed\n"),
        "{text}"
    );
    assert!(text.starts_with("cn001: boot of "), "{text}");
    std::fs::write(folder.join("bootkube.json"), "").unwrap();
    let text = analyze(1);
    assert!(
        text.contains("\n  bootkube                 unreadable: the file is empty\n"),
        "{text}"
    );
}

/// A run of a damaged clock or of another program may have any id.
#[test]
fn runs_are_in_the_order_of_time() {
    let (_cluster, node) = booted();
    let path = node.path("log/services/boot.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut entries: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut older = entries.clone();
    for entry in &mut older {
        entry["run"] = "ffffffff-ffff-7fff-bfff-ffffffffffff".into();
        entry["timestamp"] = "2020-01-01T00:00:00Z".into();
    }
    older.append(&mut entries);
    std::fs::write(&path, serde_json::to_string(&older).unwrap()).unwrap();
    let newest = older.last().unwrap()["run"].clone();
    let json = node.provost(&["analyze", "--format", "json"]).expect(0).json();
    assert_eq!(json["run"], newest);
}
