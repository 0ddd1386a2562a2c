//! `otherpkgs` and `ospkgs`, with the real package managers and small repositories.

use crate::postscripts::root::{Kind, Root};

/// Repositories of empty packages under /srv: `alpha` and `beta`, and `gamma` in a subfolder.
const REPOSITORIES: &str = r#"set -e
# Debian's rpm has its database in the home of who calls it; zypper looks where others have it.
mkdir -p /etc/rpm
echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros
cd /srv
echo '<comps><group><id>tools</id><name>Tools</name><packagelist>
<packagereq type="mandatory">alpha</packagereq></packagelist></group></comps>' >groups.xml
for name in alpha beta sub/gamma; do
    mkdir -p deb/$(dirname $name) rpm/$(dirname $name)
    rpm=${name##*/}
    mkdir -p /tmp/$rpm/DEBIAN
    printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nProvides: x-%s\nMaintainer: a <a@b.c>\nDescription: x\n' $rpm $rpm >/tmp/$rpm/DEBIAN/control
    dpkg-deb --build /tmp/$rpm deb/$name.deb >/dev/null
    printf 'Name: %s\nVersion: 1.0\nRelease: 1\nSummary: x\nLicense: none\nBuildArch: noarch\n%%description\n%%files\n' $rpm >/tmp/$rpm.spec
    rpmbuild -bb --quiet --define '_topdir /tmp/rpmbuild' --define '_rpmdir /tmp/rpms' --define '_build_name_fmt %%{NAME}.rpm' /tmp/$rpm.spec
    cp /tmp/rpms/$rpm.rpm rpm/$name.rpm
done
for folder in . sub; do
    (cd deb/$folder && apt-ftparchive packages . >Packages)
    (cd rpm/$folder && createrepo_c --quiet --groupfile /srv/groups.xml .)
done
rm -f /etc/apt/sources.list"#;

pub(super) fn with_repositories() -> Root {
    let root = Root::new(Kind::Chroot);
    root.sh(REPOSITORIES, &[]).expect(0);
    root
}

/// `installed` prints the state of a package.
fn all_of_it(root: &Root, manager: &str, repository: &str, installed: &str) {
    let manager = ("PROVOST_PACKAGE_MANAGER", manager);
    let place = ("OTHERPKGDIR", repository);
    let is = |name: &str| root.sh(&format!("{installed} {name}"), &[]).code == Some(0);

    let out = root.settles("otherpkgs", &[manager, place, ("OTHERPKGS1", "alpha,sub/gamma")]);
    assert!(is("alpha") && is("gamma") && !is("beta"), "{out:?}");
    out.says(&["no key is given"]);

    // Two lists, the second of which removes what the first run has installed.
    let lists = [manager, place, ("OTHERPKGS1", "beta"), ("OTHERPKGS2", "-alpha")];
    root.settles("otherpkgs", &lists);
    assert!(is("beta") && !is("alpha"));

    root.refuses("otherpkgs", &[manager, place, ("OTHERPKGS1", "nosuch")], &["nosuch"]);
    root.settles("ospkgs", &[manager, ("OSPKGDIR", repository), ("OSPKGS", "alpha")]);
    assert!(is("alpha"));
}

/// What isn't a package's own name is installed once, and nothing is said to be changed after that.
fn settles_by(root: &Root, manager: &str, repository: &str, name: &str) {
    let env = [("PROVOST_PACKAGE_MANAGER", manager), ("OTHERPKGDIR", repository)];
    let env = [&env[..], &[("OTHERPKGS1", name)]].concat();
    let first = root.script("otherpkgs", &env).expect(0);
    assert!(first.stdout.contains("changed: installed "), "{first:?}");
    let again = root.script("otherpkgs", &env).expect(0);
    assert!(!again.stdout.contains("changed: "), "{again:?}");
}

#[test]
fn by_apt() {
    let root = with_repositories();
    let installed = "dpkg-query -W -f='${db:Status-Status}' ";
    let installed = format!("f() {{ [ \"$({installed} $1)\" = installed ]; }}; f");
    settles_by(&root, "apt", "/srv/deb", "x-beta");
    root.sh("dpkg --purge beta", &[]).expect(0);
    all_of_it(&root, "apt", "/srv/deb", &installed);
}

/// Defines `make VERSION FOLDER`, which makes `munge` of that version the only package of /srv/FOLDER; serves
/// /srv on port 8000; and has apt's lists of a system that has munge 0.5.15.
const SERVED: &str = r#"set -e
cat >/usr/local/bin/make <<'END'
#!/bin/sh
set -e
mkdir -p /tmp/p/DEBIAN /srv/$2
rm -f /srv/$2/*
printf 'Package: munge\nVersion: %s\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n' $1 >/tmp/p/DEBIAN/control
dpkg-deb --build /tmp/p /srv/$2/munge_$1_all.deb >/dev/null
cd /srv/$2
apt-ftparchive packages . >Packages
END
chmod +x /usr/local/bin/make
export PATH=$PATH:/usr/local/bin
make 0.5.15 system
make 99.0 site
(cd /srv && exec python3 -m http.server 8000 --bind 127.0.0.1) >/run/http.log 2>&1 &
for try in $(seq 100); do
    ! (: </dev/tcp/127.0.0.1/8000) 2>/dev/null || break
    sleep 0.1
done
rm -f /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] http://127.0.0.1:8000/system ./' >/etc/apt/sources.list
apt-get -q update >/dev/null"#;

#[test]
fn a_sites_package_is_newer_than_the_lists_of_the_image() {
    let root = Root::new(Kind::Chroot);
    root.sh(SERVED, &[]).expect(0);
    let version = || root.sh("dpkg-query -W -f='${Version}' munge", &[]).stdout;
    let munge = ("OTHERPKGS1", "munge");
    let none = [munge, ("OTHERPKGDIR", "http://127.0.0.1:8000/none")];
    root.refuses("otherpkgs", &none, &["apt cannot install munge"]);
    assert_eq!(version(), "", "it is the system's");
    root.settles("otherpkgs", &[munge, ("OTHERPKGDIR", "http://127.0.0.1:8000/site")]);
    assert_eq!(version(), "99.0");
}

#[test]
fn lists_that_are_older_than_their_repository_are_updated() {
    let root = Root::new(Kind::Chroot);
    root.sh(SERVED, &[]).expect(0);
    // Within one second apt would be told that nothing is modified.
    let newer = "/usr/local/bin/make 0.5.16 system && touch -d '1 minute' /srv/system/Packages";
    root.sh(newer, &[]).expect(0);
    let out = root.script("ospkgs", &[("OSPKGS", "munge")]).expect(0);
    assert!(out.stdout.contains("404"), "{out:?}");
    assert_eq!(root.sh("dpkg-query -W -f='${Version}' munge", &[]).stdout, "0.5.16");
}

#[test]
fn by_dnf() {
    let root = with_repositories();
    settles_by(&root, "dnf", "/srv/rpm", "@tools");
    root.sh("rpm -e alpha", &[]).expect(0);
    all_of_it(&root, "dnf", "/srv/rpm", "rpm -q");
}

#[test]
fn by_zypper() {
    let root = with_repositories();
    all_of_it(&root, "zypper", "/srv/rpm", "rpm -q");
}

#[test]
fn nothing_is_installed_where_the_image_has_it_or_nobody_wants_it() {
    let root = Root::new(Kind::Chroot);
    for env in [
        &[("OTHERPKGS1", "nosuch"), ("NODESETSTATE", "netboot")][..],
        &[("OSPKGS", "nosuch"), ("NODESETSTATE", "statelite")],
        &[],
    ] {
        for script in ["otherpkgs", "ospkgs"] {
            let wants = env.is_empty()
                || env[0].0.starts_with(if script == "ospkgs" { "OS" } else { "OTHER" });
            if wants {
                let out = root.script(script, env).expect(0);
                assert!(out.stdout.starts_with("skipped: "), "{out:?}");
            }
        }
    }
    let env = [("OTHERPKGS1", "a"), ("OTHERPKGDIR", "http://x/\nevil")];
    root.refuses("otherpkgs", &env, &["not the address of a repository"]);
    root.refuses("otherpkgs", &[("OTHERPKGS1", "../x/a")], &["invalid package name"]);
    let key = [("OTHERPKGS1", "a"), ("OTHERPKGDIR", "file:///srv"), ("OTHERPKGS_KEY", "../key")];
    root.refuses("otherpkgs", &key, &["there is no key"]);
}
