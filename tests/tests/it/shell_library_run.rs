//! Scripts that source the shell library, as the runner runs them.

use provost_tests::faults::Faulty;
use provost_tests::{Ground, World};

/// Runs `script` and returns the record of its end.
fn end_of(script: &str) -> serde_json::Value {
    let ground = Ground::new(&[("s", script)]);
    ground.command(World::Walk, &["boot"]).output().unwrap();
    ground.end_of("boot", "s")
}

#[test]
fn every_shell_finds_it_on_path() {
    for shell in ["/bin/sh", "/bin/dash", "/bin/bash", "/bin/busybox ash"] {
        let end = end_of(&format!("#!{shell}\nset -eu\n. provost.sh\ninfo well\n"));
        assert_eq!(end["result"], "success", "{shell}: {end}");
    }
}

#[test]
fn a_failure_is_placed_in_the_script_and_not_in_the_library() {
    let cases = [
        ("die 'no disk' 'buy one'", "die 'no disk' 'buy one'"),
        ("printf x | file_write /proc/no/such", "file_write /proc/no/such"),
        ("run false", "run false"),
        ("net_network nonsense 8 >/dev/null", "net_network nonsense 8 >/dev/null"),
    ];
    for (line, command) in cases {
        let script = format!(
            "#!/bin/bash\nset -euo pipefail\n. provost.sh\nmain() {{\n    {line}\n}}\nmain\n"
        );
        let end = end_of(&script);
        assert_eq!(end["result"], "failure", "{line}: {end}");
        let at = end["errorLine"].as_str().unwrap_or_default();
        assert!(at.starts_with("5 main ") && at.ends_with("/s"), "{line}: {end}");
        assert_eq!(end["command"], command, "{end}");
    }
}

#[test]
fn a_script_that_calls_provost_speaks_of_this_node() {
    let script = "#!/bin/sh\nset -eu\ncd /\n\"$PROVOST_BIN\" status >\"$PROVOST_TEST/status\"\n";
    let ground = Ground::new(&[("s", script)]);
    ground.command(World::Walk, &["boot"]).output().unwrap();
    assert_eq!(ground.end_of("boot", "s")["result"], "success");
    let status = std::fs::read_to_string(ground.path("status")).unwrap();
    assert!(status.contains("cn001"), "{status}");
}

#[test]
fn a_file_is_fetched_only_if_its_digest_is_right() {
    let served = tempfile::tempdir().unwrap();
    std::fs::write(served.path().join("x"), "hello\n").unwrap();
    let server = Faulty::of(served.path());
    let url = format!("http://{}/x", server.address());
    let folder = tempfile::tempdir().unwrap();
    let right = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    for (digest, result) in [(right.replace('b', "c"), "failure"), (right.to_owned(), "success")] {
        let to = folder.path().join("x");
        let script = format!(
            "#!/bin/sh\nset -eu\n. provost.sh\nfetch {url} {digest} '{to}'\nfetch {url} {digest} '{to}'\n",
            to = to.display()
        );
        let end = end_of(&script);
        assert_eq!(end["result"], result, "{end}");
        assert_eq!(to.exists(), result == "success", "{end}");
        let hint = end["hint"].as_str().unwrap_or_default();
        assert_eq!(hint.contains("the digest"), result == "failure", "{end}");
    }
    assert_eq!(std::fs::read(folder.path().join("x")).unwrap(), b"hello\n");
}
