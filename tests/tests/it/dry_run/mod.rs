//! `provost try` and `provost run --dry-run`: scripts that run for real and change nothing.

mod databases;
mod hostile;
mod limits;
mod on_a_node;
mod on_many_nodes;
mod outer;
mod page;
mod rehearsal;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use provost_tests::{missing, program, skip_if, skip_part};

use self::outer::Outer;
use super::json_page::page::Page;

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
echo 1 >/proc/sys/net/ipv4/ip_forward
systemctl restart chronyd
echo "$ROOTPASSWD"
exit 3"#;
/// Keys of its document that need a limit that is reached, SELinux, or a database.
const RARE: &[&str] = &[
    "a-change-of-a-dry-run attributes",
    "a-dry-run databases",
    "a-dry-run fullAtBytes",
    "a-dry-run memoryFullAtBytes",
    "a-dry-run processesFullAt",
    "a-look-of-a-dry-run label",
    "an-entry-of-a-dry-run after",
    "an-entry-of-a-dry-run before",
    "an-entry-of-a-dry-run change",
    "an-entry-of-a-dry-run kind",
    "an-entry-of-a-dry-run name",
];

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
    let setting = "\nwould write to /proc/sys/net/ipv4/ip_forward\n";
    assert!(out.stdout.contains(setting), "{}", out.stdout);
    match missing::tracing() {
        None => {
            let route = "ip route add 10.9.9.0/24 dev lo: would change the network\n";
            assert!(out.stdout.contains(route), "{}", out.stdout);
            let service = "systemctl restart chronyd: would restart chronyd\n";
            match missing::program("systemctl", "systemd") {
                None => assert!(out.stdout.contains(service), "{}", out.stdout),
                Some(missing) => skip_part(&missing),
            }
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
    let page = Page::read();
    page.check("a-dry-run", &document);
    let mut unseen = page.unseen();
    unseen.retain(|key| key.contains("of-a-dry-run") || key.starts_with("a-dry-run"));
    unseen.retain(|key| !key.starts_with("nodes-of-a-dry-run"));
    // By the trace.
    unseen.retain(|key| key != "a-refusal-of-a-dry-run command");
    assert_eq!(unseen, RARE);
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
fn without_a_node_it_has_what_all_nodes_have() {
    let outer = Outer::new();
    outer.script(
        "show",
        "echo \"$NODE $COLOUR $# $(cat /proc/net/dev | wc -l)\"; echo 1 >/marker/made",
    );
    let site =
        "[defaults]\nenv = { COLOUR = \"blue\" }\npostscripts = [\"show a b\"]\n[nodes.cn001]\n";
    std::fs::write(outer.path("site.toml"), site).unwrap();
    std::fs::write(outer.path("provostctl.toml"), "site = \"site.toml\"\n").unwrap();
    let path = |name: &str| outer.path(name).to_str().unwrap().to_owned();
    let (script, ctl) = (path("scripts/show"), program("provostctl"));
    let attempt = |more: &[&str]| {
        let args = [&["try", &script], more].concat();
        let mut command = outer.command(ctl.to_str().unwrap(), &args);
        command.env("PROVOSTCTL_CONFIG", outer.path("provostctl.toml"));
        provost_tests::Out::from(command.output().unwrap())
    };
    let out = attempt(&[]).expect(0);
    assert!(out.stdout.contains("| try blue 2 "), "{out:?}");
    assert!(!out.stderr.contains("note: the plan"), "{out:?}");
    // Its own network has one device, after two lines of titles.
    let out = attempt(&["--network", "none", "--", "x"]).expect(0);
    assert!(out.stdout.contains("| try blue 1 3\n"), "{out:?}");
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
fn an_ordinary_user_gets_a_sandbox_too() {
    skip_if(missing::other_users());
    let outer = Outer::new();
    let text = "id -u; echo more >>/etc/hosts; echo x >/etc/made; mkdir /usr/local/made\n\
        sed -i s/one/1/ /marker/conf; rm /marker/gone; echo \"$ROOTPASSWD\"";
    outer.script("changes", text).for_all();
    let allowed = outer.as_user("unshare", &["--user", "--map-root-user", "true"]);
    if allowed.code != Some(0) {
        return skip_part("users can make no user namespaces");
    }
    let before = outer.look();
    let out = outer.attempt_as_user("changes", &[]).expect(0);
    assert_eq!(outer.look(), before);
    for shown in [
        "| 0\n",
        "\n+more\n",
        "made /etc/made: mode 0644\n",
        "made /usr/local/made: folder, mode 0755\n",
        "-one\n+1\n",
        "removed /marker/gone\n",
        "| [redacted:ROOTPASSWD]\n",
    ] {
        assert!(out.stdout.contains(shown), "{shown}: {out:?}");
    }
    assert!(!out.stdout.contains("owner"), "{out:?}");
    assert!(out.stderr.contains("note: you aren't root: "), "{out:?}");
    outer.attempt_as_user("changes", &["--network", "none", "--format", "json"]).expect(0).json();
}

#[test]
fn who_may_not_is_told_what_to_type() {
    skip_if(missing::other_users());
    let outer = Outer::new();
    outer.script("nothing", "true").for_all();
    // As where a container lets nobody mount anything, not even root.
    let container = ["setpriv", "--bounding-set=-all", "--no-new-privs"];
    // As where nobody can make a user namespace: here that is so within one more of them.
    let none = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let within = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", none, "sh"];
    let forbidden = [&user[..], &within].concat();
    let can_forbid = outer.as_user("unshare", &["--user", "true"]).code == Some(0);
    if !can_forbid {
        skip_part("users can make no user namespaces");
    }
    let all = [&container[..], &forbidden];
    for refuses in &all[..1 + usize::from(can_forbid)] {
        let out = outer.attempt_by(refuses, "nothing", &[]);
        out.expect(2).says(&["making a sandbox: ", "sudo", "--here"]);
        outer.attempt_by(refuses, "nothing", &["--here"]).expect(0);
    }
}
