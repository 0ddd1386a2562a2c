//! What the preamble of a `mypostscript` exports. Only bash can tell.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use provost_exec::{Ended, LeakPolicy, Limits, Orders, Secrets, Step, Supervisor};
use provost_record::Cause;
use tokio::sync::watch;

use crate::failure::Failure;
use crate::fetch::Fetched;

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The most that it may export, in bytes: about as much as a program can be given.
const MOST: u64 = 2 << 20;
/// Where it is evaluated, in the folder of the node's state.
const FOLDER: &str = "preamble";
/// What stands after the last variable.
const END: &str = "\0\0";
/// Where programs are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What bash exports by itself.
const BASHS: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// Reads the preamble `$2` in the folder `$1`, and writes what it exports to `$3`: as a program
/// finds it, with functions in the form that this bash gives them. It has no arguments, its own output
/// goes nowhere, and nothing that it writes gets big.
const SCRIPT: &str = r#"
cd "$1" || exit
"$BASH" -n "$2" || exit
ulimit -c 0 -f 4096 -v 1048576 -t 30
provost_in=$2 provost_out=$3
set --
. "$provost_in" >/dev/null 2>&1
builtin command -p env -0 >"$provost_out" && builtin printf '\0' >>"$provost_out"
"#;

/// Evaluates the preamble of `fetched`, if it has one, into the environment of its plan.
pub async fn evaluate(
    fetched: &mut Fetched,
    (state, limit): (&Path, Duration),
    supervisor: &mut Supervisor,
    orders: &mut watch::Receiver<Orders>,
) -> Result<(), Failure> {
    let Some(mypostscript) = &fetched.mypostscript else { return Ok(()) };
    let disk = |e: std::io::Error| {
        let message = format!("evaluating the mypostscript in {}: {e}", state.display());
        Failure::config(message, "see that it is on a writable file system with some room")
    };
    // It goes away again: what is in there is secret.
    let _ = std::fs::remove_dir_all(state.join(FOLDER));
    let folder = tempfile::Builder::new().prefix(FOLDER).rand_bytes(0).tempdir_in(state);
    let folder = folder.map_err(disk)?;
    let at = |name: &str| folder.path().join(name);
    let write = || {
        let preamble = at("mypostscript");
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(preamble)?;
        file.write_all(mypostscript.preamble.as_bytes())
    };
    write().map_err(disk)?;
    let arguments = [&fetched.folder, &at("mypostscript"), &at("exported")];
    let name = fetched.folder.join("mypostscript");
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut args: Vec<String> = ["--noprofile", "--norc", "-c", SCRIPT].map(str::to_owned).to_vec();
    args.push(text(&name));
    args.extend(arguments.into_iter().map(|path| text(path)));
    let step = Step {
        name: "bash".to_owned(),
        args,
        folder: "/bin".into(),
        env: vec![("PATH".to_owned(), PATH.to_owned())],
        log: at("log"),
        trace: provost_exec::Trace::Off,
        bash_trace: None,
        trace_lines: false,
        xtrace: false,
        limits: Limits {
            timeout: TIMEOUT.min(limit),
            slow: TIMEOUT,
            grace: Duration::from_secs(1),
            leak: Duration::from_millis(500),
        },
        leak: LeakPolicy::Kill,
        lines: false,
        secrets: Secrets::default(),
    };
    let outcome = supervisor.execute(&step, orders, |_| {}).await;
    let refused = |why: String| {
        let message = format!("evaluating the mypostscript of {}: {why}", fetched.plan.node);
        let hint = format!(
            "see what bash makes of its assignments, {} on this node, and mend the xCAT table that \
             they come from",
            name.display()
        );
        Failure::config(message, hint)
    };
    let exported = match outcome.ended {
        Ended::Exit(0) => read(&at("exported")),
        Ended::Exit(status) if outcome.last_lines.is_empty() => {
            return Err(refused(format!("it ends the shell with {status}, and says nothing")));
        }
        Ended::Exit(_) => {
            let said = outcome.last_lines.join("; ");
            let name = blamed(&said, &mypostscript.preamble);
            let of = name.map(|name| format!("the value of {name}: ")).unwrap_or_default();
            return Err(refused(of + &said));
        }
        Ended::NotStarted(why) => {
            let message = format!("evaluating the mypostscript: {why}");
            return Err(Failure::config(message, "install bash on this node; xCAT needs it, too"));
        }
        Ended::TimedOut(limit) => {
            return Err(refused(format!("not done within {} s", limit.as_secs())));
        }
        Ended::Interrupted(signal) => {
            let message = format!("the run was ended by {signal} while fetching");
            return Err(Failure::new(Cause::Interrupted, message, "start it again"));
        }
        Ended::Signal { name, .. } => return Err(refused(format!("bash was ended by {name}"))),
        Ended::KeeperLost | Ended::NoKeeper | Ended::Leaked => {
            return Err(refused("bash was killed".to_owned()));
        }
    };
    let env = exported.ok_or_else(|| refused("it ends the shell before its end".to_owned()))?;
    let is_foreign = |value: &String| value.contains(char::REPLACEMENT_CHARACTER);
    if let Some((name, _)) = env.iter().find(|(_, value)| is_foreign(value)) {
        return Err(refused(format!("the value of {name} isn't UTF-8")));
    }
    fetched.plan.runbootscripts = env.get("RUNBOOTSCRIPTS").is_some_and(|value| is_yes(value));
    fetched.plan.env = env;
    Ok(())
}

/// The variable that gets its value at the line which bash complains about.
fn blamed<'p>(said: &str, preamble: &'p str) -> Option<&'p str> {
    let number = said.split_once(": line ")?.1.split(':').next()?.parse::<usize>().ok()?;
    let (name, _) = preamble.lines().nth(number.checked_sub(1)?)?.split_once('=')?;
    name.rsplit(' ').next()
}

/// The variables, if all of them are there.
fn read(path: &Path) -> Option<BTreeMap<String, String>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.strip_suffix(END)?.split('\0');
    let variables = variables.filter_map(|text| text.split_once('='));
    let is_its =
        |(name, value): &(&str, &str)| !(BASHS.contains(name) || *name == "PATH" && *value == PATH);
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    Some(variables.filter(is_its).map(owned).collect())
}

fn is_yes(value: &str) -> bool {
    ["1", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}
