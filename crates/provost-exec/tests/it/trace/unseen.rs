//! That scripts can't tell: each runs traced and untraced, and ends and prints the same.

use provost_exec::Trace;
use provost_tests::{missing, skip_if, skip_part};

use crate::trace::{Bench, Ran, needs_compiler};

/// Runs `script` both ways. Returns the traced run.
#[track_caller]
fn same(script: &str) -> Ran {
    let bench = Bench::new();
    let plain = bench.run(Trace::Off, script);
    let traced = bench.run(Trace::Commands, script);
    assert_eq!(traced.seen(), plain.seen(), "{script}\n{}", traced.log);
    assert!(!traced.log.contains(" trace F commands"), "{}", traced.log);
    traced
}

/// The same of a C program that the script runs.
#[track_caller]
fn same_program(source: &str, script: &str) -> Ran {
    needs_compiler();
    let bench = Bench::new();
    bench.compile(source);
    bench.write("script", &format!("#!/bin/sh\n{script}\n"));
    let plain = bench.run_file(Trace::Off);
    let traced = bench.run_file(Trace::Commands);
    assert_eq!(traced.seen(), plain.seen(), "{}", traced.log);
    traced
}

#[test]
fn exit_statuses_and_signals() {
    for end in ["exit 0", "exit 7", "exit 255", "false", "kill -9 $$", "kill -TERM $$", "/nowhere"]
    {
        same(&format!("#!/bin/bash\necho a\n{end}\n"));
    }
    let ran = same(
        "#!/bin/bash\nfor s in TERM KILL SEGV USR1 PIPE; do bash -c \"kill -$s \\$\\$\"; echo $?; done\n",
    );
    for signal in ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGUSR1", "SIGPIPE"] {
        assert!(ran.lines().contains(&format!("exit {signal}")), "{}", ran.log);
    }
}

#[test]
fn traps_and_signals_between_processes() {
    same(
        "#!/bin/bash\ntrap 'echo usr1' USR1\ntrap 'echo exit' EXIT\n(kill -USR1 $$)\n\
         sleep 1000 &\n\
         until read -r c </proc/$!/comm && [ $c = sleep ]; do :; done\n\
         kill $!; wait $!; echo $?\ntrap '' INT; bash -c 'kill -INT $$; echo lives'\n",
    );
}

#[test]
fn job_control() {
    same(
        "#!/bin/bash\nset -m\nsleep 1000 &\np=$!\nkill -STOP $p\n\
         until jobs | grep -q Stopped; do :; done\n\
         jobs | tr -s ' ' | cut -d' ' -f2\nkill -CONT $p\n\
         until grep -q '^State:.S' /proc/$p/status; do :; done\njobs | tr -s ' ' | cut -d' ' -f2\n\
         kill $p; wait $p; echo $?\n",
    );
    // A parent that waits for stops, too.
    same(
        "#!/usr/bin/perl\nuse POSIX ':sys_wait_h';\n$| = 1;\nmy $p = fork;\n\
         if (!$p) { kill 'STOP', $$; print \"on\\n\"; exit 5 }\nwaitpid $p, WUNTRACED;\n\
         print WIFSTOPPED($?) ? 'stopped ' . WSTOPSIG($?) : 'no', \"\\n\";\nkill 'CONT', $p;\n\
         waitpid $p, 0;\nprint $? >> 8, \"\\n\";\n",
    );
}

#[test]
fn time_outs() {
    same(
        "#!/bin/bash\ntimeout 0.2 sleep 1000; echo $?\ntimeout -s KILL 0.2 sleep 1000; echo $?\n\
         timeout 20 true; echo $?\ntimeout --foreground 0.2 bash -c 'trap \"echo t; exit 3\" TERM; \
         while :; do sleep 0.01; done'; echo $?\n",
    );
}

#[test]
fn background_jobs_pipelines_and_locks() {
    same(
        "#!/bin/bash\nfor i in 1 2 3 4 5 6 7 8; do (sleep 0.0$i; exit $i) & jobs+=($!); done\n\
         for p in ${jobs[@]}; do wait $p; echo $?; done\n\
         yes | head -n 3; echo ${PIPESTATUS[@]}\n\
         exec 9>lock; flock 9; (flock -n other -c 'echo locked'); flock -n lock -c true; echo $?\n\
         cat <(echo a) <(echo b)\nx=$(echo c; exit 3); echo $x $?\n",
    );
}

