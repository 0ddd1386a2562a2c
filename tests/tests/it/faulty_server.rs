//! The server that goes wrong on purpose does what its faults say: by a client of bare sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use provost_tests::faults::{Fault, Faulty, Times};
use tempfile::TempDir;

const BODY: &str = "sixteen letters\n";
const LONG: Duration = Duration::from_secs(20);

/// A folder with one file, and a server of it.
fn server() -> (TempDir, Faulty) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("file"), BODY).unwrap();
    let server = Faulty::of(folder.path());
    (folder, server)
}

fn ask(server: &Faulty, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// The answer to `GET PATH`, up to the end of the connection, and how that came.
fn get(server: &Faulty, path: &str) -> (String, Option<ErrorKind>) {
    let mut stream = ask(server, &format!("GET {path} HTTP/1.1\r\n\r\n"));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = Vec::new();
    let end = stream.read_to_end(&mut text).err().map(|e| e.kind());
    (String::from_utf8(text).unwrap(), end)
}

fn spoiled(fault: Fault) -> (String, Option<ErrorKind>) {
    let (_folder, server) = server();
    server.fault("/file", Times::Next(1), fault);
    let answer = get(&server, "/file");
    let (text, end) = get(&server, "/file");
    assert!(text.ends_with(BODY) && end.is_none(), "the next one is right: {text}");
    assert_eq!(server.asked("/file"), 2);
    answer
}

#[test]
fn what_is_right_is_served_as_a_web_server_does() {
    let (folder, server) = server();
    let (text, end) = get(&server, "/file");
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("content-length: 16\r\n"), "{text}");
    assert_eq!(end, None);
    assert!(get(&server, "/nothing").0.starts_with("HTTP/1.1 404 "));
    std::fs::set_permissions(folder.path().join("file"), PermissionsExt::from_mode(0o600)).unwrap();
    assert!(get(&server, "/file").0.starts_with("HTTP/1.1 403 "));
    // Two requests on one connection.
    let get = "GET /nothing HTTP/1.1\r\n\r\n";
    let mut stream = ask(&server, &get.repeat(2));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 404 ").count(), 2);
}

#[test]
fn what_is_cut_off_ends_where_it_says() {
    let (text, end) = spoiled(Fault::Reset(0));
    assert_eq!((text.as_str(), end), ("", Some(ErrorKind::ConnectionReset)));
    let (text, end) = spoiled(Fault::Truncate(7));
    assert!(text.contains("content-length: 16\r\n") && text.ends_with("\r\nsixteen"), "{text}");
    assert_eq!(end, None);
    assert_eq!(spoiled(Fault::HalfClose), (String::new(), None));
    assert_eq!(spoiled(Fault::Swallow), (String::new(), None));
}

#[test]
fn what_is_wrong_is_as_it_was_told() {
    assert!(spoiled(Fault::WrongLength(-3)).0.contains("content-length: 13\r\n"));
    assert!(spoiled(Fault::Flip(16)).0.ends_with("\r\n\r\nrixteen letters\n"));
    assert!(spoiled(Fault::Drip(5, Duration::from_millis(1))).0.ends_with(BODY));
    assert!(spoiled(Fault::Status(403)).0.starts_with("HTTP/1.1 403 "));
    assert!(spoiled(Fault::ErrorPage).0.starts_with("HTTP/1.1 200 "));
    let (text, _) = spoiled(Fault::RetryAfter(503, 7));
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("retry-after: 7\r\n"), "{text}");
}

#[test]
fn who_waits_in_vain_waits_until_the_server_is_mended() {
    let (_folder, server) = server();
    server.fault("/", Times::Always, Fault::Stall);
    let mut stream = ask(&server, "GET /file HTTP/1.1\r\n\r\n");
    assert!(server.until(LONG, |asked| asked.len() == 1));
    server.repair();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0);
    assert!(get(&server, "/file").0.ends_with(BODY));
}

#[test]
fn a_server_in_front_of_another_passes_on_what_it_is_told_to_pass_on() {
    let (_folder, behind) = server();
    let server = Faulty::before(behind.address());
    assert!(get(&server, "/file").0.ends_with(BODY));
    server.fault("/file", Times::Next(1), Fault::Belie(500));
    assert!(get(&server, "/file").0.starts_with("HTTP/1.1 500 "));
    server.fault("/file", Times::Next(1), Fault::Swallow);
    assert_eq!(get(&server, "/file").0, "");
    let answers: Vec<_> = server.exchanges().into_iter().map(|e| e.answer.unwrap().body).collect();
    assert_eq!((answers.len(), behind.asked("/file")), (3, 3), "all were done behind it");
    assert_eq!(answers, [BODY.as_bytes(); 3]);
    server.fault("/file", Times::Next(1), Fault::Status(503));
    assert!(get(&server, "/file").0.starts_with("HTTP/1.1 503 "));
    assert_eq!(behind.asked("/file"), 3, "that one was not");
}

#[test]
fn who_refuses_connections_can_be_had_again_at_the_same_address() {
    let (_folder, server) = server();
    server.refuse();
    let refused = TcpStream::connect(server.address()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    server.accept();
    assert!(get(&server, "/file").0.ends_with(BODY));
}
