use tokio::io::{AsyncWriteExt, duplex};
use tokio::time::sleep;

use super::*;

/// What the client of a proxy sends first; it looks like the end of a header, and its beginning.
const CLIENT: &[u8] = b"\x16\x03\x01\r\nPROXY \r\n\r\n\0\r\nQUIT\n";

/// A header of version 2. `kind` is the command, and the family with the protocol.
fn v2(kind: [u8; 2], rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [&b"\r\n\r\n\0\r\nQUIT\n"[..], &kind, &length, rest].concat()
}

/// The rest of a header over IPv4, from 10.7.0.9:40000.
fn ipv4(extensions: &[u8]) -> Vec<u8> {
    [&[10, 7, 0, 9, 10, 0, 0, 1, 0x9c, 0x40, 0x21, 0x22], extensions].concat()
}

/// The same over IPv6.
fn ipv6(source: &str) -> Vec<u8> {
    let source: std::net::Ipv6Addr = source.parse().unwrap();
    [&source.octets()[..], &[0; 16], &[0x9c, 0x40, 0x21, 0x22]].concat()
}

/// Reads the header of a connection that brings `parts`, each `pause` after the one before it, and then ends. Returns
/// the result, and what is left to be read.
async fn read_parts(
    parts: Vec<Vec<u8>>,
    pause: Duration,
) -> (Result<Option<SocketAddr>, HeaderError>, Vec<u8>) {
    let (mut proxy, mut io) = duplex(64 * 1024);
    let sent = tokio::spawn(async move {
        for part in parts {
            sleep(pause).await;
            proxy.write_all(&part).await.unwrap();
        }
    });
    let result = read(&mut io).await;
    let mut left = Vec::new();
    io.read_to_end(&mut left).await.unwrap();
    sent.await.unwrap();
    (result, left)
}

/// The same of one part.
async fn read_whole(bytes: &[u8]) -> (Result<Option<SocketAddr>, HeaderError>, Vec<u8>) {
    read_parts(vec![bytes.to_vec()], Duration::ZERO).await
}

async fn error(bytes: &[u8]) -> String {
    error_chain(&read_whole(bytes).await.0.unwrap_err())
}

