//! `addsiterepo`, with the real package managers, keys and signatures.

use std::io::{Read, Write};

use provost_tests::program;

use crate::postscripts::packages::with_repositories;
use crate::postscripts::root::{Kind, Root};

const UNSIGNED: (&str, &str) = ("SITEREPO_site_KEY", "unsigned");

/// Signs apt's repository with the first of two keys.
const SIGN: &str = "set -e; cd /run/bundle
for name in site other; do
    gpg --batch --quiet --passphrase '' --quick-gen-key $name@example default default never
    gpg --armor --export $name@example >$name.asc
done
gpg --batch --quiet --pinentry-mode loopback --passphrase '' --armor --export-secret-keys site@example |
    cat site.asc - >secret.asc
(cd /srv/deb && apt-ftparchive release . >/tmp/Release && mv /tmp/Release . &&
    gpg --batch --quiet --local-user site@example --clearsign --output InRelease Release)
gpgconf --kill all";

/// `knows` tells whether the package manager knows `alpha`.
fn by(manager: &'static str, folder: &str, knows: &str) {
    let root = with_repositories();
    let manager = ("PROVOST_PACKAGE_MANAGER", manager);
    let site = ("SITEREPO_site", folder);
    root.settles("addsiterepo", &[manager, site, UNSIGNED]);
    root.sh(knows, &[]).expect(0);

    // One that nobody serves isn't left behind, where it would break all others.
    let dead = ("SITEREPO_dead", "http://127.0.0.1:9/repo");
    let env = [manager, site, UNSIGNED, dead, ("SITEREPO_dead_KEY", "unsigned")];
    for _ in 0..2 {
        root.refuses(
            "addsiterepo",
            &env,
            &["the repository dead cannot be read: http://127.0.0.1:9/repo"],
        );
    }
    let files =
        "ls /etc/apt/sources.list.d /etc/yum.repos.d /etc/zypp/repos.d 2>/dev/null | grep addsite";
    assert_eq!(root.sh(files, &[]).stdout.lines().count(), 1);

    let out = root.script("addsiterepo", &[manager]).expect(0);
    assert!(out.stdout.starts_with("changed: removed "), "{out:?}");
    assert_eq!(root.sh(files, &[]).stdout, "");
    let out = root.script("addsiterepo", &[manager]).expect(0);
    assert!(out.stdout.starts_with("skipped: no SITEREPO_ variable"), "{out:?}");
}

#[test]
fn by_apt() {
    by("apt", "/srv/deb", "apt-cache show alpha");
}

#[test]
fn by_dnf() {
    by("dnf", "/srv/rpm", "dnf -q --cacheonly list --available alpha");
}

#[test]
fn by_zypper() {
    by("zypper", "/srv/rpm", "zypper --non-interactive --no-refresh search --match-exact alpha");
}

