//! A signing key that has a password, in minisign's own format.

use std::fs;
use std::process::{Command, Stdio};

use provost_tests::{Cluster, Out, program, web_group};

use crate::keys::{cluster, line, minisign, publish};

const PASSWORD: &str = "correct horse\n";

/// A file with the password.
fn password(cluster: &Cluster, text: &str) -> String {
    let path = cluster.path("password");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// `provostctl key new` with a password, in the folder `sealed`.
fn sealed(cluster: &Cluster) -> Out {
    let (out, file) = (cluster.path("sealed"), password(cluster, PASSWORD));
    let out = out.display().to_string();
    cluster.ctl(&["key", "new", "--out", &out, "--password", "--key-password-file", &file])
}

#[test]
fn a_key_with_a_password_signs_with_it_alone_and_the_stock_tool_reads_it() {
    let cluster = cluster();
    let shown = sealed(&cluster).expect(0);
    assert_eq!(shown.stdout.trim(), line(&cluster, "sealed/provost.pub"));
    let text = fs::read_to_string(cluster.path("sealed/provost.key")).unwrap();
    assert!(!text.contains("horse"), "{text}");

    let refused = publish(&cluster, "sealed/provost.key", &[]).expect(1);
    refused
        .says(&["the key's password at the terminal", "hint: where there is no terminal: --key"]);
    let wrong = password(&cluster, "wrong\n");
    let more = ["--key-password-file", &wrong];
    let refused = publish(&cluster, "sealed/provost.key", &more).expect(1);
    refused.says(&["the password is wrong", "hint: try it: minisign -R -s"]);
    assert!(!cluster.path("www/manifest.toml").exists());
    password(&cluster, PASSWORD);
    publish(&cluster, "sealed/provost.key", &more).expect(0);

    let node = cluster.node("cn1");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&settings.replace(&cluster.key(), shown.stdout.trim()));
    node.provost(&["boot"]).expect(0);

    fs::write(cluster.path("file"), "bytes").unwrap();
    let sign = ["-S", "-s", "sealed/provost.key", "-m", "file"];
    minisign(&cluster, &sign, "wrong\n").expect(2);
    minisign(&cluster, &sign, PASSWORD).expect(0);
    minisign(&cluster, &["-V", "-p", "sealed/provost.pub", "-m", "file"], "").expect(0);
}

#[test]
fn a_key_of_the_stock_tool_signs_with_its_password() {
    let cluster = cluster();
    let twice = format!("{PASSWORD}{PASSWORD}");
    minisign(&cluster, &["-G", "-p", "its.pub", "-s", "its.key"], &twice).expect(0);
    let file = password(&cluster, PASSWORD);
    publish(&cluster, "its.key", &["--key-password-file", &file]).expect(0);
    let node = cluster.node("cn1");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&settings.replace(&cluster.key(), &line(&cluster, "its.pub")));
    node.provost(&["boot"]).expect(0);

    // Another key takes over, each with a password of its own: a line each.
    sealed(&cluster).expect(0);
    let file = password(&cluster, &format!("other\n{PASSWORD}"));
    let path = |name: &str| cluster.path(name).display().to_string();
    let (old, new, www) = (path("its.key"), path("sealed/provost.key"), path("www"));
    let args =
        ["key", "rotate", "--key", &old, "--next", &new, "--to", &www, "--group", web_group()];
    cluster.ctl(&[&args[..], &["--key-password-file", &file]].concat()).expect(0);
    node.provost(&["boot"]).expect(0);
}

/// What somebody sees who types at the terminal: each line when it is asked for.
fn typed(args: &[&str], lines: &str) -> (bool, String) {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!("{} {}", program("provostctl").display(), quoted.join(" "));
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).stdin(Stdio::piped());
    let mut child = script.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = String::new();
    for line in lines.split_inclusive('\n') {
        // Typed sooner, the terminal would show it.
        let mut byte = [0];
        while !shown.ends_with(": ") && std::io::Read::read(&mut screen, &mut byte).unwrap() > 0 {
            shown.push(char::from(byte[0]));
        }
        std::io::Write::write_all(&mut keys, line.as_bytes()).unwrap();
        shown.push('\n');
    }
    let mut rest = Vec::new();
    // The terminal is gone where the program is.
    let _ = std::io::Read::read_to_end(&mut screen, &mut rest);
    shown.push_str(&String::from_utf8_lossy(&rest));
    drop(keys);
    (child.wait().unwrap().success(), shown)
}

#[test]
fn it_is_asked_for_at_the_terminal_and_never_shown() {
    let cluster = cluster();
    let out = cluster.path("typed").display().to_string();
    let new = ["key", "new", "--password", "--out", &out];
    let (done, shown) = typed(&new, "horse one\nhorse two\n");
    assert!(!done && shown.contains("the two passwords are not the same"), "{shown}");
    let (done, shown) = typed(&new, "\n");
    assert!(!done && shown.contains("the password is empty"), "{shown}");
    let (done, shown) = typed(&new, "horse one\nhorse one\n");
    assert!(done && shown.contains("wrote") && !shown.contains("horse"), "{shown}");
    let path = |name: &str| cluster.path(name).display().to_string();
    let (site, scripts, www) = (path("site.toml"), path("scripts"), path("www"));
    let key = path("typed/provost.key");
    let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    let (done, shown) = typed(&args, "horse one\n");
    assert!(done && shown.contains("published generation 1"), "{shown}");
    assert!(shown.contains(&format!("password of {key}: ")) && !shown.contains("horse"), "{shown}");
}
