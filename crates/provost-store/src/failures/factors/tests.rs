use super::*;
use crate::{Detail, Facts, Status, failure_groups};

fn node(n: usize, status: Status, bundle: u64, facts: &[(&'static str, String)]) -> Node {
    let message = (status == Status::Failed).then(|| "no disk".to_owned());
    Node {
        name: format!("cn{n:04}"),
        status,
        run: Some("0198".to_owned()),
        bundle: Some(bundle),
        facts: facts.iter().cloned().collect::<Facts>(),
        detail: Detail { error_message: message, ..Detail::default() },
        ..Node::default()
    }
}

fn lines(nodes: &[Node], site: &SiteFacts) -> Vec<String> {
    let failures = failure_groups(nodes);
    factors_of(&failures, nodes.iter(), site)[0].iter().map(Factor::to_string).collect()
}

#[test]
fn what_the_failed_share_and_the_others_do_not_is_told_with_its_numbers() {
    let status = |n| if n < 24 { Status::Failed } else { Status::Booted };
    let kernel =
        |n: usize| [("kernel", if n.is_multiple_of(2) { "5.14" } else { "4.18" }.to_owned())];
    let nodes: Vec<Node> =
        (0..512).map(|n| node(n, status(n), if n < 24 { 17 } else { 16 }, &kernel(n))).collect();
    let expected = ["bundle 17: 24 of 24 failed have it, 0 of 488 others"];
    assert_eq!(lines(&nodes, &SiteFacts::default()), expected);

    let rack = ("rack1".to_owned(), (0..30).map(|n| format!("cn{n:04}")).collect());
    let found = lines(&nodes, &SiteFacts::new([rack], &[]));
    assert_eq!(found[1], "group rack1: 24 of 24 failed have it, 6 of 488 others");
}

#[test]
fn nothing_distinguishes_nodes_that_are_as_all_others() {
    let status = |n| if n < 24 { Status::Failed } else { Status::Booted };
    let nodes: Vec<Node> = (0..512).map(|n| node(n, status(n), 16, &[])).collect();
    assert_eq!(lines(&nodes, &SiteFacts::default()), [""; 0]);
}

#[test]
fn a_fact_that_the_others_never_told_is_none() {
    let failed = (0..24).map(|n| node(n, Status::Failed, 16, &[("os", "rocky 9".to_owned())]));
    let others = (24..512).map(|n| node(n, Status::Booted, 16, &[]));
    let nodes: Vec<Node> = failed.chain(others).collect();
    assert_eq!(lines(&nodes, &SiteFacts::default()), [""; 0]);
}

#[test]
fn two_nodes_and_a_factor_of_half_of_the_others_are_not_enough() {
    let nodes: Vec<Node> = (0..200)
        .map(|n| node(n, if n < 2 { Status::Failed } else { Status::Booted }, n as u64 / 2, &[]))
        .collect();
    assert_eq!(lines(&nodes, &SiteFacts::default()), [""; 0]);
    let half: Vec<Node> = (0..512)
        .map(|n| {
            node(
                n,
                if n < 24 { Status::Failed } else { Status::Booted },
                if n < 268 { 17 } else { 16 },
                &[],
            )
        })
        .collect();
    assert_eq!(lines(&half, &SiteFacts::default()), [""; 0]);
}

#[test]
fn the_management_node_and_the_program_are_factors() {
    let of = |n: usize, server: &str, program: &str| Node {
        server: Some(server.to_owned()),
        program: Some(program.to_owned()),
        ..node(n, if n < 6 { Status::Failed } else { Status::Booted }, 16, &[])
    };
    let (old, new) = ("http://10.0.0.1:8480", "http://10.0.0.2:8480");
    let all = |of: &dyn Fn(usize) -> Node| (0..100).map(of).collect::<Vec<_>>();
    let by_server = all(&|n| of(n, if n < 7 { new } else { old }, "0.9.0"));
    let expected = ["management node http://10.0.0.2:8480: 6 of 6 failed have it, 1 of 94 others"];
    assert_eq!(lines(&by_server, &SiteFacts::default()), expected);
    let by_program = all(&|n| of(n, old, if n < 6 { "0.10.0" } else { "0.9.0" }));
    let expected = ["program 0.10.0: 6 of 6 failed have it, 0 of 94 others"];
    assert_eq!(lines(&by_program, &SiteFacts::default()), expected);
}
