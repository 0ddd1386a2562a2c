//! `install.sh`: two lines on a machine that has booted make it a node with an identity.

use std::fs;

use provost_tests::processes::until;
use provost_tests::{Chroot, Out, SOON, enter_own_network, missing, skip_part};

use crate::init::Machine;

/// A management node that serves at http://10.0.0.1:8480.
fn management_node() -> Machine {
    enter_own_network("10.0.0.1/8");
    let mut machine = Machine::new();
    let said = machine.init(&[]).expect(0).stdout;
    machine.start(&said);
    machine
}

/// The two lines that `enroll open` prints for `node`.
fn lines(machine: &Machine, node: &str) -> [String; 2] {
    let said = machine.ctl(&format!("enroll open {node}")).expect(0).stdout;
    let mut lines = said.lines().filter_map(|line| line.strip_prefix("  ").map(str::to_owned));
    let lines = [lines.next().unwrap(), lines.next().unwrap()];
    let digest = lines[1].strip_prefix("sh install.sh ").unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{said}");
    lines
}

/// Types a line on a machine of this name.
fn on(root: &Chroot, name: &str, line: &str) -> Out {
    let named = format!("echo {name} >/proc/sys/kernel/hostname; cd /root; {line}");
    root.sh(&format!("exec unshare --uts sh -c '{}'", named.replace('\'', r"'\''")))
}

/// Nothing of it is there.
#[track_caller]
fn is_untouched(root: &Chroot) {
    let there = root.sh("ls -A /etc/provost /var/lib/provost /usr/bin/provost /usr/bin/.provost*");
    assert_eq!(there.stdout, "");
}

#[test]
fn two_lines_make_a_machine_a_node_whatever_its_shell() {
    let machine = management_node();
    let shells = [("cn001", "dash", "dash"), ("cn002", "bash", "bash")];
    let busybox = ("cn003", "busybox sh", "busybox");
    for (node, shell, program) in shells.into_iter().chain([busybox]) {
        if let Some(why) = missing::program(program, program) {
            skip_part(&why);
            continue;
        }
        let [fetch, run] = lines(&machine, node);
        assert_eq!(fetch, "curl -fsS http://10.0.0.1:8480/install.sh -o install.sh");
        let root = Chroot::new();
        on(&root, node, &fetch).expect(0);
        let out = on(&root, node, &run.replacen("sh ", &format!("{shell} "), 1)).expect(0);
        assert!(out.stderr.contains("hello: ok"), "{shell}: {}", out.stderr);
        machine.ctl(&format!("wait-for {node} --status booted --timeout 1m")).expect(0);
        let show = machine.ctl(&format!("show {node} --format json")).expect(0).json();
        assert!(show["identity"]["key"].is_string(), "{show}");
        // Its boots go on by themselves, with what it was told.
        let settings = root.text("/etc/provost/provost.toml");
        assert!(settings.contains("10.0.0.1:8480") && settings.contains(node), "{settings}");
        on(&root, "localhost", "provost boot").expect(0);
        assert_eq!(root.sh("ls -A /usr/bin | grep '^.provost'").stdout, "", "it is left behind");
    }
}

#[test]
fn what_is_not_the_file_of_the_digest_is_refused_before_anything_is_run() {
    let machine = management_node();
    let [fetch, run] = lines(&machine, "cn001");
    let digest = run.rsplit(' ').next().unwrap();
    let root = Chroot::new();
    on(&root, "cn001", &fetch).expect(0);
    let refused = |line: &str, texts: &[&str]| {
        on(&root, "cn001", line).expect(2).says(&[texts, &["hint: "]].concat());
        is_untouched(&root);
    };
    refused("sh install.sh", &["no digest is given", "provostctl enroll open NODE"]);
    refused("sh install.sh 5b0e", &["and not 5b0e: nothing has run", "fetch it again: curl -fsS"]);
    refused(&format!("{run} cn001 cn002"), &["too many arguments"]);
    refused(&format!("sh -s {digest} <install.sh"), &["only a file can be checked"]);
    let other_user = "chmod a+rx /root; setpriv --reuid 65534";
    refused(&format!("{other_user} {run}"), &["takes root", "sudo sh install.sh"]);
    on(&root, "localhost", &run).expect(2).says(&["host name is localhost", "cn001"]);

    // One byte more, and each way of being cut off.
    refused(&format!("echo >>install.sh; {run}"), &["has the sha256 ", "nothing has run"]);
    let text = fs::read(root.path("/root/install.sh")).unwrap();
    for length in (0..text.len() - 1).step_by(97) {
        fs::write(root.path("/root/install.sh"), &text[..length]).unwrap();
        on(&root, "cn001", &run);
        is_untouched(&root);
    }
    assert_eq!(machine.ctl("nodes cn001 --format json").expect(0).json()[0]["status"], "defined");
}

