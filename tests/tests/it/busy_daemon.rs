//! A provostd, or what stands before it, that has too much to do for a while.

use std::io::{Read, Write};
use std::net::TcpListener;

use provost_tests::Cluster;

/// Answers each request with this status. Returns its URL.
fn refusing(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head = "Connection: close\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(format!("HTTP/1.1 {status}\r\n{head}").as_bytes());
        }
    });
    url
}

#[test]
fn a_wait_goes_on_while_the_daemon_is_busy() {
    let cluster = Cluster::new();
    let wait = ["wait-for", "cn001", "--status", "booted", "--timeout", "2s", "--admin"];
    for busy in ["503 Service Unavailable", "502 Bad Gateway", "429 Too Many Requests"] {
        let out = cluster.ctl(&[&wait[..], &[&refusing(busy)]].concat());
        out.expect(124).says(&[busy, "retrying every 1 s"]);
    }
    let out = cluster.ctl(&[&wait[..], &[&refusing("403 Forbidden")]].concat());
    out.expect(2).says(&["403 Forbidden"]);
}

#[test]
fn the_listener_of_nodes_is_not_that_of_admins() {
    let mut cluster = Cluster::new();
    cluster.start();
    let nodes = format!("http://{}", cluster.daemon().nodes());
    let out = cluster.ctl(&["nodes", "--admin", &nodes]).expect(1);
    out.says(&["404 Not Found", "hint: name provostd's admin listener: --admin URL"]);
}
