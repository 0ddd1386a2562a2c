//! The packages as a release hands them out: in signed repositories, from which real apt and dnf install them,
//! and with signed digests.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_tests::{Out, Packages, skip};
use tempfile::TempDir;

use crate::postscripts::root::{Kind, Root};

const PAGE: &str = include_str!("../../../docs/install.md");
/// Where the page has the repositories, and where they are here.
const SERVED: &str = "http://10.0.0.1/provost";
const HERE: &str = "file:///srv/repo";
const SIGNER: &str = "release@example.org";
const APT: &str = "apt-get -q -y --no-install-recommends \
    -o Dir::Etc::sourcelist=/etc/apt/provost.list -o Dir::Etc::sourceparts=-";
const DNF: &str = "dnf -y --disablerepo='*' --enablerepo=provost";

fn run(command: &mut Command) -> Out {
    Out::from(command.output().unwrap())
}

/// A package of the system that dnf finds, since it knows none of dpkg's: what our scripts ask for.
const SYSTEM: &str = "Name: system\nVersion: 1\nRelease: 1\nSummary: x\nLicense: none\nBuildArch: noarch\n\
    Provides: /bin/sh\n%description\n%files\n";
const INSTALL_SYSTEM: &str = "rpmbuild -bb --quiet --define '_topdir /tmp/system' --define '_rpmdir /tmp/system' \
    /tmp/system.spec && rpm --install --justdb --force-debian /tmp/system/noarch/system-1-1.noarch.rpm";

