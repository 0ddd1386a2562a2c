//! Admins who come over TLS, with provostctl and with others' programs.

use std::process::{Command, Stdio};

use provost_tests::{Cluster, Out, program};

/// A management node with a listener for admins over TLS, and the file of its authority.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"hello\"]\n").publish().expect(0);
    cluster.configure_daemon("[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"0.0.0.0:0\"\n");
    cluster.start();
    let shown = cluster.daemon_command(&["ca", "show"]).expect(0).stdout;
    std::fs::write(cluster.path("ca.pem"), shown).unwrap();
    cluster
}

/// The file with a new token of the admin `name`.
fn add(cluster: &Cluster, name: &str, role: &str) -> String {
    let out = cluster.ctl(&["admin", "add", name, "--role", role, "--for", "30d"]).expect(0);
    let token = cluster.path(&format!("{name}.token"));
    std::fs::write(&token, &out.stdout).unwrap();
    out.says(&[&format!("{name} may {role} until ")]);
    token.display().to_string()
}

fn url(cluster: &Cluster, path: &str) -> String {
    let at = cluster.daemon().address("adminTls");
    format!("https://{}{path}", at.replace("0.0.0.0", "127.0.0.1"))
}

/// Runs provostctl over TLS.
fn over_tls(cluster: &Cluster, token_file: &str, args: &[&str]) -> Out {
    let mut command = Command::new(program("provostctl"));
    command.env("PROVOSTCTL_ADMIN", url(cluster, ""));
    command.env("PROVOSTCTL_CA", cluster.path("ca.pem"));
    command.env("PROVOSTCTL_TOKEN_FILE", token_file);
    command.args(args).stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn provostctl_does_over_tls_what_the_admins_role_allows() {
    let cluster = cluster();
    let (ann, lee) = (add(&cluster, "ann", "read"), add(&cluster, "lee", "operate"));
    over_tls(&cluster, &lee, &["token", "cn001"]).expect(0).says(&["new: cn001"]);
    let nodes = over_tls(&cluster, &ann, &["nodes", "cn001"]).expect(0);
    assert!(nodes.stdout.contains("cn001"), "{nodes:?}");
    over_tls(&cluster, &ann, &["release", "cn001"])
        .expect(1)
        .says(&["ann has the role read, and release needs the role operate", "--role operate"]);
    over_tls(&cluster, &lee, &["admin", "add", "eve", "--role", "read"])
        .expect(1)
        .says(&["lee has the role operate, and admin add needs the socket"]);
    over_tls(&cluster, &ann, &["wait-for", "cn001", "--status", "defined", "--timeout", "60s"])
        .expect(0);

    let list = over_tls(&cluster, &lee, &["admin", "list"]).expect(0).stdout;
    let rows: Vec<Vec<&str>> = list.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(
        (rows[0][0], &rows[1][..2], &rows[2][..2]),
        ("NAME", &["ann", "read"][..], &["lee", "operate"][..])
    );
    let audit = over_tls(&cluster, &lee, &["audit", "--since", "1h"]).expect(0).stdout;
    let row = audit.lines().find(|line| line.contains(" token ")).unwrap();
    for cell in ["done", "lee", "127.0.0.1", "nodes=cn001"] {
        assert!(row.contains(cell), "{audit}");
    }
    let json = cluster.ctl_json(&["audit"]);
    assert_eq!(json[2]["who"], "lee");
    assert_eq!(json[2]["request"]["nodes"], "cn001");
    assert_eq!(cluster.ctl_json(&["admin", "list"])[1]["role"], "operate");

    cluster.ctl(&["admin", "remove", "lee"]).expect(0);
    over_tls(&cluster, &lee, &["nodes"]).expect(1).says(&["the token is no admin's"]);
    cluster.ctl(&["admin", "remove", "lee"]).expect(1).says(&["unknown admin"]);
}

#[test]
fn neither_a_stranger_nor_a_wrong_server_gets_anything() {
    let cluster = cluster();
    let lee = add(&cluster, "lee", "operate");
    let ctl = |url: &str, more: &[&str]| -> Out {
        let mut command = Command::new(program("provostctl"));
        command.args(["--admin", url]).args(more).arg("nodes").stdin(Stdio::null());
        command.output().unwrap().into()
    };
    let at = url(&cluster, "");
    let ca = cluster.path("ca.pem").display().to_string();
    ctl(&at, &["--token-file", &lee]).expect(1).says(&["no authority's certificate is given"]);
    ctl(&at, &["--ca", &ca]).expect(1).says(&["no token is given"]);
    ctl(&at, &["--ca", &ca, "--token-file", &ca]).expect(1).says(&["it isn't one token"]);
    std::fs::write(cluster.path("no.token"), "ab".repeat(32)).unwrap();
    let no = cluster.path("no.token").display().to_string();
    ctl(&at, &["--ca", &ca, "--token-file", &no]).expect(1).says(&["the token is no admin's"]);
    // A server with another authority gets no token.
    let other = self::cluster();
    ctl(&url(&other, ""), &["--ca", &ca, "--token-file", &lee])
        .expect(1)
        .says(&["invalid peer certificate", "hint: name the authority of this server"]);
    // The right server, by a name that it doesn't have.
    let (_, port) = at.rsplit_once(':').unwrap();
    ctl(&format!("https://127.0.0.2:{port}"), &["--ca", &ca, "--token-file", &lee])
        .expect(1)
        .says(&["hint: add the name or address to `names` under [tls]"]);
    // By plain HTTP neither a token nor an answer crosses the network.
    ctl(&at.replace("https", "http"), &["--ca", &ca, "--token-file", &lee]).expect(1);
}

#[test]
fn curl_reaches_the_api_with_a_token_and_with_the_cookie_of_a_login() {
    let cluster = cluster();
    let (lee, ca) = (add(&cluster, "lee", "operate"), cluster.path("ca.pem"));
    let token = std::fs::read_to_string(lee).unwrap().trim().to_owned();
    let curl = |more: &[&str], path: &str| -> Out {
        let mut command = Command::new("curl");
        command.args(["-sS", "--cacert"]).arg(&ca).args(more).arg(url(&cluster, path));
        command.stdin(Stdio::null()).output().unwrap().into()
    };
    let status = |more: &[&str], path| {
        let quiet = ["-o", "/dev/null", "-w", "%{http_code}"];
        curl(&[&quiet[..], more].concat(), path).expect(0).stdout
    };
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(status(&[], "/v1/nodes"), "401");
    let nodes = r#"[{"name":"cn001","status":"defined"}]"#;
    assert_eq!(curl(&["-H", &bearer], "/v1/nodes").expect(0).stdout, nodes);
    let jar = cluster.path("jar").display().to_string();
    let form = format!("token={token}");
    assert_eq!(status(&["-c", &jar, "-d", &form], "/login"), "303");
    assert_eq!(status(&["-b", &jar], "/v1/nodes"), "200");
    let change = ["-b", &jar, "-d", r#"{"nodes": ["cn001"]}"#];
    let foreign = [&change[..], &["-H", "Origin: https://evil.example"]].concat();
    assert_eq!(status(&foreign, "/v1/tokens"), "403");
    assert_eq!(status(&change, "/v1/tokens"), "200");
    assert_eq!(status(&["-b", &jar, "-X", "POST"], "/logout"), "204");
    assert_eq!(status(&["-b", &jar], "/v1/nodes"), "401");
}
