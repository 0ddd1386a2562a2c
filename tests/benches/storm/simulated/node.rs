//! A node whose boot is the real one, but for its scripts and its disk.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use provost_node::fetch::published::Published;
use provost_node::fetch::{Fetched, Source};
use provost_node::observe::observer::{Observer, RunContext, StepContext, StepEnd};
use provost_node::observe::report::{Reporting, Spool, waiting_runs};
use provost_node::runner::connect;
use provost_node::settings::secrets::secrets;
use provost_node::settings::{Input, Origin};
use provost_node::state::root::Root;
use provost_record::{Journal, Outcome, Phase, Record, Service, Stage};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::sleep;

/// How long a script takes, on average.
const SCRIPT: Duration = Duration::from_millis(250);
/// A line of its log, and how many there are: 4 KiB, of which 1 in 10 is left when packed.
const LINE: &str =
    "2026-11-20T17:00:02.101Z exec F 4711 4705 install -m 0640 slurm.conf /etc/slurm/slurm.conf\n";
const LINES: usize = 45;
/// When the timer of a node is due that uploads the logs which its run has left: the first time, and how much later at
/// most (provost-report.timer).
const TIMER: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(60)];

/// A node that is switched on by [`boot`](Self::boot).
#[derive(Serialize, Deserialize)]
pub(crate) struct SimulatedNode {
    folder: PathBuf,
    /// None where the node has an identity, or comes by one.
    token: Option<String>,
    config: String,
    /// Whether it uploads the logs of all steps.
    uploads_logs: bool,
}

/// How a boot went.
#[derive(Serialize, Deserialize)]
pub(crate) struct Boot {
    /// From the first request until all is fetched and verified.
    pub(crate) fetch: Duration,
    /// From power on to the end of the last report.
    pub(crate) whole: Duration,
    /// When that was, after the storm had begun.
    pub(crate) ended: Duration,
    /// Its run's id.
    pub(crate) run: String,
    /// How many records the node wrote.
    pub(crate) records: usize,
    /// How many of them weren't acknowledged in time.
    pub(crate) unreported: usize,
    /// When the last log was uploaded, after the storm had begun, where that was after the end of the run.
    pub(crate) logs: Option<Duration>,
    /// Why it fetched nothing.
    pub(crate) gave_up: Option<String>,
}

impl SimulatedNode {
    /// A node in `folder`.
    pub(crate) fn new(folder: PathBuf, name: &str, token: Option<&str>, settings: &str) -> Self {
        let path = |name: &str| folder.join(name);
        let names = ["state", "log", "etc", "xcatpost", "xcat", "xcat_log"];
        let paths = names.map(|name| format!("{name} = {:?}\n", path(name))).concat();
        let token_file = token.map(|_| format!("token_file = {:?}\n", path("token")));
        let token_file = token_file.unwrap_or_default();
        let config = format!(
            "node = {name:?}\n{token_file}{settings}[paths]\n{paths}[report]\ndeadline = \"10m\"\n"
        );
        Self { config, token: token.map(str::to_owned), folder, uploads_logs: false }
    }

    /// The same node uploads the logs of all steps.
    pub(crate) fn with_logs(self) -> Self {
        Self { uploads_logs: true, ..self }
    }

    /// Makes its folder. What the node has kept there since another boot stays.
    fn set_up(&self) {
        std::fs::create_dir_all(&self.folder).unwrap();
        if let Some(token) = &self.token {
            std::fs::write(self.folder.join("token"), token).unwrap();
        }
        // Its folder is in memory, where all would be the default.
        let logs = if self.uploads_logs { "all" } else { "failed" };
        let config = format!("{}logs = {logs:?}\n", self.config);
        std::fs::write(self.folder.join("provost.toml"), config).unwrap();
    }

