//! The daemon as a process: how it begins, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn provostd(folder: &Path, config: &str) -> Command {
    let file = folder.join("provostd.toml");
    fs::write(&file, config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_provostd"));
    command.arg("--config").arg(file).env_remove("NOTIFY_SOCKET");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn it_reports_that_it_is_ready_and_ends_in_order_under_an_open_stream() {
    let folder = tempfile::tempdir().unwrap();
    let notify = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    notify.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let config = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n";
    let mut daemon = provostd(folder.path(), config)
        .env("NOTIFY_SOCKET", folder.path().join("notify"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut message = [0; 100];
    let length = notify.recv(&mut message).unwrap();
    assert!(message[..length].starts_with(b"READY=1"));

    let listen = fs::read(folder.path().join("data/listen.json")).unwrap();
    let listen: serde_json::Value = serde_json::from_slice(&listen).unwrap();
    let mut stream = TcpStream::connect(listen["admin"].as_str().unwrap()).unwrap();
    write!(stream, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");

    let begun = Instant::now();
    let id = daemon.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let ended = daemon.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let mut log = String::new();
    daemon.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(ended.success(), "{log}");
    assert!(log.contains("stopping") && !log.contains('\u{1b}'), "{log}");
    let mut rest = String::new();
    answer.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the stream ended as a stream does: {rest:?}");
}

#[test]
fn a_wrong_configuration_is_reported_with_its_place_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    for (config, why) in [
        ("www = 'www'\nstore = 'postgres://u:hunter2@db'", "no database"),
        ("www = 'www'\nlisen = '127.0.0.1:0'", "lisen"),
        ("www = 'www'\nlisten = 'here'", "line 2"),
        ("www = ", "line 1"),
    ] {
        let output = provostd(folder.path(), config).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{config}");
        let text = stderr(&output);
        assert!(text.contains(why) && text.contains("provostd.toml"), "{text}");
        assert!(text.contains("\n  hint: ") && !text.contains("hunter2"), "{text}");
    }
    let mut missing = Command::new(env!("CARGO_BIN_EXE_provostd"));
    let output = missing.args(["--config", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let config = format!("data = 'data'\nwww = 'www'\nlisten = '{address}'\nadmin = '127.0.0.1:0'");
    let output = provostd(folder.path(), &config).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&address.to_string()), "{}", stderr(&output));
}

#[test]
fn its_log_is_json_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let notify = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    notify.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let config = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\n[tls]\noff = true";
    let mut daemon = provostd(folder.path(), config)
        .args(["--log-format", "json"])
        .env("NOTIFY_SOCKET", folder.path().join("notify"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    notify.recv(&mut [0; 100]).unwrap();
    let id = daemon.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(daemon.wait().unwrap().success());
    let mut log = String::new();
    daemon.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str(line).expect(line));
    let lines: Vec<serde_json::Value> = lines.collect();
    let last = lines.last().unwrap();
    assert_eq!((&last["message"], &last["level"]), (&"stopping".into(), &"INFO".into()));
    assert!(lines.iter().any(|line| line["level"] == "WARN" && line["timestamp"].is_string()));
}
