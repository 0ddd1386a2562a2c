//! The corpus `tests/scripts`: each script behaves by Provost as without it, and where it fails, Provost
//! names the line and the command that a person would name, or none.
//!
//! A folder holds the scripts of a language; files with an extension are what scripts read. The comments
//! at a script's start say what is expected:
//!
//! | line | meaning |
//! |---|---|
//! | `# status: 1`, `# status: SIGTERM` | how it ends without Provost; 0 if there is no such line |
//! | `# line: 9`, `# function: f`, `# file: lib.sh` | where it fails; in `main`, in the script itself; `none` if nobody can say |
//! | `# command: ls /nonexistent` | what fails there; a second such line is another wording |
//! | `# called from: 12`, `# called from: 12 f lib.sh` | the call of the failing function |
//! | `# leaves: sleep` | the processes that it leaves behind |
//! | `# order: any` | lines of both streams may change places, such as those of processes that print at once |
//! | `# varies: REGEX` | what differs from run to run |
//! | `# needs: 4.3` | the oldest bash |
//! | `# unnamed: line, command` | what Provost leaves out because it can't know it (with `trace = "off"` it may leave out everything) |
//!
//! The last may be of some modes, ` in MODE, …`, and each of some interpreters, ` with INTERPRETER, …`,
//! such as `# unnamed in lines: command` and `# status with bash 4.2 to 5.0: 127`.
//!
//! `PROVOST_TEST_SCRIPTS=bash/eval` runs those alone whose folder and name begin so.

mod interpreters;
mod run;
mod script;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use provost_tests::{Cluster, Node, missing, skip_part};

use interpreters::Interpreter;
use run::{Behaviour, Job};
use script::{Mode, Script};
use verdict::Table;

/// How many nodes run the scripts of a language's usual interpreter, for each mode.
const NODES: usize = 4;
/// How many scripts run at once without Provost.
const AT_ONCE: usize = 6;

