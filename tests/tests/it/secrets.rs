//! Values that nobody is to see are seen by the scripts alone.

use std::path::Path;

use provost_tests::{Cluster, Node};

const PASSWORD: &str = "corr3ct-horse battery";
const KEY: &str = "-----BEGIN KEY-----\nMIIB+line/one\nMIIB+line/two==\n-----END KEY-----";
const CUSTOM: &str = "a \"quoted\" \\ secret";

/// Prints the secrets whole, byte by byte, across the pieces of a long line, to both outputs, and
/// traced; then fails with them.
const BLABS: &str = r#"#!/bin/bash
echo "the password is $ROOT_PASSWORD, the plain value $PLAIN"
for ((at = 0; at < ${#ROOT_PASSWORD}; at++)); do printf %s "${ROOT_PASSWORD:at:1}"; done
echo " byte by byte"
head -c 16380 /dev/zero | tr '\0' x
printf '%s and on\n' "$ROOT_PASSWORD"
echo "$API_KEY" >&2
set -x
true "$CUSTOM" "$ROOT_PASSWORD"
set +x
printf 'hint: log in as root with %s\n' "$ROOT_PASSWORD" >&2
echo "no login with $ROOT_PASSWORD or $CUSTOM" >&2
printf %s "$ROOT_PASSWORD" >&2
exit 3 # corr3ct-horse battery
"#;

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("blabs", BLABS);
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"blabs --with '{PASSWORD}'\"]\n[nodes.cn001.env]\n\
         ROOT_PASSWORD = {PASSWORD:?}\nAPI_KEY = {KEY:?}\nCUSTOM = {CUSTOM:?}\nPLAIN = \"plain\"\n\
         SHORT_KEY = \"is\"\n",
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

fn configure(cluster: &Cluster, node: &Node, log: &str) {
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[log]\n{log}\n",
        cluster.daemon().nodes(),
        cluster.key()
    ));
}

/// The files below `folder` in which `text` stands.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(text.len()).any(|part| part == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn no_secret_is_in_any_log_record_message_or_upload() {
    let (cluster, node) = cluster();
    configure(&cluster, &node, "redact = [\"*passw*\", \"*_KEY\", \"CUSTOM\"]");
    let out = node.provost(&["--verbose", "boot"]).expect(1);
    let log = cluster.ctl(&["log", "cn001", "blabs"]).expect(0).stdout;
    let shown = cluster.ctl(&["show", "cn001", "--format", "json"]).expect(0).stdout;
    let status = node.provost(&["status"]).expect(0).stdout;
    let lines: Vec<&str> = KEY.lines().collect();
    for secret in [&[PASSWORD, CUSTOM], &lines[..]].concat() {
        for said in [&out.stdout, &out.stderr, &log, &shown, &status] {
            assert!(!said.contains(secret), "{secret} is in\n{said}");
        }
        for folder in ["nodes/cn001/log", "provostd"] {
            assert_eq!(files_with(&cluster.path(folder), secret), [""; 0], "{secret}");
        }
    }
    let token = std::fs::read_to_string(node.path("token")).unwrap();
    let token = token.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(files_with(&node.path("log"), &token), [""; 0]);
    for expected in [
        "the password is [redacted:ROOT_PASSWORD], the plain value plain",
        "[redacted:ROOT_PASSWORD] byte by byte",
        "[redacted:ROOT_PASSWORD] and on",
        "[redacted:API_KEY]",
        "+ true",
    ] {
        assert!(log.contains(expected), "{expected:?} isn't in the log");
    }
    let end = &node.journal("boot")[4];
    assert_eq!(end["args"][1], "[redacted:ROOT_PASSWORD]");
    assert_eq!(end["hint"], "log in as root with [redacted:ROOT_PASSWORD]");
    let message = end["errorMessage"].as_str().unwrap();
    assert!(message.contains("no login with [redacted:ROOT_PASSWORD] or [redacted:CUSTOM]"));
    assert!(message.ends_with("[redacted:ROOT_PASSWORD]"), "{message}");
}

#[test]
fn without_a_list_of_ones_own_the_usual_names_are_secret_and_an_empty_list_shows_all() {
    let (cluster, node) = cluster();
    node.provost(&["boot"]).expect(1);
    assert_eq!(files_with(&node.path("log"), PASSWORD), [""; 0]);
    assert!(!files_with(&node.path("log"), CUSTOM).is_empty(), "its name says nothing");
    configure(&cluster, &node, "redact = []");
    node.provost(&["boot"]).expect(1);
    assert!(!files_with(&node.path("log"), PASSWORD).is_empty());
}

#[test]
fn the_script_itself_gets_the_true_values() {
    let (cluster, node) = cluster();
    let seen = cluster.path("seen");
    let text =
        format!("#!/bin/sh\nprintf '%s|%s' \"$ROOT_PASSWORD\" \"$2\" > {}\n", seen.display());
    cluster.script("blabs", &text).publish().expect(0);
    node.provost(&["boot"]).expect(0);
    assert_eq!(std::fs::read_to_string(seen).unwrap(), format!("{PASSWORD}|{PASSWORD}"));
}

#[test]
fn what_is_gathered_holds_no_secret_even_where_the_configuration_is_broken() {
    let (_cluster, node) = cluster();
    node.provost(&["boot"]).expect(1);
    let token = std::fs::read_to_string(node.path("token")).unwrap();
    node.configure("[log]\nredact = [\"*PASSW*\", \"CUSTOM\"]\n");
    let to = node.path("gathered");
    std::fs::create_dir(&to).unwrap();
    let out = node.provost(&["gather", "--to", to.to_str().unwrap()]).expect(0);
    let mut tar = std::process::Command::new("tar");
    tar.arg("-xzf").arg(out.stdout.trim()).arg("-C").arg(&to);
    assert!(tar.status().unwrap().success());
    assert!(!files_with(&to, "[redacted:CUSTOM]").is_empty(), "the plan is there");
    let quoted = CUSTOM.replace('\\', "\\\\").replace('"', "\\\"");
    let token = token.trim().rsplit(' ').next().unwrap();
    for secret in [PASSWORD, CUSTOM, &quoted, token] {
        assert_eq!(files_with(&to, secret), [""; 0], "{secret}");
    }
}
