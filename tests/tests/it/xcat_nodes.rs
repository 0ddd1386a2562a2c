//! Nodes that still run xCAT's own scripts, at a new management node.

use std::path::Path;
use std::process::{Command, Stdio};

use provost_tests::xcat::{WebKind, XcatServer};
use provost_tests::{Cluster, missing, skip_if};

/// A client that speaks to port 3002 as xCAT's does, by what is known of its protocol: it opens
/// the connection, waits for `ready`, says its word, and waits for `done`. It ends with 1 where
/// the server went away before that.
const CLIENT: &str = r#"
BEGIN {
    server = "/inet/tcp/0/" host "/" port
    while ((server |& getline line) > 0) {
        if (line == "ready") print word |& server
        if (line == "done") { close(server); exit 0 }
    }
    close(server)
    exit 1
}"#;

/// Says a word as gawk does. Returns its exit status.
fn say(cluster: &Cluster, word: &str) -> Option<i32> {
    let monitor = cluster.daemon().address("monitor");
    let (host, port) = monitor.rsplit_once(':').unwrap();
    let mut gawk = Command::new("timeout");
    gawk.args(["60", "gawk", "-v", &format!("host={host}"), "-v", &format!("port={port}")]);
    gawk.args(["-v", &format!("word={word}"), CLIENT]).stdin(Stdio::null()).status().unwrap().code()
}

fn old_cluster(xcat: &str, site: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("t", "#!/bin/sh\n").configure_daemon(&format!("[xcat]\n{xcat}"));
    cluster.site(site).publish().expect(0);
    cluster.start();
    cluster
}

#[test]
fn gawk_tells_a_nodes_status() {
    skip_if(missing::program("gawk", "gawk"));
    let site = "[nodes.cn001]\nenv.IPADDR = \"127.0.0.1\"\npostscripts = [\"t\"]\n";
    let cluster = old_cluster("monitor = \"127.0.0.1:0\"\n", site);
    for (word, status) in [
        ("installstatus installing", "installing"),
        ("next", "booting"),
        ("installstatus booted", "booted"),
    ] {
        assert_eq!(say(&cluster, word), Some(0), "{word}");
        assert_eq!(cluster.status("cn001")["status"], status);
    }
    cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--timeout", "10s"]).expect(0);
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("claimed by 127.0.0.1 without a token"), "{shown}");
    // As it shuts down.
    assert_eq!(say(&cluster, "installstatus powering-off"), Some(0));
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert_eq!(say(&cluster, "hpcbootstatus gpfs=active"), Some(0));
    assert_eq!(cluster.status("cn001")["appstatus"], serde_json::json!({"gpfs": "active"}));
    assert_eq!(say(&cluster, "nonsense"), Some(1), "it is let go, not kept waiting");

    assert_eq!(say(&cluster, "installstatus failed"), Some(0));
    let waited = cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--since", "1m"]);
    waited.expect(1);
}

#[test]
fn a_mypostscript_has_what_xcats_client_cannot_do_without() {
    let ask = |more: &str| {
        let site = format!("[nodes.cn001]\nenv.IPADDR = \"127.0.0.1\"\n{more}");
        let cluster = old_cluster("monitor = \"127.0.0.1:0\"\n", &site);
        // It sources what it gets, and looks some of it up, as xCAT's does.
        let client = r#"
            exec 3<>"/dev/tcp/${0/://}" && read -r line <&3 && [ "$line" = ready ] || exit
            echo getpostscript >&3
            while read -r line && [ "$line" != '#END OF SCRIPT' ]; do echo "$line"; done <&3 >"$1"
            . "$1" && [ $UPDATENODE -eq 0 ] || exit
            sed -i s/UPDATENODE=0/UPDATENODE=1/ "$1"
            XCATSERVER=$(grep ^MASTER "$1" | head -n 1 | cut -d= -f2)
            . "$1" && [ $UPDATENODE -eq 1 ] && echo $NODE: $XCATSERVER $MASTER_IP $NTYPE"#;
        let at = cluster.daemon().address("monitor");
        let mut bash = Command::new("timeout");
        bash.args(["60", "bash", "-c", client, &at]).arg(cluster.path("mypostscript"));
        let out: provost_tests::Out = bash.output().unwrap().into();
        out.expect(0).stdout
    };
    assert_eq!(ask(""), "cn001: 127.0.0.1 127.0.0.1 compute\n");
    assert_eq!(
        ask("env.MASTER = \"10.0.0.1\"\nenv.NTYPE = \"service\"\n"),
        "cn001: 10.0.0.1 10.0.0.1 service\n"
    );
}

