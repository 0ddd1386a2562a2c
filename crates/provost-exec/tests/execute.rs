//! Steps as real processes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use provost_exec::{
    Ended, Event, LeakPolicy, Limits, Orders, Outcome, Secrets, Step, Supervisor, Why,
};
use tokio::sync::watch;

/// A keeper. Forking while another test forks would give it the other's ends of pipes.
fn supervisor() -> Supervisor {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    Supervisor::start().unwrap()
}

struct Bench {
    folder: tempfile::TempDir,
    limits: Limits,
    leak: LeakPolicy,
    xtrace: bool,
}

impl Bench {
    fn new() -> Self {
        let limits = Limits {
            timeout: Duration::from_secs(20),
            slow: Duration::from_secs(10),
            grace: Duration::from_millis(300),
            leak: Duration::from_millis(300),
        };
        Self { folder: tempfile::tempdir().unwrap(), limits, leak: LeakPolicy::Warn, xtrace: false }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, script: &str) {
        let path = self.path().join("script");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn step(&self) -> Step {
        Step {
            name: "script".into(),
            args: vec!["one".into(), "two words".into()],
            folder: self.path().to_owned(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("NODE".into(), "cn001".into())],
            log: self.path().join("01-script.log"),
            trace: Some(provost_exec::install_trace(self.path()).unwrap()),
            limits: self.limits,
            leak: self.leak,
            xtrace: self.xtrace,
            lines: false,
            secrets: Secrets::default(),
        }
    }

    fn run(&self, script: &str) -> Outcome {
        self.write(script);
        self.run_as_it_is()
    }

    fn run_as_it_is(&self) -> Outcome {
        self.run_telling(None).0
    }

    fn run_telling(&self, stop_after: Option<Duration>) -> (Outcome, Vec<Event>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut events = Vec::new();
        let (order, mut orders) = watch::channel(Orders::default());
        let mut supervisor = supervisor();
        let outcome = runtime.block_on(async {
            if let Some(after) = stop_after {
                tokio::spawn(async move {
                    tokio::time::sleep(after).await;
                    order.send(Orders { stop: Some("SIGTERM"), ..Orders::default() })
                });
            }
            supervisor.execute(&self.step(), &mut orders, |e| events.push(e)).await
        });
        (outcome, events)
    }

    fn log(&self) -> String {
        let log = std::fs::read(self.path().join("01-script.log")).unwrap();
        let log = String::from_utf8_lossy(&log);
        log.lines().map(|l| l.split_once("Z ").unwrap().1.to_owned() + "\n").collect()
    }

    fn line(&self, outcome: &Outcome) -> String {
        let line = outcome.place.clone().unwrap_or_default().line.unwrap_or_default();
        line.replace(&self.path().display().to_string(), "DIR")
    }
}

fn command(outcome: &Outcome) -> String {
    outcome.place.clone().unwrap_or_default().command.unwrap_or_default()
}

#[test]
fn bash_shows_each_command_of_a_shell_script_and_nothing_of_the_trace() {
    let bench = Bench { xtrace: true, ..Bench::new() };
    let outcome = bench.run("#!/bin/bash -e\necho \"$0\"\nfalse\necho no\n");
    assert!(matches!(outcome.ended, Ended::Exit(1)), "{outcome:?}");
    assert_eq!(bench.line(&outcome), "3 main DIR/script");
    let log = bench.log();
    let shown: String = log.lines().filter(|l| l.starts_with("stderr F ")).collect();
    assert_eq!(shown, "stderr F + echo ./scriptstderr F + false", "{log}");
    assert!(log.contains("stdout F ./script\n"), "{log}");
    for script in ["#!/bin/sh\necho ${BASH_VERSION:+bash} $2\n", "echo ${BASH_VERSION:+bash} $2\n"]
    {
        bench.run(script);
        assert!(bench.log().contains("stdout F bash two words\n"), "{}", bench.log());
    }
    bench.run("#!/usr/bin/perl\nprint \"$ARGV[0]\\n\";\n");
    assert_eq!(bench.log(), "stdout F one\n");
}

#[test]
fn a_script_sees_its_arguments_its_folder_and_no_more_than_the_given_environment() {
    let bench = Bench::new();
    let outcome = bench.run("#!/bin/bash\necho \"$0|$1|$2|$PWD\" >&2; env; umask\n");
    assert!(matches!(outcome.ended, Ended::Exit(0)), "{outcome:?}");
    let log = bench.log();
    let folder = bench.path().display();
    assert!(log.contains(&format!("stderr F ./script|one|two words|{folder}\n")), "{log}");
    let mut env: Vec<&str> = log.lines().filter(|l| l.contains('=')).collect();
    env.sort_unstable();
    let names: Vec<_> = env.iter().map(|l| l.split(['=', ' ']).nth(2).unwrap()).collect();
    assert_eq!(names, ["NODE", "PATH", "PWD", "SHLVL", "_"], "bash sets the last three itself");
    assert!(log.contains("stdout F 0022\n"), "{log}");
    assert!(outcome.usage.max_rss_kib > 100);
}

#[test]
fn the_failing_line_of_a_bash_script_is_named() {
    let bench = Bench::new();
    let cases = [
        ("exit 3 at its line", "true\nfalse\nif true; then\n  exit 3\nfi\n", 3, "5 main", "exit 3"),
        (
            "set -e",
            "set -e\ntrue\nls /nowhere 2>/dev/null\necho no\n",
            2,
            "4 main",
            "ls /nowhere 2> /dev/null",
        ),
        ("the last command", "true\n(exit 9)\n", 9, "3 main", "( exit 9 )"),
        (
            "in a function",
            "f() {\n  true\n  cat /nowhere 2>/dev/null\n}\ntrue\nf\n",
            1,
            "4 f",
            "cat /nowhere 2> /dev/null",
        ),
        (
            "in a function, -e",
            "set -e\nf() {\n  cat /nowhere 2>/dev/null\n  true\n}\nf\n",
            1,
            "4 f",
            "cat /nowhere 2> /dev/null",
        ),
        ("exit with the last status", "(exit 4) || exit\n", 4, "2 main", "exit"),
        ("pipefail", "set -euo pipefail\nfalse | true\n", 1, "3 main", "false | true"),
    ];
    for (name, script, status, place, text) in cases {
        let outcome = bench.run(&format!("#!/bin/bash\n{script}"));
        assert!(matches!(outcome.ended, Ended::Exit(s) if s == status), "{name}: {outcome:?}");
        assert_eq!(bench.line(&outcome), format!("{place} DIR/script"), "{name}");
        assert_eq!(command(&outcome), text, "{name}");
    }
}

#[test]
fn no_line_is_named_where_it_would_be_a_guess() {
    let bench = Bench::new();
    // What failed first is not why the script ended.
    let stale = "false\ntrue\n[ -e /nowhere ] && true\n";
    let outcome = bench.run(&format!("#!/bin/bash\n{stale}"));
    assert_eq!(bench.line(&outcome), "");
    assert_eq!(command(&outcome), "[ -e /nowhere ]");
    let outcome = bench.run("#!/bin/bash\nfalse\nexec sh -c 'exit 1'\n");
    assert_eq!(bench.line(&outcome), "", "{outcome:?}");
    let outcome = bench.run("#!/bin/bash\nfalse\nfalse\ntrue\n");
    assert!(matches!(outcome.ended, Ended::Exit(0)) && outcome.place.is_none());
    assert_eq!(std::fs::read_dir(bench.path()).unwrap().count(), 3, "the notes are gone");
}

#[test]
fn the_trace_changes_nothing_that_the_script_sees() {
    let bench = Bench::new();
    let outcome = bench.run(
        "#!/bin/bash\ntrap 'echo my exit trap $?' EXIT\ntrap 'echo my err trap' ERR\nfalse\n\
         echo \"[${BASH_ENV-unset}][${PROVOST_NOTES-unset}]\"\nbash -c 'type -t exit'\nexit 5\n",
    );
    assert!(matches!(outcome.ended, Ended::Exit(5)));
    let expected = ["my err trap", "[unset][unset]", "builtin", "my exit trap 5"];
    let log = bench.log();
    assert_eq!(log.lines().map(|l| l.split_once("F ").unwrap().1).collect::<Vec<_>>(), expected);
    assert_eq!(bench.line(&outcome), "7 main DIR/script");
}

#[test]
fn what_a_script_says_in_its_own_exit_trap_is_heard() {
    let bench = Bench::new();
    let in_function = "set -euo pipefail\nfalse() { ls /nowhere 2>/dev/null || return 1; }\n";
    let of_command = "set -eu\nfalse() { cat /nowhere 2>/dev/null; }\n";
    for flags in ["", "set -e\n", in_function, of_command] {
        let outcome = bench.run(&format!(
            "#!/bin/bash\n{flags}trap 'echo \"hint: after $?\" >&2' EXIT\necho go\nfalse\n"
        ));
        assert!(matches!(outcome.ended, Ended::Exit(1)), "{outcome:?}");
        assert_eq!(outcome.last_lines, ["go", "hint: after 1"], "{flags}");
    }
}

#[test]
fn the_last_four_lines_are_kept() {
    let bench = Bench::new();
    let outcome =
        bench.run("#!/bin/sh\necho a; echo b; echo c >&2; echo; echo d; echo e; exit 7\n");
    assert!(matches!(outcome.ended, Ended::Exit(7)));
    let mut lines = outcome.last_lines.clone();
    lines.sort_unstable();
    assert_eq!(lines.len(), 4);
    assert!(lines.contains(&"e".into()), "{lines:?}");
}

#[test]
fn a_script_without_a_first_line_is_run_by_sh() {
    let bench = Bench::new();
    let outcome = bench.run("echo \"$0 $1\"\n");
    assert!(matches!(outcome.ended, Ended::Exit(0)));
    assert_eq!(bench.log(), "stdout F ./script one\n");
}

#[test]
fn what_cannot_start_is_explained() {
    let bench = Bench::new();
    let why = |outcome: Outcome| match outcome.ended {
        Ended::NotStarted(why) => why,
        ended => panic!("{ended:?}"),
    };
    assert!(matches!(why(bench.run_as_it_is()).why, Why::Missing));
    let no_ksh = why(bench.run("#!/bin/no-such-ksh\ntrue\n"));
    assert!(no_ksh.to_string().contains("/bin/no-such-ksh"), "{no_ksh}");
    assert!(no_ksh.hint().contains("install /bin/no-such-ksh"));
    let crlf = why(bench.run("#!/bin/sh\r\ntrue\r\n"));
    assert!(crlf.hint().contains("dos2unix"), "{crlf}");
    let garbage = why(bench.run("\x7fELF but no program"));
    assert!(matches!(garbage.why, Why::WrongFormat), "{garbage}");
    let mut foreign = std::fs::read("/bin/sh").unwrap();
    // Where an ELF header names the machine: x86-64, or else AArch64.
    foreign[18] = if foreign[18] == 62 { 183 } else { 62 };
    std::fs::write(bench.path().join("script"), foreign).unwrap();
    let foreign = why(bench.run_as_it_is());
    assert!(matches!(foreign.why, Why::WrongFormat), "{foreign}");
    assert!(foreign.hint().contains("architecture"), "{}", foreign.hint());
    bench.write("#!/bin/sh\n");
    let path = bench.path().join("script");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let denied = why(bench.run_as_it_is());
    assert!(matches!(denied.why, Why::Denied) && denied.hint().contains("mode"), "{denied}");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(why(bench.run_as_it_is()).why, Why::NotAFile));
}

