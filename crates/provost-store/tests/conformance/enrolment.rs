//! Identities of nodes, and what leads to them.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use provost_store::{
    Enrolled, EnrolmentRefusal, EnrolmentRequest, Join, KeyDigest, NotPending, Status, Store, Token,
};
use serde_json::json;

use crate::{at, report};

fn later(minutes: i64) -> Timestamp {
    at() + SignedDuration::from_mins(minutes)
}

fn request(node: &str, key: u8) -> EnrolmentRequest {
    EnrolmentRequest {
        node: node.into(),
        key: [key; 32],
        join: None,
        by: IpAddr::from([10, 0, 0, key]),
        planned: None,
        is_proven: false,
        until: later(1000),
    }
}

fn by_join(node: &str, key: u8, join: u8) -> EnrolmentRequest {
    EnrolmentRequest { join: Some([join; 32]), ..request(node, key) }
}

fn is_new(enrolled: &Enrolled) -> bool {
    matches!(enrolled, Enrolled::Identity { is_new: true, .. })
}

async fn enrol(store: &dyn Store, request: EnrolmentRequest, minutes: i64) -> Enrolled {
    store.enrol(request, later(minutes)).await.unwrap()
}

fn refused(why: EnrolmentRefusal) -> Enrolled {
    Enrolled::Refused(why)
}

/// The node whose identity a key is.
async fn owner(store: &dyn Store, key: u8) -> Option<String> {
    let identity = store.identity_of_key([key; 32]).await.unwrap()?;
    Some(identity.node).filter(|_| identity.revoked.is_none())
}

async fn pending(store: &dyn Store) -> Vec<(String, KeyDigest, bool)> {
    let keys = store.pending_keys().await.unwrap();
    keys.into_iter().map(|key| (key.node, key.key, key.is_second)).collect()
}

/// What every store must do; it is fresh and empty.
pub(crate) async fn enrols(store: &dyn Store) {
    joins(store).await;
    windows(store).await;
    admins(store).await;
    revocation(store).await;
    removal(store).await;
}

async fn joins(store: &dyn Store) {
    let join = |node: &str, byte, from: Option<&str>| Join {
        node: node.into(),
        sha256: [byte; 32],
        since: at(),
        until: later(30),
        from: from.map(|from| from.parse().unwrap()),
    };
    store
        .set_joins(vec![join("j1", 100, None), join("j2", 101, Some("10.0.0.0/30"))])
        .await
        .unwrap();
    let unknown = refused(EnrolmentRefusal::UnknownJoin);
    assert_eq!(enrol(store, by_join("j1", 1, 99), 0).await, unknown);
    assert_eq!(enrol(store, by_join("j2", 1, 100), 0).await, unknown, "another node's");
    assert!(store.nodes().await.unwrap().is_empty() && pending(store).await.is_empty());
    assert!(is_new(&enrol(store, by_join("j1", 1, 100), 29).await));
    assert_eq!(owner(store, 1).await.as_deref(), Some("j1"));
    assert_eq!(store.node("j1").await.unwrap().unwrap().status, Status::Defined);

    // Who has seen the token comes too late. The node whose answer was lost gets the same one for 10 minutes, which
    // prolongs nothing.
    let spent = refused(EnrolmentRefusal::SpentJoin(later(29)));
    assert_eq!(enrol(store, by_join("j1", 2, 100), 29).await, spent);
    let again =
        |is_proven| EnrolmentRequest { is_proven, until: later(5000), ..by_join("j1", 1, 100) };
    let same = Enrolled::Identity { until: later(1000), is_new: false };
    assert_eq!(enrol(store, again(false), 38).await, same);
    assert_eq!(enrol(store, again(true), 38).await, same);
    assert_eq!(enrol(store, again(true), 39).await, spent, "the token is worth nothing any more");
    // An identity needs none.
    let without = |is_proven| EnrolmentRequest { join: None, ..again(is_proven) };
    assert_eq!(enrol(store, without(false), 500).await, same);
    let renewed = Enrolled::Identity { until: later(5000), is_new: false };
    assert_eq!(enrol(store, without(true), 501).await, renewed);
    assert_eq!(store.identity("j1").await.unwrap().unwrap().until, later(5000));

    // A node that has an identity spends its token as well: a user of it, who reads that, comes too late.
    store.set_joins(vec![join("j1", 103, None)]).await.unwrap();
    assert_eq!(enrol(store, by_join("j1", 1, 103), 1).await, renewed);
    let spent = refused(EnrolmentRefusal::SpentJoin(later(1)));
    assert_eq!(enrol(store, by_join("j1", 3, 103), 1).await, spent);

    // A new one replaces the identity.
    store.set_joins(vec![join("j1", 102, None)]).await.unwrap();
    assert!(is_new(&enrol(store, by_join("j1", 2, 102), 0).await));
    assert_eq!((owner(store, 1).await, owner(store, 2).await), (None, Some("j1".into())));
    let others = refused(EnrolmentRefusal::OtherNodes("j1".into()));
    assert_eq!(enrol(store, by_join("j2", 2, 101), 0).await, others, "a copied disk");
    let spent = refused(EnrolmentRefusal::SpentJoin(at()));
    assert_eq!(enrol(store, by_join("j2", 3, 101), 0).await, spent, "presented is spent");
    store.set_joins(vec![join("j2", 101, Some("10.0.0.0/30"))]).await.unwrap();

    let elsewhere = |from: &str| refused(EnrolmentRefusal::ElsewhereJoin(from.into()));
    assert_eq!(enrol(store, by_join("j2", 4, 101), 0).await, elsewhere("10.0.0.0/30"));
    let planned = |address: &str| EnrolmentRequest {
        planned: Some(address.parse().unwrap()),
        ..by_join("j2", 3, 101)
    };
    assert_eq!(enrol(store, planned("10.0.0.9"), 0).await, elsewhere("10.0.0.9"));
    let ended = refused(EnrolmentRefusal::EndedJoin(later(30)));
    assert_eq!(enrol(store, planned("10.0.0.3"), 30).await, ended);
    assert!(is_new(&enrol(store, planned("10.0.0.3"), 0).await));
}

