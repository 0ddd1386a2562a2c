//! What must happen to a node whose servers go wrong in such ways.

use std::collections::BTreeSet;

use provost_tests::faults::Fault;

/// Which of the two states that were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Old,
    New,
}

/// What goes wrong with requests for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Manifest,
    ManifestSignature,
    Plan,
    PlanSignature,
    Pack,
    Object,
}

/// A server during one boot.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// What it serves.
    pub(crate) state: State,
    /// What goes wrong so many times, and then no more.
    pub(crate) passing: Vec<(Target, usize, Fault)>,
    /// What goes wrong every time.
    pub(crate) lasting: Option<(Target, Fault)>,
    /// What goes wrong so many times with reports.
    pub(crate) reports: Vec<(usize, Fault)>,
    /// What goes wrong with every other report.
    pub(crate) all_reports: Option<Fault>,
}

/// How fetching may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Good,
    /// It fails with this cause.
    Fetch,
    Verify,
}

/// What is known of a node between its boots.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// What it has, which is also the newest that it has seen.
    pub(crate) has: Option<State>,
}

/// How it may end at one server, if there is time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum One {
    Good,
    Fetch,
    Verify,
    /// It is tried until no time is left.
    Late,
}

/// Whether a fault is met.
#[derive(PartialEq)]
enum Met {
    Yes,
    Perhaps,
    No,
}

/// How fetching may end, and whether it may take all the time that there is.
pub(crate) fn ends(known: Known, servers: &[Server]) -> (BTreeSet<End>, bool) {
    let mut all: Vec<Vec<One>> = vec![Vec::new()];
    for server in servers {
        let mut possible = at(known, server);
        // A node that knows none takes the newest that a server offers, if that is heard in time. What
        // is wrong with an older one may not be met then.
        let is_newer = |other: &Server| other.state > server.state;
        if known.has.is_none() && servers.iter().any(is_newer) {
            possible.insert(One::Verify);
        }
        let with = |before: &Vec<One>, one| before.iter().copied().chain([one]).collect();
        all = all.iter().flat_map(|b| possible.iter().map(|one| with(b, *one))).collect();
    }
    let mut ends = BTreeSet::new();
    for ones in &all {
        match ones {
            _ if ones.contains(&One::Good) => drop(ends.insert(End::Good)),
            _ if ones.contains(&One::Verify) => {
                ends.insert(End::Verify);
                if ones.contains(&One::Late) {
                    // It may be too late to find that out.
                    ends.insert(End::Fetch);
                }
            }
            _ => drop(ends.insert(End::Fetch)),
        }
    }
    let never_good = |ones: &&Vec<One>| !ones.contains(&One::Good);
    (ends, all.iter().filter(never_good).any(|ones| ones.contains(&One::Late)))
}

fn at(known: Known, server: &Server) -> BTreeSet<One> {
    let goes_back = known.has > Some(server.state);
    let good = if goes_back { One::Verify } else { One::Good };
    let Some((target, fault)) = &server.lasting else { return [good].into() };
    let met = match target {
        // Whether it goes back is known before.
        Target::Pack | Target::Object if goes_back => Met::No,
        // What is served before may be enough.
        _ if server.passing.iter().any(|(on, _, fault)| on == target && may_do_no_harm(fault)) => {
            match met(known, server.state, *target, fault) {
                Met::No => Met::No,
                Met::Yes | Met::Perhaps => Met::Perhaps,
            }
        }
        _ => met(known, server.state, *target, fault),
    };
    let bad = causes(*target, fault);
    match met {
        Met::Yes => bad,
        Met::Perhaps => bad.into_iter().chain([good]).collect(),
        Met::No => [good].into(),
    }
}

/// What is fetched by a node that has nothing: all, with one pack; by one whose files are others:
/// those; by one that has it all: as little as it takes to know that.
fn met(known: Known, state: State, target: Target, fault: &Fault) -> Met {
    let whatever_it_is = matches!(
        fault,
        Fault::Status(_) | Fault::ErrorPage | Fault::Stall | Fault::Reset(_) | Fault::HalfClose
    );
    let sure = |sure| if sure { Met::Yes } else { Met::Perhaps };
    let only = |met| if met { Met::Yes } else { Met::No };
    match (target, known.has) {
        (Target::Pack, has) => only(has.is_none()),
        (Target::Object, has) => only(has.is_some_and(|has| has != state)),
        (_, None) => Met::Yes,
        (Target::Manifest, Some(has)) => sure(whatever_it_is || has != state),
        (Target::Plan, Some(_)) => sure(whatever_it_is),
        (Target::ManifestSignature | Target::PlanSignature, Some(_)) => Met::Perhaps,
    }
}

/// Whether the node may have got what it wants all the same: slowly, or, where nothing is new, with
/// an answer that has no body.
fn may_do_no_harm(fault: &Fault) -> bool {
    matches!(fault, Fault::Drip(..) | Fault::Truncate(_))
}

fn causes(target: Target, fault: &Fault) -> BTreeSet<One> {
    let signature = matches!(target, Target::ManifestSignature | Target::PlanSignature);
    let content = matches!(target, Target::Pack | Target::Object);
    match fault {
        // It may be published yet.
        Fault::Status(404 | 410) if matches!(target, Target::Manifest | Target::Plan) => {
            [One::Late].into()
        }
        Fault::Status(401 | 403 | 404 | 410) => [One::Fetch].into(),
        // Its first line is a comment that nothing vouches for.
        Fault::Flip(_) if signature => [One::Verify, One::Good].into(),
        Fault::Flip(_) | Fault::ErrorPage => [One::Verify].into(),
        // The manifest says how long it is.
        Fault::WrongLength(_) if content => [One::Verify].into(),
        Fault::WrongLength(..0) => [One::Verify].into(),
        // Each try goes on where the one before ended, and an object is short.
        Fault::Truncate(_) if target == Target::Object => [One::Late, One::Good].into(),
        _ => [One::Late].into(),
    }
}