#[test]
fn a_script_that_is_being_written_does_not_start() {
    let bench = Bench::new();
    bench.write("#!/bin/sh\n");
    let written = std::fs::File::options().append(true).open(bench.path().join("script")).unwrap();
    let busy = bench.run_as_it_is().ended;
    drop(written);
    if matches!(busy, Ended::Exit(0)) {
        eprintln!("SKIPPED: this kernel runs a file that is being written to");
        return;
    }
    let Ended::NotStarted(busy) = busy else { panic!("{busy:?}") };
    assert!(matches!(busy.why, Why::Busy) && busy.hint().contains("fuser"), "{busy}");
}

#[test]
fn a_script_that_takes_too_long_is_ended_with_all_its_descendants() {
    let mut bench = Bench::new();
    bench.limits.timeout = Duration::from_millis(500);
    bench.limits.slow = Duration::from_millis(100);
    let hostile = "#!/bin/bash\ntrap '' TERM\nsetsid bash -c 'trap \"\" TERM; echo $$ >>pids; \
         while :; do sleep 100; done' &\necho $$ >>pids\nwhile :; do sleep 100; done\n";
    bench.write(hostile);
    let begun = Instant::now();
    let (outcome, events) = bench.run_telling(None);
    assert!(matches!(outcome.ended, Ended::TimedOut(_)), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(events, [Event::Slow, Event::Terminating, Event::Killing]);
    let pids = std::fs::read_to_string(bench.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} lives");
    }
}