#[tokio::test(start_paused = true)]
async fn the_address_is_read_and_not_a_byte_of_what_follows() {
    let longest = b"PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff \
                    ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n";
    assert_eq!(longest.len(), LONGEST_V1);
    let extensions = [0x04; LONGEST_V2 - FIXED - 12];
    let headers: [(Vec<u8>, Option<&str>); 12] = [
        (b"PROXY TCP4 10.7.0.9 10.0.0.1 40000 8482\r\n".to_vec(), Some("10.7.0.9:40000")),
        (b"PROXY TCP6 fd00::9 fd00::1 40000 8482\r\n".to_vec(), Some("[fd00::9]:40000")),
        (b"PROXY UNKNOWN\r\n".to_vec(), None),
        (longest.to_vec(), None),
        (v2([0x21, 0x11], &ipv4(&[])), Some("10.7.0.9:40000")),
        (v2([0x21, 0x11], &ipv4(&[0x04, 0, 2, 1, 2])), Some("10.7.0.9:40000")),
        (v2([0x21, 0x11], &ipv4(&extensions)), Some("10.7.0.9:40000")),
        (v2([0x21, 0x21], &ipv6("fd00::9")), Some("[fd00::9]:40000")),
        (v2([0x20, 0x00], &[]), None),
        (v2([0x20, 0x11], &ipv4(&[])), None),
        (v2([0x21, 0x00], &[]), None),
        (v2([0x21, 0x31], &[0; 216]), None),
    ];
    for (header, client) in headers {
        let client = client.map(|client| client.parse().unwrap());
        let bytes = [&header[..], CLIENT].concat();
        let by_byte = bytes.iter().map(|byte| vec![*byte]).collect();
        for parts in [vec![bytes.clone()], by_byte] {
            let (read, left) = read_parts(parts, Duration::from_millis(1)).await;
            assert_eq!((read.unwrap(), &*left), (client, CLIENT), "{}", header.escape_ascii());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ipv4_within_ipv6_is_ipv4() {
    use crate::listener::client_address::ClientAddress;
    let mapped = v2([0x21, 0x21], &ipv6("::ffff:10.7.0.9"));
    for header in [&mapped, &b"PROXY TCP6 ::ffff:10.7.0.9 ::1 1 1\r\n"[..]] {
        let client = read_whole(header).await.0.unwrap().unwrap();
        assert_eq!(ClientAddress::ip(&client).to_string(), "10.7.0.9");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_header_is_refused_with_the_reason() {
    let v1 = |text: &str| error(text.as_bytes().to_owned().leak());
    assert_eq!(error(CLIENT).await, "it doesn't begin with a PROXY header");
    assert_eq!(v1("GET / HTTP/1.1\r\n").await, "it doesn't begin with a PROXY header");
    assert_eq!(error(b"").await, "it ended without a byte");
    for cut in [&b"PROX"[..], b"PROXY TCP4 10.7.0.9 10.0.0.1 40000 8482", b"\r\n\r\n\0"] {
        assert_eq!(error(cut).await, "it ended within the PROXY header");
    }
    for length in [SIGNATURE, FIXED - 1, FIXED, FIXED + 11] {
        let cut = &v2([0x21, 0x11], &ipv4(&[]))[..length];
        assert_eq!(error(cut).await, "it ended within the PROXY header", "{length}");
    }
    let endless = format!("PROXY UNKNOWN {}", "x".repeat(9000));
    assert_eq!(v1(&endless).await, "its PROXY header is longer than 107 bytes");
    let long = v2([0x21, 0x11], &ipv4(&[0; LONGEST_V2 - FIXED - 11]));
    assert_eq!(error(&long).await, "its PROXY header is longer than 2048 bytes");
    for wrong in [
        "PROXY TCP4 10.7.0.9 10.0.0.1 40000 8482\n",
        "PROXY TCP4 10.7.0.9 10.0.0.1 40000\r\n",
        "PROXY TCP4 10.7.0.300 10.0.0.1 40000 8482\r\n",
        "PROXY TCP4 fd00::9 fd00::1 40000 8482\r\n",
        "PROXY TCP4 10.7.0.9 10.0.0.1 99999 8482\r\n",
        "PROXY TCP5 10.7.0.9 10.0.0.1 40000 8482\r\n",
        "PROXY UNKNOWN x\ry\r\n",
        "PROXY TCP4 10.7.0.\u{9} 10.0.0.1 40000 8482\r\n",
    ] {
        assert!(v1(wrong).await.starts_with("its PROXY header is wrong: "), "{wrong:?}");
    }
    for kind in [[0x11, 0x11], [0x22, 0x11], [0x21, 0x41], [0x21, 0x13], [0x21, 0x21]] {
        let error = error(&v2(kind, &ipv4(&[]))).await;
        assert!(error.starts_with("its PROXY header is wrong: "), "{kind:?}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_that_takes_longer_than_five_seconds_is_given_up() {
    let header = b"PROXY TCP4 10.7.0.9 10.0.0.1 40000 8482\r\n";
    let by_byte = || header.iter().map(|byte| vec![*byte]).collect::<Vec<_>>();
    let in_time = WITHIN / (header.len() as u32 + 1);
    assert!(read_parts(by_byte(), in_time).await.0.is_ok());
    let (_proxy, mut io) = duplex(64);
    let begun = Instant::now();
    assert!(matches!(read(&mut io).await, Err(HeaderError::Late)));
    assert_eq!(begun.elapsed(), WITHIN);
    let (read, _) = read_parts(by_byte(), Duration::from_secs(1)).await;
    assert!(matches!(read, Err(HeaderError::Late)));
}

#[tokio::test(start_paused = true)]
async fn what_was_wrong_is_logged_once_a_minute() {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut listener = ProxiedListener::new(tcp, Vec::new());
    let proxy: SocketAddr = ([127, 0, 0, 1], 1).into();
    listener.report(proxy, &HeaderError::Unused);
    assert_eq!(listener.logged, None, "a health check is nothing to look after");
    listener.report(proxy, &HeaderError::Missing);
    let first = listener.logged;
    for (seconds, is_logged) in [(59, false), (1, true)] {
        sleep(Duration::from_secs(seconds)).await;
        listener.report(proxy, &HeaderError::Missing);
        assert_eq!(listener.logged != first, is_logged, "{seconds}");
    }
}

#[tokio::test]
async fn connections_that_send_no_header_hold_up_no_other() {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = tcp.local_addr().unwrap();
    let mut listener = ProxiedListener::new(tcp, vec!["127.0.0.2".parse().unwrap()]);
    let connect = async |from: [u8; 4]| {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        socket.connect(at).await.unwrap()
    };
    let accept = async |listener: &mut ProxiedListener| {
        let accepted = timeout(Duration::from_secs(30), listener.accept()).await;
        accepted.expect("a connection is held up").1
    };
    let _silent = [connect([127, 0, 0, 2]).await, connect([127, 0, 0, 2]).await];
    let mut proxy = connect([127, 0, 0, 2]).await;
    proxy.write_all(b"PROXY TCP4 10.7.0.9 10.0.0.1 40000 8482\r\n").await.unwrap();
    assert_eq!(accept(&mut listener).await.to_string(), "10.7.0.9:40000");
    let direct = connect([127, 0, 0, 3]).await;
    assert_eq!(accept(&mut listener).await, direct.local_addr().unwrap());
    assert_eq!(listener.waiting.len(), 2);
    while listener.waiting.len() < MOST_WAITING {
        listener.waiting.spawn(std::future::pending());
    }
    let mut refused = connect([127, 0, 0, 2]).await;
    let direct = connect([127, 0, 0, 3]).await;
    assert_eq!(accept(&mut listener).await, direct.local_addr().unwrap());
    assert_eq!(listener.waiting.len(), MOST_WAITING);
    assert_eq!(refused.read(&mut [0]).await.unwrap(), 0, "it is closed");
}
