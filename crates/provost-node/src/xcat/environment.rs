//! What a script finds in its environment besides what `mypostscript` says.

use std::collections::BTreeMap;
use std::path::Path;

use provost_record::Service;
use reqwest::Url;

use super::label::label;
use crate::settings::Xcat;
use crate::settings::discover::Machine;

/// What xCAT's own scripts add. A run by hand is an `updatenode`.
pub fn environment(
    xcat: &Xcat,
    server: Option<&Url>,
    service: Service,
) -> Vec<(&'static str, String)> {
    let host = server.and_then(Url::host_str);
    let xcatd = host.map(|host| ("XCATSERVER", format!("{host}:{}", xcat.xcatd_port)));
    let update = (service == Service::Run).then(|| ("UPDATENODE", "1".to_owned()));
    let always = [("USEOPENSSLFORXCAT", "1".to_owned()), ("LOGLABEL", label(service).to_owned())];
    always.into_iter().chain(xcatd).chain(update).collect()
}

/// The folders where scripts look for commands: theirs comes first, as with xCAT.
pub fn path(folder: &Path, path: &str) -> String {
    let folder = folder.display().to_string();
    match path.split(':').next() {
        Some(first) if first == folder => path.to_owned(),
        _ => format!("{folder}:{path}"),
    }
}

/// Whether shell scripts are to show what they do: `xcatdebugmode` of the site table, or of the
/// kernel's command line.
pub fn is_debugged(env: &BTreeMap<String, String>) -> bool {
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
