//! Servers go wrong in generated ways. The node does what the model says, and in the end the
//! management node knows all of it.

mod generate;
mod model;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use model::{End, Known, Server, State, Target};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node, accounts, seed};

/// How many nodes boot at once; they wait most of the time.
const WORKERS: u64 = 8;
/// How long new nodes are made.
const TIME: Duration = Duration::from_secs(25);
/// How many nodes there may be.
const NODES: usize = 2000;
/// How much longer than its limits a boot may take on a busy machine.
const SLACK: Duration = Duration::from_secs(30);

const SCRIPTS: [&str; 3] = ["one", "two", "three"];
/// They may fail as often as they like.
const UNGUARDED: &str = "[guard]\nmax_attempts = 1000000\n";

/// A management node that published an old state, whose copy is kept, and then a new one, in which
/// one script is another.
struct Ground {
    cluster: Cluster,
    nodes: AtomicUsize,
    /// Which generation each state has.
    generations: [u64; 2],
}

impl Ground {
    fn new() -> Self {
        let mut cluster = Cluster::new();
        for script in SCRIPTS {
            let note =
                format!("#!/bin/sh\necho \"$PROVOST_RUN {script}\" >>\"$GROUND/$NODE.ran\"\n");
            cluster.script(script, &note);
        }
        // So many that they come as a pack.
        for n in 0..10 {
            cluster.script(&format!("data/{n}"), &format!("#!/bin/sh\necho {n}\n"));
        }
        let ground = cluster.path("nodes");
        cluster.site(&format!(
            "[defaults]\npostscripts = {SCRIPTS:?}\nenv.GROUND = {ground:?}\n[groups.all]\n\
             nodes = \"cn[0001-{NODES}]\"\n"
        ));
        cluster.publish().expect(0);
        let old = generation(&cluster);
        let copy = ["www", "old"].map(|name| cluster.path(name));
        assert!(Command::new("cp").arg("-rL").args(copy).status().unwrap().success());
        cluster.script("data/0", "#!/bin/sh\necho changed\n");
        cluster.publish().expect(0);
        let new = generation(&cluster);
        cluster.configure_daemon(UNGUARDED);
        cluster.start();
        Self { cluster, nodes: AtomicUsize::new(0), generations: [old, new] }
    }

    fn node(&self) -> Node {
        let number = self.nodes.fetch_add(1, Ordering::Relaxed) + 1;
        self.cluster.node(&format!("cn{number:04}"))
    }

    /// A server that can serve either state.
    fn pair(&self) -> [Faulty; 2] {
        let daemon = self.cluster.daemon().nodes();
        [Faulty::cache(self.cluster.path("old"), &daemon), Faulty::proxy(&daemon)]
    }

