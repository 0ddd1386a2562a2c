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
