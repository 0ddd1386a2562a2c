//! What the preamble of a `mypostscript` exports. Only bash can tell.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_exec::{
    EndCause, LeakPolicy, Limits, Orders, Outcome, Secrets, Step, Supervisor, Trace,
};
use provost_node::failure::Failure;
use provost_record::Cause;
use tokio::sync::watch;

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The most that it may export, in bytes: about as much as a program can be given.
const MAX_BYTES: u64 = 2 << 20;
/// Where it is evaluated, in the folder of the node's state.
const FOLDER: &str = "preamble";
/// What follows the last variable.
const END: &str = "\0\0";
/// What bash exports by itself.
const BASH_OWN: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// Reads the preamble `$2` in the folder `$1`, and writes what it exports to `$3`: as a program
/// finds it, with functions in the form that this bash gives them. The preamble has no arguments, its
/// output is discarded, and the size of its files is limited.
const SCRIPT: &str = r#"
cd "$1" || exit
"$BASH" -n "$2" || exit
ulimit -c 0 -f 4096 -v 1048576 -t 30
provost_in=$2 provost_out=$3
set --
. "$provost_in" >/dev/null 2>&1
builtin command -p env -0 >"$provost_out" && builtin printf '\0' >>"$provost_out"
"#;

/// A preamble, and what it takes to evaluate it.
pub(super) struct Evaluation<'a> {
    pub(super) preamble: &'a str,
    pub(super) node: &'a str,
    /// What it finds in its environment.
    pub(super) environment: Vec<(String, String)>,
    /// Where the scripts are.
    pub(super) folder: &'a Path,
    /// The folder of the node's state.
    pub(super) state: &'a Path,
    /// How long a script may take.
    pub(super) limit: Duration,
}

impl Evaluation<'_> {
    /// Returns what the preamble exports.
    pub(super) async fn run(
        &self,
        executor: &mut Supervisor,
        orders: &mut watch::Receiver<Orders>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        // What is in there is secret: it is removed at the end, and after a run that was killed.
        let _ = std::fs::remove_dir_all(self.state.join(FOLDER));
        let folder = tempfile::Builder::new().prefix(FOLDER).rand_bytes(0).tempdir_in(self.state);
        let folder = folder.map_err(|e| self.disk(e))?;
        let preamble = folder.path().join("mypostscript");
        let write = || {
            let mut options = File::options();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&preamble)?;
            file.write_all(self.preamble.as_bytes())
        };
        write().map_err(|e| self.disk(e))?;
        let exported = folder.path().join("exported");
        let step = self.step(&preamble, &exported, folder.path().join("log"));
        let outcome = executor.execute(&step, orders, |_| {}).await;
        self.check(&outcome)?;
        let env = read(&exported);
        let env = env.ok_or_else(|| self.refused("it ends the shell early"))?;
        let is_foreign = |value: &String| value.contains(char::REPLACEMENT_CHARACTER);
        match env.iter().find(|(_, value)| is_foreign(value)) {
            Some((name, _)) => Err(self.refused(&format!("the value of {name} isn't UTF-8"))),
            None => Ok(env),
        }
    }

    fn step(&self, preamble: &Path, exported: &Path, log: PathBuf) -> Step {
        let mut args = ["--noprofile", "--norc", "-c", SCRIPT].map(str::to_owned).to_vec();
        let paths = [&*self.file(), self.folder, preamble, exported];
        args.extend(paths.map(|path| path.to_string_lossy().into_owned()));
        Step {
            name: "bash".to_owned(),
            args,
            folder: "/bin".into(),
            env: self.environment.clone(),
            log,
            trace: Trace::Off,
            digest: None,
            bash_trace: false,
            trace_lines: false,
            xtrace: false,
            limits: Limits {
                timeout: TIMEOUT.min(self.limit),
                slow: TIMEOUT,
                grace: Duration::from_secs(1),
                leak: Duration::from_millis(500),
            },
            leak: LeakPolicy::Kill,
            lines: false,
            secrets: Secrets::default(),
        }
    }

    /// Why bash hasn't come to its end, if it hasn't.
    fn check(&self, outcome: &Outcome) -> Result<(), Failure> {
        let why = match &outcome.end {
            EndCause::Exit(0) => return Ok(()),
            EndCause::Exit(status) if outcome.last_lines.is_empty() => {
                format!("it ends the shell with exit status {status}, without output")
            }
            EndCause::Exit(_) => {
                let output = outcome.last_lines.join("; ");
                match blamed(&output, self.preamble) {
                    Some(name) => format!("the value of {name}: {output}"),
                    None => output,
                }
            }
            EndCause::NotStarted(why) => {
                let message = format!("evaluating the mypostscript: {why}");
                let hint = "install bash on this node; xCAT needs it, too";
                return Err(Failure::config(message, hint));
            }
            EndCause::TimedOut(limit) => format!("not finished within {} s", limit.as_secs()),
            EndCause::Interrupted(signal) => {
                let message = format!("the run was ended by {signal} while fetching");
                return Err(Failure::new(Cause::Interrupted, message, "start it again"));
            }
            EndCause::Signal { name, .. } => format!("bash was killed by {name}"),
            EndCause::KeeperLost | EndCause::NoKeeper | EndCause::Leaked => {
                "bash was killed".to_owned()
            }
        };
        Err(self.refused(&why))
    }

    /// The mypostscript as scripts find it.
    fn file(&self) -> PathBuf {
        self.folder.join("mypostscript")
    }

    fn refused(&self, why: &str) -> Failure {
        let message = format!("evaluating the mypostscript of {}: {why}", self.node);
        let hint = format!(
            "check what bash makes of its assignments, {} on this node, and fix the xCAT table that \
             they come from",
            self.file().display()
        );
        Failure::config(message, hint)
    }

    fn disk(&self, e: io::Error) -> Failure {
        let message = format!("evaluating the mypostscript in {}", self.state.display());
        let hint = "check that it is on a writable file system with some room";
        Failure::local(message, hint).caused_by(e)
    }
}

/// The variable that gets its value at the line which bash complains about.
fn blamed<'p>(output: &str, preamble: &'p str) -> Option<&'p str> {
    let number = output.split_once(": line ")?.1.split(':').next()?.parse::<usize>().ok()?;
    let (name, _) = preamble.lines().nth(number.checked_sub(1)?)?.split_once('=')?;
    name.rsplit(' ').next()
}

/// The variables, if all of them are there.
fn read(path: &Path) -> Option<BTreeMap<String, String>> {
    let mut bytes = Vec::new();
    provost_fs::open_to_read(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.strip_suffix(END)?.split('\0');
    let variables = variables.filter_map(|text| text.split_once('='));
    let is_exported = |(name, _): &(&str, &str)| !BASH_OWN.contains(name);
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    Some(variables.filter(is_exported).map(owned).collect())
}
