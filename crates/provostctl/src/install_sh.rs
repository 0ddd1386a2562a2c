//! What an admin types on a node that has booted: two lines, by which it becomes a node with an identity.

/// The lines for `nodes`, with what they need besides.
pub(crate) fn shown(nodes: &str, url: &str, sha256: &str) -> String {
    let [fetch, run] = provost_installer::commands(url, sha256);
    let check = provost_installer::check(sha256);
    format!(
        "as root on {nodes}:\n  {fetch}\n  {run}\n\
         add the node's name to the last line if the host name is another one; on an untrusted network,\n\
         check the file before that line: {check}\n"
    )
}