async fn windows(store: &dyn Store) {
    let names = ["w1", "w2", "w3"].map(str::to_owned).to_vec();
    store.open_windows(names, later(60)).await.unwrap();
    let open = store.windows(later(59)).await.unwrap();
    assert_eq!(open.iter().map(|(node, _)| &**node).collect::<Vec<_>>(), ["w1", "w2", "w3"]);
    assert!(store.windows(later(60)).await.unwrap().is_empty());
    let (node, _) = &open[0];
    assert!(store.has_window(node, later(59)).await.unwrap());
    assert!(!store.has_window(node, later(60)).await.unwrap());
    assert!(!store.has_window("none", later(59)).await.unwrap());
    assert!(is_new(&enrol(store, request("w1", 11), 0).await));
    assert_eq!(enrol(store, request("w1", 12), 0).await, refused(EnrolmentRefusal::SecondKey));
    assert_eq!(owner(store, 12).await, None);
    assert_eq!(pending(store).await, [("w1".to_owned(), [12; 32], true)], "it is shown");
    assert_eq!(enrol(store, request("w2", 13), 60).await, Enrolled::Pending, "it has ended");
    // A node that has booted closes its own.
    let start = |phase| report("w3", "w", 1, json!({"phase": phase}));
    store.ingest("w3", vec![start("service start")], at()).await.unwrap();
    let end = json!({"phase": "service end", "result": "success"});
    store.ingest("w3", vec![report("w3", "w", 2, end)], at()).await.unwrap();
    assert_eq!(enrol(store, request("w3", 14), 0).await, Enrolled::Pending);
    let closed = store.close_windows(Some(vec!["w2".into(), "x".into()]), at()).await.unwrap();
    assert_eq!(closed, ["w2"]);
    assert_eq!(store.close_windows(None, at()).await.unwrap(), ["w1", "w3"]);
    assert_eq!(enrol(store, request("w2", 15), 0).await, Enrolled::Pending);
}

