//! Random fleets of 2,000 nodes, some of which fail for something that is planted, and others by chance: what
//! `provostctl why` says is right, and chance isn't sold as a cause. `cargo xtask test --long fleets` tries 100.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use fastrand::Rng;
use jiff::Timestamp;
use provost_api::admins::Publication;
use provost_store::{
    Detail, Factor, FailureGroup, Node, SiteFacts, Status, factors_of, failure_groups,
};
use provost_tests::{repeats, seed};

/// Whether a node, by its number, has a planted factor.
type Has = Box<dyn Fn(usize, &Node) -> bool>;

const NODES: usize = 2_000;
/// Nodes of a rack.
const RACK: usize = 40;
/// One node in so many fails by chance, for one of so many causes.
const CHANCE: usize = 50;
const CAUSES: usize = 3;
/// Of the nodes that have what is planted, one in so many doesn't fail.
const SPARED: usize = 20;
/// When all of them had booted, and over how many seconds that was spread.
const BOOTED: i64 = 1_790_000_000;
const SPREAD: i64 = 30 * 86_400;

/// What makes nodes fail: the name of a factor and its value. The value of a bundle is that of a script too.
struct Planted {
    name: &'static str,
    value: String,
}

struct Fleet {
    nodes: Vec<Node>,
    site: SiteFacts,
}

fn pick(rng: &mut Rng, values: &[&str]) -> String {
    values[rng.usize(..values.len())].to_owned()
}

impl Fleet {
    /// A fleet in which nothing has failed.
    fn new(rng: &mut Rng) -> Self {
        let racks = (0..NODES / RACK).map(|rack| {
            (format!("rack{rack}"), (rack * RACK..(rack + 1) * RACK).map(name).collect())
        });
        let roles = ["login", "gpu", "io", "big"].map(|role| {
            (role.to_owned(), (0..NODES).filter(|_| rng.usize(..12) == 0).map(name).collect())
        });
        let groups: Vec<(String, Vec<String>)> = racks.chain(roles).collect();
        let publications: Vec<Publication> = (10..=17).map(publication).collect();
        let mut node = |n| {
            let bundle = if rng.usize(..20) == 0 { rng.u64(10..=17) } else { 16 };
            let facts = [
                ("kernel", pick(rng, &["4.18.0-553", "5.14.0-427", "5.14.0-503", "6.12.0-55"])),
                ("os", pick(rng, &["rocky 8.10", "rocky 9.4", "rocky 9.5"])),
                ("model", pick(rng, &["PowerEdge R650", "ThinkSystem SR650", "ProLiant DL380"])),
                ("firmware", format!("2.{}.{}", rng.u8(..4), rng.u8(..8))),
                ("cpus", pick(rng, &["64", "96", "128"])),
                ("memoryMiB", pick(rng, &["257000", "515000"])),
            ];
            let since = Timestamp::from_second(BOOTED - rng.i64(0..SPREAD)).ok();
            Node {
                name: name(n),
                status: Status::Booted,
                since,
                run: Some("0198".to_owned()),
                bundle: Some(bundle),
                server: Some(pick(rng, &["http://10.0.0.1:8480", "http://10.0.0.2:8480"])),
                program: Some(pick(rng, &["0.9.0", "0.9.1"])),
                facts: facts.into_iter().collect(),
                ..Node::default()
            }
        };
        let nodes = (0..NODES).map(&mut node).collect();
        Self { nodes, site: SiteFacts::new(groups, &publications) }
    }

    /// Some nodes fail for one of a few causes.
    fn fail_by_chance(&mut self, rng: &mut Rng) {
        for node in &mut self.nodes {
            if node.status == Status::Booted && rng.usize(..CHANCE) == 0 {
                fail(node, &format!("chance{}", rng.usize(..CAUSES)));
            }
        }
    }