#[test]
fn a_node_of_xcat_is_refused_at_once() {
    let machine = management_node();
    let [fetch, run] = lines(&machine, "cn001");
    let root = Chroot::new();
    on(&root, "cn001", &fetch).expect(0);
    for file in ["provost.toml", "provost.d/xcat.toml"] {
        root.sh(&format!(
            "rm -rf /etc/provost; mkdir -p /etc/provost/provost.d; \
                          printf '[source]\\nkind = \"xcat\"\\n' >/etc/provost/{file}"
        ))
        .expect(0);
        let said = ["configures this machine as a node of xCAT", "hint: provost install --remove"];
        on(&root, "cn001", &run).expect(2).says(&said);
    }
    root.sh("rm -r /etc/provost").expect(0);
    on(&root, "cn001", &run).expect(0);
}

#[test]
fn a_machine_of_another_architecture_runs_nothing_and_says_what_is_missing() {
    let machine = management_node();
    let [fetch, run] = lines(&machine, "cn001");
    let root = Chroot::new();
    on(&root, "cn001", &fetch).expect(0);
    let uname = "#!/bin/sh\n[ \"$1\" = -m ] && echo riscv64 || echo cn001\n";
    fs::write(root.path("/root/uname"), uname).unwrap();
    let out = on(&root, "cn001", &format!("chmod +x uname; PATH=/root:$PATH; {run}")).expect(1);
    out.says(&[
        "this script has no program for riscv64: nothing has run",
        "hint: on the management node, put the static provost for riscv64 where [node] programs",
        "curl -fsS http://10.0.0.1:8480/install.sh",
    ]);
    is_untouched(&root);
    let pending = machine.ctl("pending --format json").expect(0).json();
    assert_eq!(pending[0]["node"], "cn001", "{pending}");
}

#[test]
fn without_a_window_it_names_the_command_that_opens_one_and_goes_on_then() {
    let machine = management_node();
    let [fetch, run] = lines(&machine, "cn001");
    machine.ctl("enroll close").expect(0);
    let root = Chroot::new();
    on(&root, "cn001", &fetch).expect(0);
    // Its name is not the host's.
    let mut install = root.spawn(&format!("sh -c 'cd /root; {run} cn001 2>said'"));
    let waits = "enrolment: waiting for provostctl approve cn001 SHA256:";
    let said = || fs::read_to_string(root.path("/root/said")).unwrap_or_default();
    assert!(until(SOON, || said().contains(waits)), "{}", said());
    assert!(said().contains(", or provostctl enroll open cn001\n"), "{}", said());
    machine.ctl("enroll open cn001").expect(0);
    assert!(install.wait().unwrap().success(), "{}", said());
    machine.ctl("wait-for cn001 --status booted --timeout 1m").expect(0);
}

#[test]
fn its_digest_stays_until_what_it_says_changes() {
    let machine = management_node();
    let [fetch, run] = lines(&machine, "cn001");
    let root = Chroot::new();
    on(&root, "cn001", &fetch).expect(0);
    let hello = machine.path("etc/postscripts/hello");
    fs::write(&hello, fs::read_to_string(&hello).unwrap() + "echo more\n").unwrap();
    assert!(machine.ctl("publish").expect(0).stdout.contains("published generation 2"));
    assert_eq!(lines(&machine, "cn001")[1], run, "a publication has changed it");
    let before = root.text("/root/install.sh");
    on(&root, "cn001", &fetch).expect(0);
    assert_eq!(root.text("/root/install.sh"), before);
    // What init says of it again is the same.
    assert!(machine.init(&[]).expect(0).stdout.contains(&format!("\n  {run}\n")));

    let next = machine.path("etc/next").display().to_string();
    machine.ctl(&format!("key new --out {next}")).expect(0);
    let rotated = machine.ctl(&format!("key rotate --next {next}/provost.key")).expect(0);
    rotated.says(&["install.sh has another digest: provostctl enroll open prints it"]);
    let again = lines(&machine, "cn001");
    assert_ne!(again[1], run, "the script trusts the old key");
    on(&root, "cn001", &format!("{fetch} && {run}")).expect(2).says(&["and not", "fetch it again"]);
    on(&root, "cn001", &format!("{} && {}", again[0], again[1])).expect(0);
}
