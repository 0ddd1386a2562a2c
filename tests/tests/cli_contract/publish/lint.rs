//! Mistakes in scripts.

use insta::assert_snapshot;
use provost_tests::Cluster;

use super::{SITE, publish_and, publish_with};
use crate::HELLO;

#[test]
fn of_mistakes_in_scripts() {
    assert_snapshot!(publish_with("broken", "#!/bin/bash\nif true; then\n    echo\n"), @"
    exit status 1
    ----- stderr -----
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
    warning: [DIR]/scripts/cut: line 2 calls cut, which is this script itself: the scripts' folder is on PATH
      hint: rename the script, or call the command by its path (command -v cut)
    warning: [DIR]/scripts/far: its interpreter /opt/no/such/interpreter isn't on this machine: its syntax is unchecked
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
    let said = said.says(&["far: its interpreter", "python: line 3", "1 problem to fix"]);
    let hints = said.stderr.lines().filter(|line| line.starts_with("  hint: ")).count();
    assert_eq!(hints, 6, "each has one: {}", said.stderr);
    let found = lint(&["--format", "json"]).expect(1).json();
    let levels: Vec<_> = found.as_array().unwrap().iter().map(|f| f["level"].clone()).collect();
    assert_eq!(levels, ["warning", "warning", "warning", "warning", "error"]);
    cluster.script("python", "#!/usr/bin/env python3\nprint(1)\n");
    assert_eq!(lint(&[]).expect(0).stdout, "8 files: no mistake found\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"none\"]\n");
    lint(&[]).expect(1).says(&["scripts/none", "it doesn't exist"]);
}
