use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpListener, UdpSocket};
use std::sync::mpsc;
use std::time::Instant;

use super::*;

/// A name server that answers each question by `answer`. Returns its port.
fn server(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> u16 {
    server_at("127.0.0.1:0".parse().unwrap(), answer)
}

/// The same, at that address.
fn server_at(address: SocketAddr, answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> u16 {
    let socket = UdpSocket::bind(address).unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut question = [0; 1500];
        while let Ok((n, from)) = socket.recv_from(&mut question) {
            let answer = answer(&question[..n]);
            if !answer.is_empty() {
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    port
}

/// The answer to `question`: its own header and name, `code`, and this address, if any
/// (RFC 1035, 4.1).
fn answer(question: &[u8], code: u8, address: Option<[u8; 4]>) -> Vec<u8> {
    let mut answer = answer_with(question, u8::from(address.is_some()), &[]);
    answer[3] |= code;
    if let Some(address) = address {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        answer.extend(address);
    }
    answer
}

/// The answer to `question` with this number of `records`.
fn answer_with(question: &[u8], count: u8, records: &[u8]) -> Vec<u8> {
    let end = 12 + question[12..].iter().position(|b| *b == 0).unwrap() + 5;
    let mut answer = question[..end].to_vec();
    (answer[2], answer[3]) = (0x85, 0x80);
    answer[6..12].copy_from_slice(&[0, count, 0, 0, 0, 0]);
    answer.extend(records);
    answer
}

/// The name that is asked for.
fn asked(question: &[u8]) -> String {
    let mut name = String::new();
    let mut at = 12;
    while question[at] > 0 {
        let n = usize::from(question[at]);
        name += &String::from_utf8_lossy(&question[at + 1..=at + n]);
        name.push('.');
        at += n + 1;
    }
    name
}

/// Whether an IPv4 address is asked for.
fn is_a(question: &[u8]) -> bool {
    let end = 12 + question[12..].iter().position(|b| *b == 0).unwrap();
    question[end + 2] == 1
}

fn look_up(name: &str, hosts: &str, resolv_conf: &str, port: u16) -> Result<Vec<IpAddr>, String> {
    let folder = tempfile::tempdir().unwrap();
    let names = Names {
        hosts: folder.path().join("hosts"),
        resolv_conf: folder.path().join("resolv.conf"),
        port,
        ..Names::new(Limit::seconds(5))
    };
    std::fs::write(&names.hosts, hosts).unwrap();
    std::fs::write(&names.resolv_conf, resolv_conf).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(names.look_up(name)).map_err(|e| {
        assert!(!e.hint().is_empty());
        e.to_string()
    })
}

const LOCAL: &str = "nameserver 127.0.0.1\n";

#[test]
fn the_hosts_file_is_first_and_is_enough() {
    let hosts = "# mn\n::1 mn\n10.0.0.9 other # mn\n10.0.0.1\tmgmt Mn.cluster MN\n";
    let port = server(|_| panic!("a name server was asked"));
    for name in ["mn", "MN", "mn."] {
        let found = look_up(name, hosts, LOCAL, port).unwrap();
        assert_eq!(found, ["10.0.0.1".parse::<IpAddr>().unwrap(), "::1".parse().unwrap()]);
    }
}

#[test]
fn without_a_name_server_nobody_is_asked() {
    for conf in ["", "# nameserver 8.8.8.8\nsearch example.com\n", "nameserver nonsense\n"] {
        let begun = Instant::now();
        let error = look_up("mn", "", conf, 53).unwrap_err();
        assert!(error.contains("the name mn") && error.contains("no name server"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn the_search_list_and_the_second_server_are_used() {
    // Nobody listens at 127.0.0.2.
    let conf = "search a.example b.example\nnameserver 127.0.0.2\nnameserver 127.0.0.1\n";
    let port = server(|question| match asked(question).as_str() {
        "mn.b.example." if is_a(question) => answer(question, 0, Some([10, 0, 0, 7])),
        _ => answer(question, 3, None),
    });
    let found = look_up("mn", "", conf, port).unwrap();
    assert_eq!(found, ["10.0.0.7".parse::<IpAddr>().unwrap()]);
}

#[test]
fn a_server_that_fails_or_is_silent_is_followed_by_the_next() {
    let conf = "nameserver 127.0.0.1\nnameserver 127.0.0.3\n";
    type Answer = fn(&[u8]) -> Vec<u8>;
    let silent: Answer = |_| Vec::new();
    let failing: Answer = |question| answer(question, 2, None);
    // A root's answer for the bare name must not hide that the search domain's failed.
    let failing_for_a_domain: Answer =
        |question| answer(question, if asked(question) == "mn." { 3 } else { 2 }, None);
    for (first, conf) in [
        (silent, conf.to_owned()),
        (failing, conf.to_owned()),
        (failing_for_a_domain, format!("search a.example\n{conf}")),
    ] {
        let port = server(first);
        server_at(SocketAddr::new([127, 0, 0, 3].into(), port), |question| {
            answer(question, 0, is_a(question).then_some([10, 0, 0, 9]))
        });
        let found = look_up("mn", "", &conf, port).unwrap();
        assert_eq!(found, ["10.0.0.9".parse::<IpAddr>().unwrap()]);
    }
}

#[test]
fn a_server_that_does_not_know_a_name_ends_the_search_for_it() {
    let port = server(|question| answer(question, 3, None));
    server_at(SocketAddr::new([127, 0, 0, 3].into(), port), |question| {
        answer(question, 0, Some([10, 6, 6, 6]))
    });
    let conf = "nameserver 127.0.0.1\nnameserver 127.0.0.3\n";
    let error = look_up("mn", "", conf, port).unwrap_err();
    assert!(error.contains("don't know it"), "{error}");
}

#[test]
fn an_address_of_ipv6_is_asked_for_where_there_is_none_of_ipv4_and_an_alias_is_followed() {
    let port = server(|question| {
        if is_a(question) {
            return answer(question, 0, None);
        }
        let mut record = vec![0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16];
        record.extend(Ipv6Addr::LOCALHOST.octets());
        answer_with(question, 1, &record)
    });
    assert_eq!(look_up("mn.example", "", LOCAL, port).unwrap(), [Ipv6Addr::LOCALHOST]);
    let port = server(|question| {
        let alias = [0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, b'x', 0xc0, 15];
        let address = [1, b'x', 0xc0, 15, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 1];
        answer_with(question, 2, &[alias.as_slice(), &address].concat())
    });
    let found = look_up("mn.example", "", LOCAL, port).unwrap();
    assert_eq!(found, ["10.0.0.1".parse::<IpAddr>().unwrap()]);
}

#[test]
fn a_name_that_does_not_exist_is_reported_at_once() {
    let port = server(|question| answer(question, 3, None));
    let begun = Instant::now();
    let error = look_up("nowhere.example", "", LOCAL, port).unwrap_err();
    assert!(error.contains("nowhere.example") && error.contains("don't know it"), "{error}");
    assert!(error.contains("asked 127.0.0.1"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn a_dead_or_lying_name_server_costs_seconds_and_no_more() {
    type Answer = fn(&[u8]) -> Vec<u8>;
    let silent: Answer = |_| Vec::new();
    let garbage: Answer = |_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    let failing: Answer = |question| answer(question, 2, None);
    let another: Answer = |question| {
        let mut lie = answer(question, 0, Some([10, 6, 6, 6]));
        lie[0] ^= 0xff;
        lie
    };
    let cut_off: Answer = |question| answer_with(question, 2, &[0xc0, 12, 0, 1]);
    let whys = [
        (silent, "no name server responded"),
        (garbage, "no name server responded"),
        (failing, "the name server responded SERVFAIL (code 2)"),
        (another, "no name server responded"),
        (cut_off, "looking up"),
    ];
    for (lie, why) in whys {
        let begun = Instant::now();
        let error = look_up("mn.example", "", LOCAL, server(lie)).unwrap_err();
        assert!(error.contains(why), "{error}");
        assert!(error.contains("mn.example") && error.contains("asked 127.0.0.1"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{error}: {:?}", begun.elapsed());
    }
}

#[test]
fn what_the_kernel_refuses_is_in_its_words() {
    // It sends nothing to all of a network for a socket that hasn't asked to.
    let error = look_up("mn", "", "nameserver 255.255.255.255\n", 53).unwrap_err();
    let why = "looking up the name mn: Permission denied (os error 13), asked 255.255.255.255";
    assert_eq!(error, why);
    // Without its zone, a link-local address is no way to anywhere.
    let begun = Instant::now();
    look_up("mn", "", "nameserver fe80::1%eth0\n", 53).unwrap_err();
    assert!(begun.elapsed() < QUESTION, "{:?}", begun.elapsed());
}

#[test]
fn an_answer_that_was_cut_off_comes_by_tcp() {
    let cut_off = |question: &[u8]| {
        let mut cut_off = answer(question, 0, None);
        cut_off[2] |= 2;
        cut_off
    };
    // Somebody else may have the port that is free for UDP.
    let both = || {
        let port = server(cut_off);
        Some((port, TcpListener::bind(("127.0.0.1", port)).ok()?))
    };
    let (port, listener) = std::iter::repeat_with(both).flatten().next().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut length = [0; 2];
        stream.read_exact(&mut length).unwrap();
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut question).unwrap();
        let answer = answer(&question, 0, Some([10, 0, 0, 8]));
        let length = (answer.len() as u16).to_be_bytes();
        stream.write_all(&[&length, answer.as_slice()].concat()).unwrap();
    });
    let found = look_up("mn.example", "", LOCAL, port).unwrap();
    assert_eq!(found, ["10.0.0.8".parse::<IpAddr>().unwrap()]);
}

#[test]
fn the_configuration_is_read_as_resolv_conf_says() {
    let (names, asked_for) = mpsc::channel();
    let port = server(move |question| {
        if is_a(question) {
            names.send(asked(question)).unwrap();
        }
        answer(question, 3, None)
    });
    let conf = "domain old.example\nnameserver 127.0.0.1 # ours\n;nameserver 127.0.0.2\n\
                search a.example b.example\noptions edns0 ndots:2\n";
    look_up("mn.x", "", conf, port).unwrap_err();
    look_up("mn.x.y", "", conf, port).unwrap_err();
    look_up("mn.", "", conf, port).unwrap_err();
    let names: Vec<String> = asked_for.try_iter().collect();
    let [a, b, whole] = ["mn.x.a.example.", "mn.x.b.example.", "mn.x."];
    let longer = ["mn.x.y.", "mn.x.y.a.example.", "mn.x.y.b.example."];
    assert_eq!(names, [&[a, b, whole], longer.as_slice(), &["mn."]].concat());

    let more = "nameserver fe80::1%eth0\nnameserver 10.0.0.3\nnameserver 10.0.0.4\n";
    let (conf, _) = Config::parse_with_errors((conf.to_owned() + more).as_bytes());
    let servers: Vec<String> = servers(&conf).iter().map(IpAddr::to_string).collect();
    assert_eq!(servers, ["127.0.0.1", "fe80::1", "10.0.0.3"]);
}

#[test]
fn an_invalid_name_is_not_asked_for() {
    let port = server(|_| panic!("a name server was asked"));
    let long = "x".repeat(64);
    for name in ["", ".", "a..b", long.as_str(), &"a.".repeat(130)] {
        let error = look_up(name, "", LOCAL, port).unwrap_err();
        assert!(error.contains("it isn't a valid host name"), "{error}");
    }
}
