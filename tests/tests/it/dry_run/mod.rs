//! `provost try` and `provost run --dry-run`: scripts that run for real and change nothing.

mod hostile;
mod on_a_node;
mod outer;
mod page;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use provost_tests::{missing, program, skip_if, skip_part};

use self::outer::Outer;

/// Changes files in each way, and more than files.
const CHANGES: &str = r#"sed -i 's/two/2 of the second/' /marker/conf
rm /marker/gone
rm -r /marker/folder
mkdir /marker/folder
echo "password $ROOTPASSWD" >/marker/folder/new
chmod 0700 /marker/plain
ln -sfn gone /marker/link
printf '\0\1' >/marker/binary
touch /marker/conf2 && rm /marker/conf2
hostname cn001
ip route add 10.9.9.0/24 dev lo
echo "$ROOTPASSWD"
exit 3"#;

#[test]
fn what_would_change_is_shown() {
    let outer = Outer::new();
    let before = outer.script("changes", CHANGES).look();
    let out = outer.attempt("changes", &[]).expect(1);
    assert_eq!(outer.look(), before);
    let first = out.stderr.lines().next().unwrap();
    assert!(first.contains("nothing on this machine changes"), "{first}");
    assert!(first.contains("what it asks of other machines does happen"), "{first}");
    let shown = "changed /marker/conf
--- /marker/conf
+++ /marker/conf
@@ -1,3 +1,3 @@
 one
-two
+2 of the second
 three
removed /marker/folder/inner
made /marker/folder/new: mode 0644
--- /dev/null
+++ /marker/folder/new
@@ -0,0 +1 @@
+password [redacted:ROOTPASSWD]
removed /marker/gone
changed /marker/link: to conf -> gone
changed /marker/plain: mode 0755 -> 0700
";
    assert!(out.stdout.contains(shown), "{}", out.stdout);
    assert!(out.stdout.contains("made /marker/binary: mode 0644, 2 bytes\n"), "{}", out.stdout);
    assert!(out.stdout.contains("| [redacted:ROOTPASSWD]\n"), "{}", out.stdout);
    assert!(out.stdout.ends_with("would set the host name to cn001\n"), "{}", out.stdout);
    match missing::tracing() {
        None => {
            let route = "ip route add 10.9.9.0/24 dev lo: would change the network\n";
            assert!(out.stdout.contains(route), "{}", out.stdout);
        }
        Some(missing) => skip_part(&missing),
    }
    assert!(!format!("{out:?}").contains("verysecret"), "{out:?}");
    out.says(&["changes: FAILED", "exit status 3"]);
}

#[test]
fn a_program_reads_one_document() {
    let outer = Outer::new();
    outer.script("changes", CHANGES).script("nothing", "echo nothing");
    let out = outer.attempt("changes", &["--format", "json", "--network", "none"]).expect(1);
    assert!(out.stderr.contains("it has no network"), "{out:?}");
    let document = out.json();
    assert_eq!(document["exitCode"], 1);
    let changes = document["changes"].as_array().unwrap();
    let at = |path: &str| changes.iter().find(|change| change["path"] == path).unwrap();
    assert_eq!(at("/marker/plain")["before"]["mode"], "0755");
    assert_eq!(at("/marker/plain")["after"]["mode"], "0700");
    assert_eq!(at("/marker/gone")["change"], "removed");
    assert_eq!(at("/marker/link")["after"]["to"], "gone");
    assert!(at("/marker/conf")["diff"].as_str().unwrap().contains("\n-two\n+2 of the second\n"));
    let would = document["would"].as_array().unwrap().last().unwrap();
    assert_eq!(would["would"], "set the host name to cn001");
    assert!(!out.stdout.contains("verysecret"));

    let out = outer.attempt("nothing", &["--format", "json"]).expect(0);
    assert_eq!(out.json()["changes"].as_array().unwrap().len(), 0);
    let out = outer.attempt("nothing", &[]).expect(0);
    assert!(out.stdout.ends_with("| nothing\nnothing would change\n"), "{}", out.stdout);
}

#[test]
fn a_signal_ends_it_and_leaves_nothing() {
    let outer = Outer::new();
    outer.script("sleeps", "touch /marker/begun\necho early\nsleep 987.5");
    let before = (outer.look(), outer.processes());
    std::fs::write(outer.path("site.toml"), "[nodes.cn001]\n").unwrap();
    let path = |name: &str| outer.path(name).to_str().unwrap().to_owned();
    let (site, script) = (path("site.toml"), path("scripts/sleeps"));
    let ctl = program("provostctl");
    let args = [
        "-c",
        "echo $$; exec \"$@\"",
        "sh",
        ctl.to_str().unwrap(),
        "try",
        "--site",
        &site,
        "--node",
        "cn001",
        &script,
    ];
    let mut command = outer.command("/bin/sh", &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let pid = lines.next().unwrap();
    // It is shown while it runs.
    assert!(lines.any(|line| line == "| early"));
    outer.sh(&format!("kill -TERM {pid}")).expect(0);
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!((outer.look(), outer.processes()), before);
    assert_eq!(std::fs::read_dir(outer.path("tmp")).unwrap().count(), 0);
}

#[test]
fn a_root_folder_is_changed_neither() {
    let outer = Outer::new();
    outer.script("writes", "echo \"$PROVOST_ROOT\"; echo new >\"$PROVOST_ROOT/etc-new\"");
    let root = outer.path("image");
    std::fs::create_dir(&root).unwrap();
    let out = outer.attempt("writes", &["--root", root.to_str().unwrap()]).expect(0);
    let made = format!("made {}/etc-new: mode 0644\n", root.display());
    assert!(out.stdout.contains(&made), "{out:?}");
    assert_eq!(outer.sh(&format!("ls {}", root.display())).stdout, "");
    // Whoever means it.
    outer.attempt("writes", &["--here", "--root", root.to_str().unwrap()]).expect(0);
    assert_eq!(outer.sh(&format!("ls {}", root.display())).stdout, "etc-new\n");
}

#[test]
fn who_may_not_is_told_what_to_type() {
    skip_if(missing::other_users());
    let outer = Outer::new();
    outer.script("nothing", "true");
    std::fs::write(outer.path("site.toml"), "[nodes.cn001]\n").unwrap();
    outer.sh(&format!("chmod -R a+rX {0}; chmod 1777 {0}/tmp", outer.path("").display()));
    let path = |name: &str| outer.path(name).to_str().unwrap().to_owned();
    let (site, script, ctl) = (path("site.toml"), path("scripts/nothing"), program("provostctl"));
    let mut args = vec!["--reuid=65534", "--clear-groups", ctl.to_str().unwrap(), "try"];
    args.extend(["--site", &site, "--node", "cn001", &script]);
    let run =
        |args: &[&str]| provost_tests::Out::from(outer.command("setpriv", args).output().unwrap());
    run(&args).expect(2).says(&["making a sandbox: only root can", "sudo", "--here"]);
    args.push("--here");
    run(&args).expect(0);
}