/// The repositories, signed with a key of [`SIGNER`], in a root's /srv/repo.
fn repositories() -> (TempDir, Root) {
    for tool in ["apt-ftparchive", "createrepo_c", "gpg"] {
        if run(Command::new("sh").args(["-c", &format!("command -v {tool}")])).code != Some(0) {
            skip(&format!("no {tool}"));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("gpg");
    fs::create_dir(&home).unwrap();
    let mut gpg = Command::new("gpg");
    gpg.env("GNUPGHOME", &home).args(["--batch", "--quiet", "--passphrase", ""]);
    run(gpg.args(["--quick-generate-key", SIGNER, "ed25519", "sign", "never"])).expect(0);
    let repo = folder.path().join("repo");
    let args = ["--repo", &repo.to_string_lossy(), "--gpg-key", SIGNER];
    Packages::make().dist(&args, ("GNUPGHOME", &home));
    // Made here, then copied: apt-ftparchive looks at the name of its working folder, and that of a folder in
    // another mount namespace is the name of another folder here, or of none.
    let root = Root::new(Kind::Chroot);
    run(Command::new("cp").arg("-r").arg(&repo).arg(root.path("/srv/repo"))).expect(0);
    (folder, root)
}

#[test]
fn apt_installs_what_the_key_has_signed_and_nothing_else() {
    let (_folder, root) = repositories();
    let line = PAGE.lines().find(|line| line.starts_with("echo 'deb ")).unwrap();
    let line = line.replace(SERVED, HERE).replace("sources.list.d/", "");
    root.sh(&format!("cp /srv/repo/provost.asc /etc/apt/keyrings && {line}"), &[]).expect(0);
    root.sh(&format!("{APT} update"), &[]).expect(0);
    root.sh(&format!("{APT} install provost provost-server"), &[]).expect(0);
    root.sh("provost --version && provostctl --version && provostd --version", &[]).expect(0);
    // Somebody else's packages under our index, and somebody else's index.
    root.sh("apt-get -q -y purge provost && apt-get clean", &[]).expect(0);
    root.sh("for deb in /srv/repo/apt/pool/main/provost_*; do printf x >>$deb; done", &[])
        .expect(0);
    let changed = root.sh(&format!("{APT} install provost"), &[]);
    assert!(changed.code != Some(0) && changed.stderr.contains("Hash Sum mismatch"), "{changed:?}");
    root.sh(
        "rm -rf /var/lib/apt/lists; sed -i s/Provost/Other/ /srv/repo/apt/dists/stable/InRelease",
        &[],
    )
    .expect(0);
    let forged = root.sh(&format!("{APT} update && {APT} install provost"), &[]);
    assert!(forged.code != Some(0), "{forged:?}");
}

#[test]
fn dnf_installs_what_the_key_has_signed_and_nothing_else() {
    let (_folder, root) = repositories();
    let source = PAGE.split_once("```ini\n").unwrap().1.split_once("```").unwrap().0;
    root.write("/etc/yum.repos.d/provost.repo", &source.replace(SERVED, HERE));
    root.write("/tmp/system.spec", SYSTEM);
    root.sh(INSTALL_SYSTEM, &[]).expect(0);
    root.sh(&format!("{DNF} install provost provost-server"), &[]).expect(0);
    root.sh("provost --version && rpm -q provost provost-server", &[]).expect(0);
    // Somebody else's package under our index, and somebody else's index.
    root.sh("rpm --erase --force-debian provost", &[]).expect(0);
    root.sh("for rpm in /srv/repo/dnf/provost-[0-9]*; do printf x >>$rpm; done", &[]).expect(0);
    let changed = root.sh(&format!("{DNF} install provost"), &[]);
    assert!(changed.code != Some(0) && changed.stderr.contains("checksum"), "{changed:?}");
    root.sh("dnf clean all; sed -i s/revision/Revision/ /srv/repo/dnf/repodata/repomd.xml", &[])
        .expect(0);
    let forged = root.sh(&format!("{DNF} install provost"), &[]);
    assert!(forged.code != Some(0) && forged.stderr.contains("signature"), "{forged:?}");
}

#[test]
fn digests_are_signed_and_each_package_has_notices_and_a_list_of_libraries() {
    let packages = Packages::make();
    let folder = tempfile::tempdir().unwrap();
    let [secret, public] = ["release.key", "release.pub"].map(|name| folder.path().join(name));
    run(Command::new("minisign").args(["-G", "-W", "-s"]).arg(&secret).arg("-p").arg(&public))
        .expect(0);
    let repo = folder.path().join("repo");
    let (repo, secret) = (repo.to_string_lossy(), secret.to_string_lossy());
    packages.dist(&["--repo", &repo, "--sign-key", &secret], ("GNUPGHOME", folder.path()));
    let sums = packages.folder().join("SHA256SUMS");
    run(Command::new("minisign").arg("-V").arg("-p").arg(&public).arg("-m").arg(&sums)).expect(0);
    let check = ["--check", "--strict", "SHA256SUMS"];
    run(Command::new("sha256sum").args(check).current_dir(packages.folder())).expect(0);
    let text = fs::read_to_string(&sums).unwrap();
    for part in ["provost_", "provost-server_", "provost-", ".deb", ".rpm", ".tar.gz"] {
        assert!(text.contains(part), "{text}");
    }
    for name in ["provost", "provost-server"] {
        let doc = folder.path().join(name);
        unpack(packages.folder(), name, &doc);
        let doc = doc.join("usr/share/doc").join(name);
        let notices = fs::read_to_string(doc.join("THIRD-PARTY-NOTICES.txt")).unwrap();
        assert!(notices.contains("\nrustls "), "{name}");
        let sbom = fs::read_to_string(doc.join(format!("{name}.cdx.json"))).unwrap();
        let sbom: serde_json::Value = serde_json::from_str(&sbom).unwrap();
        assert_eq!(
            (&sbom["bomFormat"], &sbom["specVersion"]),
            (&"CycloneDX".into(), &"1.5".into())
        );
        let components = sbom["components"].as_array().unwrap();
        let has = |library: &str| components.iter().any(|one| one["name"] == library);
        assert!(has("rustls") && !has("proptest"), "{name}");
        assert_eq!(has("rusqlite"), name == "provost-server", "{name}");
    }
}

#[test]
fn each_link_of_the_packaged_pages_leads_to_a_file() {
    let packages = Packages::make();
    let folder = tempfile::tempdir().unwrap();
    unpack(packages.folder(), "provost-server", folder.path());
    let doc = folder.path().join("usr/share/doc/provost-server");
    let mut left = vec![doc];
    let (mut count, mut broken) = (0, Vec::new());
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).unwrap();
            let links = text.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap());
            for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
                count += 1;
                let target = match link.strip_prefix('/') {
                    Some(absolute) => folder.path().join(absolute),
                    None => path.parent().unwrap().join(link),
                };
                if !target.exists() {
                    broken.push(format!("{}: {link}", path.display()));
                }
            }
        }
    }
    assert!(count > 100, "{count} links were found");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Unpacks a tar ball, as an admin without a package manager does.
fn unpack(packages: &Path, name: &str, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let is_it = |file: &str| {
        let rest = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with(".tar.gz")
        })
    };
    let mut files = fs::read_dir(packages).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| is_it(&path.file_name().unwrap().to_string_lossy())).unwrap();
    run(Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(to)).expect(0);
}
