//! Steps that begin without an order, right after the one before them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_exec::{Ahead, Ended, Orders, Outcome, Step};
use tokio::sync::watch;

use super::{Bench, supervisor, write_program};

/// The first of two steps, and whether the second may begin without an order.
struct Two {
    bench: Bench,
    first: &'static str,
    permitted: bool,
    most: Duration,
    /// The signal that ends the run once the first step is over.
    stop: Option<&'static str>,
}

impl Two {
    /// It goes on when all else is arranged.
    fn after(first: &'static str) -> Self {
        let most = Duration::from_secs(10);
        Self { bench: Bench::new(), first, permitted: true, most, stop: None }
    }

    fn unless(&self) -> PathBuf {
        self.bench.path().join("unless")
    }

    /// How both ended, and whether the second one began by itself.
    fn run(&self) -> (Outcome, Outcome, bool) {
        let bench = &self.bench;
        let go = bench.path().join("go");
        rustix::fs::mkfifoat(rustix::fs::CWD, &go, rustix::fs::Mode::RWXU).unwrap();
        bench.write(&format!("#!/bin/sh\nread -r _ <go\n{}", self.first));
        let first = bench.step();
        write_program(&bench.path().join("other"), "#!/bin/sh\nread -r _ <go\necho began\n");
        let log = bench.path().join("02-other.log");
        let next = Step { name: "other".into(), log, ..bench.step() };
        let ahead = Ahead { most: self.most, unless: self.unless() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (order, mut orders) = watch::channel(Orders::default());
        let mut supervisor = supervisor();
        runtime.block_on(async {
            supervisor.prepare(&first, None);
            supervisor.begin(first.limits.timeout);
            supervisor.prepare(&next, Some(ahead));
            if self.permitted {
                supervisor.permit().give();
            }
            let_go(&go);
            let one = supervisor.follow(&first.limits, &mut orders, |_| {}).await;
            let by_itself = supervisor.has_begun();
            if !by_itself {
                supervisor.begin(next.limits.timeout);
            }
            order.send_modify(|orders| orders.stop = self.stop);
            if self.stop.is_none() {
                let_go(&go);
            }
            (one, supervisor.follow(&next.limits, &mut orders, |_| {}).await, by_itself)
        })
    }
}

/// Lets whoever reads the pipe go on, as soon as it is open.
fn let_go(pipe: &Path) {
    let pipe = pipe.to_owned();
    std::thread::spawn(move || std::fs::write(pipe, "\n").unwrap());
}

#[test]
fn a_step_begins_by_itself_after_one_that_ended_well() {
    let (one, next, by_itself) = Two::after("echo well").run();
    assert!(by_itself);
    assert!(matches!((&one.ended, &next.ended), (Ended::Exit(0), Ended::Exit(0))), "{next:?}");
    assert_eq!(
        (one.last_lines, next.last_lines),
        (vec!["well".to_owned()], vec!["began".to_owned()])
    );
}

#[test]
fn it_waits_for_the_order_where_something_is_to_be_decided() {
    let cases: [(&str, Two); 7] = [
        ("not permitted", Two { permitted: false, ..Two::after("") }),
        ("no time is left", Two { most: Duration::ZERO, ..Two::after("") }),
        ("the step took long", Two::after("sleep 1.1")),
        ("it failed", Two::after("exit 3")),
        ("it was killed", Two::after("kill -9 $$")),
        ("it left the file", Two::after("echo reboot >unless")),
        ("it left somebody behind", Two::after("sleep 1000 & echo $! >left")),
    ];
    for (why, two) in cases {
        let (one, next, by_itself) = two.run();
        assert!(!by_itself, "{why}: {one:?}");
        assert!(matches!(next.ended, Ended::Exit(0)), "{why}: {next:?}");
        if let Ok(pid) = std::fs::read_to_string(two.bench.path().join("left")) {
            std::process::Command::new("kill").arg(pid.trim()).status().unwrap();
        }
    }
}

#[test]
fn one_that_has_begun_by_itself_is_ended_with_the_run() {
    let (_, next, by_itself) = Two { stop: Some("SIGTERM"), ..Two::after("") }.run();
    assert!(by_itself);
    assert!(matches!(&next.ended, Ended::Interrupted(signal) if signal == "SIGTERM"), "{next:?}");
}
