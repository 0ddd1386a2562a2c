//! Nodes that forget their ssh host keys at each boot, and admins who reach them all the same, by a real sshd.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Cluster, Network, Node, Out};

use crate::enrolment::client::{Client, join_token, run};
use crate::enrolment::nodes::{boot_with, node};

/// A management node whose nodes run the postscript, each in a root of its own. cn002 has an address and a domain.
fn cluster(secrets: &str) -> Cluster {
    let mut cluster = Cluster::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../postscripts/hostkeys");
    cluster.script("hostkeys", &fs::read_to_string(script).unwrap());
    cluster.script("one", "#!/bin/sh\necho one\n");
    let roots = ["cn001", "cn002"].map(|name| {
        let root = root(&cluster, name);
        format!("[nodes.{name}.env]\nPROVOST_ROOT = {root:?}\n")
    });
    cluster.site(&format!(
        "[defaults]\npostscripts = [\"hostkeys\"]\n{secrets}{}{}IPADDR = \"127.0.0.1/8\"\n\
         DOMAIN = \"Cluster.example\"\n",
        roots[0], roots[1]
    ));
    cluster.publish().expect(0);
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    ["cn001", "cn002"].iter().for_each(|name| forget(&cluster, name));
    cluster
}

fn root(cluster: &Cluster, node: &str) -> PathBuf {
    cluster.path(&format!("roots/{node}"))
}

/// A node without a disk has lost all that it wrote.
fn forget(cluster: &Cluster, node: &str) {
    let ssh = root(cluster, node).join("etc/ssh");
    let _ = fs::remove_dir_all(root(cluster, node));
    let _ = fs::remove_dir_all(cluster.path(&format!("nodes/{node}/state")));
    fs::create_dir_all(ssh.join("sshd_config.d")).unwrap();
    fs::write(ssh.join("sshd_config"), "Port 22\n").unwrap();
}

/// Boots it as such a node; then sshd has the keys that it has at `at`.
fn boot(cluster: &Cluster, node: &Node, at: &Path) {
    forget(cluster, node.name());
    boot_with(node, &join_token(cluster, node.name(), &[])).expect(0);
    present(cluster, node.name(), at);
}

/// sshd has the keys and certificates of `node`, for its next connection.
fn present(cluster: &Cluster, node: &str, at: &Path) {
    let ssh = root(cluster, node).join("etc/ssh");
    let lines = fs::read_to_string(ssh.join("sshd_config.d/40-hostkeys.conf")).unwrap();
    let here = |line: &str| line.replace("/etc/ssh", ssh.to_str().unwrap());
    let mut text = here(&lines);
    for line in lines.lines().filter(|line| line.starts_with("HostCertificate")) {
        text += &here(&line.replace("HostCertificate", "HostKey").replace("-cert.pub", "\n"));
    }
    fs::write(at, text).unwrap();
}

fn key(cluster: &Cluster, node: &str) -> String {
    fs::read_to_string(root(cluster, node).join("etc/ssh/ssh_host_ed25519_key.pub")).unwrap()
}

fn ssh(config: &str, more: &[&str]) -> Out {
    let ssh = [&["-F", config, "-o", "BatchMode=yes"], more, &["cn001", "true"]].concat();
    run("ssh", &ssh)
}

#[test]
fn a_node_with_new_keys_at_each_boot_is_known_and_no_other_machine_is() {
    let mut network = Network::new();
    let cluster = cluster("");
    let (node, _proxy) = node(&cluster, "cn001", "60s");
    let (other, _proxy) = self::node(&cluster, "cn002", "60s");
    let (at, known) = (network.path("host_keys"), network.path("known_hosts"));
    network.join_with(&node, &format!("Include {}", at.display()));
    let config = network.strict_config(&known);
    let rerun =
        |code| cluster.ctl(&["rerun", "--ssh-config", &config, "cn001", "one"]).expect(code);

    boot(&cluster, &node, &at);
    let first = key(&cluster, "cn001");
    // ssh itself knows nobody yet, and accepts nobody.
    assert!(ssh(&config, &[]).expect(255).stderr.contains("Host key verification failed."));
    rerun(0);
    // By the key that it had before ssh would refuse it.
    fs::write(&known, format!("cn001 {first}")).unwrap();
    ssh(&config, &[]).expect(0);
    boot(&cluster, &node, &at);
    assert_ne!(key(&cluster, "cn001"), first);
    assert!(ssh(&config, &[]).expect(255).stderr.contains("Host key verification failed."));
    rerun(0);
    cluster.ctl(&["log", "--ssh-config", &config, "cn001", "hostkeys"]).expect(0);
    let bundles = cluster.path("bundles").display().to_string();
    fs::create_dir(&bundles).unwrap();
    cluster.ctl(&["gather", "--ssh-config", &config, "--to", &bundles, "cn001"]).expect(0);

    // The line that provostd prints makes ssh know it as well.
    let line = cluster.daemon_command(&["ca", "show", "--ssh"]).expect(0).stdout;
    assert!(line.starts_with("@cert-authority * ecdsa-sha2-nistp256 "), "{line}");
    fs::write(network.path("authority"), &line).unwrap();
    let authority = format!("GlobalKnownHostsFile={}", network.path("authority").display());
    ssh(&config, &["-o", &authority]).expect(0);

    // Another machine at its address: with a key that nobody has certified, with cn002's certificate.
    boot(&cluster, &other, &network.path("of_cn002"));
    fs::remove_file(&known).unwrap();
    let foreign = format!("HostKey {}\n", network.path("host").display());
    for host_keys in [foreign, fs::read_to_string(network.path("of_cn002")).unwrap()] {
        fs::write(&at, host_keys).unwrap();
        let out = rerun(1);
        assert!(out.stdout.contains("unreachable  cn001"), "{}", out.stdout);
        assert!(out.stdout.contains("Host key verification failed."), "{}", out.stdout);
        assert!(out.stdout.contains("hint: accept its host key once, by ssh NODE"));
    }
    present(&cluster, "cn001", &at);
    rerun(0);
    // The user's own known hosts revoke what they revoke.
    let revoked = key(&cluster, "cn001");
    fs::write(&known, format!("@revoked * {revoked}")).unwrap();
    rerun(1);
}

