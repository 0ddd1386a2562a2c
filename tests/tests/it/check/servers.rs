//! What is found out about servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{LONGEST, check, cluster, configure, found, one};

/// A server that treats each connection as `answer` does. Returns its URL.
fn server(answer: impl Fn(TcpStream) + Send + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || answer(stream));
        }
    });
    url
}

/// Accepts, and sends nothing, until the other side gives up.
fn silent(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Sends a byte of a head now and then, so that it is never silent and never done.
fn trickling(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    // The wait between two bytes: nobody sends anything.
    while stream.write_all(b"x").is_ok() {
        let _ = stream.read(&mut [0]);
    }
}

/// Serves the published files of `www`, by a clock of its own.
fn of_another_time(www: PathBuf, date: &'static str) -> impl Fn(TcpStream) + Send + Clone {
    move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let request = lines.next().unwrap().unwrap();
        let path = request.split(' ').nth(1).unwrap().trim_start_matches('/').to_owned();
        for line in lines.map_while(Result::ok) {
            if line.is_empty() {
                break;
            }
        }
        let body = std::fs::read(www.join(path)).unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\ndate: {date}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(&[head.as_bytes(), &body].concat());
    }
}

#[test]
fn what_is_dead_costs_no_more_than_15_s_and_hides_nothing_else() {
    let (cluster, node) = cluster();
    let dead = [server(silent), server(trickling), "http://127.0.0.1:1".to_owned()];
    configure(&cluster, &node, &dead);
    let begun = Instant::now();
    let out = check(&node).expect(3);
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
    assert!(!node.path("state").exists());
    one(&out, "server", &["failed", &dead[0], "sent nothing for too long"]);
    one(&out, "server", &["failed", &dead[1], "not finished within 10 s"]);
    one(&out, "server", &["failed", &dead[2], "refused"]);
    one(&out, "configuration", &["ok "]);
    one(&out, "state", &["ok "]);
    let good = format!("http://{}", cluster.daemon().nodes());
    configure(&cluster, &node, &[dead[0].clone(), good.clone()]);
    let out = check(&node).expect(0);
    one(&out, "server", &["failed", &dead[0]]);
    one(&out, "server", &["ok", &good]);
}

#[test]
fn a_name_that_nobody_knows_is_told_in_time() {
    let (cluster, node) = cluster();
    configure(&cluster, &node, &["http://no-such-host.invalid:8480".to_owned()]);
    let begun = Instant::now();
    let out = check(&node).expect(3);
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
    one(&out, "server", &["failed", "no-such-host.invalid"]);
}

#[test]
fn a_wrong_key_is_told_by_its_id() {
    let (cluster, node) = cluster();
    let other = cluster.path("other");
    cluster.ctl(&["key", "new", "--out", &other.display().to_string()]).expect(0);
    let key = std::fs::read_to_string(other.join("provost.pub")).unwrap();
    let good = format!("http://{}", cluster.daemon().nodes());
    let key = key.lines().last().unwrap();
    node.configure(&format!("servers = [{good:?}]\n[trust]\nkeys = [{key:?}]\n"));
    let out = check(&node).expect(3);
    one(&out, "signature", &["failed", "manifest.toml: it is signed by key", "add it to [trust]"]);
    one(&out, "token", &["ok "]);
    assert_eq!(found(&out, "plan"), [""; 0]);
    node.configure(&format!("servers = [{good:?}]\n[trust]\nunsigned = true\n"));
    one(&check(&node).expect(0), "signature", &["note", "unsigned = true"]);
}

#[test]
fn an_unknown_token_and_another_nodes_are_told_apart() {
    let (cluster, node) = cluster();
    let others = cluster.ctl(&["token", "--force", "cn002"]).expect(0).stdout;
    for (token, parts) in [
        ("cn001 not-a-token-of-anybody", &["failed", "doesn't know the token", "401"][..]),
        (&others, &["failed", "another node's", "403", "provostctl token cn001"]),
    ] {
        std::fs::write(node.path("token"), token).unwrap();
        let out = check(&node).expect(3);
        one(&out, "token", parts);
        one(&out, "signature", &["ok "]);
    }
    std::fs::remove_file(node.path("token")).unwrap();
    let out = check(&node).expect(2);
    one(&out, "configuration", &["failed", "reading the token"]);
    one(&out, "token", &["failed", "there is no token, and the server requires one"]);
    one(&out, "signature", &["ok "]);
}

#[test]
fn no_secret_is_shown_whatever_a_server_says() {
    let (cluster, node) = cluster();
    let token = std::fs::read_to_string(node.path("token")).unwrap();
    let token = token.split_ascii_whitespace().last().unwrap().to_owned();
    let said = token.clone();
    let echo = server(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let body = format!("{{\"error\":\"go away, {said}\",\"hint\":\"not {said}\"}}");
        let head = "HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length:";
        let _ = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
    });
    let echo = echo.replace("http://", "http://admin:open-sesame@");
    configure(&cluster, &node, &[echo]);
    for out in [check(&node).expect(3), node.provost(&["check"]).expect(3)] {
        assert!(out.stdout.contains("go away, [redacted:token]"), "{out:?}");
        assert!(out.stdout.contains("http://admin:[redacted:password]@127.0.0.1:"), "{out:?}");
        assert!(!out.stdout.contains(&token) && !out.stdout.contains("sesame"), "{out:?}");
    }
}

#[test]
fn a_clock_that_is_off_is_told_in_seconds() {
    let (cluster, node) = cluster();
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    configure(&cluster, &node, &[server(of_another_time(cluster.path("www"), past))]);
    let out = check(&node).expect(0);
    one(&out, "clock", &["note", " s ahead of that of http://", "chrony"]);
    let seconds: u64 = found(&out, "clock")[0].split(' ').nth(5).unwrap().parse().unwrap();
    assert!(seconds > 900_000_000, "{seconds}");
    let future = "Tue, 06 Nov 2125 08:49:37 GMT";
    configure(&cluster, &node, &[server(of_another_time(cluster.path("www"), future))]);
    one(&check(&node).expect(0), "clock", &["note", " s behind that of http://"]);
    let garbage = "soon";
    configure(&cluster, &node, &[server(of_another_time(cluster.path("www"), garbage))]);
    one(&check(&node).expect(0), "clock", &["note", "sends no time"]);
}