    /// Nearly all nodes fail that have something which a few of all have.
    fn plant(&mut self, rng: &mut Rng) -> Planted {
        let n = rng.usize(..NODES);
        let (name, value, has): (_, _, Has) = match rng.u8(..7) {
            0 => (
                "bundle",
                "17".to_owned(),
                Box::new(|_: usize, node: &Node| node.bundle == Some(17)),
            ),
            1 => {
                let rack = n / RACK;
                (
                    "group",
                    format!("rack{rack}"),
                    Box::new(move |n: usize, _: &Node| n / RACK == rack),
                )
            }
            2 => {
                let value = self.nodes[n].facts.get("firmware").unwrap().to_owned();
                let own = value.clone();
                let has = move |_: usize, node: &Node| node.facts.get("firmware") == Some(&*own);
                ("firmware", value, Box::new(has))
            }
            3 => {
                // A kernel that is new in the fleet.
                for _ in 0..rng.usize(20..100) {
                    let at = rng.usize(..NODES);
                    let facts = self.nodes[at].facts.iter();
                    let facts = facts.map(|(name, value)| match name {
                        "kernel" => (name, "6.13.0".to_owned()),
                        _ => (name, value.to_owned()),
                    });
                    self.nodes[at].facts = facts.collect();
                }
                let has = |_: usize, node: &Node| node.facts.get("kernel") == Some("6.13.0");
                ("kernel", "6.13.0".to_owned(), Box::new(has))
            }
            4 => {
                // A daemon that is new in the fleet, and serves something else.
                let value = "http://10.0.0.3:8480".to_owned();
                for _ in 0..rng.usize(20..100) {
                    self.nodes[rng.usize(..NODES)].server = Some(value.clone());
                }
                let own = value.clone();
                let has = move |_: usize, node: &Node| node.server.as_deref() == Some(&own);
                ("server", value, Box::new(has))
            }
            5 => {
                // A program that is tried on a few nodes.
                let value = "0.10.0".to_owned();
                for _ in 0..rng.usize(20..100) {
                    self.nodes[rng.usize(..NODES)].program = Some(value.clone());
                }
                let own = value.clone();
                let has = move |_: usize, node: &Node| node.program.as_deref() == Some(&own);
                ("program", value, Box::new(has))
            }
            _ => {
                // A file server that is down for 20 minutes, while some nodes boot.
                let down = BOOTED - rng.i64(0..SPREAD);
                for _ in 0..rng.usize(20..100) {
                    let at = Timestamp::from_second(down + rng.i64(0..1200)).unwrap();
                    self.nodes[rng.usize(..NODES)].since = Some(at);
                }
                let has = move |_: usize, node: &Node| {
                    (down..down + 1200).contains(&node.since.unwrap().as_second())
                };
                ("time", String::new(), Box::new(has))
            }
        };
        for (n, node) in self.nodes.iter_mut().enumerate() {
            if has(n, node) && rng.usize(..SPARED) > 0 {
                fail(node, "planted");
            }
        }
        Planted { name, value }
    }

    /// What distinguishes the nodes of each failure.
    fn explained(&self) -> Vec<(FailureGroup, Vec<Factor>)> {
        let failures = failure_groups(&self.nodes);
        let factors = factors_of(&failures, self.nodes.iter(), &self.site);
        failures.into_iter().zip(factors).collect()
    }
}

fn name(n: usize) -> String {
    format!("cn{n:04}")
}

fn fail(node: &mut Node, stage: &str) {
    node.status = Status::Failed;
    node.detail = Detail { stage: Some(stage.to_owned()), ..Detail::default() };
}

/// Each generation changes a script of its own; the 17th the one that fails where that is planted.
fn publication(generation: u64) -> Publication {
    let script = |n: u64| {
        let name = if n == 17 { "planted".to_owned() } else { format!("script{n}") };
        (name, if n <= generation { "new" } else { "old" }.to_owned())
    };
    Publication {
        number: generation,
        generation,
        at: Timestamp::UNIX_EPOCH,
        by: "ann".to_owned(),
        host: "mgmt".to_owned(),
        action: "publish".to_owned(),
        channel: None,
        scripts: (10..=17).map(script).collect(),
    }
}

/// Whether the first factor is the planted one.
fn is_right(planted: &Planted, factors: &[Factor]) -> bool {
    let Some(first) = factors.first() else { return false };
    match planted.name {
        "bundle" => (&*first.name, &*first.value) == ("script", "planted of generation 17"),
        "time" => first.name == "time",
        name => first.name == name && first.value == planted.value,
    }
}

#[test]
fn a_planted_factor_is_found_and_chance_is_no_cause() {
    let (fleets, mut rng) = (repeats(10, 100), Rng::with_seed(seed()));
    let (mut right, mut wrong) = (0, Vec::new());
    for _ in 0..fleets {
        let mut fleet = Fleet::new(&mut rng);
        let planted = fleet.plant(&mut rng);
        fleet.fail_by_chance(&mut rng);
        for (failure, factors) in fleet.explained() {
            match failure.detail.stage.as_deref() == Some("planted") {
                true if is_right(&planted, &factors) => right += 1,
                true => println!("{} {}: {factors:?}", planted.name, planted.value),
                false => wrong.extend(factors.first().map(Factor::to_string)),
            }
        }
        let mut fleet = Fleet::new(&mut rng);
        fleet.fail_by_chance(&mut rng);
        let all = fleet.explained();
        wrong.extend(all.iter().filter_map(|(_, factors)| Some(factors.first()?.to_string())));
    }
    println!("of {fleets} fleets: {right} right, of as many without: {} false", wrong.len());
    // Of a few fleets one may be bad luck.
    assert!(right + (fleets / 20).max(1) >= fleets, "{right} of {fleets}");
    assert!(wrong.len() <= (fleets / 50).max(1), "{wrong:?}");
}
