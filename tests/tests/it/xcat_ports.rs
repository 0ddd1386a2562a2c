//! The ports of an xCAT management node where nobody names another, in a network of its own, since
//! on this machine they may be taken.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::mpsc::channel;

use provost_tests::xcat::XcatServer;
use provost_tests::{Out, missing, program, skip_if};

/// What comes of a visit.
type Visit = fn(TcpStream) -> String;

/// The test, as the program knows it.
const SELF: &str = "xcat_ports::a_node_asks_and_tells_at_the_ports_of_xcat_and_of_syslog";
/// Set in the test that runs in that network.
const INSIDE: &str = "PROVOST_TEST_INSIDE";

#[test]
fn a_node_asks_and_tells_at_the_ports_of_xcat_and_of_syslog() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let by = ["-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];
    skip_if(missing::networks());
    let mut again = Command::new("unshare");
    again.args(by).arg(std::env::current_exe().unwrap()).args(["--nocapture", "--exact", SELF]);
    again.env(INSIDE, "1").env("PROVOST_PROGRAMS", program("provost").parent().unwrap());
    let out = Out::from(again.output().unwrap()).expect(0);
    assert!(out.stdout.contains(" 1 passed"), "{}", out.stdout);
}

fn inside() {
    let syslog = UdpSocket::bind("127.0.0.1:514").unwrap();
    syslog.set_read_timeout(Some(provost_tests::SOON)).unwrap();
    let (told, heard) = channel();
    let visits: [(u16, Visit); 4] =
        [(80, web), (514, |stream| line(&stream)), (3001, |_| String::new()), (3002, monitor)];
    for (port, visit) in visits {
        let (listener, told) = (TcpListener::bind(("127.0.0.1", port)).unwrap(), told.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = told.send((port, visit(stream.unwrap())));
            }
        });
    }
    let server = XcatServer::new();
    let node = server.node("cn001", "127.0.0.1");
    let text = "servers = [\"http://127.0.0.1\"]\n[source]\nkind = \"xcat\"\n\
                [trust]\nunsigned = true\n[fetch]\ndeadline = \"3s\"\n";
    (*node).configure(text);
    node.provost(&["boot"]).expect(3);
    let all: Vec<_> = heard.try_iter().collect();
    assert!(all.iter().any(|(port, _)| *port == 3001), "{all:?}");
    assert!(all.contains(&(3002, "installstatus failed".to_owned())), "{all:?}");
    let mut bytes = [0; 2048];
    let n = syslog.recv(&mut bytes).unwrap();
    let told = String::from_utf8_lossy(&bytes[..n]);
    assert!(told.contains("cn001"), "{told}");

    (*node).configure(&format!("{text}[log]\nsyslog = \"tcp://127.0.0.1\"\n"));
    node.provost(&["boot"]).expect(3);
    let told = heard.iter().find(|(port, _)| *port == 514).unwrap().1;
    assert!(told.contains("cn001"), "{told}");
}

/// Has one script, and no mypostscript.
fn web(mut stream: TcpStream) -> String {
    let asked = line(&stream);
    let answer = match &*asked {
        "GET /install/postscripts/ HTTP/1.1" => "200 OK\r\nContent-Length: 12\r\n\r\n<a href=one>",
        "GET /install/postscripts/one HTTP/1.1" => "200 OK\r\nContent-Length: 2\r\n\r\n#!",
        _ => "404 Not Found\r\nContent-Length: 0\r\n\r\n",
    };
    // The client may have gone.
    let _ = write!(stream, "HTTP/1.1 {}", answer.replacen("\r\n", "\r\nConnection: close\r\n", 1));
    asked
}

fn monitor(mut stream: TcpStream) -> String {
    let _ = stream.write_all(b"ready\n");
    let said = line(&stream);
    let _ = stream.write_all(b"done\n");
    said
}

fn line(stream: &TcpStream) -> String {
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    line.trim_end().to_owned()
}
