//! `xcatlib.sh`: what scripts that source xCAT's library find in its place.

use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::Out;
use tempfile::TempDir;

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lib-sh").canonicalize().unwrap()
}

/// What `script` says, run in `folder`, where it finds the library as `sourced`.
fn says(folder: &Path, sourced: &str, script: &str) -> Out {
    let file = folder.join("script");
    std::fs::write(&file, format!("#!/bin/bash\n. {sourced}\n{script}\n")).unwrap();
    let mut command = Command::new("bash");
    command.arg(file).current_dir(folder).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.output().unwrap().into()
}

#[track_caller]
fn check(cases: &[(&str, i32, &str)]) {
    let folder = TempDir::new().unwrap();
    let library = library().join("xcatlib.sh");
    for (script, code, stdout) in cases {
        let out = says(folder.path(), &library.display().to_string(), script);
        assert_eq!((out.code, out.stdout.as_str()), (Some(*code), *stdout), "{script}: {out:?}");
        assert!(!folder.path().join("pwned").exists(), "{script}");
    }
}

#[test]
fn networks_are_computed() {
    check(&[
        ("v4mask2prefix 255.255.0.0", 0, "16\n"),
        ("v4mask2prefix 255.0.255.0", 2, ""),
        ("v4prefix2mask 22", 0, "255.255.252.0\n"),
        ("v4prefix2mask 33", 2, ""),
        ("v4calcnet 10.1.2.3 255.255.0.0", 0, "10.1.0.0\n"),
        ("v4calcbcase 10.1.2.3 255.255.0.0", 0, "10.1.255.255\n"),
        ("v4calcbcase 10.1.2.3 24", 0, "10.1.2.255\n"),
        ("v6expand fd00::1", 0, "fd00:0000:0000:0000:0000:0000:0000:0001\n"),
        ("v6expand fd00::1::2", 2, ""),
        ("v6prefix2mask 64", 0, "ffff:ffff:ffff:ffff::\n"),
        ("v6calcnet fd00:1:2::5 64", 0, "fd00:1:2::\n"),
    ]);
}

#[test]
fn what_is_kept_under_a_key_is_text() {
    check(&[
        ("hashset mtu eth0 9000; hashset mtu eth1 1500; hashget mtu eth0", 0, "9000\n"),
        ("hashget mtu eth0", 1, ""),
        (
            "set -eu; hashset h 'a]$(touch pwned)' '`touch pwned` b'; hashget h 'a]$(touch pwned)'",
            0,
            "`touch pwned` b\n",
        ),
        ("f() { hashset h k v; }; f; hashget h k", 0, "v\n"),
        (
            "get_nic_extra_params eth1 'eth0!MTU=9000,eth1!MTU=1500 DELAY=1|X=2'
          printf '%s;' \"${array_nic_params[@]}\" \"${array_extra_param_names[@]}\" \
            \"${array_extra_param_values[@]}\"",
            0,
            "MTU=1500 DELAY=1;X=2;MTU;DELAY;1500;1;",
        ),
        (
            "set -eu; get_nic_extra_params eth9 'eth0!MTU=9000'; echo ${#array_extra_param_names[@]}",
            0,
            "0\n",
        ),
        (
            "set -eu; get_nic_extra_params eth0 'eth0!* $(touch pwned)'
          printf '%s;' \"${array_extra_param_names[@]}\"",
            0,
            "*;$(touch;pwned);",
        ),
    ]);
}

#[test]
fn messages_are_added_to_a_file() {
    check(&[(
        "set -eu; msgutil_r '' error 'no $(touch pwned) disk' log/x.log tag; cut -d[ -f2- log/x.log",
        0,
        "error]: tag: no $(touch pwned) disk\n",
    )]);
}

#[test]
fn it_is_found_as_scripts_look_for_xcats() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink(library().join("xcatlib.sh"), folder.path().join("xcatlib.sh"))
        .unwrap();
    for sourced in ["$(dirname \"$0\")/xcatlib.sh", "./xcatlib.sh", "xcatlib.sh"] {
        let out = says(folder.path(), sourced, "v4prefix2mask 8").expect(0);
        assert_eq!(out.stdout, "255.0.0.0\n", "{sourced}: {out:?}");
    }
}
