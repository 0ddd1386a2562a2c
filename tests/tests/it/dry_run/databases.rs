//! What a dry run says besides files: packages, users, groups, and what a file has besides its content.

use provost_tests::{missing, skip_part};

use super::super::json_page::page::Page;
use super::outer::Outer;

/// Does what `apt-get install`, `dnf install` and `useradd` do to these files.
const INSTALLS: &str = r"printf 'Package: chrony\nStatus: install ok installed\nArchitecture: amd64\nVersion: 4.3-2\n\n' \
    >>/var/lib/dpkg/status
echo 'slurm.x86_64 23.11-1' >>/var/lib/rpm/list
sed -i '/^munge/d' /var/lib/rpm/list
echo 'slurm:x:64030:64030::/var/lib/slurm:/bin/false' >>/etc/passwd
echo 'slurm:x:64030:' >>/etc/group";

/// A machine with a package by dpkg and two by rpm, which is a script that prints its database.
fn outer() -> Outer {
    let outer = Outer::new();
    let make = r"mkdir -p /var/lib/rpm /var/lib/dpkg
        touch -a /var/lib/dpkg/status; echo >>/var/lib/dpkg/status
        printf 'bash.x86_64 5.1-1\nmunge.x86_64 0.5-1\n' >/var/lib/rpm/list
        printf '#!/bin/sh\ncat /var/lib/rpm/list\n' >/usr/local/bin/rpm
        chmod 755 /usr/local/bin/rpm";
    outer.sh(make).expect(0);
    outer
}

#[test]
fn packages_users_and_groups_are_named() {
    let outer = outer();
    let out = outer.script("installs", INSTALLS).attempt("installs", &[]).expect(0);
    let shown = "made package chrony:amd64 4.3-2
made user slurm 64030:64030::/var/lib/slurm:/bin/false
made group slurm 64030:
made package slurm.x86_64 23.11-1
removed package munge.x86_64 0.5-1
";
    assert!(out.stdout.ends_with(shown), "{}", out.stdout);
    let json = outer.attempt("installs", &["--format", "json"]).expect(0).json();
    Page::read().check("a-dry-run", &json);
    let databases = json["databases"].as_array().unwrap();
    assert_eq!(databases.len(), 5, "{databases:?}");
    assert_eq!(
        (&databases[0]["kind"], &databases[0]["after"]),
        (&"package".into(), &"4.3-2".into())
    );
    let out = outer.script("nothing", "rpm -qa; cat /etc/passwd >/dev/null");
    let out = out.attempt("nothing", &[]).expect(0);
    assert!(out.stdout.ends_with("nothing would change\n"), "{}", out.stdout);
}

#[test]
fn attributes_of_a_file_are_a_change() {
    if let Some(missing) = missing::program("setcap", "libcap2-bin") {
        return skip_part(&missing);
    }
    let outer = Outer::new();
    outer.script("capable", "setcap cap_net_raw+ep /marker/conf");
    let out = outer.attempt("capable", &[]).expect(0);
    assert!(
        out.stdout.ends_with("changed /marker/conf: attribute security.capability\n"),
        "{out:?}"
    );
    let json = outer.attempt("capable", &["--format", "json"]).expect(0).json();
    assert_eq!(json["changes"][0]["attributes"][0], "security.capability");
}

/// A package with a file, of a release.
const SPEC: &str = "Name: tiny\nVersion: 1.2\nRelease: RELEASE\nSummary: tiny\nLicense: none\nBuildArch: noarch\n\
    %description\ntiny\n%install\nmkdir -p %{buildroot}/opt\necho RELEASE >%{buildroot}/opt/tiny\n%files\n/opt/tiny\n";
/// Debian's rpm keeps its database elsewhere, and wants to be asked twice.
const RPM: &str = "mkdir -p /etc/rpm; echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros";

#[test]
fn rpm_itself_says_what_it_would_install_also_in_another_root() {
    if let Some(missing) = missing::program("rpmbuild", "rpm") {
        return skip_part(&missing);
    }
    let outer = Outer::new();
    let folder = outer.path("scripts").display().to_string();
    for release in ["1", "2"] {
        std::fs::write(outer.path("tiny.spec"), SPEC.replace("RELEASE", release)).unwrap();
        let build = format!(
            "cd {folder}/..; rpmbuild -bb --quiet --define \"_topdir $PWD/top\" tiny.spec && \
             mv top/RPMS/noarch/tiny-*.rpm {folder}/tiny{release}.rpm"
        );
        outer.sh(&build).expect(0);
    }
    let image = outer.path("image").display().to_string();
    let install = "rpm -i --force-debian --nodeps";
    let make = format!(
        "{RPM}; rm -rf /var/lib/rpm/*; rpm --initdb; mkdir -p {image}; rpm --root {image} --initdb; \
         {install} --root {image} {folder}/tiny1.rpm"
    );
    outer.sh(&make).expect(0);

    outer.script("installs", &format!("{install} \"${{0%/*}}/tiny1.rpm\""));
    let out = outer.attempt("installs", &[]).expect(0);
    assert!(out.stdout.contains("made /opt/tiny: mode 0644\n"), "{out:?}");
    assert!(out.stdout.ends_with("made package tiny.noarch 1.2-1\n"), "{out:?}");

    let upgrade = install.replace("-i", "-U");
    outer
        .script("upgrades", &format!("{upgrade} --root \"$PROVOST_ROOT\" \"${{0%/*}}/tiny2.rpm\""));
    let out = outer.attempt("upgrades", &["--root", &image]).expect(0);
    assert!(out.stdout.ends_with("changed package tiny.noarch 1.2-1 -> 1.2-2\n"), "{out:?}");
    let list = outer.sh(&format!("rpm -q tiny; rpm --root {image} -q tiny")).stdout;
    assert_eq!(list, "package tiny is not installed\ntiny-1.2-1.noarch\n");
}

#[test]
fn a_label_of_selinux_is_a_change() {
    let outer = Outer::new();
    // As on a system that has it: no program can do that in a sandbox of one that hasn't.
    let label = |path: &str, kind: &str| {
        format!("os.setxattr('{path}', 'security.selinux', b'system_u:object_r:{kind}:s0\\0')")
    };
    let make = format!(
        "echo new >/marker/new; python3 -c \"import os; {}; {}\"",
        label("/marker/conf", "etc_t"),
        label("/marker/new", "user_tmp_t")
    );
    outer.sh(&make).expect(0);
    outer.script("moves", "mv /marker/new /marker/conf");
    let out = outer.attempt("moves", &[]).expect(0);
    let shown = "changed /marker/conf: \
        label system_u:object_r:etc_t:s0 -> system_u:object_r:user_tmp_t:s0\n";
    assert!(out.stdout.contains(shown), "{out:?}");
    let json = outer.attempt("moves", &["--format", "json"]).expect(0).json();
    Page::read().check("a-dry-run", &json);
    let change = &json["changes"][0];
    assert_eq!(change["before"]["label"], "system_u:object_r:etc_t:s0");
    assert_eq!(change["attributes"][0], "security.selinux");
}
