//! `docs/try.md`: what it shows is what is printed.

use provost_tests::{missing, skip_if};

use super::outer::Outer;

#[test]
fn the_page_shows_what_is_printed() {
    skip_if(missing::tracing());
    let page = include_str!("../../../../docs/try.md");
    let block = |before: &str| {
        let (_, rest) = page.split_once(before).unwrap();
        let (_, rest) = rest.split_once("```").unwrap();
        let (_, rest) = rest.split_once('\n').unwrap();
        rest.split_once("```").unwrap().0
    };
    let script = block("With the script\n").strip_prefix("#!/bin/bash\n").unwrap();
    let outer = Outer::new();
    outer.script("motd", script);
    outer.sh("echo Welcome >/etc/motd; touch /etc/crontab; chmod 644 /etc/crontab").expect(0);
    let out = outer.attempt("motd", &[]).expect(1);
    assert!(out.stdout.ends_with(block("and then:\n")), "{}", out.stdout);
}
