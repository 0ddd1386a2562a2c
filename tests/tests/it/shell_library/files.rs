//! Functions that write files.

use std::fs;
use std::path::Path;

use super::{HOSTILE, Place, shells_and_awks};

#[test]
fn files_are_written_only_if_different() {
    for (shell, awk) in shells_and_awks() {
        let twice = |script: &str, name: &str, want: &str| {
            let place = Place::new().with_awk(awk);
            let first = place.run(shell, script);
            assert_eq!(first.status, 0, "{shell:?}: {script}: {}", first.err);
            assert!(first.out.starts_with("changed: "), "{shell:?}: {script}: {}", first.out);
            assert_eq!(place.read(name), want, "{shell:?}: {script}");
            let inode = |p: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(p).unwrap());
            let before = inode(&place.path(name));
            let second = place.run(shell, &format!("{script}; if changes; then info CHANGED; fi"));
            assert_eq!(second.out, "", "{shell:?}: {script}");
            assert_eq!(inode(&place.path(name)), before, "{shell:?}: {script}");
        };
        twice("printf 'a\\nb' | file_write x", "x", "a\nb");
        twice(
            "printf '%s\\n' \"$HOSTILE\" | file_write new/er/x 0600",
            "new/er/x",
            &format!("{HOSTILE}\n"),
        );
        twice("echo a | file_write -x", "-x", "a\n");
        twice("echo a | file_write 'a  b\n*'", "a  b\n*", "a\n");
        twice("file_line x \"$HOSTILE\"", "x", &format!("{HOSTILE}\n"));
        twice("file_line ./-x -n", "-x", "-n\n");
        twice(
            "printf 'one\\ntwo\\n' | file_block x \"$HOSTILE\"",
            "x",
            &format!("# begin {HOSTILE}\none\ntwo\n# end {HOSTILE}\n"),
        );
        twice(
            "file_set x KEY \"$HOSTILE\"",
            "x",
            "KEY=\"-n a  b'c\\\"d \\$(touch pwned) \\`touch pwned\\` * \\\\n\\\\ ;&|<>\"\n",
        );
        twice("ini_set x 'a b' k \"$HOSTILE\"", "x", &format!("[a b]\nk={HOSTILE}\n"));
        twice("echo t >target; link_to target x", "x", "t\n");
    }
}

#[test]
fn files_keep_what_is_not_meant() {
    for (shell, awk) in shells_and_awks() {
        let edit = |before: &str, script: &str, after: &str| {
            let place = Place::new().with_awk(awk);
            fs::write(place.path("x"), before).unwrap();
            let said = place.run(shell, script);
            assert_eq!(
                (said.status, place.read("x")),
                (0, after.to_owned()),
                "{shell:?}: {script}: {}",
                said.err
            );
        };
        edit("a\nb", "file_line x c", "a\nb\nc\n");
        edit(
            "a\n# begin n\nold\n# end n\nb\n",
            "echo new | file_block x n",
            "a\n# begin n\nnew\n# end n\nb\n",
        );
        edit("a\n# begin n\nold\n# end n\nb\n", "file_unblock x n", "a\nb\n");
        edit(
            "#K=1\nK=2\nexport K='3 4'\nL=\"5\"\n",
            "file_set x K 6; file_set x L 'it is'",
            "#K=1\nK=2\nexport K='6'\nL=\"it is\"\n",
        );
        edit("net.a = 1\n", "file_set x net.a '2 3'", "net.a = 2 3\n");
        edit(
            "top=0\n[a]\nk=1\n\n[b]\nk = 2\n",
            "ini_set x b k 3; ini_set x a l 4; ini_set x '' top 5; ini_set x c m 6",
            "top=5\n[a]\nk=1\nl=4\n\n[b]\nk = 3\n\n[c]\nm=6\n",
        );
    }
}

#[test]
fn modes_and_links() {
    for (shell, awk) in shells_and_awks() {
        let place = Place::new().with_awk(awk);
        fs::write(place.path("target"), "t").unwrap();
        let mode = |name: &str| {
            let mode = fs::metadata(place.path(name)).unwrap().permissions();
            std::os::unix::fs::PermissionsExt::mode(&mode) & 0o7777
        };
        place.run(shell, "umask 077; echo a | file_write x; echo a | file_write y 0751");
        assert_eq!((mode("x"), mode("y")), (0o644, 0o751), "{shell:?}");
        place.run(shell, "echo b | file_write y");
        assert_eq!(mode("y"), 0o751, "{shell:?}: an old mode stays");
        let said = place.run(shell, "echo b | file_write y 640");
        assert_eq!((mode("y"), said.out.as_str()), (0o640, "changed: wrote y\n"), "{shell:?}");
        let said = place.run(shell, "link_to target l; echo new | file_write l");
        assert_eq!(
            (said.status, place.read("target")),
            (0, "t".to_owned()),
            "{shell:?}: through the link"
        );
        assert_eq!(place.read("l"), "new\n");
        let said = place.run(shell, "mkdir -p d; echo new | file_write d");
        assert_eq!(said.status, 1, "{shell:?}");
        assert!(said.err.contains("hint: "), "{shell:?}: {}", said.err);
        let said = place.run(shell, "echo x | file_write x rwx");
        assert_eq!(said.status, 2, "{shell:?}");
        place.run(shell, "file_backup x; echo c | file_write x; file_backup x; file_remove y");
        assert_eq!(place.read("x.provost-orig"), "a\n", "{shell:?}");
        assert!(!place.path("y").exists(), "{shell:?}");
    }
}

#[test]
fn a_failure_leaves_the_old_file() {
    for (shell, awk) in shells_and_awks() {
        let place = Place::new().with_awk(awk);
        fs::write(place.path("x"), "old\n").unwrap();
        let script = "ulimit -f 1; trap '' XFSZ; head -c 100000 /dev/zero | file_write x";
        let said = place.run(shell, script);
        assert_eq!(
            (said.status, place.read("x")),
            (1, "old\n".to_owned()),
            "{shell:?}: {}",
            said.err
        );
        assert!(
            said.err.contains("provost.sh: file_write: cannot write"),
            "{shell:?}: {}",
            said.err
        );
        assert!(said.err.trim_end().lines().last().unwrap().starts_with("hint: "), "{shell:?}");
    }
}