#[test]
fn a_killed_script_names_its_signal_and_an_ended_run_is_no_success() {
    let bench = Bench::new();
    let outcome = bench.run("#!/bin/bash\nkill -KILL $$\n");
    assert!(
        matches!(&outcome.ended, Ended::Signal { name, .. } if name == "SIGKILL"),
        "{outcome:?}"
    );
    bench.write("#!/bin/bash\ntrap 'exit 0' TERM\nwhile :; do sleep 0.05; done\n");
    let (outcome, _) = bench.run_telling(Some(Duration::from_millis(300)));
    assert!(matches!(&outcome.ended, Ended::Interrupted(s) if s == "SIGTERM"), "{outcome:?}");
}

#[test]
fn each_signal_has_its_name() {
    let bench = Bench::new();
    for name in ["PROF", "VTALRM", "IO", "STKFLT", "PWR", "RTMIN", "RTMIN+3", "RTMIN+29"] {
        let outcome = bench.run(&format!("#!/bin/bash\nkill -{name} $$\n"));
        let Ended::Signal { name: told, .. } = outcome.ended else { panic!("{outcome:?}") };
        assert_eq!(told, format!("SIG{name}"));
    }
}

#[test]
fn a_core_file_is_told_of_where_there_is_one() {
    let bench = Bench::new();
    let core = |limit: &str| {
        let outcome = bench.run(&format!("#!/bin/bash\nulimit -c {limit}\nkill -SEGV $$\n"));
        let Ended::Signal { name, core } = outcome.ended else { panic!("{outcome:?}") };
        assert_eq!(name, "SIGSEGV");
        core
    };
    assert!(!core("0"));
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim_end() != "core" {
        eprintln!("skipped: core files go elsewhere here: {pattern}");
        return;
    }
    assert!(core("unlimited"));
    let files = std::fs::read_dir(bench.path()).unwrap().flatten();
    assert!(files.into_iter().any(|f| f.file_name().to_string_lossy().starts_with("core")));
}