#[test]
fn other_namespaces_and_roots() {
    skip_if(missing::process_namespaces());
    same(
        "#!/bin/bash\nunshare --pid --fork --mount-proc bash -c 'echo $$; ls -d /proc/[0-9]* | head -1; \
         /bin/false; echo $?; exit 5'\necho $?\nunshare --net true; echo $?\n\
         chroot / /bin/echo in; chroot /nowhere true; echo $?\n",
    );
    same("#!/bin/bash\nunshare --user --map-root-user --pid --fork id -u; echo $?\n");
}

#[test]
fn programs_that_change_their_user() {
    skip_if(missing::other_users());
    needs_compiler();
    let bench = Bench::new();
    bench.compile("#include <stdio.h>\n#include <unistd.h>\nint main() { printf(\"%d %d\\n\", getuid(), geteuid()); }");
    // The folder is the tester's own.
    let script = "#!/bin/bash\nd=$(mktemp -d); chmod 755 $d; cp program $d; chmod 4755 $d/program\n\
         setpriv --reuid 99 --clear-groups $d/program\n\
         su -s /bin/sh nobody -c 'id -u; exit 6'; echo $?\nrm -r $d\n";
    let plain = bench.run(Trace::Off, script);
    let traced = bench.run(Trace::Commands, script);
    assert_eq!(traced.seen(), plain.seen());
    assert_eq!(traced.seen().1[0], "99 0", "{}", traced.log);
}

#[test]
fn threads_and_many_signals() {
    let source = r#"
        #include <pthread.h>
        #include <signal.h>
        #include <spawn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/time.h>
        #include <sys/wait.h>
        #include <unistd.h>
        extern char **environ;
        static volatile int alarms;
        static void on_alarm(int signal) { alarms++; }
        static void *run(void *arg) {
            char *words[] = {"true", 0};
            pid_t pid; int status;
            if (posix_spawn(&pid, "/bin/true", 0, 0, words, environ)) abort();
            waitpid(pid, &status, 0);
            return (void *)(long)status;
        }
        static void *last(void *arg) { execl("/bin/sh", "sh", "-c", "echo $PPID >/dev/null; exit 9", (char *)0); return 0; }
        int main() {
            struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
            sigaction(SIGALRM, &action, 0);
            struct itimerval every = {{0, 500}, {0, 500}};
            setitimer(ITIMER_REAL, &every, 0);
            for (int round = 0; round < 20; round++) {
                pthread_t threads[20];
                for (int i = 0; i < 20; i++) if (pthread_create(&threads[i], 0, run, 0)) abort();
                for (int i = 0; i < 20; i++) { void *r; pthread_join(threads[i], &r); if (r) abort(); }
            }
            while (alarms < 100) pause();
            every.it_value.tv_usec = 0; setitimer(ITIMER_REAL, &every, 0);
            printf("done\n"); fflush(stdout);
            pthread_t thread;
            pthread_create(&thread, 0, last, 0);
            pthread_join(thread, 0);
            return 1;
        }"#;
    let ran = same_program(source, "./program; echo $?");
    assert_eq!(ran.seen().1, ["done", "9"]);
    assert_eq!(ran.outcome.commands, 401, "{}", ran.lines().len());
    assert_eq!(ran.outcome.commands_failed, 1);
}

#[test]
fn vfork_and_processes_that_may_not_be_looked_at() {
    let source = r#"
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main() {
            prctl(PR_SET_DUMPABLE, 0);
            for (int i = 0; i < 100; i++) {
                int status;
                pid_t pid = vfork();
                if (!pid) { execl("/bin/sh", "sh", "-c", "exit 3", (char *)0); _exit(1); }
                if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3) return 1;
            }
            pid_t pid = vfork();
            if (!pid) _exit(4);
            int status; waitpid(pid, &status, 0);
            printf("%d %d\n", WEXITSTATUS(status), prctl(PR_GET_DUMPABLE));
        }"#;
    let ran = same_program(source, "./program; echo $?");
    assert_eq!(ran.seen().1, ["4 0", "0"]);
}

