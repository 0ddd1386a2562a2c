//! `xcatdsklspost`, as `updatenode`, xCAT's boot unit and others call it.

use std::cell::Cell;
use std::ffi::OsString;
use std::rc::Rc;

use provost_bundle::OnFailure;
use provost_node::failure::Failure;
use provost_node::observe::console;
use provost_node::observe::observer::Observer;
use provost_node::runner::{self, OutputMode, RunRequest};
use provost_node::settings::{Flag, Input, Origin, discover};
use provost_plan::mypostscript::section;
use provost_record::ExitCode;
use toml::Value;

use super::{COMMAND, source_kind};
use crate::management::XCAT;
use crate::observers::echo::OutputEcho;

const USAGE: &str = "call it as updatenode does: provost xcatdsklspost \
     1|2|5 -m SERVER[:PORT] LIST [--tftp DIR] [--installdir DIR] [--nfsv4 no] [-c] [-F] [-V]; \
     or with 4, with 6, or without arguments, as a boot does";

/// What a call of `xcatdsklspost` asks for.
pub struct Call {
    request: RunRequest,
    /// The settings that it gives.
    pub flags: Vec<Flag>,
    /// Whether `updatenode` waits for an answer.
    is_update: bool,
}

impl Call {
    /// Reads the arguments, and `NODE` of the environment, which xdsh sets.
    ///
    /// # Errors
    ///
    /// An argument that isn't known: then nothing runs, because it may say what is to run.
    pub fn read(args: &[String]) -> Result<Self, Failure> {
        Self::read_for(args, std::env::var("NODE").ok())
    }

    fn read_for(args: &[String], node: Option<String>) -> Result<Self, Failure> {
        let Some((mode, rest)) = args.split_first() else {
            return Ok(Self::boot(RunRequest::Boot));
        };
        match (mode.as_str(), rest) {
            ("4", []) => Ok(Self::boot(RunRequest::Boot)),
            ("6", []) => Ok(Self::boot(RunRequest::Reboot)),
            ("4" | "6", [arg, ..]) => Err(refused(&format!("{mode} takes no {arg:?}"))),
            ("1" | "2" | "5", _) => Self::update(rest, node, mode == "5"),
            _ => Err(refused(&format!("there is no mode {mode:?}"))),
        }
    }

    /// What `xcatinstallpost` asks for: the first boot of a node that xCAT has installed.
    pub fn first_boot() -> Self {
        Self::boot(RunRequest::FirstBoot)
    }

    fn boot(request: RunRequest) -> Self {
        let flags = vec![source_kind(COMMAND)];
        Self { request, flags, is_update: false }
    }

    /// Does it, and shows what the scripts print on stdout. After a run that goes on after failures this
    /// process ends as xCAT's own program does.
    pub fn run(self, input: &Input) -> ExitCode {
        if self.is_update {
            // xdsh reads the two streams of its remote shell one after the other.
            let _ = rustix::stdio::dup2_stderr(std::io::stdout());
        }
        let last_failure = Rc::new(Cell::new(0));
        let echo = OutputEcho::new(self.request.service(), Rc::clone(&last_failure));
        let output = OutputMode::Elsewhere(echo.console());
        let echo: Box<dyn Observer> = Box::new(echo);
        let exit = runner::main(input, &[XCAT], &self.request, output, vec![echo]);
        if self.is_update {
            // The end of a node's answer for updatenode. The scripts have run, though it may not
            // arrive.
            let _ = console::print("returned from postscript\n");
        }
        if exit == ExitCode::PostscriptFailed && input.usable().0.on_failure == OnFailure::Continue
        {
            end_as_xcat(if self.is_update { last_failure.get() } else { 0 });
        }
        exit
    }

