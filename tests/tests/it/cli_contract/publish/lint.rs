//! Mistakes in scripts.

use insta::assert_snapshot;
use provost_tests::Cluster;

use super::{SITE, publish_and, publish_with};
use crate::cli_contract::HELLO;

#[test]
fn of_mistakes_in_scripts() {
    assert_snapshot!(publish_with("broken", "#!/bin/bash\nif true; then\n    echo\n"), @"
    exit status 1
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    provostctl: [DIR]/scripts/broken: line 4: syntax error: unexpected end of file
      hint: correct that line; to look again: bash -n FILE
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again; where that is an error of the check: --no-lint
    ");
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE).publish().expect(0);
    // What is right for one of the shells that sh may be.
    cluster.script("array", "#!/bin/sh\nlist=(a b)\necho \"${list[0]}\"\n");
    cluster.script("glob", "#!/bin/bash\nshopt -s extglob\necho !(*.txt)\n");
    publish_and(&cluster, &[]).expect(0);
    cluster.script("cut", "#!/bin/sh\ncut -d: -f1 /etc/passwd\n");
    cluster.script("far", "#!/opt/no/such/interpreter\n");
    cluster.script("inputs", "#!/bin/sh\n# /// provost\n# inputs = [\"A\"]\n# ///\n");
    cluster.script("long", "#!/bin/sh\n# /// provost\n# timeout = \"3h\"\n# ///\n");
    cluster.script("python", "#!/usr/bin/env python3\nprint(1)\nif:\n");
    assert_snapshot!(publish_and(&cluster, &["--no-lint"]).transcript(), @r#"
    exit status 0
    ----- stdout -----
    published generation 3 to [DIR]/www: 8 files, 1 plan
      scripts: 5 added (cut, far, inputs, long, python); generation 2 -> 3
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    warning: [DIR]/scripts/cut: line 2 calls cut, as this script is named: a node without that command runs the script again
      hint: rename the script, or call the command by its path (command -v cut)
    note: [DIR]/scripts/far: its interpreter /opt/no/such/interpreter isn't on this machine: its syntax is unchecked
      hint: check that the nodes have it: command -v /opt/no/such/interpreter
    warning: [DIR]/scripts/inputs: inputs has no effect without when = "change"
      hint: add when = "change" to its header, or remove inputs
    warning: [DIR]/scripts/long: its timeout is longer than a whole run may take (2 h by default)
      hint: shorten it, or raise deadline under [run] on the nodes that run it
    warning: [DIR]/scripts/python: line 3: SyntaxError: invalid syntax
      hint: correct that line
    "#);
    let (site, scripts) = (cluster.path("site.toml"), cluster.scripts());
    let lint = |more: &[&str]| {
        let paths = [site.display().to_string(), scripts.display().to_string()];
        let args = ["publish", "--lint-only", "--site", &paths[0], "--scripts", &paths[1]];
        cluster.ctl(&[&args[..], more].concat())
    };
    let said = lint(&[]).expect(1);
    let said = said.says(&["far: its interpreter", "python: line 3", "problems to fix"]);
    let hints = said.stderr.lines().filter(|line| line.starts_with("  hint: ")).count();
    assert_eq!(hints, 6, "each has one: {}", said.stderr);
    assert!(said.stderr.contains("4 problems to fix"), "{}", said.stderr);
    let found = lint(&["--format", "json"]).expect(1).json();
    let levels: Vec<_> = found.as_array().unwrap().iter().map(|f| f["level"].clone()).collect();
    assert_eq!(levels, ["warning", "note", "warning", "warning", "error"]);
    cluster.script(
        "inputs",
        "#!/bin/sh\n# /// provost\n# when = \"change\"\n# inputs = [\"A B\"]\n# ///\n",
    );
    lint(&[]).expect(1).says(&[
        "warning: ",
        "scripts/inputs: inputs names \"A B\", which no variable can be called",
    ]);
    cluster.script("python", "#!/usr/bin/env python3\nprint(1)\n");
    // A warning is a mistake as well; what can't be looked at here is none.
    lint(&[]).expect(1).says(&["3 problems to fix"]);
    for name in ["cut", "inputs", "long"] {
        cluster.script(name, "#!/bin/sh\n");
    }
    let clean = lint(&[]).expect(0);
    assert_eq!(clean.stdout, "8 files: no mistake found\n");
    assert!(clean.says(&["note: "]).stderr.contains("far: its interpreter"));
    cluster.site("[nodes.cn001]\npostscripts = [\"none\"]\n");
    lint(&[]).expect(1).says(&["scripts/none", "it doesn't exist"]);
}

#[test]
fn of_functions_that_nobody_defines() {
    let cluster = Cluster::new();
    cluster.site(SITE).script("hello", HELLO);
    let lib = "#!/bin/sh\n. provost.sh\n";
    cluster.script(
        "near",
        &format!("{lib}cat <<E\nfile_writes all\nE\nfile_writes /etc/motd </dev/null\n"),
    );
    cluster.script("family", &format!("{lib}service_reload nginx\n"));
    cluster.script("forgot", "#!/bin/bash\nif true; then file_line /etc/hosts x; fi\n");
    // None of these is a mistake.
    cluster.script("own", &format!("{lib}file_writes() {{ :; }}\nfile_writes x\nfile_line /x y\n"));
    let is_data = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    cluster.script("helper.sh", "file_append() { :; }\n");
    std::fs::set_permissions(cluster.scripts().join("helper.sh"), is_data).unwrap();
    cluster.script("helped", "#!/bin/bash\n. provost.sh\n. \"${0%/*}/helper.sh\"\nfile_append x\n");
    cluster.script("unknown", "#!/bin/bash\n. provost.sh\n. /opt/site/lib.sh\nfile_append x\n");
    let path = |name: &str| cluster.path(name).display().to_string();
    let args =
        ["publish", "--lint-only", "--site", &path("site.toml"), "--scripts", &path("scripts")];
    assert_snapshot!(cluster.ctl(&args).transcript(), @r#"
    exit status 1
    ----- stderr -----
    warning: [DIR]/scripts/family: line 3 calls service_reload, which neither provost.sh nor the script defines
      hint: take one of the functions in docs/shell-library.md, or define it
    warning: [DIR]/scripts/forgot: line 2 calls file_line, a function of provost.sh, which isn't sourced
      hint: add a line before it: . provost.sh
    warning: [DIR]/scripts/near: line 6 calls file_writes, which neither provost.sh nor the script defines
      hint: write file_write, if you mean that function of provost.sh
    provostctl: 3 problems to fix
      hint: fix what is named above, then look again: provostctl publish --lint-only …
    "#);
}

#[test]
fn of_headers_without_effect() {
    let cluster = Cluster::new();
    cluster.site(SITE).script("hello", HELLO);
    let script = |name: &str, shell: &str, header: &str| {
        cluster.script(name, &format!("#!/bin/{shell}\n# /// provost\n{header}# ///\necho\n"));
    };
    script("lines", "sh", "# trace = \"lines\"\n");
    script("lines_bash", "bash", "# trace = \"lines\"\n");
    script("resume", "sh", "# resume = \"again\"\n");
    script("second", "sh", "# retries = 1\n# ///\n# /// provost\n# leak = \"kill\"\n");
    script("data", "sh", "# retries = 1\n");
    let data = cluster.scripts().join("data");
    std::fs::set_permissions(data, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let path = |name: &str| cluster.path(name).display().to_string();
    let args =
        ["publish", "--lint-only", "--site", &path("site.toml"), "--scripts", &path("scripts")];
    assert_snapshot!(cluster.ctl(&args).transcript(), @r#"
    exit status 1
    ----- stderr -----
    warning: [DIR]/scripts/data: its header has no effect, because nothing runs it
      hint: make it executable (chmod a+x), if it is a script, or remove the header
    warning: [DIR]/scripts/lines: trace = "lines" has no effect but on bash scripts
      hint: remove trace from its header: then each command that it starts is logged
    warning: [DIR]/scripts/resume: resume has no effect: the script requests no reboot
      hint: remove resume from its header, or request a reboot: reboot_and_continue REASON
    warning: [DIR]/scripts/second: its second header has no effect
      hint: move its keys to the first header
    provostctl: 4 problems to fix
      hint: fix what is named above, then look again: provostctl publish --lint-only …
    "#);
}

/// The postscripts that come with Provost, as an admin publishes them.
#[test]
fn nothing_is_wrong_with_the_postscripts_that_come_with_it() {
    let cluster = Cluster::new();
    cluster.site("[nodes.cn001]\npostscripts = [\"hostname\"]\n");
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../postscripts");
    let site = cluster.path("site.toml").display().to_string();
    let args = ["publish", "--lint-only", "--site", &site, "--scripts", scripts];
    let out = cluster.ctl(&args).expect(0);
    assert!(out.stdout.ends_with("no mistake found\n") && out.stderr.is_empty(), "{out:?}");
}
