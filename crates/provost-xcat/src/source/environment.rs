//! What a script finds in its environment besides what the plan says.

use std::collections::BTreeMap;
use std::path::Path;

use provost_node::fetch::source::Connection;
use provost_node::settings::discover::Machine;
use provost_node::settings::{ScriptEnvironment, Settings, Xcat};
use provost_plan::Plan;
use provost_record::Service;
use reqwest::Url;

use crate::observers::log::label;

/// Where programs are looked for, where the plan doesn't say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a script of xCAT's has from its caller: updatenode's remote shell, or the boot unit.
const OF_CALLER: [&str; 6] = ["HOME", "LOGNAME", "SHELL", "SSH_CONNECTION", "USER", "VERBOSE"];

/// What a script has besides what its plan says, and its `PATH` where that says none.
pub(super) fn of_caller(settings: &Settings) -> Vec<(String, String)> {
    let own = |name: &str| std::env::var(name).ok().map(|value| (name.to_owned(), value));
    let path = |path: Option<String>| ("PATH".to_owned(), path.unwrap_or_else(|| PATH.to_owned()));
    match settings.environment {
        ScriptEnvironment::Clean => vec![path(None)],
        ScriptEnvironment::Xcat => {
            let path = path(own("PATH").map(|(_, path)| path));
            // xCAT's wrapper sets it so, whatever the caller has.
            let language = ("LANG".to_owned(), "C".to_owned());
            OF_CALLER.into_iter().filter_map(own).chain([path, language]).collect()
        }
    }
}

/// Adds to `plan` what xCAT's own scripts add, for scripts in `folder`. A run by hand is an
/// `updatenode`.
pub(super) fn add_environment(
    plan: &mut Plan,
    folder: &Path,
    xcat: &Xcat,
    connection: &Connection,
    server: Option<&Url>,
) {
    let service = connection.service;
    let host = server.or(connection.settings.servers.first()).and_then(Url::host_str);
    for (name, value) in of_caller(&connection.settings) {
        plan.env.entry(name).or_insert(value);
    }
    let path = path(folder, plan.env.get("PATH").map_or(PATH, String::as_str));
    let mut set = |name: &str, value: String| plan.env.insert(name.to_owned(), value);
    set("PATH", path);
    set("USEOPENSSLFORXCAT", "1".to_owned());
    set("LOGLABEL", label(service).to_owned());
    if let Some(host) = host {
        set("XCATSERVER", format!("{host}:{}", xcat.xcatd_port));
    }
    if service == Service::Run {
        set("UPDATENODE", "1".to_owned());
    }
}

/// The folders where scripts look for commands: their own comes first, as with xCAT.
fn path(folder: &Path, path: &str) -> String {
    let folder = folder.display().to_string();
    match path.split(':').next() {
        Some(first) if first == folder => path.to_owned(),
        _ => format!("{folder}:{path}"),
    }
}

/// Whether shell scripts are to show what they do: `xcatdebugmode` of the site table, or of the
/// kernel's command line.
pub(super) fn is_debugged(env: &BTreeMap<String, String>) -> bool {
    let is_on = |value: &str| matches!(value, "1" | "2");
    env.get("XCATDEBUGMODE").is_some_and(|value| is_on(value))
        || Machine::here().kernel_line().get("xcatdebugmode").is_some_and(is_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_folder_comes_first_once() {
        let folder = Path::new("/xcatpost");
        assert_eq!(path(folder, "/usr/bin:/bin"), "/xcatpost:/usr/bin:/bin");
        assert_eq!(path(folder, "/xcatpost:/usr/bin"), "/xcatpost:/usr/bin");
        assert_eq!(path(folder, "/xcatpost2:/usr/bin"), "/xcatpost:/xcatpost2:/usr/bin");
    }
}
