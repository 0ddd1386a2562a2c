//! Where commands can't be traced.

use std::process::Command;

use provost_exec::Trace;
use provost_tests::{missing, skip_if};

use crate::trace::{Bench, needs_compiler};

/// Runs the test with this name, which is the caller, again in a process that `wrap` starts. Returns whether this
/// is that process.
fn again(test: &str, wrap: &[&str]) -> bool {
    if std::env::var_os("PROVOST_TEST_AGAIN").is_some() {
        return true;
    }
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new(wrap[0]);
    command.args(&wrap[1..]).arg(exe).args(["--exact", test, "--nocapture"]);
    let output = command.env("PROVOST_TEST_AGAIN", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(" 1 passed"), "{said}");
    false
}

#[track_caller]
fn goes_on_without(why: &str) {
    let bench = Bench::new();
    let ran = bench.run(Trace::Commands, "#!/bin/sh\n/bin/echo one\nexit 7\n");
    let lines = ran.lines();
    assert_eq!(lines[1..], ["stdout F one"], "{lines:?}");
    let expected = format!("trace F commands aren't traced: {why}");
    assert!(lines[0].starts_with(&expected), "{lines:?}");
    assert_eq!(ran.seen().0, "7");
    assert!(provost_exec::can_trace().unwrap_err().to_string().starts_with(why));
}

#[test]
fn without_the_right_to() {
    let drop = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"];
    skip_if(missing::root("give up a capability"));
    if again("trace::refused::without_the_right_to", &drop) {
        goes_on_without("this takes root and CAP_SYS_PTRACE");
    }
}

/// As a container's seccomp filter refuses it.
#[test]
fn where_a_filter_refuses_it() {
    needs_compiler();
    let bench = Bench::new();
    let source = r#"
        #include <errno.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <stddef.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(int count, char **words) {
            struct sock_filter rules[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog program = {4, rules};
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
            execv(words[1], words + 1);
            return 1;
        }"#;
    if std::env::var_os("PROVOST_TEST_AGAIN").is_none() {
        bench.compile(source);
    }
    let program = bench.path().join("program");
    if again("trace::refused::where_a_filter_refuses_it", &[program.to_str().unwrap()]) {
        drop(bench);
        goes_on_without("ptrace(2) is refused: Operation not permitted");
    }
}

#[test]
fn here_it_can_be_had() {
    skip_if(missing::other_users());
    assert_eq!(provost_exec::can_trace(), Ok(()));
}
