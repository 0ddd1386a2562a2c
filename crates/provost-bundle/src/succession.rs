//! Which key comes after which. A key that is replaced signs the line of the next one. Every signature
//! of the next one carries that after its own four lines, where minisign doesn't look: so a node that
//! was given the old key accepts the new one, whenever it sees it first and whether or not it has a
//! memory.

use crate::PublicKey;
use crate::signature::Signature;

/// Lines of a signature.
const LINES: usize = 4;

/// What the old key signs.
pub fn statement(next: &str) -> String {
    format!("provost: the next key is {next}\n")
}

/// `keys`, and those that follow them by what a signature's text carries, but none that is `revoked`; then
/// those of them that have named the next one.
pub fn follow(
    keys: &[PublicKey],
    text: &str,
    revoked: &[String],
) -> (Vec<PublicKey>, Vec<PublicKey>) {
    let (mut trusted, mut replaced) = (keys.to_vec(), Vec::new());
    let lines: Vec<&str> = text.lines().skip(LINES).collect();
    for link in lines.chunks_exact(1 + LINES) {
        let next = PublicKey::from_line(link[0]);
        let (Ok(next), Some(signature)) = (next, Signature::decode(&link[1..].join("\n"))) else {
            break;
        };
        if revoked.iter().any(|line| line == next.line()) {
            continue;
        }
        let statement = statement(next.line());
        let by = trusted.iter().find(|key| key.verifies(statement.as_bytes(), &signature));
        // The node may know a later key than the first.
        if let Some(by) = by.cloned() {
            replaced.push(by);
            trusted.push(next);
        }
    }
    (trusted, replaced)
}
