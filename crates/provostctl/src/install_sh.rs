//! What an admin types on a node that has booted: two lines, by which it becomes a node with an identity.

/// The lines for `nodes`, with what they need besides.
pub(crate) fn shown(nodes: &str, url: &str, sha256: &str) -> String {
    let [fetch, run] = provost_installer::commands(url, sha256);
    let check = provost_installer::check(sha256);
    format!(
        "as root on {nodes}:\n  {fetch}\n  {run}\n\
         if its host name isn't that, add it to the last line; if others on the network could answer in place\n\
         of this machine, check the file before that line: {check}\n"
    )
}