async fn admins(store: &dyn Store) {
    let approve = async |node: &'static str, key: Option<u8>| {
        let key = key.map(|key| [key; 32]);
        store.approve(node, key, later(900), later(1)).await.unwrap()
    };
    assert_eq!(approve("a1", None).await, Err(NotPending::None));
    assert_eq!(enrol(store, request("a1", 21), 0).await, Enrolled::Pending);
    assert_eq!(enrol(store, request("a1", 22), 1).await, Enrolled::Pending);
    assert_eq!(approve("a1", None).await, Err(NotPending::Many(vec![[21; 32], [22; 32]])));
    assert_eq!(approve("a1", Some(23)).await, Err(NotPending::None));
    assert_eq!(store.reject("a1", Some([21; 32])).await.unwrap(), Ok([21; 32]));
    assert_eq!(enrol(store, request("a1", 21), 2).await, refused(EnrolmentRefusal::Rejected));
    assert_eq!(approve("a1", None).await, Ok([22; 32]));
    let known = Enrolled::Identity { until: later(900), is_new: false };
    assert_eq!(enrol(store, request("a1", 22), 2).await, known);
    // A node that was installed anew, by its new key.
    assert_eq!(enrol(store, request("a1", 24), 3).await, Enrolled::Pending);
    assert_eq!(approve("a1", None).await, Ok([24; 32]));
    assert_eq!((owner(store, 22).await, owner(store, 24).await), (None, Some("a1".into())));
    assert_eq!(approve("a1", Some(21)).await, Ok([21; 32]), "an admin may think better of it");
    assert_eq!(enrol(store, request("a2", 25), 0).await, Enrolled::Pending);
    assert_eq!(enrol(store, request("a1", 25), 0).await, Enrolled::Pending);
    assert_eq!(approve("a2", None).await, Ok([25; 32]));
    assert_eq!(approve("a1", None).await, Err(NotPending::OtherNodes("a2".into())));
    // When it has ended, an admin has to approve it again.
    assert_eq!(enrol(store, request("a2", 25), 900).await, Enrolled::Pending);
    assert_eq!(enrol(store, request("a3", 29), 0).await, Enrolled::Pending);
    assert_eq!(store.reject("a3", None).await.unwrap(), Ok([29; 32]));
    floods(store).await;
    let rejected = refused(EnrolmentRefusal::Rejected);
    assert_eq!(enrol(store, request("a3", 29), 40).await, rejected, "others don't push it out");
}

/// Whoever asks by many keys pushes out no key of another address, nor its own first one.
async fn floods(store: &dyn Store) {
    let from = |node: &str, address: [u8; 4], key: u32| {
        let mut request = EnrolmentRequest { by: address.into(), ..request(node, 0) };
        request.key[..4].copy_from_slice(&key.to_be_bytes());
        request
    };
    let kept = async |node: &str| -> Vec<u32> {
        let all = pending(store).await.into_iter().filter(|(of, ..)| of == node);
        all.map(|(_, key, _)| u32::from_be_bytes(key[..4].try_into().unwrap())).collect()
    };
    let (own, others) = ([10, 1, 0, 1], [10, 1, 0, 2]);
    // A diskless node that booted five times: its newest key is the one on its console.
    for key in 1..=5 {
        assert_eq!(enrol(store, from("f1", own, key), key.into()).await, Enrolled::Pending);
    }
    assert_eq!(kept("f1").await, [1, 3, 4, 5]);
    for key in 100..120 {
        assert_eq!(enrol(store, from("f1", others, key), key.into()).await, Enrolled::Pending);
    }
    assert_eq!(kept("f1").await, [1, 3, 4, 5, 100, 117, 118, 119]);
    let mut refusals = 0;
    for key in 200..400 {
        let address = [10, 2, 0, key as u8];
        match enrol(store, from("f1", address, key), key.into()).await {
            Enrolled::Pending => {}
            answer => {
                assert_eq!(answer, refused(EnrolmentRefusal::TooManyOfNode));
                refusals += 1;
            }
        }
    }
    let all = kept("f1").await;
    assert_eq!((all.len(), refusals), (64, 144));
    assert_eq!(all[..8], [1, 3, 4, 5, 100, 117, 118, 119]);
    assert_eq!(
        enrol(store, from("f1", own, 6), 500).await,
        Enrolled::Pending,
        "in place of its own"
    );
    let of_one = store.approve("f1", Some(from("f1", own, 5).key), later(900), later(1));
    assert!(of_one.await.unwrap().is_ok(), "the one that the admin saw");

    // By many names, and from any address of one link.
    let mut refusals = 0;
    for n in 0..300u16 {
        let by = std::net::Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, n).into();
        let request = EnrolmentRequest { by, ..from(&format!("f2-{n}"), own, 1000 + u32::from(n)) };
        match enrol(store, request, 0).await {
            Enrolled::Pending => {}
            answer => {
                let client = "fd00:0:0:1::/64".parse().unwrap();
                assert_eq!(answer, refused(EnrolmentRefusal::TooManyOfClient(client)));
                refusals += 1;
            }
        }
    }
    assert_eq!(refusals, 300 - 256);
}

