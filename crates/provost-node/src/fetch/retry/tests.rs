use std::time::Duration;

use provost_bundle::Limit;
use provost_record::Cause;
use tokio::time::Instant;

use super::*;

fn fail(cause: Cause, text: &str) -> Failure {
    Failure::new(cause, text, "hint")
}

fn silent() -> FetchError {
    FetchError::silent(fail(Cause::Fetch, "down"))
}

fn busy() -> FetchError {
    FetchError::busy(fail(Cause::Fetch, "busy"), None)
}

fn servers() -> [Url; 2] {
    ["http://10.0.0.1/", "http://10.0.0.2/"].map(|s| Url::parse(s).unwrap())
}

/// Calls `attempt` with the number of the try, that of the server, and the time, on a clock that
/// stands still but for waits.
fn run<T>(
    servers: &[Url],
    attempt: impl FnMut(usize, usize, Duration) -> Result<T, FetchError>,
) -> (Result<Served<T>, Unserved>, Duration) {
    run_for(Limit::seconds(60).into(), servers, attempt)
}

fn run_for<T>(
    limits: RetryLimits,
    servers: &[Url],
    mut attempt: impl FnMut(usize, usize, Duration) -> Result<T, FetchError>,
) -> (Result<Served<T>, Unserved>, Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let begun = Instant::now();
        let mut n = 0;
        let result = try_servers(
            servers,
            limits,
            |_| {},
            |server, _| {
                n += 1;
                let at = servers.iter().position(|s| s == server).unwrap();
                std::future::ready(attempt(n, at, begun.elapsed()))
            },
        );
        let result = result.await;
        (result, begun.elapsed())
    })
}

#[test]
fn what_passes_is_tried_again_and_what_does_not_is_not() {
    let (served, _) = run(&servers(), |n, server, _| match (n, server) {
        (1, 0) => Err(FetchError::give_up(fail(Cause::Verify, "a is bad"))),
        (_, 0) => panic!("a was tried again"),
        (4.., _) => Ok(n),
        _ => Err(silent()),
    });
    let served = served.ok().unwrap();
    assert_eq!(served.what, 4);
    let messages: Vec<_> = served.passed_over.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(messages, ["a is bad (1 try in 0 ms)"]);
}

#[test]
fn each_is_reported_and_no_time_is_spent_where_no_try_would_help() {
    let (failed, spent) = run::<()>(&servers(), |n, _, _| match n {
        1 => Err(FetchError::give_up(fail(Cause::Fetch, "a is gone"))),
        _ => Err(FetchError::give_up(fail(Cause::Verify, "b is bad"))),
    });
    let failed = failed.err().unwrap();
    assert_eq!(failed.why.passed_over[0].message, "a is gone (1 try in 0 ms)");
    assert_eq!(failed.why.failure.message, "b is bad (1 try in 0 ms)");
    assert!(!failed.is_silence);
    assert_eq!(spent, Duration::ZERO);
}

#[test]
fn the_deadline_holds_whatever_the_server_asks_for() {
    for wait in [None, Some(Duration::from_secs(3600)), Some(Duration::MAX / 2)] {
        let (failed, spent) = run::<()>(&servers()[..1], |_, _, _| {
            Err(FetchError::busy(fail(Cause::Fetch, "down"), wait))
        });
        let failed = failed.err().unwrap();
        assert!(failed.why.failure.message.starts_with("down ("), "{}", failed.why.failure.message);
        assert!(!failed.is_silence, "it has answered");
        assert!(spent < Duration::from_secs(61), "{spent:?}");
        // The last wait isn't longer than the time that is left, unless the server asks for that.
        let gives_up_early = spent < Duration::from_millis(59_700);
        assert_eq!(gives_up_early, wait.is_some(), "{spent:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_last_try_that_is_cut_off_leaves_the_word_of_the_one_before() {
    let servers = &servers()[..1];
    let mut tries = 0;
    let failed = try_servers(
        servers,
        Limit::seconds(60),
        |_| {},
        |_, _| {
            tries += 1;
            let first = tries == 1;
            async move {
                match first {
                    true => Err::<(), _>(silent()),
                    false => std::future::pending().await,
                }
            }
        },
    );
    let message = failed.await.err().unwrap().why.failure.message;
    assert!(message.starts_with("down (2 tries in "), "{message}");
}

#[test]
fn silence_is_tolerated_for_less_time_than_a_server_that_answers() {
    let limits = |may_guess| RetryLimits {
        deadline: Limit::seconds(600),
        silence: Limit::seconds(30),
        may_guess,
    };
    let absent = || FetchError::inconsistent(fail(Cause::Fetch, "nothing there"));
    let wrong = || FetchError::inconsistent(fail(Cause::Verify, "another's"));
    for (may_guess, silent_one, why, least, most) in [
        (false, 0, silent as fn() -> FetchError, 30, 36),
        (false, 0, busy, 594, 600),
        (false, 0, absent, 594, 600),
        (true, 0, absent, 30, 36),
        (true, 1, absent, 594, 600),
        (true, 0, wrong, 594, 600),
    ] {
        let (failed, spent) = run_for(limits(may_guess), &servers(), |_, server, _| {
            Err::<(), _>(if server == silent_one { silent() } else { why() })
        });
        assert_eq!(failed.err().unwrap().is_silence, most < 600);
        assert!((least..=most).contains(&spent.as_secs()), "{spent:?}");
    }
}

#[test]
fn a_server_that_asks_for_time_gets_it_and_holds_up_no_other() {
    let ten = Duration::from_secs(10);
    let (served, spent) = run(&servers(), |n, server, now| match (n, server) {
        (1, 0) => Err(FetchError::busy(fail(Cause::Fetch, "a is busy"), Some(ten))),
        (_, 0) => {
            assert!(now >= ten, "asked again after {now:?}");
            Ok(())
        }
        _ => Err(silent()),
    });
    assert!(served.is_ok());
    assert!((ten..ten + Duration::from_secs(5)).contains(&spent), "{spent:?}");
    let (served, spent) = run(&servers(), |n, server, _| match (n, server) {
        (_, 0) => Err(FetchError::busy(fail(Cause::Fetch, "a is busy"), Some(ten))),
        (2, _) => Err(silent()),
        _ => Ok(()),
    });
    assert!(served.is_ok());
    assert!(spent < Duration::from_secs(1), "{spent:?}");
}

#[test]
fn silence_of_all_differs_from_a_bad_answer() {
    let (failed, spent) = run::<()>(&servers(), |_, _, _| Err(silent()));
    assert!(failed.err().unwrap().is_silence);
    assert!(spent > Duration::from_secs(50), "{spent:?}");
}

#[test]
fn what_this_node_lacks_is_not_asked_of_the_next_server() {
    let (failed, _) = run::<()>(&servers(), |n, _, _| match n {
        1 => Err(FetchError::abort(fail(Cause::Local, "the disk is full"))),
        _ => panic!("the next server was asked"),
    });
    assert_eq!(failed.err().unwrap().why.failure.cause, Cause::Local);
}
