use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::advance;

use super::open::{ABSENCE, FIRST_SILENCE, SILENCE};
use super::*;

const LIMITS: ConnectionLimits = ConnectionLimits { all: 9, told: 9, anonymous_of_address: 2 };
const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
const THERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 1);

fn must_close(connection: &Connection) -> bool {
    connection.must_close().now_or_never().is_some()
}

#[tokio::test(start_paused = true)]
async fn at_its_limit_an_address_loses_its_oldest_idle_connection() {
    let table = Connections::within(LIMITS);
    let add = |address: SocketAddr| table.add(&address);
    let [first, second] = [add(HERE).unwrap(), add(HERE).unwrap()];
    let running = first.begin_request();
    let third = add(HERE).unwrap();
    assert!(must_close(&second) && !must_close(&first), "the oldest that is idle");
    let busy = third.begin_request();
    assert!(add(HERE).is_none() && add(THERE).is_some(), "all of them are busy");
    drop((running, busy));
    assert!(add(HERE).is_some() && must_close(&first));
    drop((first, second, third));
    assert!(table.open.lock().unwrap().anonymous.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_token_takes_no_room_of_its_address_and_is_closed_last() {
    let table = Connections::within(ConnectionLimits { all: 4, ..LIMITS });
    let add = |address: SocketAddr| table.add(&address);
    let stranger = |n: u8| add(SocketAddr::from(([10, 0, 1, n], 1)));
    let node = add(HERE).unwrap();
    node.has_token();
    let third = add(THERE).unwrap();
    let others = [add(HERE).unwrap(), add(HERE).unwrap()];
    assert!(add(THERE).is_none(), "the requests of all may be on their way");
    assert!(table.is_crowded());
    advance(FIRST_SILENCE).await;
    let fourth = add(THERE).unwrap();
    assert!(must_close(&others[0]), "its address has the most");
    let more = [stranger(2), stranger(3)];
    assert!(must_close(&others[1]) && must_close(&third) && !must_close(&node));
    let last = stranger(4).unwrap();
    assert!(must_close(&node));
    assert!(stranger(5).is_none(), "the others have just come");
    drop((fourth, more, last));
    assert!(!table.is_crowded());
}

#[tokio::test(start_paused = true)]
async fn half_of_the_places_is_for_who_has_waited_and_half_of_that_for_who_was_let_in() {
    let table = Connections::within(ConnectionLimits { all: 8, ..LIMITS });
    let client = |n: u8| SocketAddr::from(([10, 0, 1, n], 1));
    let add = |n: u8| table.add(&client(n));
    let first: Vec<_> = (1..=5).map(|n| add(n).unwrap()).collect();
    assert!(add(6).is_none());
    table.line.next(client(6).ip());
    table.line.next(client(7).ip());
    advance(Duration::from_secs(2)).await;
    let waited = [add(6).unwrap(), add(7).unwrap()];
    table.line.next(client(8).ip());
    advance(Duration::from_secs(2)).await;
    assert!(add(8).is_none());
    let again = add(1).unwrap();
    drop((first, waited, again));
    assert!(add(8).is_some() && table.open().of_address.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_report_has_made_room_finds_a_place_for_the_next_one() {
    let table = Connections::within(ConnectionLimits { all: 8, ..LIMITS });
    let add = |n: u8| table.add(&SocketAddr::from(([10, 0, 1, n], 1)));
    let [node, stranger] = [add(1).unwrap(), add(2).unwrap()];
    node.has_token();
    node.makes_room();
    stranger.makes_room();
    drop((node, stranger));
    let others: Vec<_> = (11..=15).map(|n| add(n).unwrap()).collect();
    let _running: Vec<_> = others.iter().map(Connection::begin_request).collect();
    assert!(add(2).is_none());
    let node = add(1).unwrap();
    node.has_token();
    node.makes_room();
    drop(node);
    advance(ABSENCE).await;
    assert!(add(1).is_none(), "it is expected no longer");
}

#[tokio::test(start_paused = true)]
async fn a_connection_whose_first_request_may_wait_to_be_read_is_kept_for_longer() {
    let table = Connections::within(ConnectionLimits { all: 2, ..LIMITS });
    let stranger = |n: u8| table.add(&SocketAddr::from(([10, 0, 1, n], 1)));
    let (used, fresh) = (stranger(1).unwrap(), stranger(2).unwrap());
    drop(used.begin_request());
    advance(SILENCE).await;
    let third = stranger(3).unwrap();
    assert!(must_close(&used) && stranger(4).is_none());
    advance(FIRST_SILENCE - SILENCE).await;
    assert!(stranger(5).is_some() && must_close(&fresh) && !must_close(&third));
    drop(third);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_silent_and_is_no_more_hides_no_other() {
    let table = Connections::within(ConnectionLimits { all: 2, ..LIMITS });
    let stranger = |n: u8| table.add(&SocketAddr::from(([10, 0, 1, n], 1)));
    let [first, second] = [stranger(1).unwrap(), stranger(2).unwrap()];
    advance(FIRST_SILENCE).await;
    let third = stranger(3).unwrap();
    let kept = if must_close(&first) { second } else { first };
    let _running = kept.begin_request();
    advance(FIRST_SILENCE).await;
    assert!(stranger(4).is_some() && must_close(&third) && !must_close(&kept));
}