#[test]
fn descendants_that_outlive_the_script_are_named_and_don_t_hold_it_up() {
    let mut bench = Bench::new();
    let script = "#!/bin/bash\nsleep 300 &\necho done\n";
    let begun = Instant::now();
    let outcome = bench.run(script);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(matches!(outcome.ended, Ended::Exit(0)));
    assert!(outcome.leaked[0].ends_with(" sleep"), "{outcome:?}");
    let pid = outcome.leaked[0].split(' ').next().unwrap().to_owned();
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "a daemon lives on");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();

    bench.leak = LeakPolicy::Fail;
    let outcome = bench.run(script);
    assert!(matches!(outcome.ended, Ended::Leaked), "{outcome:?}");
    let pid = outcome.leaked[0].split(' ').next().unwrap().to_owned();
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it was to be killed");
}

/// Whether a log has the numbers 1, 2, 3 … in this order, whichever stream they came by.
#[track_caller]
fn in_order(log: &str, last: usize) {
    let numbers: Vec<usize> =
        log.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let wrong = numbers.iter().zip(1..).filter(|(number, at)| *number != at).count();
    assert_eq!((numbers.len(), wrong), (last, 0), "{wrong} lines have changed places");
}

#[test]
fn lines_of_both_outputs_stand_in_the_order_in_which_they_were_written() {
    let bench = Bench::new();
    let once = "n=$((n + 1)); echo $n; n=$((n + 1)); echo $n >&2";
    // As quick as a shell can, so that the keeper finds many a line of each at once.
    bench.run(&format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 4000 ]; do {once}; done\n"));
    in_order(&bench.log(), 4000);
    // Slowly, so that the keeper has to go on in the midst of it.
    let paced = once.replacen(';', "; i=99; while [ $i -gt 0 ]; do i=$((i - 1)); done;", 1);
    bench.run(&format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 4000 ]; do {paced}; done\n"));
    in_order(&bench.log(), 4000);
    // By other processes.
    let forks = once.replace("echo $n", "(echo $n)");
    bench.run(&format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 400 ]; do {forks}; done\n"));
    in_order(&bench.log(), 400);
}