    /// `updatenode -P` (1), `-S` (2) and `-k` (5).
    fn update(rest: &[String], node: Option<String>, is_security: bool) -> Result<Self, Failure> {
        let mut flags = vec![source_kind(COMMAND)];
        if let Some(node) = node.filter(|node| !node.is_empty()) {
            flags.push(("node", node.into(), Origin::Environment("NODE".to_owned())));
        }
        let mut list = None;
        // As xCAT's scripts know it.
        let mut environment = Vec::new();
        if is_security {
            environment.push(("UPDATESECURITY".to_owned(), "1".to_owned()));
        }
        let mut rest = rest.iter().map(String::as_str);
        while let Some(arg) = rest.next() {
            let mut value = || match rest.next() {
                Some(value) => Ok(value),
                None => Err(refused(&format!("{arg} has no value"))),
            };
            match arg {
                "-m" => flags.push(servers(value()?, "-m")?),
                "-M" => flags.push(servers(value()?, "-M")?),
                "--tftp" => flags.push(folder("source.tftp_dir", value()?, "--tftp")?),
                "--installdir" => {
                    flags.push(folder("source.install_dir", value()?, "--installdir")?);
                }
                // Nothing is mounted here.
                "--nfsv4" => drop(value()?),
                // `-c` says that updatenode calls; `-F` asks for flow control, which bounded requests
                // don't need.
                "-c" | "-F" => {}
                // All messages, which are printed anyway; scripts look there.
                "-V" => environment.push(("VERBOSE".to_owned(), "1".to_owned())),
                _ if arg.starts_with('-') => {
                    return Err(refused(&format!("there is no option {arg:?}")));
                }
                _ if list.is_some() => {
                    return Err(refused(&format!("{arg:?} is a second list of scripts")));
                }
                _ => list = Some(arg),
            }
        }
        let request = match list.unwrap_or_default().trim() {
            "" => RunRequest::Lists { part: None, environment },
            name if name.ends_with("-start-here") => match section(name) {
                Some(part) => RunRequest::Lists { part: Some(part), environment },
                None => return Err(refused(&format!("there is no section {name:?}"))),
            },
            list => {
                let lines = list.split(',').map(str::trim).filter(|line| !line.is_empty());
                RunRequest::Lines { lines: lines.map(str::to_owned).collect(), environment }
            }
        };
        Ok(Self { request, flags, is_update: true })
    }
}

/// Ends this process by a status of xCAT's: of an `updatenode` that of the last script that failed, of a
/// boot 0.
#[expect(clippy::exit, reason = "any status is possible, and provost's own are few")]
fn end_as_xcat(status: u8) -> ! {
    std::process::exit(status.into())
}

/// The command line that `args` stand for: where this program has the name of one of xCAT's, it is that
/// command.
pub fn called(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let name = args.first().and_then(|first| first.to_str()).unwrap_or_default();
    let of_xcat = ["xcatdsklspost", "xcatinstallpost"];
    if let Some(name) = of_xcat.into_iter().find(|known| name.ends_with(known)) {
        args.insert(1, name.into());
    }
    args
}

/// The port is that of the web server.
fn servers(text: &str, option: &'static str) -> Result<Flag, Failure> {
    let host = discover::host(text);
    let host = host.ok_or_else(|| refused(&format!("{option} {text:?} is no server")))?;
    let port = text.strip_prefix(&*host).unwrap_or_default();
    let url = Value::from(format!("http://{host}{port}"));
    Ok(("servers", vec![url].into(), Origin::Flag(option)))
}

fn folder(key: &'static str, path: &str, option: &'static str) -> Result<Flag, Failure> {
    if path.starts_with('/') {
        return Ok((key, path.into(), Origin::Flag(option)));
    }
    Err(refused(&format!("{option} {path:?} is no absolute path")))
}

fn refused(what: &str) -> Failure {
    Failure::config(format!("xcatdsklspost: {what}; nothing has run"), USAGE)
}

#[cfg(test)]
mod tests {
    use provost_plan::mypostscript::{Group, List};

    use super::*;

    fn read(line: &str) -> Result<Call, Failure> {
        let args = shell(line);
        Call::read_for(&args, Some("cn001".to_owned()))
    }