    /// Boots within `over` from now on, as the real node does in its runner. Its folder is there only until it
    /// has: there is no room for a hundred thousand. If it only fetches, it stops after that: it comes by an
    /// identity, where it has no token, and says nothing.
    pub(crate) async fn boot(self, over: Duration, only_fetches: bool) -> Boot {
        let begun_all = Instant::now();
        sleep(over.mul_f64(fastrand::f64())).await;
        self.set_up();
        let on = Instant::now();
        let input =
            Input::read(Some((self.folder.join("provost.toml"), Origin::Default)), Vec::new());
        let id = uuid::Uuid::now_v7().to_string();
        let (connection, mistakes) = connect(&input, Service::Boot, id.clone());
        assert!(mistakes.is_empty(), "{}", mistakes[0]);
        // All have started before the first of them connects: on a processor of its own, a node's request follows its
        // connect at once, and not after the start of thousands of others.
        tokio::task::yield_now().await;
        let mut source = Published::new(connection.clone());
        source.prefetch().await;
        let (_orders, mut orders) = watch::channel(Default::default());
        let mut fetch = async || {
            let begun = Instant::now();
            let fetched = source.fetch_published(&mut orders, &mut |_| {}).await;
            (fetched.map_err(|why| why.failure.to_string()), begun.elapsed())
        };
        if only_fetches {
            let (fetched, fetch) = fetch().await;
            let (whole, ended) = (on.elapsed(), begun_all.elapsed());
            let gave_up = fetched.err();
            let (records, unreported) = (0, 0);
            return Boot { fetch, whole, ended, run: id, records, unreported, logs: None, gave_up };
        }

        let mut journal = SimulatedJournal::open(&connection.paths.journal(Service::Boot));
        let run = RunContext {
            service: Service::Boot,
            node: connection.settings.node.clone(),
            id,
            attempt: Some(1),
            root: Root::Other,
            paths: connection.paths.clone(),
            settings: connection.settings.clone(),
            began: on,
            synced: journal.synced.subscribe(),
        };
        journal.put(&run, Record { attempt: run.attempt, ..Record::new(Phase::ServiceStart) });
        let mut reporting = Reporting::new(connection.clone());
        reporting.run_started(&run).await;

        journal.put(&run, stage("fetch", Phase::StageStart));
        let (fetched, fetch) = fetch().await;
        if let Ok(fetched) = &fetched {
            journal.put(&run, end_of_fetch(fetched, fetch));
            for (n, step) in fetched.plan.postscripts.iter().enumerate() {
                journal.put(&run, stage(&step.script, Phase::StageStart));
                let takes = SCRIPT.mul_f64(2.0 * fastrand::f64());
                sleep(takes).await;
                let record = end(&step.script, takes);
                journal.put(&run, record.clone());
                if self.uploads_logs {
                    step_ended(&mut reporting, &run, n + 1, &record);
                }
            }
        }
        let gave_up = fetched.err();
        let result = Some(if gave_up.is_none() { Outcome::Success } else { Outcome::Failure });
        let took = Some(on.elapsed().as_millis() as u64);
        let last = Record::new(Phase::ServiceEnd);
        journal.put(&run, Record { result, duration_ms: took, ..last });
        reporting.flush(&mut orders).await;
        let unreported = Spool::new(&run.paths).unreported_total();
        let records = journal.seq as usize;
        let (whole, ended) = (on.elapsed(), begun_all.elapsed());
        let mut logs = None;
        while waiting_runs(&run.paths).next().is_some() {
            sleep(TIMER[0] + TIMER[1].mul_f64(fastrand::f64())).await;
            // What it can't upload now is left to the next time.
            let _ = reporting.drain_backlog(Duration::from_secs(30)).await;
            logs = Some(begun_all.elapsed());
        }
        std::fs::remove_dir_all(&self.folder).unwrap();
        Boot { fetch, whole, ended, run: run.id, records, unreported, logs, gave_up }
    }
}

/// Writes the log of the step with that number, and passes its end on.
fn step_ended(reporting: &mut Reporting, run: &RunContext, number: usize, record: &Record) {
    let script = record.stage.as_deref().unwrap();
    let folder = run.paths.scripts(&run.id);
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join(format!("{}.log", Stage::log_name(number, script, None)));
    std::fs::write(&log, LINE.repeat(LINES)).unwrap();
    let secrets = secrets(&run.settings, None);
    let step = StepContext {
        title: script,
        script,
        is_there: true,
        log: &log,
        began: Instant::now(),
        secrets: &secrets,
    };
    reporting.step_ended(step, StepEnd { record, log_error: None, retry: None });
}

/// The journal of a node whose disk takes no time.
struct SimulatedJournal {
    journal: Journal,
    synced: watch::Sender<u64>,
    seq: u64,
}

impl SimulatedJournal {
    fn open(path: &Path) -> Self {
        let journal = Journal::open(path).unwrap();
        let synced = watch::Sender::new(journal.len());
        Self { journal, synced, seq: 0 }
    }

    fn put(&mut self, run: &RunContext, record: Record) {
        self.seq += 1;
        let (service, node) = (run.service.to_string(), run.node.clone());
        let record = Record { service, node, run: run.id.clone(), seq: self.seq, ..record };
        self.journal.append(&record).unwrap();
        self.synced.send_replace(self.journal.len());
    }
}

fn stage(name: &str, phase: Phase) -> Record {
    let limit_ms = Some(1_860_000);
    Record { stage: Some(name.to_owned()), limit_ms, ..Record::new(phase) }
}

fn end_of_fetch(fetched: &Fetched, took: Duration) -> Record {
    Record {
        bundle: Some(fetched.manifest.generation),
        plan: Some(fetched.plan.generation),
        stages: fetched.plan.postscripts.iter().map(|step| step.script.clone()).collect(),
        ..end("fetch", took)
    }
}

fn end(name: &str, took: Duration) -> Record {
    Record {
        result: Some(Outcome::Success),
        limit_ms: None,
        commands: 3,
        duration_ms: Some(took.as_millis() as u64),
        user_ms: Some(11),
        system_ms: Some(7),
        max_rss_kib: Some(3456),
        ..stage(name, Phase::StageEnd)
    }
}
