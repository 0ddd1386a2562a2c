//! Nodes behind TCP proxies: provostd sees the nodes' addresses by the PROXY protocol, of those that it trusts alone.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use provost_tests::processes::until;
use provost_tests::{Cluster, Node, Out, SOON, TcpProxy, program, skip_if};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use serde_json::json;

/// The address of a proxy that the daemon trusts.
const PROXY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// Another address, where the test itself is a proxy.
const FRONT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
/// The longest that an answer or an end may take on a busy machine.
const LATEST: Duration = Duration::from_secs(30);

/// A management node that trusts `PROXY`. The plan of cn001 has the address 10.7.0.9, and that of cn002 the tests'.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster
        .site(
            "[groups.all]\nnodes = \"cn[001-009]\"\npostscripts = [\"hello\"]\n\
             [nodes.cn001.env]\nIPADDR = \"10.7.0.9\"\n[nodes.cn002.env]\nIPADDR = \"127.0.0.1\"\n",
        )
        .publish()
        .expect(0);
    cluster.configure_daemon(
        "[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nproxies = [\"192.0.2.0/24\", \"127.0.0.2\"]\n",
    );
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    cluster
}

fn tls(cluster: &Cluster) -> SocketAddr {
    cluster.daemon().address("nodesTls").parse().unwrap()
}

/// A connection from the address `from`.
fn connect_from(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let stream = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&stream, &SocketAddr::from((from, 0))).unwrap();
    connect(&stream, &to).unwrap();
    let stream = TcpStream::from(stream);
    stream.set_read_timeout(Some(LATEST)).unwrap();
    stream
}

/// What is read until the connection ends.
fn read_to_end(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        // What the daemon hasn't read makes the kernel reset it.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => bytes,
        Err(error) => panic!("it isn't closed: {error}"),
    }
}

/// Passes connections to `at` on to the same port at 127.0.0.1, coming from `PROXY`, with `header` before each.
fn pass_on(at: SocketAddr, to: SocketAddr, header: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind(at).unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, mut server) = (client.unwrap(), connect_from(PROXY, to));
            server.set_read_timeout(None).unwrap();
            server.write_all(&header).unwrap();
            for (mut from, mut to) in [
                (client.try_clone().unwrap(), server.try_clone().unwrap()),
                (server.try_clone().unwrap(), client.try_clone().unwrap()),
            ] {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    at
}

/// The header that names `client`, of version 1.
fn v1(client: &str) -> Vec<u8> {
    let family = if client.contains(':') { "TCP6" } else { "TCP4" };
    let own = if client.contains(':') { "::1" } else { "127.0.0.1" };
    format!("PROXY {family} {client} {own} 40000 8482\r\n").into_bytes()
}

/// The same of version 2; `command` is 1, or 0 for LOCAL.
fn v2(command: u8, client: [u8; 4]) -> Vec<u8> {
    let head = [0x20 | command, 0x11, 0, 12];
    [&b"\r\n\r\n\0\r\nQUIT\n"[..], &head, &client, &[127, 0, 0, 1, 0x9c, 0x40, 0x21, 0x22]].concat()
}

