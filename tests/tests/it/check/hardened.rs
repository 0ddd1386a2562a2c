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

/// /tmp but for the node's own folder and the programs, which may be in it; and fapolicyd, as far as it can be seen.
const HARDENED: &str = "mount --bind /tmp /tmp && mount -o remount,bind,noexec /tmp || exit; \
     for own in \"$0\" \"${1%/*}\"; do \
         mount --bind \"$own\" \"$own\" && mount -o remount,bind,exec \"$own\" || exit; done; \
     mount -t tmpfs tmpfs /run && mkdir /run/fapolicyd && mkfifo /run/fapolicyd/fapolicyd.fifo && exec \"$@\"";

#[test]
fn a_noexec_tmp_and_fapolicyd_are_named_with_the_fix_and_a_run_works() {
    skip_if(missing::mounts());
    let (cluster, node) = cluster();
    let folder = cluster.path("").display().to_string();
    let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", HARDENED, &folder];
    let out = node.command_by(&by, &["check", "--format", "json"]).output().unwrap();
    let out = Out::from(out).expect(0);
    one(&out, "noexec", &["note", "/tmp is mounted noexec", "set TMPDIR"]);
    let rules = "/etc/fapolicyd/rules.d/20-provost.rules; fagenrules --load";
    one(&out, "fapolicyd", &["note", "may refuse scripts", rules]);
    Out::from(node.command_by(&by, &["boot"]).output().unwrap()).expect(0);
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

/// Puts a value of Yama's in place of this kernel's, for what only reads it, and takes CAP_SYS_PTRACE away.
const YAMA: &str = "mount -t tmpfs tmpfs /proc/sys/kernel && mkdir /proc/sys/kernel/yama && \
                    echo \"$0\" >/proc/sys/kernel/yama/ptrace_scope && exec \"$@\"";

#[test]
fn yama_is_named_with_its_fix_and_a_run_goes_on_without_the_trace() {
    skip_if(missing::mounts());
    skip_if(missing::tracing());
    let (_cluster, node) = cluster();
    let unshare = ["unshare", "--mount", "--propagation", "private"];
    let denied = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"];
    for (scope, fix) in [("2", "--cap-add SYS_PTRACE"), ("3", "in /etc/sysctl.d")] {
        let by = [&unshare[..], &denied, &["sh", "-c", YAMA, scope]].concat();
        let check = node.command_by(&by, &["check", "--format", "json"]).output().unwrap();
        let named = format!("ptrace_scope is {scope}");
        one(&Out::from(check).expect(0), "trace", &["note", &named, fix]);
        let out: Out = node.command_by(&by, &["boot"]).output().unwrap().into();
        out.expect(0);
        let log = node.status()["stages"].as_array().unwrap().last().unwrap()["log"].clone();
        let log = std::fs::read_to_string(log.as_str().unwrap()).unwrap();
        assert!(log.contains("commands aren't traced") && log.contains("CAP_SYS_PTRACE"), "{log}");
    }
    // With the right, 2 is no hindrance.
    let by = [&unshare[..], &["sh", "-c", YAMA, "2"]].concat();
    let check = node.command_by(&by, &["check", "--format", "json"]).output().unwrap();
    one(&Out::from(check).expect(0), "trace", &["ok", "ptrace_scope is 2"]);
}
