//! `cargo xtask bench NAME`

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::test::tools;
use crate::{cargo, dist};

#[derive(Subcommand)]
pub(crate) enum Benchmark {
    /// A node's boot, against several management nodes
    Boot,
    /// A step's start and end, output and trace
    Exec,
    /// Each script of the corpus traced, beside plain
    Corpus,
    /// A trivial script in a sandbox, beside none
    Try,
    /// An entry of the journal, and a stage that a script records
    Record,
    /// What a store takes after 100 boots of 1,000 nodes, beside one that has had one boot
    History,
    /// How many records a second a provostd takes, beside its store's own floor
    Ingest,
    /// The web page of many nodes, and what open tabs cost
    Page {
        /// How many nodes
        #[arg(long, default_value_t = 100_000)]
        nodes: u32,
    },
    /// Why many nodes failed, for planted causes and by chance
    Why {
        /// How many nodes
        #[arg(long, default_value_t = 100_000)]
        nodes: u32,
    },
    /// Many nodes that boot at once: a provostd beside a server that stores nothing
    Storm {
        /// How many nodes
        #[arg(long, default_value_t = 1000)]
        nodes: u32,
        /// Within which time they are switched on
        #[arg(long, value_name = "TIME", default_value = "0s")]
        over: String,
        /// Where daemons keep records: sqlite, or postgres, a server of its own
        #[arg(long, default_value = "sqlite")]
        store: String,
        /// How many daemons share a PostgreSQL
        #[arg(long, default_value_t = 1)]
        daemons: u32,
        /// How often a daemon or the database is killed meanwhile
        #[arg(long, default_value_t = 0)]
        kills: u32,
        /// Compare nodes that have identities with nodes that have tokens, at one provostd
        #[arg(long)]
        identities: bool,
        /// Compare nodes that upload the logs of all steps with nodes that upload none
        #[arg(long)]
        logs: bool,
    },
}

impl Benchmark {
    /// The programs that it can't run without, each with Debian's package of it.
    fn programs(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Boot => {
                &[("nginx", "nginx-light"), ("curl", "curl"), ("tar", "tar"), ("zstd", "zstd")]
            }
            Self::Exec => &[("cc", "gcc"), ("dash", "dash")],
            Self::Corpus | Self::Try | Self::Why { .. } => &[],
            Self::Record => &[("jq", "jq"), ("bash", "bash")],
            Self::History => &[("initdb", "postgresql")],
            Self::Ingest => &[("initdb", "postgresql")],
            Self::Page { .. } => &[
                ("chromium-headless-shell", "chromium-headless-shell"),
                ("chromedriver", "chromium-driver"),
            ],
            Self::Storm { store, .. } if store == "postgres" => &[("initdb", "postgresql")],
            Self::Storm { .. } => &[],
        }
    }

    /// Ends with one line where something is missing.
    fn check_programs(&self) -> Result<()> {
        let missing = self.programs().iter().filter(|(program, _)| !tools::is_there(program));
        let (programs, packages): (Vec<_>, Vec<_>) = missing.copied().unzip();
        if !programs.is_empty() {
            let (programs, packages) = (programs.join(", "), packages.join(" "));
            bail!("this benchmark needs {programs}, not found; hint: apt-get install {packages}");
        }
        if matches!(self, Self::Try) && !rustix::process::geteuid().is_root() {
            bail!("this benchmark makes sandboxes, which takes root; hint: run it as root");
        }
        if matches!(self, Self::Boot) && !rustix::process::geteuid().is_root() {
            bail!(
                "this benchmark starts nginx as another user, which takes root; hint: run it as root"
            );
        }
        Ok(())
    }
}

/// Runs one benchmark.
pub(crate) fn run(benchmark: Benchmark) -> Result<()> {
    benchmark.check_programs()?;
    match benchmark {
        Benchmark::Boot => of_programs("boot"),
        Benchmark::Exec => of_programs("exec"),
        Benchmark::Corpus => of_programs("corpus"),
        Benchmark::Try => of_programs("try"),
        Benchmark::Record => record(),
        Benchmark::History => cargo::run("cargo", &["bench", "--quiet", "-p", "provost-store"]),
        Benchmark::Ingest => of_tests("ingest", servers()?, &[]),
        Benchmark::Page { nodes } => of_tests("page", servers()?, &["--nodes", &nodes.to_string()]),
        Benchmark::Why { nodes } => of_tests("why", servers()?, &["--nodes", &nodes.to_string()]),
        Benchmark::Storm { nodes, over, store, daemons, kills, identities, logs } => {
            let [nodes, daemons, kills] = [nodes, daemons, kills].map(|n| n.to_string());
            let args = [["--nodes", &nodes], ["--over", &over], ["--store", &store]];
            let args = [&args[..], &[["--daemons", &daemons], ["--kills", &kills]]].concat();
            let mut args = args.as_flattened().to_vec();
            if identities {
                args.push("--identities");
            }
            if logs {
                args.push("--logs");
            }
            of_tests("storm", servers()?, &args)
        }
    }
}

/// What an entry costs, and what a stage costs a script that records by the node's binary as nodes
/// get it.
fn record() -> Result<()> {
    dist::node(&dist::Target::host()?, None)?;
    let status = cargo::command("cargo")
        .args(["bench", "-p", "provost-record"])
        .env("PROVOST_PROGRAMS", cargo::root().join("dist"))
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("cargo bench: {status}");
    }
    Ok(())
}

/// How long boots or steps take, of the node's binary as nodes get it.
fn of_programs(name: &str) -> Result<()> {
    dist::node(&dist::Target::host()?, None)?;
    let mut programs = servers()?;
    programs.insert("provost".to_owned(), cargo::root().join("dist/provost"));
    of_tests(name, programs, &[])
}

/// The management node's programs, by name.
fn servers() -> Result<BTreeMap<String, PathBuf>> {
    cargo::build(&["--release", "-p", "provostd", "-p", "provostctl"], &[])
}

/// Runs the benchmark `name` of the tests' package with these programs.
fn of_tests(name: &str, programs: BTreeMap<String, PathBuf>, args: &[&str]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, path) in programs {
        fs::copy(&path, folder.path().join(name))
            .with_context(|| format!("copying {}", path.display()))?;
    }
    let bench = ["bench", "--quiet", "-p", "provost-tests", "--bench", name, "--"];
    let status = cargo::command("cargo")
        .args(bench)
        .args(args)
        .env("PROVOST_PROGRAMS", folder.path())
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("cargo bench: {status}");
    }
    Ok(())
}