/// A node without a token, whose servers are at `server`.
fn node(cluster: &Cluster, name: &str, server: &str) -> Node {
    let node = cluster.node(name);
    let settings = cluster.settings_for(&[server]);
    let limits = "[fetch]\ndeadline = \"5s\"\n[report]\ndeadline = \"3s\"\n";
    node.configure(&format!("{settings}{limits}"));
    let config = node.path("provost.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("token_file")).collect();
    std::fs::write(config, lines.join("\n")).unwrap();
    node
}

/// Boots it with a join token that is for the address of its plan alone.
fn join(cluster: &Cluster, node: &Node) -> Out {
    let line = cluster.ctl(&["join", node.name(), "--kernel-args"]).expect(0).stdout;
    let token = line.trim().strip_prefix("provost.join=").unwrap().to_owned();
    node.command(&["boot"]).env("PROVOST_JOIN", token).output().unwrap().into()
}

/// The addresses of pending nodes.
fn pending(cluster: &Cluster) -> Vec<(String, String)> {
    let all = cluster.ctl_json(&["pending"]);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let rows = all.as_array().unwrap().iter();
    rows.map(|row| (text(&row["node"]), text(&row["address"]))).collect()
}

#[test]
fn a_header_of_either_version_says_whose_address_it_is() {
    let cluster = cluster();
    let headers = [
        (v1("10.7.0.1"), "10.7.0.1"),
        (v1("fd00::2"), "fd00::2"),
        (v1("::ffff:10.7.0.3"), "10.7.0.3"),
        (v2(1, [10, 7, 0, 4]), "10.7.0.4"),
        (v2(0, [10, 7, 0, 5]), "127.0.0.2"),
        (b"PROXY UNKNOWN\r\n".to_vec(), "127.0.0.2"),
        (b"PROXY UNKNOWN 10.7.0.7 127.0.0.1 40000 8482\r\n".to_vec(), "127.0.0.2"),
    ];
    let mut expected = Vec::new();
    for (n, (header, address)) in headers.into_iter().enumerate() {
        let at = pass_on((Ipv4Addr::LOCALHOST, 0).into(), tls(&cluster), header);
        let name = format!("cn00{}", n + 1);
        let url = format!("https://{at}/plans/{name}.toml");
        let args = ["-sSk", "-o", "/dev/null", "-w", "%{http_code}", &url];
        let out: Out = Command::new("curl").args(args).output().unwrap().into();
        assert_eq!(out.expect(0).stdout, "401", "{name}");
        expected.push((name, address.to_owned()));
    }
    assert_eq!(pending(&cluster), expected);
}

#[test]
fn join_tokens_count_for_the_nodes_address_and_the_audit_log_has_the_admins() {
    let cluster = cluster();
    // A node takes the port of TLS from what is published.
    let plain: SocketAddr = cluster.daemon().nodes().parse().unwrap();
    let servers = pass_on((FRONT, plain.port()).into(), plain, Vec::new()).to_string();
    let elsewhere = Ipv4Addr::new(127, 0, 0, 4);
    pass_on((elsewhere, plain.port()).into(), plain, Vec::new());
    let tls = tls(&cluster);
    pass_on((FRONT, tls.port()).into(), tls, v2(1, [10, 7, 0, 9]));
    pass_on((elsewhere, tls.port()).into(), tls, v2(1, [10, 7, 0, 8]));

    let stranger = node(&cluster, "cn001", &servers.replace("127.0.0.3", "127.0.0.4"));
    let out = join(&cluster, &stranger).expect(3);
    assert!(out.stderr.contains("10.7.0.9"), "{}", out.stderr);
    let node = node(&cluster, "cn001", &servers);
    join(&cluster, &node).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");

    let token = cluster.ctl(&["admin", "add", "ann", "--role", "operate", "--for", "1h"]);
    std::fs::write(cluster.path("ann.token"), token.expect(0).stdout).unwrap();
    let ca = cluster.daemon_command(&["ca", "show"]).expect(0).stdout;
    std::fs::write(cluster.path("ca.pem"), ca).unwrap();
    let admin = cluster.daemon().address("adminTls").parse().unwrap();
    let at = pass_on((Ipv4Addr::LOCALHOST, 0).into(), admin, v1("10.9.0.50"));
    let out = Command::new(program("provostctl"))
        .env("PROVOSTCTL_ADMIN", format!("https://{at}"))
        .env("PROVOSTCTL_CA", cluster.path("ca.pem"))
        .env("PROVOSTCTL_TOKEN_FILE", cluster.path("ann.token"))
        .args(["release", "cn001"])
        .stdin(Stdio::null())
        .output();
    Out::from(out.unwrap()).expect(0);
    let audit = cluster.ctl_json(&["audit"]);
    let by_ann = audit.as_array().unwrap().iter().find(|row| row["who"] == "ann").unwrap();
    assert_eq!(by_ann["from"], "10.9.0.50", "{audit:#}");
}

#[test]
fn a_connection_of_a_proxy_without_a_whole_header_is_closed() {
    let cluster = cluster();
    let hello = b"\x16\x03\x01\x00\xc4\x01\x00\x00\xc0\x03\x03 and so on";
    let to = tls(&cluster);
    let begun = Instant::now();
    let silent = connect_from(PROXY, to);
    let too_long_v2 = [&b"\r\n\r\n\0\r\nQUIT\n"[..], &[0x21, 0x11, 0xff, 0xff]].concat();
    for bytes in [&hello[..], b"GET / HTTP/1.1\r\n\r\n", &[b'P'; 5000], &too_long_v2] {
        let mut stream = connect_from(PROXY, to);
        stream.write_all(bytes).unwrap();
        assert_eq!(read_to_end(&stream), b"", "{}", bytes.escape_ascii());
    }
    let endless = [&b"PROXY TCP4 "[..], &[b'1'; 200]].concat();
    for cut in [&v1("10.7.0.9")[..20], &v2(1, [10, 7, 0, 9])[..20], &endless] {
        let mut stream = connect_from(PROXY, to);
        stream.write_all(cut).unwrap();
        // Fails where the daemon has closed it already.
        let _ = stream.shutdown(Shutdown::Write);
        assert_eq!(read_to_end(&stream), b"", "{}", cut.escape_ascii());
    }
    // A proxy that sends its headers isn't held up by those.
    let at = pass_on((Ipv4Addr::LOCALHOST, 0).into(), to, v1("10.7.0.9"));
    let curl = |at: SocketAddr, args: &[&str]| {
        let url = format!("https://{at}/manifest.toml");
        let out = Command::new("curl").args(["-sSk", "-o", "/dev/null", &url]).args(args).output();
        out.unwrap().status.code()
    };
    assert_eq!(curl(at, &[]), Some(0));
    let in_time = begun.elapsed() < Duration::from_secs(4);
    assert_eq!(read_to_end(&silent), b"");
    assert!(!in_time || begun.elapsed() >= Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(begun.elapsed() < LATEST, "{:?}", begun.elapsed());

    // From elsewhere a header is no TLS, and none is needed.
    for header in [v1("10.7.0.9"), v2(1, [10, 7, 0, 9])] {
        let mut stream = connect_from(FRONT, to);
        stream.write_all(&[&header[..], hello].concat()).unwrap();
        let answer = read_to_end(&stream);
        // An alert, or nothing where the reset overtook it.
        assert!(answer.is_empty() || answer[0] == 0x15, "{}", answer.escape_ascii());
    }
    assert_eq!(curl(to, &["--interface", "127.0.0.3"]), Some(0));
    // Nor does the plain listener read one.
    let mut plain = connect_from(PROXY, cluster.daemon().nodes().parse().unwrap());
    let request = b"GET /manifest.toml HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.7.0.9\r\nConnection: close\r\n\r\n";
    plain.write_all(request).unwrap();
    assert!(read_to_end(&plain).starts_with(b"HTTP/1.1 200 "));
    let mut plain = connect_from(PROXY, cluster.daemon().nodes().parse().unwrap());
    plain.write_all(&[&v1("10.7.0.9")[..], request].concat()).unwrap();
    assert!(read_to_end(&plain).starts_with(b"HTTP/1.1 400 "));

    let log = std::fs::read_to_string(cluster.path("provostd.log")).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("of the proxy")).collect();
    assert_eq!(lines.len(), 1, "one a minute: {log}");
    let said = ["of the proxy 127.0.0.2: it doesn't begin with a PROXY header", "send-proxy-v2"];
    assert!(said.iter().all(|text| lines[0].contains(text)), "{}", lines[0]);
}

#[test]
fn connection_limits_count_the_addresses_behind_a_proxy() {
    let mut cluster = cluster();
    // 32 connections, four of an address.
    cluster.limit_daemon_files(256);
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    let to = tls(&cluster);
    let open = |n: u8| {
        let mut stream = connect_from(PROXY, to);
        stream.write_all(&v2(1, [10, 7, 0, n])).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    let is_open = |mut stream: &TcpStream| matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
    let addresses = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 1];
    let connections = addresses.map(open);
    let closed = || (0..addresses.len()).filter(|n| !is_open(&connections[*n])).collect::<Vec<_>>();
    assert!(until(SOON, || !closed().is_empty()), "all are open");
    // Which of the five it is depends on whose header was read first.
    let closed = closed();
    assert!(closed.len() == 1 && addresses[closed[0]] == 1, "{closed:?}");
}

/// Boots a node with an identity through the proxy that `start` starts, and one that no admin has approved.
fn boots_through(start: impl FnOnce(&Cluster) -> TcpProxy) {
    let cluster = cluster();
    let _proxy = start(&cluster);
    let at = TcpProxy::before(&cluster.daemon().nodes());
    let node_of_the_site = node(&cluster, "cn002", &at);
    let out = join(&cluster, &node_of_the_site).expect(0);
    assert!(!out.stderr.contains("not sent yet"), "{}", out.stderr);
    for _ in 0..2 {
        node_of_the_site.provost(&["boot"]).expect(0);
    }
    assert_eq!(cluster.status("cn002")["status"], "booted");
    assert_eq!(cluster.ctl_json(&["show", "cn002"])["runs"].as_array().unwrap().len(), 3);
    node(&cluster, "cn003", &at).provost(&["boot"]).expect(3);
    let address = IpAddr::from(Ipv4Addr::LOCALHOST).to_string();
    assert_eq!(pending(&cluster), [("cn003".to_owned(), address)]);
    assert_eq!(cluster.ctl_json(&["pending"])[0]["why"], json!("not-approved"));
    // A proxy on the management node itself is one like others.
    let log = std::fs::read_to_string(cluster.path("provostd.log")).unwrap();
    assert!(!log.contains("of the proxy"), "{log}");
}

#[test]
fn a_node_boots_through_nginx_and_provostd_sees_its_address() {
    skip_if(TcpProxy::nginx_missing());
    boots_through(|cluster| {
        let folder = cluster.path("nginx");
        std::fs::create_dir(&folder).unwrap();
        TcpProxy::nginx(&folder, cluster.daemon())
    });
}

#[test]
fn a_node_boots_through_haproxy_and_provostd_sees_its_address() {
    skip_if(TcpProxy::haproxy_missing());
    boots_through(|cluster| {
        let folder = cluster.path("haproxy");
        std::fs::create_dir(&folder).unwrap();
        TcpProxy::haproxy(&folder, cluster.daemon())
    });
}

#[test]
fn nobody_claims_another_address_by_a_header_of_http() {
    let cluster = cluster();
    let mut stream = connect_from(PROXY, cluster.daemon().nodes().parse().unwrap());
    let claims = "X-Forwarded-For: 10.7.0.9\r\nX-Real-IP: 10.7.0.9\r\nForwarded: for=10.7.0.9\r\n";
    let head = format!("POST /v1/nodes/cn001/records HTTP/1.1\r\nHost: x\r\n{claims}");
    let request = format!("{head}Content-Length: 2\r\nConnection: close\r\n\r\n[]");
    stream.write_all(request.as_bytes()).unwrap();
    assert!(read_to_end(&stream).starts_with(b"HTTP/1.1 401 "));
    assert_eq!(cluster.ctl_json(&["pending"])[0]["address"], PROXY.to_string());
}