async fn revocation(store: &dyn Store) {
    store.open_windows(vec!["r1".into()], later(60)).await.unwrap();
    store.set_tokens(vec![Token { node: "r1".into(), sha256: [77; 32] }], at()).await.unwrap();
    assert!(is_new(&enrol(store, request("r1", 41), 0).await));
    enrol(store, request("r1", 42), 0).await;
    let both = || vec!["r1".to_owned(), "typo".to_owned()];
    assert_eq!(store.revoke(both(), at()).await.unwrap(), Err(vec!["typo".to_owned()]));
    assert_eq!(owner(store, 41).await.as_deref(), Some("r1"), "all or none");
    let revoked = store.revoke(vec!["r1".into()], later(1)).await.unwrap().unwrap();
    let identity = store.identity_of_key([41; 32]).await.unwrap().unwrap();
    assert_eq!((identity.key, identity.revoked), ([41; 32], Some(later(1))));
    assert_eq!(revoked, std::slice::from_ref(&identity), "as it is now");
    assert_eq!(store.identity("r1").await.unwrap(), Some(identity));
    assert_eq!(store.token_owner([77; 32], at()).await.unwrap(), None);
    store.open_windows(vec!["r2".into()], later(60)).await.unwrap();
    assert!(is_new(&enrol(store, request("r2", 45), 0).await));
    enrol(store, request("r2", 46), 0).await;
    assert_eq!(store.reject("r2", None).await.unwrap(), Ok([46; 32]));
    store.revoke(vec!["r2".into()], later(1)).await.unwrap().unwrap();
    let rejected = refused(EnrolmentRefusal::Rejected);
    assert_eq!(enrol(store, request("r2", 46), 2).await, rejected, "it stays rejected");
    assert!(store.windows(at()).await.unwrap().is_empty());
    assert!(pending(store).await.iter().all(|key| key.0 != "r1"));
    // Nothing brings the key back.
    let gone = refused(EnrolmentRefusal::Revoked(later(1)));
    let proven = EnrolmentRequest { is_proven: true, ..request("r1", 41) };
    assert_eq!(enrol(store, proven, 2).await, gone);
    store.open_windows(vec!["r1".into()], later(60)).await.unwrap();
    assert_eq!(enrol(store, request("r1", 41), 2).await, gone);
    assert!(is_new(&enrol(store, request("r1", 43), 2).await), "but another one");
    assert_eq!(store.identity("r1").await.unwrap().unwrap().key, [43; 32]);
    assert!(store.revoke(vec!["w3".into()], at()).await.unwrap().unwrap().is_empty());
}

async fn removal(store: &dyn Store) {
    store.open_windows(vec!["gone".into()], later(60)).await.unwrap();
    assert!(is_new(&enrol(store, request("gone", 51), 0).await));
    enrol(store, request("gone", 52), 0).await;
    store.remove(vec!["gone".into()]).await.unwrap().unwrap();
    assert_eq!((owner(store, 51).await, store.identity("gone").await.unwrap()), (None, None));
    assert!(store.windows(at()).await.unwrap().iter().all(|(node, _)| node != "gone"));
    assert!(pending(store).await.iter().all(|key| key.0 != "gone"));
}

/// A hundred nodes enrol at once, each by two keys: one of them wins.
pub(crate) async fn many_at_once(store: Arc<dyn Store>) {
    let names: Vec<String> = (0..100).map(|n| format!("n{n}")).collect();
    store.open_windows(names.clone(), later(60)).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for (n, name) in names.into_iter().enumerate() {
        for key in [0, 1] {
            let (store, name) = (Arc::clone(&store), name.clone());
            let mut request = request(&name, 0);
            request.key[..2].copy_from_slice(&[n as u8, key]);
            tasks.spawn(async move { (name, store.enrol(request, at()).await.unwrap()) });
        }
    }
    let all = tasks.join_all().await;
    let winners: Vec<_> = all.iter().filter(|(_, enrolled)| is_new(enrolled)).collect();
    let names: std::collections::BTreeSet<_> = winners.iter().map(|(name, _)| name).collect();
    assert_eq!((winners.len(), names.len()), (100, 100));
    assert_eq!(store.pending_keys().await.unwrap().len(), 100);
    one_key_at_once(store).await;
}

/// A hundred nodes enrol at once by the same key, as from a copied disk: it becomes the identity of one.
async fn one_key_at_once(store: Arc<dyn Store>) {
    let names: Vec<String> = (0..100).map(|n| format!("copy{n}")).collect();
    store.open_windows(names.clone(), later(60)).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for name in names {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.enrol(request(&name, 200), at()).await.unwrap() });
    }
    let all = tasks.join_all().await;
    assert_eq!(all.iter().filter(|enrolled| is_new(enrolled)).count(), 1, "{all:?}");
}