    /// Words with single quotes, as xdsh's remote shell splits them.
    fn shell(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, part) in line.split('\'').enumerate() {
            match at % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    fn settings(call: &Call) -> Vec<(&str, String)> {
        call.flags.iter().map(|(key, value, _)| (*key, value.to_string())).collect()
    }

    const TAIL: &str = "--tftp /tftpboot --installdir /install --nfsv4 no -c";

    #[test]
    fn the_arguments_of_updatenode_are_read() {
        let call = read(&format!("1 -m 10.0.0.1:80 's1 p1 p2,s2' {TAIL} -F -V")).ok().unwrap();
        let RunRequest::Lines { lines, environment } = &call.request else { panic!() };
        assert_eq!(lines, &["s1 p1 p2", "s2"]);
        assert_eq!(environment, &[("VERBOSE".to_owned(), "1".to_owned())]);
        assert!(call.is_update);
        let expected = [
            ("source.kind", "\"xcat\""),
            ("node", "\"cn001\""),
            ("servers", "[\"http://10.0.0.1:80\"]"),
            ("source.tftp_dir", "\"/tftpboot\""),
            ("source.install_dir", "\"/install\""),
        ];
        assert_eq!(settings(&call), expected.map(|(key, value)| (key, value.to_owned())));

        for (mode, list) in [("2", "ospkgs,otherpkgs"), ("5", "remoteshell")] {
            let call = read(&format!("{mode} -M mn.cluster:8080 '{list}' {TAIL}")).ok().unwrap();
            let RunRequest::Lines { environment, .. } = &call.request else { panic!() };
            assert_eq!(environment.is_empty(), mode == "2");
            assert_eq!(call.flags[2].2, Origin::Flag("-M"));
            assert_eq!(settings(&call)[2].1, "[\"http://mn.cluster:8080\"]");
        }
        for (server, url) in
            [("fd00::1", "http://[fd00::1]"), ("[fd00::1]:81", "http://[fd00::1]:81")]
        {
            assert!(settings(&read(&format!("1 -m {server} x")).ok().unwrap())[2].1.contains(url));
        }
    }

    #[test]
    fn a_section_or_nothing_is_taken_from_the_plan() {
        let part =
            |list: &str| match read(&format!("1 -m mn:80 '{list}' {TAIL}")).ok().unwrap().request {
                RunRequest::Lists { part, .. } => part,
                _ => panic!("{list}"),
            };
        assert_eq!(part(""), None);
        assert_eq!(part("postscripts-start-here"), Some((List::Postscripts, None)));
        let node = Some((List::Postbootscripts, Some(Group::Node)));
        assert_eq!(part("node-postbootscripts-start-here"), node);
    }

    #[test]
    fn boots_have_no_other_arguments() {
        let request = |line: &str| read(line).ok().unwrap().request;
        assert!(matches!(request(""), RunRequest::Boot));
        assert!(matches!(request("4"), RunRequest::Boot));
        assert!(matches!(request("6"), RunRequest::Reboot));
    }

    #[test]
    fn unknown_arguments_are_errors() {
        for (line, what) in [
            ("3", "no mode \"3\""),
            ("-m mn x", "no mode"),
            ("6 -V", "takes no"),
            ("1 -m", "-m has no value"),
            ("1 -m http://mn x", "is no server"),
            ("1 -m mn x --tftp", "--tftp has no value"),
            ("1 -m mn x --tftp ../x", "no absolute path"),
            ("1 -m mn x --what", "no option"),
            ("1 -m mn x y", "second list"),
            ("1 -m mn other-start-here", "no section"),
        ] {
            let Err(failure) = read(line) else { panic!("{line}") };
            assert!(failure.message.contains(what), "{line}: {failure}");
            assert!(!failure.hint.is_empty());
        }
    }

    #[test]
    fn the_name_of_an_xcat_program_is_a_command() {
        let called = |line: &str| {
            let args = called(line.split(' ').map(OsString::from));
            args.join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(called("/opt/xcat/xcatdsklspost 6"), "/opt/xcat/xcatdsklspost xcatdsklspost 6");
        assert_eq!(called("xcatinstallpost"), "xcatinstallpost xcatinstallpost");
        assert_eq!(called("/usr/bin/provost boot"), "/usr/bin/provost boot");
    }
}
