//! Boots with servers that go wrong, as chance will have it.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use provost_tests::faults::Fault;

use super::model::{Server, State, Target};

/// The boots of one node, each with its servers.
pub(crate) fn boots() -> impl Strategy<Value = Vec<Vec<Server>>> {
    vec(vec(server(), 1..=2), 1..=3)
}

fn server() -> impl Strategy<Value = Server> {
    let state = prop_oneof![1 => Just(State::Old), 3 => Just(State::New)];
    let passing = vec((target(), 1..=2_usize, passing()), 0..=2);
    let lasting = option::weighted(0.4, (target(), lasting()));
    let reports = vec((1..=2_usize, report()), 0..=2);
    let all_reports = option::weighted(0.2, report());
    (state, passing, lasting, reports, all_reports).prop_map(
        |(state, passing, lasting, reports, all_reports)| Server {
            state,
            passing,
            lasting,
            reports,
            all_reports,
        },
    )
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        Just(Target::Manifest),
        Just(Target::ManifestSignature),
        Just(Target::Plan),
        Just(Target::PlanSignature),
        Just(Target::Pack),
        Just(Target::Object),
    ]
}

/// Faults after which another try may help.
fn passing() -> impl Strategy<Value = Fault> {
    prop_oneof![
        prop::sample::select(vec![408, 425, 429, 500, 502, 503, 504]).prop_map(Fault::Status),
        Just(Fault::RetryAfter(503, 1)),
        Just(Fault::Stall),
        Just(Fault::HalfClose),
        Just(Fault::Swallow),
        Just(Fault::Belie(502)),
        (0..20_usize).prop_map(Fault::Reset),
        (0..10_usize).prop_map(Fault::Truncate),
        Just(Fault::Drip(4, Duration::from_millis(20))),
    ]
}

/// Faults that stay, whether another try would help or not.
fn lasting() -> impl Strategy<Value = Fault> {
    prop_oneof![
        prop::sample::select(vec![401, 403, 404, 410, 503]).prop_map(Fault::Status),
        Just(Fault::ErrorPage),
        (0..1000_usize).prop_map(Fault::Flip),
        prop::sample::select(vec![-3, 7]).prop_map(Fault::WrongLength),
        Just(Fault::Stall),
        Just(Fault::Reset(0)),
        Just(Fault::Truncate(5)),
    ]
}

/// Faults of a server that takes reports, or doesn't.
fn report() -> impl Strategy<Value = Fault> {
    prop_oneof![
        passing(),
        prop::sample::select(vec![401, 403, 404, 500, 507]).prop_map(Fault::Status),
        Just(Fault::ErrorPage),
        Just(Fault::Belie(500)),
        Just(Fault::Swallow),
    ]
}