#[test]
fn system_calls_that_are_refused() {
    let source = r#"
        #include <errno.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <stddef.h>
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main() {
            struct sock_filter rules[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog program = {6, rules};
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
            int refused = syscall(SYS_getppid) == -1 && errno == EPERM;
            printf("%d\n", refused); fflush(stdout);
            syscall(SYS_getsid, 0);
            return 2;
        }"#;
    let ran = same_program(source, "./program; echo $?");
    assert_eq!(ran.seen().1, ["1", "159"]);
}

#[test]
fn java() {
    skip_if(missing::program("java", "default-jdk-headless"));
    let bench = Bench::new();
    let source = "import java.util.*;\npublic class A {\n  public static void main(String[] a) throws Exception {\n\
          List<Thread> all = new ArrayList<>();\n    for (int i = 0; i < 50; i++) { Thread t = new Thread(() -> {\n\
          try { if (new ProcessBuilder(\"false\").start().waitFor() != 1) System.out.println(\"wrong\"); }\n\
          catch (Exception e) { System.out.println(e); } }); t.start(); all.add(t); }\n\
          for (Thread t : all) t.join();\n    System.gc(); System.out.println(\"done\"); System.exit(5);\n  }\n}\n";
    bench.write("A.java", source);
    bench.write("script", "#!/bin/sh\njava A.java; echo $?\n");
    let plain = bench.run_file(Trace::Off);
    let traced = bench.run_file(Trace::Commands);
    assert_eq!(traced.seen(), plain.seen());
    assert_eq!(traced.seen().1, ["done", "5"], "{}", traced.log);
}

#[test]
fn debuggers_work() {
    for (tool, scripts) in [
        (
            "strace",
            [
                "strace -f -o out -e trace=execve sh -c '/bin/true; exit 3'; echo $?\ngrep -c execve out",
                "sleep 1000 &\np=$!\ntimeout 0.5 strace -o out -p $p; echo $?\nkill $p; wait $p; echo $?",
            ],
        ),
        (
            // By what it calls, whatever its name is.
            "strace",
            [
                "cp \"$(command -v strace)\" ./probe; ./probe -qq -o out sh -c 'exit 3'; echo $?",
                "cp \"$(command -v strace)\" ./probe; ./probe -f ./probe -qq -o out sh -c 'exit 4' 2>&1 >/dev/null | grep -c execve",
            ],
        ),
        (
            "gdb",
            [
                "gdb -nx -batch -ex run -ex bt --args sh -c 'exit 3' 2>/dev/null | grep -o 'exited with code ..'",
                "sleep 1000 &\np=$!\ngdb -nx -batch -p $p -ex 'info inferiors' 2>/dev/null | grep -c \"process $p\"\nkill $p; wait $p; echo $?",
            ],
        ),
    ] {
        if let Some(missing) = missing::program(tool, tool) {
            skip_part(&missing);
            continue;
        }
        for script in scripts {
            let bench = Bench::new();
            let script = format!("#!/bin/bash\n{script}\n/bin/true\n");
            let plain = bench.run(Trace::Off, &script);
            let traced = bench.run(Trace::Commands, &script);
            assert_eq!(traced.seen().0, plain.seen().0, "{}", traced.log);
            assert_eq!(traced.seen().1, plain.seen().1, "{}", traced.log);
            assert!(traced.log.contains(" traces itself\n"), "{}", traced.log);
            // The others are traced to the end.
            assert_eq!(traced.lines()[traced.lines().len() - 2..], ["exec /bin/true", "exit 0"]);
        }
    }
}

#[test]
fn sudo_that_traces_what_it_runs() {
    skip_if(missing::program("sudo", "sudo"));
    skip_if(missing::mounts());
    for option in ["log_subcmds", "intercept"] {
        let bench = Bench::new();
        let rules = format!(
            "Defaults {option}, logfile={}, !syslog, !use_pty\nroot ALL=(ALL) NOPASSWD: ALL\n",
            bench.path().join("subcommands").display()
        );
        bench.write("rules", &rules);
        bench.write(
            "within",
            "#!/bin/sh\nchmod 440 rules; mount --bind rules /etc/sudoers\n\
             sudo -n sh -c '/bin/echo one; /bin/false; echo $?'; echo $?\n",
        );
        let script = "#!/bin/bash\nrm -f subcommands\nunshare --mount ./within\n\
                      grep -c 'COMMAND=/bin/echo one' subcommands\n/bin/true\n";
        let plain = bench.run(Trace::Off, script);
        let traced = bench.run(Trace::Commands, script);
        assert_eq!(plain.seen().1, ["one", "1", "0", "1"], "{}", plain.log);
        assert_eq!(traced.seen(), plain.seen(), "{}", traced.log);
        let said = traced.log.lines().filter(|line| line.ends_with(" traces itself")).count();
        assert_eq!(said, 1, "{}", traced.log);
        assert_eq!(traced.lines()[traced.lines().len() - 2..], ["exec /bin/true", "exit 0"]);
    }
}