#[test]
fn a_certificate_is_asked_for_again_only_when_it_is_time_or_says_something_else() {
    let cluster = cluster("");
    let (node, _proxy) = node(&cluster, "cn002", "60s");
    boot(&cluster, &node, &cluster.path("host_keys"));
    let ssh = root(&cluster, "cn002").join("etc/ssh");
    let certificate = ssh.join("ssh_host_ed25519_key-cert.pub");
    let first = fs::read_to_string(&certificate).unwrap();
    let shown = run("ssh-keygen", &["-L", "-f", certificate.to_str().unwrap()]).expect(0).stdout;
    for part in [" host certificate", "Key ID: \"cn002\"", "Critical Options: (none)"] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    let names = shown.split_once("Principals:").unwrap().1.split_once("Critical").unwrap().0;
    let names: Vec<_> = names.split_whitespace().collect();
    assert_eq!(names, ["cn002", "cn002.cluster.example", "127.0.0.1"]);

    let log = |node: &Node| node.provost(&["log", "--output", "hostkeys"]).expect(0).stdout;
    node.provost(&["boot"]).expect(0);
    assert!(log(&node).contains("nothing to change: host keys are in place"), "{}", log(&node));
    assert_eq!(fs::read_to_string(&certificate).unwrap(), first);
    // Another key, the old certificate beside it.
    let key = ssh.join("ssh_host_ed25519_key");
    fs::remove_file(&key).unwrap();
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", key.to_str().unwrap()]).expect(0);
    node.provost(&["boot"]).expect(0);
    let second = fs::read_to_string(&certificate).unwrap();
    assert_ne!(second, first);
    // Another authority.
    fs::remove_file(cluster.path("provostd/ssh/ca")).unwrap();
    node.provost(&["boot"]).expect(0);
    assert_ne!(fs::read_to_string(&certificate).unwrap(), second);
}

