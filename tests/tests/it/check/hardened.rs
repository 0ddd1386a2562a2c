//! Hardened systems: what would keep scripts from running is named, with the fix.

use std::path::Path;

use provost_tests::{Node, Out, missing, skip_if};

use super::{cluster, one};

/// Runs `provost ARGS` where `folder` is mounted noexec.
fn where_noexec(node: &Node, folder: &Path, args: &[&str]) -> Out {
    skip_if(missing::mounts());
    let line = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,noexec \"$0\" && exec \"$@\"";
    let folder = folder.display().to_string();
    let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", line, &folder];
    node.command_by(&by, args).output().unwrap().into()
}

#[test]
fn a_noexec_state_is_named_and_a_run_says_why_it_fails() {
    let (_cluster, node) = cluster();
    let state = node.path("state");
    std::fs::create_dir_all(&state).unwrap();
    let out = where_noexec(&node, &state, &["check", "--format", "json"]).expect(2);
    one(&out, "noexec", &["failed", "mounted noexec", "findmnt -T"]);
    let out = where_noexec(&node, &state, &["boot"]).expect(1);
    out.says(&["its file system is mounted noexec", "hint: mount it without noexec"]);
    node.provost(&["check"]).expect(0);
}

#[test]
fn a_umask_of_077_has_no_effect_on_scripts() {
    let (cluster, node) = cluster();
    let made = cluster.path("made");
    let made = made.display();
    cluster.script("one", &format!("#!/bin/sh\numask >'{made}'\n"));
    cluster.publish().expect(0);
    let by = ["sh", "-c", "umask 077; exec \"$@\"", "sh"];
    let out: Out = node.command_by(&by, &["check", "--format", "json"]).output().unwrap().into();
    one(&out.expect(0), "umask", &["ok", "0077", "0022"]);
    let out: Out = node.command_by(&by, &["boot"]).output().unwrap().into();
    out.expect(0);
    assert_eq!(std::fs::read_to_string(cluster.path("made")).unwrap(), "0022\n");
}
