use std::net::{Ipv4Addr, SocketAddr};

use futures_util::FutureExt;
use tokio::time::advance;

use super::open::{FIRST_SILENCE, SILENCE};
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
