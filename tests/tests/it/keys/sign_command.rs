//! A command that signs in place of a key's file, such as one that asks an HSM.

use std::fs;
use std::os::unix::fs::PermissionsExt;

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

/// Signs by the secret key, elsewhere, of the public key that it is given.
const SIGN: &str = r#"#!/bin/sh
name=${3##*/}
exec minisign -S -s "${0%/*}/elsewhere/${name%.pub}.key" -m "$1" -t "$2"
"#;

#[test]
fn a_command_signs_for_channels_what_is_published_again_and_for_each_of_two_keys() {
    let cluster = cluster();
    fs::create_dir(cluster.path("elsewhere")).unwrap();
    for name in ["token", "next"] {
        let (public, secret) = (format!("{name}.pub"), format!("elsewhere/{name}.key"));
        minisign(&cluster, &["-G", "-W", "-p", &public, "-s", &secret], "").expect(0);
    }
    let path = |name: &str| cluster.path(name).display().to_string();
    let (www, token, next) = (path("www"), path("token.pub"), path("next.pub"));
    fs::write(path("sign"), SIGN).unwrap();
    fs::set_permissions(path("sign"), PermissionsExt::from_mode(0o755)).unwrap();
    let sign = format!("'{}' \"$@\"", path("sign"));
    publish(&cluster, "token.pub", &["--sign-command", &sign]).expect(0);
    let node = cluster.node("cn1");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&settings.replace(&cluster.key(), &line(&cluster, "token.pub")));
    let boots = |says: &str| {
        node.provost(&["boot"]).expect(0);
        let log = node.provost(&["log", "hello"]).expect(0).stdout;
        assert!(log.contains(says), "{log}");
    };
    boots("hello");

    // Each by a command that fails, which changes nothing, and then by one that signs.
    let by = |args: &[&str]| {
        let place = ["--to", &www, "--sign-command"];
        let manifest = || fs::read(cluster.path("www/manifest.toml.minisig")).unwrap();
        let before = manifest();
        let refused = cluster.ctl(&[args, &place, &["exit 3"]].concat()).expect(1);
        refused.says(&["signing by `exit 3`: exit status: 3"]);
        assert_eq!(manifest(), before, "{args:?}");
        cluster.ctl(&[args, &place, &[&sign]].concat()).expect(0);
    };
    let key = ["--key", &token];
    let again = [&key[..], &["--group", web_group()]].concat();
    by(&[&["channel", "set", "canary", "cn1"], &key[..]].concat());
    cluster.script("hello", "#!/bin/sh\necho other\n");
    publish(&cluster, "token.pub", &["--to-channel", "canary", "--sign-command", &sign]).expect(0);
    boots("other");
    by(&[&["promote", "canary"], &again[..]].concat());
    boots("other");
    by(&[&["rollback"], &again[..]].concat());
    boots("hello");
    by(&[&["channel", "remove", "canary"], &key[..]].concat());
    by(&[&["key", "rotate", "--next", &next], &again[..]].concat());
    boots("hello");
    let revoked = line(&cluster, "token.pub");
    by(&["key", "revoke", &revoked, "--key", &next, "--group", web_group()]);
    boots("hello");
    let refused = publish(&cluster, "token.pub", &["--sign-command", &sign]).expect(1);
    refused.says(&["revoked"]);
}