    /// Has one of the pair go wrong as `server` says.
    fn spoil<'p>(&self, pair: &'p [Faulty; 2], node: &Node, server: &Server) -> &'p Faulty {
        let faulty = &pair[server.state as usize];
        let path = |target: &Target| match target {
            Target::Manifest => "/manifest.toml".to_owned(),
            Target::ManifestSignature => "/manifest.toml.minisig".to_owned(),
            Target::Plan => format!("/plans/{}.toml", node.name()),
            Target::PlanSignature => format!("/plans/{}.toml.minisig", node.name()),
            Target::Pack => "/packs/".to_owned(),
            Target::Object => "/objects/".to_owned(),
        };
        // The manifest has no other path here, by which a node could have it in spite of a fault.
        faulty.fault("/manifests/", Times::Always, Fault::Status(404));
        for (target, n, fault) in &server.passing {
            faulty.fault(&path(target), Times::Next(*n), fault.clone());
        }
        if let Some((target, fault)) = &server.lasting {
            faulty.fault(&path(target), Times::Always, fault.clone());
        }
        let reports = format!("/v1/nodes/{}/records", node.name());
        for (n, fault) in &server.reports {
            faulty.fault(&reports, Times::Next(*n), fault.clone());
        }
        if let Some(fault) = &server.all_reports {
            faulty.fault(&reports, Times::Always, fault.clone());
        }
        faulty
    }

    /// The life of one node.
    fn live(&self, boots: &[Vec<Server>]) {
        let node = self.node();
        let pairs = [self.pair(), self.pair()];
        let mut known = Known::default();
        for servers in boots {
            known = self.boot(&node, &pairs, known, servers);
        }
    }

    /// Boots `node`, sees that what happens may happen, and that all of it is told in the end.
    fn boot(
        &self,
        node: &Node,
        pairs: &[[Faulty; 2]; 2],
        known: Known,
        servers: &[Server],
    ) -> Known {
        let (may, may_be_late) = model::ends(known, servers);
        let faulty = pairs.iter().zip(servers).map(|(pair, server)| self.spoil(pair, node, server));
        let faulty: Vec<&Faulty> = faulty.collect();
        let addresses: Vec<&str> = faulty.iter().map(|faulty| faulty.address()).collect();
        // Where time decides, it is short; where it doesn't, there is plenty.
        let deadline = Duration::from_secs(if may_be_late { 2 } else { 60 });
        node.configure(&format!(
            "{}[fetch]\ndeadline = \"{} s\"\nconnect_timeout = \"2s\"\nstall_timeout = \"500ms\"\n\
             [report]\ndeadline = \"1s\"\n{UNGUARDED}",
            self.cluster.settings_for(&addresses),
            deadline.as_secs()
        ));
        let begun = Instant::now();
        let out = node.provost(&["boot"]);
        let took = begun.elapsed();
        assert!(took < deadline + SLACK, "it took {took:?}: {out:?}");

        let runs = accounts::runs(node, "boot");
        let run = runs.last().unwrap();
        let is_fetched =
            |entry: &&serde_json::Value| entry["stage"] == "fetch" && entry["phase"] == "stage end";
        let fetched = run.iter().rfind(is_fetched).unwrap();
        let end = match fetched["cause"].as_str() {
            None => End::Good,
            Some("fetch") => End::Fetch,
            Some("verify") => End::Verify,
            Some(other) => panic!("no fault has the cause {other}: {fetched:#}"),
        };
        assert!(may.contains(&end), "{end:?} isn't in {may:?}: {fetched:#}\n{out:?}");
        assert_eq!(out.code, Some(if end == End::Good { 0 } else { 3 }), "{out:?}");

        let expected: &[&str] = if end == End::Good { &SCRIPTS } else { &[] };
        assert_eq!(ran(node, run[0]["run"].as_str().unwrap()), expected, "{out:?}");
        for server in &faulty {
            server.repair();
        }
        let out = node.provost(&["report"]).expect(0);
        assert_eq!(node.status()["unreported"], 0, "{out:?}");
        accounts::all_is_told(&self.cluster, node, "boot");
        let told = self.cluster.status(node.name());
        if end == End::Good {
            assert_eq!(told["status"], "booted", "{told:#}");
            let at = self.generations.iter().position(|g| fetched["bundle"] == *g).unwrap();
            let has = [State::Old, State::New][at];
            assert!(servers.iter().any(|server| server.state == has), "{fetched:#}");
            return Known { has: Some(has) };
        }
        if fetched["waiting"].is_string() {
            // Its plan may be published yet.
            assert_eq!(end, End::Fetch, "{fetched:#}");
            assert!(
                told["waiting"].as_str().is_some_and(|why| why.contains("no plan")),
                "{told:#}"
            );
            assert_ne!(told["status"], "failed", "{told:#}");
            return known;
        }
        assert_eq!(told["status"], "failed", "{told:#}");
        assert_eq!((&told["stage"], &told["cause"]), (&"fetch".into(), &fetched["cause"]));
        let message = told["errorMessage"].as_str().unwrap();
        assert!(addresses.iter().any(|address| message.contains(address)), "{message}");
        assert!(!told["hint"].as_str().unwrap_or_default().is_empty(), "{told:#}");
        known
    }
}

fn generation(cluster: &Cluster) -> u64 {
    let manifest = std::fs::read_to_string(cluster.www().join("manifest.toml")).unwrap();
    let line = manifest.lines().find_map(|line| line.strip_prefix("generation = "));
    line.unwrap().parse().unwrap()
}

/// The scripts that `run` ran on `node`, in order.
fn ran(node: &Node, run: &str) -> Vec<String> {
    let notes = node.path("..").join(format!("{}.ran", node.name()));
    let notes = std::fs::read_to_string(notes).unwrap_or_default();
    notes.lines().filter_map(|l| l.strip_prefix(run)).map(|l| l.trim().to_owned()).collect()
}

#[test]
fn whatever_mix_of_faults_a_node_meets_it_does_what_it_should_and_tells_all() {
    let seed = seed();
    let ground = Ground::new();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let ground = &ground;
            scope.spawn(move || {
                let mut bytes = [0; 32];
                bytes[..8].copy_from_slice(&seed.to_le_bytes());
                bytes[8..16].copy_from_slice(&worker.to_le_bytes());
                let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
                let config = Config {
                    cases: 1000,
                    max_shrink_iters: 40,
                    max_shrink_time: 60_000,
                    failure_persistence: None,
                    ..Config::default()
                };
                let mut runner = TestRunner::new_with_rng(config, rng);
                let result = runner.run(&generate::boots(), |boots| {
                    if begun.elapsed() < TIME {
                        ground.live(&boots);
                    }
                    Ok(())
                });
                match result {
                    Ok(()) => {}
                    Err(TestError::Fail(why, boots)) => panic!("{why}\nboots: {boots:#?}"),
                    Err(e) => panic!("{e}"),
                }
            });
        }
    });
    eprintln!("{:?} nodes", ground.nodes);
}
