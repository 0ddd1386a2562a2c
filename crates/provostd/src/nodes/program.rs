//! Which version of the node's program sends a request: it says so in `User-Agent`.

use std::sync::Arc;

use axum::http::{HeaderMap, header};

/// The longest version that is kept, in bytes.
const MOST: usize = 40;

/// The version; none of another program.
pub(crate) fn version(headers: &HeaderMap) -> Option<Arc<str>> {
    let agent = headers.get(header::USER_AGENT)?.to_str().ok()?;
    let version = agent.strip_prefix("provost/")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
    let is_version = (1..=MOST).contains(&version.len()) && version.chars().all(is_plain);
    is_version.then(|| version.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_of_the_nodes_program_is_one() {
        let of = |agent: &str| {
            let headers = HeaderMap::from_iter([(header::USER_AGENT, agent.parse().unwrap())]);
            version(&headers).map(|version| version.to_string())
        };
        assert_eq!(of("provost/0.1.0-rc.1+5").as_deref(), Some("0.1.0-rc.1+5"));
        for other in ["curl/8.5.0", "provost/", "provost/1 x", &format!("provost/{:99}", 1)] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(version(&HeaderMap::new()), None);
    }
}
