//! The script in POSIX sh that makes a machine a node: `provostctl snippet` prints it for the end of an
//! installation, and provostd serves it as `install.sh` for a machine that has booted.

use std::collections::BTreeMap;

use provost_api::nodes::{INSTALL_SH, NO_PROGRAM};

/// Fetches the program, and runs the kickstart.
const BODY: &str = include_str!("body.sh");
/// What `install.sh` does before: it is the file that the digest is of.
const CHECK: &str = include_str!("check.sh");
/// What follows in a root that has booted already. The kickstart has written down what it was told.
const THEN_BOOT: &str = "unset PROVOST_JOIN PROVOST_TOKEN\nrun boot\n";

/// What a script has of one management node.
pub struct Script<'a> {
    /// Variables that the node's program reads.
    pub values: Vec<(&'a str, String)>,
    /// The digests of that program, by architecture as uname(1) calls it.
    pub programs: &'a BTreeMap<String, String>,
}

impl Script<'_> {
    /// The end of an installation in the new root. `nodes` are those that it is for; `boots`, if that root has
    /// booted already.
    pub fn of_installer(&self, nodes: &str, boots: bool) -> String {
        let head = format!("# Provost: runs the postscripts of {nodes}\n");
        let again = shell_words::quote("provostctl snippet");
        let own = format!("again={again} console=/dev/console\n");
        let then = if boots { THEN_BOOT } else { "" };
        head + &self.exports() + &own + &self.choice() + &lines(BODY) + then
    }

    /// `install.sh` of the nodes' listener at `url`. Its bytes are the same as long as nothing is that they name.
    pub fn install_sh(&self, url: &str) -> String {
        let url = format!("{url}{}", INSTALL_SH.0);
        let head = format!(
            "#!/bin/sh\n# Installs Provost on this machine, a node of the management node that serves {url}, and \
             boots it:\n#   sh install.sh SHA256 [NODE]\n# provostctl enroll open NODE prints the SHA256, which is \
             this file's. Its last line runs it: a file that was\n# cut off does nothing.\n\nmain() {{\n"
        );
        let own = format!(
            "url={} console=\nagain=\"curl -fsS $url -o install.sh\"\n",
            shell_words::quote(&url)
        );
        let body = own + &lines(CHECK) + &self.exports() + &self.choice() + &lines(BODY);
        head + &body + THEN_BOOT + "}\n\nmain \"$@\"\n"
    }

    fn exports(&self) -> String {
        let export = |(name, value): &(&str, String)| {
            format!("export {name}={}\n", shell_words::quote(value))
        };
        self.values.iter().map(export).collect()
    }

    /// Chooses the program, also where there is one alone: a node of another architecture must not run it.
    fn choice(&self) -> String {
        let mut text = "case $(uname -m) in\n".to_owned();
        for (arch, sha256) in self.programs {
            text += &format!("{}) sha256={sha256} ;;\n", shell_words::quote(arch));
        }
        text + &format!("*) sha256={NO_PROGRAM}$(uname -m) ;;\nesac\n")
    }
}

/// Where an `install.sh` says that it is served.
pub fn url_of(install_sh: &str) -> Option<String> {
    let line = install_sh.lines().find_map(|line| line.strip_prefix("url="))?;
    shell_words::split(line).ok()?.into_iter().next()
}

/// What an admin types on a node, as root: it fetches the script at `url`, and runs it by its digest.
pub fn commands(url: &str, sha256: &str) -> [String; 2] {
    let url = shell_words::quote(url);
    [format!("curl -fsS {url} -o install.sh"), format!("sh install.sh {sha256}")]
}

/// What compares the digest before: a script that somebody else has put in its place on the way checks nothing.
pub fn check(sha256: &str) -> String {
    format!("echo '{sha256}  install.sh' | sha256sum -c")
}

/// The lines of a script without its comments.
fn lines(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs() -> BTreeMap<String, String> {
        let programs = [("aarch64", "0a"), ("x86_64", "0b")];
        programs.map(|(arch, sha256)| (arch.to_owned(), sha256.to_owned())).into()
    }

    #[test]
    fn a_script_has_its_values_its_program_and_none_of_our_comments() {
        let values = vec![("PROVOST_NODE", "a b".into())];
        let text = Script { values, programs: &programs() }.of_installer("cn001", false);
        let head = "# Provost: runs the postscripts of cn001\nexport PROVOST_NODE='a b'\n\
                    again='provostctl snippet' console=/dev/console\n\
                    case $(uname -m) in\naarch64) sha256=0a ;;\nx86_64) sha256=0b ;;\n\
                    *) sha256=none-for-$(uname -m) ;;\nesac\nunset http_proxy";
        assert!(text.starts_with(head), "{text}");
        assert!(!text.contains("\n#"), "{text}");
        // The frames of installers require that.
        assert!(!text.contains("]]>") && !text.contains("%end") && !text.contains("\nPROVOST\n"));
    }

    #[test]
    fn an_address_that_a_shell_would_take_for_a_pattern_is_quoted() {
        let text =
            Script { values: vec![], programs: &programs() }.install_sh("http://[fd00::1]:8480");
        let url = url_of(&text).unwrap();
        assert_eq!(url, "http://[fd00::1]:8480/install.sh");
        let [fetch, run] = commands(&url, "0c");
        assert_eq!(fetch, "curl -fsS 'http://[fd00::1]:8480/install.sh' -o install.sh");
        assert_eq!(run, "sh install.sh 0c");
    }

    #[test]
    fn install_sh_is_one_function_that_its_last_line_calls() {
        let values = vec![("PROVOST_KEY", "RWQ".into())];
        let text = Script { values, programs: &programs() }.install_sh("http://10.0.0.1:8480");
        let (head, body) = text.split_once("\nmain() {\n").unwrap();
        assert!(
            head.lines().skip(1).all(|line| line.is_empty() || line.starts_with('#')),
            "{head}"
        );
        let (body, end) = body.rsplit_once("\n}\n").unwrap();
        assert_eq!(end, "\nmain \"$@\"\n");
        assert!(body.starts_with("url=http://10.0.0.1:8480/install.sh console=\n"), "{body}");
        assert_eq!(url_of(&text).as_deref(), Some("http://10.0.0.1:8480/install.sh"));
        let check = body.find("own=$(sha256sum").unwrap();
        assert!(check < body.find("export PROVOST_KEY=RWQ").unwrap());
    }
}
