//! What other programs make of the listener, and who may read the authority's key.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use provost_tests::Out;
use provost_tests::xcat::Authority;

use crate::tls::cluster;

fn run(program: &str, args: &[&str]) -> Out {
    Command::new(program).args(args).stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn curl_and_openssl_reach_it_by_the_shown_certificate_and_not_without() {
    let cluster = cluster();
    let shown = cluster.daemon_command(&["ca", "show"]).expect(0).stdout;
    let ca = cluster.path("ca.pem");
    std::fs::write(&ca, &shown).unwrap();
    assert!(shown.contains(&format!("--tls {}\n", cluster.tls())), "{shown}");
    let (ca, at) = (ca.to_str().unwrap(), cluster.daemon().address("nodesTls"));
    let (_, port) = at.rsplit_once(':').unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("https://{host}:{port}/manifest.toml");
        let manifest = run("curl", &["-sS", "--cacert", ca, &url]).expect(0).stdout;
        assert!(manifest.starts_with("format = 1\n"), "{manifest}");
        run("curl", &["-sS", &url]).expect(60);
    }
    let refused = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", ca];
    let plan = format!("https://127.0.0.1:{port}/plans/cn001.toml");
    assert_eq!(run("curl", &[&refused[..], &[&plan]].concat()).expect(0).stdout, "401");
    let client = ["s_client", "-connect", &at, "-CAfile", ca, "-verify_return_error"];
    let name = |name| [&client[..], &["-verify_hostname", name]].concat();
    let said = run("openssl", &name("provostd")).expect(0).stdout;
    assert!(said.contains("Verify return code: 0 (ok)") && said.contains("TLSv1.3"), "{said}");
    run("openssl", &name("cn002.example")).expect(1);
    run("openssl", &[&client[..], &["-tls1_1"]].concat()).expect(1);
}

#[test]
fn the_authority_is_made_once_and_its_key_is_private() {
    let mut cluster = cluster();
    let (line, key) = (cluster.tls(), cluster.path("provostd/ca/authority.key"));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&key), mode(key.parent().unwrap())), (0o600, 0o700));
    cluster.start();
    assert_eq!(cluster.tls(), line);
    // A crash after the key and before the certificate.
    std::fs::remove_file(cluster.path("provostd/ca/authority.pem")).unwrap();
    cluster.start();
    assert_eq!(cluster.tls(), line);
    let at = cluster.kill_daemon();
    std::fs::write(&key, "no key").unwrap();
    let refused = cluster.daemon_command(&[]).expect(1).stderr;
    assert!(refused.contains("authority.key") && refused.contains("hint: restore"), "{refused}");
    std::fs::remove_file(&key).unwrap();
    cluster.start_at(&at);
    assert_ne!(cluster.tls(), line);
}

#[test]
fn it_can_be_the_sites_own_certificate_or_off() {
    let mut cluster = cluster();
    let own = cluster.tls();
    let authority = Authority::new(&cluster.path("site-ca"));
    let (cert, key) = authority.issue("mn", "DNS:mn.example", "20250101000000Z");
    cluster.configure_daemon(&format!(
        "[tls]\nlisten = \"127.0.0.1:0\"\ncert = {cert:?}\nkey = {key:?}\n"
    ));
    cluster.start();
    assert_ne!(cluster.tls().rsplit_once(':').unwrap().1, own.rsplit_once(':').unwrap().1);
    let (ca, at) = (authority.certificate(), cluster.daemon().address("nodesTls"));
    let args = ["s_client", "-connect", &at, "-verify_return_error", "-CAfile"];
    let args = [&args[..], &[ca.to_str().unwrap(), "-verify_hostname", "mn.example"]].concat();
    run("openssl", &args).expect(0);
    cluster.configure_daemon("[tls]\noff = true\n");
    cluster.start();
    let shown = cluster.daemon_command(&["ca", "show"]).expect(1).stderr;
    assert!(shown.contains("`off = true`"), "{shown}");
    let listen = std::fs::read_to_string(cluster.path("provostd/listen.json")).unwrap();
    assert!(!listen.contains("nodesTls"), "{listen}");
}
