//! `provostctl snippet`: what an installer runs at its end.

mod frames;

use clap::ValueEnum;
use reqwest::Url;
use serde::Deserialize;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::node_set::NodeSet;
use crate::{output, token};

/// What each script ends with; its comments stay here.
const BODY: &str = include_str!("body.sh");

/// `provostctl snippet`.
#[derive(clap::Args)]
pub(crate) struct Snippet {
    /// The installer
    installer: Installer,
    /// Names and ranges, such as cn[001-512]
    nodes: NodeSet,
    /// Where nodes reach provostd, such as http://10.0.0.1:8480; may be given again, and is then
    /// tried in order. Without it, what provostd takes for its address
    #[arg(long, value_name = "URL")]
    server: Vec<Url>,
    /// Give the node a new token in place of its old one, and put that in: for one node. Without
    /// it, the installer's kernel command line has to have provost.token=
    #[arg(long)]
    token: bool,
}

/// Whose script.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Installer {
    /// Anaconda's %post: RHEL and its like, Fedora
    Kickstart,
    /// SUSE's
    Autoyast,
    /// Debian's
    Preseed,
    /// Ubuntu's autoinstall
    Subiquity,
}

/// What provostd knows.
#[derive(Deserialize)]
struct Needs {
    server: Option<String>,
    key: String,
    sha256: String,
}

impl Snippet {
    pub(crate) async fn run(&self, client: &Client) -> Result<(), Failure> {
        let needs: Needs = client.get(&["v1", "installer"]).await?;
        let mut values = vec![
            ("PROVOST_SERVER", self.servers(needs.server)?),
            ("PROVOST_KEY", needs.key),
            ("sha256", needs.sha256),
        ];
        if let [node] = &self.nodes.names[..] {
            values.push(("PROVOST_NODE", node.clone()));
        }
        match &self.nodes.names[..] {
            [node] if self.token => values.push(("PROVOST_TOKEN", token::new(client, node).await?)),
            [node] => output::say(&format!(
                "note: {node}'s token isn't in it: give provost.token=TOKEN on the installer's \
                 kernel command line, or add --token"
            )),
            _ if self.token => {
                let error = "one script for many nodes can't hold the token of each";
                let hint = "name one node; or leave --token out, and give provost.token= on each \
                            node's kernel command line";
                return Err(Failure::new(error, hint).with_code(WRONG));
            }
            _ => output::say(
                "note: the kernel command line of each node's installer has to say \
                 provost.node=NAME provost.token=TOKEN",
            ),
        }
        let text = script(&values, &self.nodes.folded());
        output::print(frames::frame(self.installer, &text).as_bytes())
    }

    /// Each with its port, and without a slash at its end, since the script is simple.
    fn servers(&self, own: Option<String>) -> Result<String, Failure> {
        if self.server.is_empty() {
            let hint = "add --server http://ADDRESS:8480";
            let own = own.ok_or_else(|| {
                Failure::new("provostd doesn't know where nodes reach it", hint).with_code(WRONG)
            })?;
            output::say(&format!("note: nodes fetch from {own}; --server says otherwise"));
            return Ok(own);
        }
        let plain = |url: &Url| {
            let host = url.host_str().filter(|_| url.scheme() == "http").ok_or_else(|| {
                let hint = "write it with an address, such as http://10.0.0.1:8480";
                Failure::new(format!("an installer can't fetch from {url}"), hint).with_code(WRONG)
            })?;
            let port = url.port_or_known_default().unwrap_or(80);
            Ok(format!("http://{host}:{port}{}", url.path().trim_end_matches('/')))
        };
        Ok(self.server.iter().map(plain).collect::<Result<Vec<_>, Failure>>()?.join(","))
    }
}

/// The script in POSIX sh, with its last line ended.
fn script(values: &[(&str, String)], nodes: &str) -> String {
    let mut text = format!("# Provost: runs the postscripts of {nodes}\n");
    for (name, value) in values {
        let export = if name.starts_with("PROVOST_") { "export " } else { "" };
        text += &format!("{export}{name}={}\n", shell_words::quote(value));
    }
    for line in BODY.lines().filter(|line| !line.starts_with('#')) {
        text += line;
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_its_values_and_none_of_our_comments() {
        let text = script(&[("PROVOST_NODE", "cn001".into()), ("sha256", "a b".into())], "cn001");
        let head = "# Provost: runs the postscripts of cn001\nexport PROVOST_NODE=cn001\n\
                    sha256='a b'\nunset http_proxy";
        assert!(text.starts_with(head), "{text}");
        assert!(!text.contains("\n#"), "{text}");
        // Each of the frames relies on that.
        assert!(!text.contains("]]>") && !text.contains("%end") && !text.contains("\nPROVOST\n"));
    }
}
