//! How scripts start, or why they don't.

use std::os::unix::fs::PermissionsExt;

use provost_exec::{EndCause, Outcome, Why};
use provost_tests::{skip, skip_part};

use crate::execute::Bench;

#[test]
fn bash_shows_each_command_of_a_shell_script_and_nothing_of_the_trace() {
    let bench = Bench { xtrace: true, ..Bench::new() };
    let outcome = bench.run("#!/bin/bash -e\necho \"$0\"\nfalse\necho no\n");
    assert!(matches!(outcome.end, EndCause::Exit(1)), "{outcome:?}");
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
    assert!(matches!(outcome.end, EndCause::Exit(0)), "{outcome:?}");
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
fn a_script_without_a_first_line_is_run_by_sh() {
    let bench = Bench::new();
    let outcome = bench.run("echo \"$0 $1\"\n");
    assert!(matches!(outcome.end, EndCause::Exit(0)));
    assert_eq!(bench.log(), "stdout F ./script one\n");
}

#[test]
fn what_cannot_start_is_explained() {
    let bench = Bench::new();
    let why = |outcome: Outcome| match outcome.end {
        EndCause::NotStarted(why) => why,
        ended => panic!("{ended:?}"),
    };
    assert!(matches!(why(bench.run_as_it_is()).why, Why::Missing));
    let no_ksh = why(bench.run("#!/bin/no-such-ksh\ntrue\n"));
    assert!(no_ksh.to_string().contains("/bin/no-such-ksh"), "{no_ksh}");
    assert!(no_ksh.hint(None).contains("install /bin/no-such-ksh"));
    for first in ["/usr/bin/env no-such-ksh", "/usr/bin/env -S no-such-ksh -e"] {
        let no_ksh = why(bench.run(&format!("#!{first}\ntrue\n")));
        assert!(no_ksh.hint(None).contains("install no-such-ksh on"), "{no_ksh}");
    }
    let crlf = why(bench.run("#!/bin/sh\r\ntrue\r\n"));
    assert!(crlf.hint(None).contains("dos2unix"), "{crlf}");
    let crlf = why(bench.run("#!/bin/sh -e\r\ntrue\r\n"));
    assert!(crlf.to_string().ends_with("asks for \"-e\\r\""), "{crlf}");
    let garbage = why(bench.run("\x7fELF but no program"));
    assert!(matches!(garbage.why, Why::WrongFormat), "{garbage}");
    let mut foreign = std::fs::read("/bin/sh").unwrap();
    // Where an ELF header names the machine: x86-64, or else AArch64.
    foreign[18] = if foreign[18] == 62 { 183 } else { 62 };
    std::fs::write(bench.path().join("script"), foreign).unwrap();
    let foreign = why(bench.run_as_it_is());
    assert!(matches!(foreign.why, Why::WrongFormat), "{foreign}");
    assert!(foreign.hint(None).contains("architecture"), "{}", foreign.hint(None));
    let mut alien = std::fs::read("/bin/sh").unwrap();
    let loader = alien.windows(4).position(|name| name == b"/ld-");
    if let Some(at) = loader {
        alien[at..at + 4].copy_from_slice(b"/ldX");
        std::fs::write(bench.path().join("script"), alien).unwrap();
        let alien = why(bench.run_as_it_is());
        assert!(alien.hint(None).contains("/ldX"), "{alien}");
    } else {
        skip_part("a program whose loader is missing: /bin/sh has none");
    }
    bench.write("#!/bin/sh\n");
    let path = bench.path().join("script");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let denied = why(bench.run_as_it_is());
    assert!(matches!(denied.why, Why::Denied) && denied.hint(None).contains("mode"), "{denied}");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(why(bench.run_as_it_is()).why, Why::NotAFile));
}

#[test]
fn an_interpreter_is_looked_for_from_the_script_s_folder() {
    for xtrace in [false, true] {
        let bench = Bench { xtrace, ..Bench::new() };
        crate::execute::write_program(&bench.path().join("own"), "#!/bin/sh\nexit 3\n");
        let outcome = bench.run("#!./own\n");
        assert!(matches!(outcome.end, EndCause::Exit(3)), "{outcome:?}");
    }
}

#[test]
fn of_an_interpreter_that_cannot_start_it_is_told_why() {
    let bench = Bench::new();
    let own = bench.path().join("own");
    for (first, told) in [
        ("/bin/no-such-ksh", "its first line names the interpreter /bin/no-such-ksh"),
        ("/bin/sh\r", "its lines end as on Windows (CRLF)"),
    ] {
        crate::execute::write_program(&own, &format!("#!{first}\n"));
        let EndCause::NotStarted(why) = bench.run(&format!("#!{}\n", own.display())).end else {
            panic!("it started")
        };
        let told = format!("its interpreter {}: {told}", own.display());
        assert!(why.to_string().contains(&told), "{why}");
    }
}

#[test]
fn an_interpreter_that_env_finds_is_not_missing() {
    let bench = Bench::new();
    crate::execute::write_program(&bench.path().join("own"), "#!/bin/sh\nexit 3\n");
    for first in ["./own", "-S ./own -e", "-S 'sh' -e", "-S sh -e", "sh", "-i sh"] {
        let outcome = bench.run(&format!("#!/usr/bin/env {first}\n"));
        assert!(matches!(outcome.end, EndCause::Exit(_)), "{first}: {outcome:?}");
    }
}

#[test]
fn a_script_that_is_being_written_does_not_start() {
    let bench = Bench::new();
    bench.write("#!/bin/sh\n");
    let written = std::fs::File::options().append(true).open(bench.path().join("script")).unwrap();
    let busy = bench.run_as_it_is().end;
    drop(written);
    if matches!(busy, EndCause::Exit(0)) {
        drop(bench);
        skip("this kernel runs a file that is being written to")
    }
    let EndCause::NotStarted(busy) = busy else { panic!("{busy:?}") };
    assert!(matches!(busy.why, Why::Busy) && busy.hint(None).contains("fuser"), "{busy}");
}