#[test]
fn a_node_gets_certificates_for_itself_alone_and_by_its_identity_alone() {
    let cluster = cluster("");
    let client = Client::new(&cluster, "cn001");
    assert_eq!(client.join("cn001", &join_token(&cluster, "cn001", &[])).0, 200);
    let host = cluster.path("host").display().to_string();
    let keygen = |kind: &[&str]| {
        let _ = fs::remove_file(&host);
        run("ssh-keygen", &[&["-q", "-N", "", "-f", &host], kind].concat()).expect(0);
        format!("@{host}.pub")
    };
    let identity = [&*client.file("crt"), &*client.file("key")].map(str::to_owned);
    let identity = ["--cert", &identity[0], "--key", &identity[1]];
    let ask = |node: &str, keys: &str, by: &[&str]| {
        let path = format!("/v1/nodes/{node}/ssh-host-certificates");
        client.curl(&path, &[&["--data-binary", keys], by].concat())
    };
    for kind in
        [&["-t", "ed25519"][..], &["-t", "ecdsa", "-b", "521"], &["-t", "rsa", "-b", "2048"]]
    {
        let (status, certificate) = ask("cn001", &keygen(kind), &identity);
        assert_eq!((status, certificate.lines().count()), (200, 1), "{certificate}");
        assert!(certificate.contains("-cert-v01@openssh.com "), "{certificate}");
    }
    for keys in [&*keygen(&["-t", "rsa", "-b", "1024"]), "", "nonsense", "ssh-ed25519 AAAA"] {
        let (status, refusal) = ask("cn001", keys, &identity);
        assert!(status == 422 && refusal.contains("no public host key"), "{keys}: {refusal}");
    }
    let long = cluster.path("long").display().to_string();
    fs::write(&long, "x".repeat(17 << 10)).unwrap();
    assert_eq!(ask("cn001", &format!("@{long}"), &identity).0, 413);

    let key = keygen(&["-t", "ed25519"]);
    let (status, refusal) = ask("cn002", &key, &identity);
    assert!(status == 403 && refusal.contains("the identity is cn001's"), "{refusal}");
    assert_eq!(ask("cn001", &key, &[]).0, 401);
    let token = cluster.ctl(&["token", "cn002"]).expect(0).stdout;
    let token = format!("Authorization: Bearer {}", token.trim().rsplit(' ').next().unwrap());
    let (status, refusal) = ask("cn002", &key, &["-H", &token]);
    assert!(status == 403 && refusal.contains("provostctl join cn002"), "{refusal}");
    cluster.ctl(&["revoke", "cn001"]).expect(0);
    assert_eq!(ask("cn001", &key, &identity).0, 401);

    let ca = cluster.path("provostd/ssh/ca");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&ca), mode(ca.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_node_with_a_token_alone_is_told_to_join() {
    let cluster = cluster("");
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    let failed = &cluster.status("cn001");
    assert!(failed["hint"].as_str().unwrap().contains("provostctl join cn001"), "{failed}");
    let message = failed["errorMessage"].as_str().unwrap();
    assert!(message.contains("this node has no identity"), "{failed}");
}

#[test]
fn keys_of_the_site_are_the_same_at_each_boot_and_no_others_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let mut secrets = String::from("[defaults.env_secret]\n");
    for kind in ["ed25519", "rsa"] {
        let file = folder.path().join(kind);
        let keygen =
            ["-q", "-t", kind, "-N", "", "-C", "of the site", "-f", file.to_str().unwrap()];
        run("ssh-keygen", &keygen).expect(0);
        let key = fs::read_to_string(file).unwrap();
        secrets += &format!("SSH_HOST_{}_KEY = '''\n{key}'''\n", kind.to_uppercase());
    }
    let cluster = cluster(&secrets);
    let (node, _proxy) = node(&cluster, "cn001", "60s");
    let ssh = root(&cluster, "cn001").join("etc/ssh");
    let (mut network, at) = (Network::new(), cluster.path("host_keys"));
    network.join_with(&node, &format!("Include {}", at.display()));
    let known = network.path("known_hosts");
    let config = network.strict_config(&known);
    for kind in ["ed25519", "rsa"] {
        let public = fs::read_to_string(folder.path().join(format!("{kind}.pub"))).unwrap();
        fs::write(&known, format!("cn001 {public}")).unwrap();
        for _ in 0..2 {
            boot(&cluster, &node, &at);
            let file = ssh.join(format!("ssh_host_{kind}_key"));
            let theirs = fs::read_to_string(folder.path().join(kind)).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap().trim(), theirs.trim());
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
            self::ssh(&config, &[]).expect(0);
            // No log or state of the node has a line of it.
            let line = theirs.lines().nth(1).unwrap();
            assert_eq!(run("grep", &["-rlF", line, node.path("").to_str().unwrap()]).stdout, "");
        }
    }
    let drop_in = ssh.join("sshd_config.d/40-hostkeys.conf");
    let lines = fs::read_to_string(&drop_in).unwrap();
    let both = "HostKey /etc/ssh/ssh_host_ed25519_key\nHostKey /etc/ssh/ssh_host_rsa_key\n";
    assert_eq!(lines, both);

    // An sshd without a folder for such files, whose configuration names keys that it makes.
    fs::remove_dir_all(ssh.join("sshd_config.d")).unwrap();
    let theirs = "Port 22\nHostKey /etc/ssh/ssh_host_ecdsa_key\nMatch User x\nX11Forwarding no\n";
    fs::write(ssh.join("sshd_config"), theirs).unwrap();
    for _ in 0..2 {
        node.provost(&["boot"]).expect(0);
        let config = fs::read_to_string(ssh.join("sshd_config")).unwrap();
        let rest = "Port 22\nMatch User x\nX11Forwarding no\n";
        assert_eq!(config, format!("# begin hostkeys\n{both}# end hostkeys\n{rest}"));
    }
}

#[test]
fn what_is_no_key_of_its_kind_is_refused_and_shown_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let hostkeys = |name: &str, value: &str| -> Out {
        let mut script = Command::new(source.join("postscripts/hostkeys"));
        script.env("PROVOST_LIB", source.join("lib-sh")).env("PROVOST_ROOT", folder.path());
        let path = std::env::var("PATH").unwrap();
        script.env("PATH", format!("{path}:{}", source.join("lib-sh").display()));
        script.env(name, value).output().unwrap().into()
    };
    let file = folder.path().join("ecdsa").display().to_string();
    run("ssh-keygen", &["-q", "-t", "ecdsa", "-N", "", "-f", &file]).expect(0);
    let key = fs::read_to_string(&file).unwrap();
    let out = hostkeys("SSH_HOST_ED25519_KEY", &key).expect(1);
    assert!(out.stderr.contains("SSH_HOST_ED25519_KEY is a key of another kind"), "{}", out.stderr);
    let out = hostkeys("SSH_HOST_RSA_KEY", "secret nonsense").expect(1);
    assert!(out.stderr.contains("SSH_HOST_RSA_KEY is not a private key"), "{}", out.stderr);
    assert!(out.stderr.contains("hint: ") && !out.stderr.contains("nonsense"), "{}", out.stderr);
    assert!(!folder.path().join("etc").exists());
}