#[test]
fn each_behaves_as_without_provost_and_a_failure_is_named_as_a_person_would() {
    let ground = tempfile::TempDir::new().unwrap();
    let interpreters = Interpreter::all(ground.path());
    let only = std::env::var("PROVOST_TEST_SCRIPTS").unwrap_or_default();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut jobs = Vec::new();
    for interpreter in &interpreters {
        let language = interpreter.language;
        for script in Script::all(&corpus.join(language), interpreter) {
            let is_chosen = format!("{language}/{}", script.name).starts_with(&only);
            let is_old = |needed: &String| !interpreter.is_at_least(needed);
            if is_chosen && !script.needs.as_ref().is_some_and(is_old) {
                jobs.push(Job { script, interpreter });
            }
        }
    }
    let languages: BTreeSet<_> = interpreters.iter().map(|i| i.language).collect();
    let files: Vec<_> = languages.iter().flat_map(|l| read_files(&corpus.join(l))).collect();
    let plain = run_plain(&jobs, &files);
    let mut modes = Mode::ALL.to_vec();
    if let Some(missing) = missing::tracing() {
        skip_part(&missing);
        modes.retain(|mode| *mode != Mode::Commands);
    }
    let (mut table, mut problems) = (Table::default(), Vec::new());
    for (job, Behaviour { status, .. }) in jobs.iter().zip(&plain) {
        if *status != job.script.status {
            let (name, expected) = (job.name(), &job.script.status);
            problems.push(format!("{name}, plain: status: {status} instead of {expected}"));
        }
    }
    let runs: Vec<_> = std::thread::scope(|scope| {
        let in_mode = |mode| {
            let (jobs, files, plain) = (&jobs, &files, &plain);
            scope.spawn(move || InMode::run(jobs, files, plain, mode))
        };
        let all: Vec<_> = modes.into_iter().map(in_mode).collect();
        all.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for run in runs {
        problems.extend(run.run_again(&jobs, &plain));
        problems.extend(run.problems);
        table.add(run.table);
    }
    println!("{} scripts, each in each mode that it has\n{table}", jobs.len());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert_eq!(table.wrong(), 0, "a wrong name is worse than none");
}

/// The files of a folder that aren't scripts, each with its text.
fn read_files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

fn run_plain(jobs: &[Job<'_>], files: &[(String, String)]) -> Vec<Behaviour> {
    let folder = tempfile::TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    jobs.iter().for_each(|job| write(&job.name(), &job.text()));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((n, job)) = pick(jobs, &next) {
                    let behaviour = run::plain(job, folder.path());
                    done.lock().unwrap().insert(n, behaviour);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

fn pick<'j>(jobs: &'j [Job<'j>], next: &AtomicUsize) -> Option<(usize, &'j Job<'j>)> {
    let n = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(n).map(|job| (n, job))
}

/// The run of all scripts in one mode.
struct InMode {
    mode: Mode,
    nodes: Vec<Node>,
    table: Table,
    problems: Vec<String>,
    /// The jobs with problems that may come from a busy machine, with their nodes.
    again: Vec<(usize, usize)>,
    _cluster: Cluster,
}

impl InMode {
    /// Runs each of `jobs` by Provost, on a few nodes at once.
    fn run(jobs: &[Job<'_>], files: &[(String, String)], plain: &[Behaviour], mode: Mode) -> Self {
        let mut cluster = Cluster::new();
        let mut site = String::new();
        // Some nodes for each PATH, and so for each interpreter that isn't the usual one.
        let mut nodes: BTreeMap<(String, usize), Vec<usize>> = BTreeMap::new();
        // Other languages have no trace of lines.
        let is_traced = |job: &Job<'_>| mode != Mode::Lines || job.interpreter.language == "bash";
        for (n, job) in jobs.iter().enumerate().filter(|(_, job)| is_traced(job)) {
            let name = job.name();
            cluster.script(&name, &job.text());
            let policy = format!("trace = \"{}\"\non_failure = \"continue\"", mode.as_str());
            write!(site, "[scripts.\"{name}\"]\n{policy}\n").unwrap();
            nodes.entry((run::path(job.interpreter), n % NODES)).or_default().push(n);
        }
        for (name, text) in files {
            fs::write(cluster.scripts().join(name), text).unwrap();
        }
        let values = run::ENVIRONMENT.map(|(name, value)| format!("{name} = {value:?}")).join(", ");
        for (n, (path, _)) in nodes.keys().enumerate() {
            write!(site, "[nodes.cn{n}]\nenv = {{ PATH = {path:?}, {values} }}\n").unwrap();
        }
        // Some have the mistakes that the check finds.
        cluster.site(&site).publish_with(&["--no-lint"]).expect(0);
        cluster.start();
        let lists: Vec<_> = nodes.into_values().collect();
        let nodes = (0..lists.len()).map(|n| cluster.node(&format!("cn{n}"))).collect();
        let run = Self {
            mode,
            nodes,
            table: Table::default(),
            problems: Vec::new(),
            again: Vec::new(),
            _cluster: cluster,
        };
        run.on_all_nodes(jobs, plain, &lists)
    }

    fn on_all_nodes(mut self, jobs: &[Job<'_>], plain: &[Behaviour], lists: &[Vec<usize>]) -> Self {
        std::thread::scope(|scope| {
            for (node, list) in self.nodes.iter().zip(lists) {
                scope.spawn(move || run_on(node, list.iter().map(|n| &jobs[*n])));
            }
        });
        for (node, list) in lists.iter().enumerate() {
            for n in list {
                let recorded = run::recorded(&jobs[*n], &self.nodes[node]);
                let found =
                    verdict::compare(&jobs[*n], self.mode, &plain[*n], &recorded, &mut self.table);
                if found.iter().all(|problem| problem.facet.depends_on_load()) {
                    self.again.extend(found.first().map(|_| (node, *n)));
                } else {
                    self.problems.extend(found.into_iter().map(|problem| problem.text));
                }
            }
        }
        self
    }

    /// Runs those again, alone, that a busy machine may have disturbed; returns what is wrong again.
    fn run_again(&self, jobs: &[Job<'_>], plain: &[Behaviour]) -> Vec<String> {
        let again = self.again.iter().flat_map(|(node, n)| {
            let (node, job) = (&self.nodes[*node], &jobs[*n]);
            run_on(node, std::iter::once(job));
            let recorded = run::recorded(job, node);
            verdict::compare(job, self.mode, &plain[*n], &recorded, &mut Table::default())
        });
        again.map(|problem| problem.text).collect()
    }
}

fn run_on<'j>(node: &Node, jobs: impl Iterator<Item = &'j Job<'j>>) {
    let list: Vec<String> = jobs.map(Job::name).collect();
    let out = node.provost(&["run", "-P", &list.join(",")]);
    assert!(matches!(out.code, Some(0 | 1)), "{out:?}");
}