#[test]
fn a_stranger_is_named_once_with_what_to_do() {
    skip_if(missing::program("gawk", "gawk"));
    let site = "[nodes.cn001]\nenv.IPADDR = \"10.255.0.1\"\n";
    let cluster = old_cluster("monitor = \"127.0.0.1:0\"\n", site);
    assert_eq!((say(&cluster, "next"), say(&cluster, "next")), (Some(1), Some(1)));
    let log = std::fs::read_to_string(cluster.path("provostd.log")).unwrap();
    assert_eq!(log.matches("refusing 127.0.0.1").count(), 1, "{log}");
    assert!(log.contains("env.IPADDR"), "{log}");
    let nodes = serde_json::json!([{"name": "cn001", "status": "defined"}]);
    assert_eq!(cluster.ctl_json(&["nodes"]), nodes);
}

#[test]
fn openssl_fetches_a_nodes_mypostscript() {
    skip_if(missing::program("openssl", "openssl"));
    let keys = tempfile::tempdir().unwrap();
    let path = |name: &str| keys.path().join(name);
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    certificate(&cert, &key);
    let site = "[nodes.cn001]\nenv.IPADDR = \"127.0.0.1\"\nenv.NOTE = \"it's <1 & `id`\"\n\
                postscripts = [\"t 'a b'\"]\n";
    let xcat = format!("xcatd = \"127.0.0.1:0\"\ntls_cert = {cert:?}\ntls_key = {key:?}\n");
    let cluster = old_cluster(&xcat, site);
    let ask = |command: &str| {
        let request = path("request");
        let text = format!(
            "<xcatrequest>\n   <command>{command}</command>\n   <arg>cn001</arg>\n</xcatrequest>\n"
        );
        std::fs::write(&request, text).unwrap();
        let at = cluster.daemon().address("xcatd");
        // `-quiet` also has it wait for the answer after the end of its input.
        let asked = Command::new("timeout")
            .args(["60", "openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile"])
            .arg(&cert)
            .args(["-connect", &at])
            .stdin(std::fs::File::open(&request).unwrap())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(asked.stdout).unwrap()
    };
    let answer = ask("getpostscript");
    assert!(answer.starts_with("<xcatresponse>\n<data>"), "{answer}");
    assert!(answer.ends_with("<serverdone></serverdone>\n</xcatresponse>\n"), "{answer}");
    let note = "<data>NOTE=&apos;it&apos;\\&apos;&apos;s &lt;1 &amp; `id`&apos;</data>";
    assert!(answer.contains(note), "{answer}");
    assert!(answer.contains("<data>t &apos;a b&apos;</data>"), "{answer}");
    let answer = ask("getcredentials");
    assert!(answer.contains("<error>") && !answer.contains("<data>"), "{answer}");
}

#[test]
fn provost_in_xcats_place_takes_provostd_in_xcatds_place() {
    skip_if(missing::program("openssl", "openssl"));
    let (server, web) = XcatServer::with_web(WebKind::Nginx);
    let keys = tempfile::tempdir().unwrap();
    let (cert, key) = (keys.path().join("cert.pem"), keys.path().join("key.pem"));
    certificate(&cert, &key);
    let note = "it's <1 & `id`\n  so";
    let site = format!(
        "[nodes.cn001]\nenv.IPADDR = \"127.0.0.1\"\nenv.NOTE = {note:?}\n\
         postscripts = [\"tell a.b\"]\n"
    );
    let mut cluster = Cluster::new();
    cluster.script("tell", "#!/bin/sh\n").site(&site).publish().expect(0);
    let xcat = format!("tls_cert = {cert:?}\ntls_key = {key:?}\n");
    cluster.configure_daemon(&format!(
        "[xcat]\nmonitor = \"127.0.0.1:0\"\nxcatd = \"127.0.0.1:0\"\n{xcat}"
    ));
    cluster.start();
    let port =
        |listener: &str| cluster.daemon().address(listener).rsplit_once(':').unwrap().1.to_owned();

    server.script("tell", "#!/bin/sh\nprintf '<%s>' \"$1\" \"$NOTE\" >../told\n");
    let node = server.node("cn001", web.address());
    node.configure(&format!(
        "xcatd_port = {}\nmonitor_port = {}\n",
        port("xcatd"),
        port("monitor")
    ));
    node.provost(&["boot"]).expect(0);
    let told = std::fs::read_to_string(node.path("told")).unwrap();
    assert_eq!(told, format!("<a.b><{note}>"));
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["claimedBy"]), (&"booted".into(), &"127.0.0.1".into()));
}

fn certificate(cert: &Path, key: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=mn", "-addext", "subjectAltName=IP:127.0.0.1"])
        .arg("-keyout")
        .arg(key)
        .arg("-out")
        .arg(cert)
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
}