#[test]
fn only_what_the_sites_key_has_signed_is_taken() {
    let root = with_repositories();
    root.sh(SIGN, &[]).expect(0);
    let apt = [("PROVOST_PACKAGE_MANAGER", "apt"), ("SITEREPO_site", "/srv/deb")];
    let with = |key: &'static str| [apt[0], apt[1], ("SITEREPO_site_KEY", key)];
    root.refuses("addsiterepo", &with("other.asc"), &["the repository site cannot be read"]);
    root.refuses("addsiterepo", &with("secret.asc"), &["SITEREPO_site_KEY has no public key"]);
    let out = root.settles("addsiterepo", &with("site.asc"));
    assert!(!out.stderr.contains("not verified"), "{out:?}");
    root.sh("apt-get install -y alpha", &[]).expect(0);
    let list = root.text("/etc/apt/sources.list.d/provost-addsiterepo-site.list");
    assert!(
        list.contains("\ndeb [signed-by=/etc/apt/keyrings/provost-addsiterepo-site.asc] "),
        "{list}"
    );

    for manager in ["dnf", "zypper"] {
        let rpm = [
            ("PROVOST_PACKAGE_MANAGER", manager),
            ("SITEREPO_site", "/srv/rpm"),
            ("SITEREPO_site_KEY", "site.asc"),
        ];
        root.settles("addsiterepo", &rpm);
        let folder = if manager == "dnf" { "yum.repos.d" } else { "zypp/repos.d" };
        let text = root.text(&format!("/etc/{folder}/provost-addsiterepo-site.repo"));
        assert!(text.contains("\ngpgcheck=1\n"), "{text}");
        assert!(
            text.contains("\ngpgkey=file:///etc/pki/rpm-gpg/provost-addsiterepo-site.key\n"),
            "{text}"
        );
        // Its packages aren't signed.
        let install = [("PROVOST_PACKAGE_MANAGER", manager), ("OTHERPKGS1", "alpha")];
        root.script("otherpkgs", &install).expect(1);
        root.sh("rpm -q alpha", &[]).expect(1);
    }
    // As otherpkgs writes it; apt takes no two keys for one repository.
    root.script("addsiterepo", &[apt[0]]).expect(0);
    let other = [
        apt[0],
        ("OTHERPKGS1", "beta"),
        ("OTHERPKGDIR", "/srv/deb"),
        ("OTHERPKGS_KEY", "site.asc"),
    ];
    root.settles("otherpkgs", &other);
}

#[test]
fn a_key_comes_by_its_address_if_its_digest_is_right() {
    let root = with_repositories();
    root.sh(SIGN, &[]).expect(0);
    std::fs::copy(program("provost"), root.path("/usr/bin/provost")).unwrap();
    let server = root.listener();
    let url = format!("http://{}/site.asc", server.local_addr().unwrap());
    let key = root.text("/run/bundle/site.asc");
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let length = key.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{key}"
            )
            .unwrap();
        }
    });
    let sum = root.sh("sha256sum site.asc", &[]).stdout[..64].to_owned();
    let apt = [("PROVOST_PACKAGE_MANAGER", "apt"), ("SITEREPO_site", "/srv/deb")];
    let other = format!("{url}#sha256={}", "0".repeat(64));
    root.refuses(
        "addsiterepo",
        &[apt[0], apt[1], ("SITEREPO_site_KEY", &other)],
        &["cannot get the key of site"],
    );
    let right = format!("{url}#sha256={sum}");
    root.settles("addsiterepo", &[apt[0], apt[1], ("SITEREPO_site_KEY", &right)]);
    root.sh("apt-cache show alpha", &[]).expect(0);
}

#[test]
fn what_is_no_repository_is_refused_and_nothing_is_written() {
    let root = Root::new(Kind::Chroot);
    let before = root.changes();
    for address in [
        "http://:80/repo",
        "http://10.0.0.1:http/repo",
        "ftp:///repo",
        "file://srv",
        "repo",
        "",
        "-x",
        "http://10.0.0.1/a,http://10.0.0.1/b",
        "http://10.0.0.1/\ndeb http://x/ ./",
        "$(touch /x)",
        "/not-on-this-node",
    ] {
        root.refuses("addsiterepo", &[("SITEREPO_site", address), UNSIGNED], &[]);
    }
    let site = ("SITEREPO_site", "http://10.0.0.1/repo");
    for (key, says) in [
        ("", "SITEREPO_site_KEY is not set"),
        ("none.asc", "there is no key none.asc in the bundle"),
        ("../key", "there is no key ../key in the bundle"),
        ("/etc/passwd", "there is no key /etc/passwd in the bundle"),
        ("http://10.0.0.1/key", "is not an address with its digest"),
        ("http://10.0.0.1/key#sha256=12", "is not an address with its digest"),
    ] {
        root.refuses("addsiterepo", &[site, ("SITEREPO_site_KEY", key)], &[says]);
    }
    root.refuses("addsiterepo", &[UNSIGNED], &["SITEREPO_site is not"]);
    assert_eq!(root.changes(), before);
}
