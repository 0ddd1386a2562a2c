//! A command that signs in place of a key's file, such as one that asks an HSM.

use std::fs;

use provost_tests::web_group;

use crate::keys::{cluster, line, minisign, publish};

#[test]
fn a_command_signs_all_that_nodes_verify() {
    let cluster = cluster();
    let notes = cluster.path("signed");
    minisign(&cluster, &["-G", "-W", "-p", "token.pub", "-s", "token.key"], "").expect(0);
    let sign = format!(
        "minisign -S -s '{}' -m \"$1\" -t \"$2\" && echo \"$2\" >>'{}'",
        cluster.path("token.key").display(),
        notes.display()
    );
    publish(&cluster, "token.pub", &["--sign-command", &sign]).expect(0);
    let signed = fs::read_to_string(&notes).unwrap();
    for name in ["cn1.toml", "cn2.toml", "1.toml"] {
        assert!(signed.contains(&format!("file:{name}")), "{signed}");
    }
    let node = cluster.node("cn1");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&settings.replace(&cluster.key(), &line(&cluster, "token.pub")));
    node.provost(&["boot"]).expect(0);

    // What is signed stays so; another key may follow, by the command's word.
    publish(&cluster, "token.pub", &["--sign-command", "exit 3"]).expect(0);
    let path = |name: &str| cluster.path(name).display().to_string();
    let (old, new, www) = (path("token.pub"), path("key/provost.key"), path("www"));
    let args =
        ["key", "rotate", "--key", &old, "--next", &new, "--to", &www, "--group", web_group()];
    cluster.ctl(&[&args[..], &["--sign-command", &sign]].concat()).expect(0);
    node.provost(&["boot"]).expect(0);
}

#[test]
fn what_a_command_does_wrong_is_said_and_nothing_is_published() {
    let cluster = cluster();
    for name in ["token", "other"] {
        let (public, secret) = (format!("{name}.pub"), format!("{name}.key"));
        minisign(&cluster, &["-G", "-W", "-p", &public, "-s", &secret], "").expect(0);
    }
    let by = |key: &str, more: &str| {
        format!("minisign -S {more} -s '{}' -m \"$1\" && true", cluster.path(key).display())
    };
    for (command, why) in [
        ("exit 3".to_owned(), "exit status: 3"),
        ("true".to_owned(), "it wrote no signature"),
        ("echo x >\"$1.minisig\"".to_owned(), "isn't a signature by key"),
        (by("other.key", ""), "isn't a signature by key"),
        (format!("echo x >>\"$1\"; {}", by("token.key", "")), "isn't a signature by key"),
        // Of the file as a whole, as minisign made them before 0.10.
        (by("token.key", "-l"), "isn't a signature by key"),
    ] {
        let refused = publish(&cluster, "token.pub", &["--sign-command", &command]).expect(1);
        refused.says(&["signing by `", why, "hint: let it write a signature"]);
    }
    assert!(!cluster.path("www/manifest.toml").exists());
}
