//! What is published, over bare HTTP: tags, ranges, and a publish in between.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::server::Server;
use provostd::{Config, NodeConfig};
use serde_json::{Value, json};

/// Where an ELF header names x86_64 and aarch64 (elf(5), `e_machine`).
const X86_64: u8 = 62;
const AARCH64: u8 = 183;

/// A program of 20 bytes and `text`, and its digest.
fn program(machine: u8, text: &str) -> (Vec<u8>, String) {
    let mut head = b"\x7fELF\x02\x01".to_vec();
    head.resize(18, 0);
    let program = [&head[..], &[machine, 0], text.as_bytes()].concat();
    let digest = provost_bundle::Digest::of(&program).to_string();
    (program, digest)
}

/// An answer, as it came.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    fn tag(&self) -> String {
        let tag = self.header("etag").unwrap();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong one: {tag}");
        tag.to_owned()
    }
}

fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    ask(server, "GET", path, headers)
}

fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = TcpStream::connect(server.daemon.addresses().nodes).unwrap();
    let headers: String = headers.iter().map(|(k, v)| format!("{k}: {v}\r\n")).collect();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    Answer { status: head[9..12].parse().unwrap(), head, body: answer[end + 4..].to_vec() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_tagged_by_its_name_and_resumed_by_it() {
    let server = Server::start().await;
    let digest = "ab".repeat(32);
    server.www(&format!("objects/ab/{digest}"), "0123456789");
    server.www(&format!("packs/{digest}.tar.zst"), "0123456789");
    for path in [format!("/objects/ab/{digest}"), format!("/packs/{digest}.tar.zst")] {
        let whole = get(&server, &path, &[]);
        assert_eq!((whole.status, whole.body.as_slice()), (200, &b"0123456789"[..]));
        let tag = whole.tag();
        assert_eq!(tag, format!("\"{digest}\""));
        assert!(whole.header("cache-control").unwrap().contains("immutable"));

        for tags in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".into()] {
            let same = get(&server, &path, &[("If-None-Match", &tags)]);
            assert_eq!((same.status, same.body.len(), same.tag()), (304, 0, tag.clone()), "{tags}");
        }
        assert_eq!(get(&server, &path, &[("If-None-Match", "\"x\"")]).status, 200);

        let rest = get(&server, &path, &[("Range", "bytes=4-"), ("If-Range", &tag)]);
        assert_eq!((rest.status, rest.body.as_slice()), (206, &b"456789"[..]));
        assert_eq!(rest.header("content-range"), Some("bytes 4-9/10"));
        assert_eq!(rest.tag(), tag);
        let other = get(&server, &path, &[("Range", "bytes=4-"), ("If-Range", "\"x\"")]);
        assert_eq!((other.status, other.body.len()), (200, 10), "a part of something else");
        let head = ask(&server, "HEAD", &path, &[]);
        assert_eq!((head.status, head.body.len(), head.tag()), (200, 0, tag));
        assert_eq!(head.header("content-length"), Some("10"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_between_two_parts_makes_the_whole_file_come() {
    let server = Server::start().await;
    let token = format!("Bearer {}", server.token("cn001").await);
    let all =
        ["manifest.toml", "manifest.toml.minisig", "plans/cn001.toml", "plans/cn001.toml.minisig"];
    for file in all {
        let path = format!("/{file}");
        let get = |headers: &[(&str, &str)]| {
            get(&server, &path, &[headers, &[("Authorization", &token)]].concat())
        };
        let at = server.www(file, "first one!");
        let lifetime = match file.starts_with("plans/") {
            true => "private, no-cache",
            false => "max-age=30, stale-while-revalidate=30",
        };
        let first = get(&[]);
        assert_eq!((first.status, first.header("cache-control")), (200, Some(lifetime)));
        let tag = first.tag();
        let same = get(&[("If-None-Match", &tag)]);
        assert_eq!((same.status, same.body.len(), same.tag()), (304, 0, tag.clone()));
        let rest = get(&[("Range", "bytes=6-"), ("If-Range", &tag)]);
        assert_eq!((rest.status, rest.body.as_slice()), (206, &b"one!"[..]));

        // As publish does: a new file takes the place of the old one, of the same length.
        std::fs::write(at.with_extension("new"), "second one").unwrap();
        std::fs::rename(at.with_extension("new"), &at).unwrap();
        let whole = get(&[("Range", "bytes=6-"), ("If-Range", &tag)]);
        assert_eq!((whole.status, whole.body.as_slice()), (200, &b"second one"[..]), "{file}");
        assert_ne!(whole.tag(), tag);
        let changed = get(&[("If-None-Match", &tag)]);
        assert_eq!((changed.status, changed.body.as_slice()), (200, &b"second one"[..]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_goes_along_with_the_whole_of_what_it_signs() {
    let server = Server::start().await;
    let token = format!("Bearer {}", server.token("cn001").await);
    for file in ["manifest.toml", "manifests/7.toml", "plans/cn001.toml"] {
        let get = |headers: &[(&str, &str)]| {
            let token = [("Authorization", token.as_str())];
            get(&server, &format!("/{file}"), &[headers, &token].concat())
        };
        let header = |answer: &Answer| answer.header("provost-signature").map(str::to_owned);
        server.www(file, "0123456789");
        assert_eq!(header(&get(&[])), None);
        server.www(&format!("{file}.minisig"), "signed");
        let whole = get(&[]);
        assert_eq!(header(&whole).as_deref(), Some("c2lnbmVk"), "in base64");
        for (name, value, status) in
            [("If-None-Match", whole.tag(), 304), ("Range", "bytes=6-".to_owned(), 206)]
        {
            let answer = get(&[(name, &value)]);
            assert_eq!((answer.status, header(&answer)), (status, None));
        }
        server.www(&format!("{file}.minisig"), &"x".repeat(2049));
        assert_eq!(header(&get(&[])), None, "too long for a header");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nodes_program_is_served_by_its_digest_alone() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("node");
    let ((first, digest), (second, next)) =
        (program(X86_64, "0123456789"), program(X86_64, "another"));
    let (digest, next) = (digest.as_str(), next.as_str());
    std::fs::write(&binary, &first).unwrap();
    let config = Config { node: node(&binary), ..crate::server::config(&folder) };
    let server = Server::start_with(folder, &config).await;
    let at = |digest: &str| format!("/bin/{digest}/provost");
    let whole = get(&server, &at(digest), &[]);
    assert_eq!((whole.status, &whole.body), (200, &first));
    assert_eq!(whole.tag(), format!("\"{digest}\""));
    assert!(whole.header("cache-control").unwrap().contains("immutable"));
    let rest = get(&server, &at(digest), &[("Range", "bytes=28-")]);
    assert_eq!((rest.status, rest.body.as_slice()), (206, &b"89"[..]));
    for other in [next, "x", "..%2f..%2fetc"] {
        assert_eq!(get(&server, &at(other), &[]).status, 404, "{other}");
    }
    // An upgrade of the management node: installer files that were printed before are good.
    std::fs::write(binary.with_extension("new"), &second).unwrap();
    std::fs::rename(binary.with_extension("new"), &binary).unwrap();
    assert_eq!(get(&server, &at(next), &[]).body, second);
    assert_eq!(get(&server, &at(digest), &[]).body, first);
    let gone = get(&server, &at(&"0".repeat(64)), &[]);
    assert!(gone.status == 404 && String::from_utf8_lossy(&gone.body).contains("snippet"));
    let pending: Value = server.admin("/v1/pending").await.json().await.unwrap();
    assert_eq!(
        (&pending[0]["why"], &pending[0]["address"]),
        (&json!("unknown-program"), &json!("127.0.0.1"))
    );
    assert!(pending[0]["hint"].as_str().unwrap().contains("provostctl snippet"), "{pending}");
}

/// With the program at `binary`, and no other.
fn node(binary: &std::path::Path) -> NodeConfig {
    let programs = binary.with_file_name("programs");
    NodeConfig { binary: Some(binary.to_owned()), programs, servers: Vec::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_architecture_has_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let node = node(&folder.path().join("node"));
    std::fs::create_dir_all(node.programs.join("aarch64")).unwrap();
    let programs = [program(X86_64, "0123456789"), program(AARCH64, "another")];
    std::fs::write(node.programs.join("aarch64/provost"), &programs[1].0).unwrap();
    std::fs::write(folder.path().join("node"), &programs[0].0).unwrap();
    let config = Config { node, ..crate::server::config(&folder) };
    let server = Server::start_with(folder, &config).await;
    for (program, digest) in programs {
        let answer = get(&server, &format!("/bin/{digest}/provost"), &[]);
        assert_eq!((answer.status, answer.body), (200, program));
    }
}
