//! What an upstream's answer to a report means.

use axum::http::StatusCode;
use serde_json::{Map, Value};

use super::upstream::{Answer, Failed};

/// What an upstream makes of a report.
pub(super) enum Verdict {
    /// It has it on its disk. What the node has to do: a JSON object, for records alone.
    Taken(Option<String>),
    /// The token isn't the node's.
    NotTheNode,
    /// It will never take it.
    Never,
    /// The node is over its quota.
    Later,
}

impl Verdict {
    /// Reads the answer to records of which the last is number `last`, or to a log. An answer that no
    /// provostd gives is its sender's failure.
    pub(super) fn of(answer: &Answer, last: Option<u64>) -> Result<Self, Failed> {
        match answer.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ok(Self::NotTheNode),
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => Ok(Self::Never),
            StatusCode::TOO_MANY_REQUESTS => Ok(Self::Later),
            StatusCode::NO_CONTENT if last.is_none() => Ok(Self::Taken(None)),
            StatusCode::OK => {
                let mut said: Map<String, Value> =
                    serde_json::from_slice(&answer.body).unwrap_or_default();
                let acked = said.remove("acked").as_ref().and_then(Value::as_u64);
                match acked.is_some() && acked == last {
                    true => Ok(Self::Taken(serde_json::to_string(&said).ok())),
                    false => Err(Failed::because(
                        "it doesn't acknowledge reports: it doesn't seem to be provostd",
                    )),
                }
            }
            status => Err(Failed::because(format!("it responded {status} to a report"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_acknowledges_all_of_a_report_has_taken_it() {
        let of = |status, body: &'static str, last| {
            let answer = Answer { status, headers: Default::default(), body: body.into() };
            Verdict::of(&answer, last).ok()
        };
        let directive = |verdict| match verdict {
            Some(Verdict::Taken(directive)) => directive,
            _ => None,
        };
        let held = r#"{"acked":7,"directive":"hold","reason":"3 attempts failed"}"#;
        let held = directive(of(StatusCode::OK, held, Some(7))).unwrap();
        assert_eq!(held, r#"{"directive":"hold","reason":"3 attempts failed"}"#);
        for (body, last) in [(r#"{"acked":6}"#, Some(7)), ("<html>", Some(7)), ("{}", None)] {
            assert!(of(StatusCode::OK, body, last).is_none(), "{body}");
        }
        assert!(matches!(of(StatusCode::NO_CONTENT, "", None), Some(Verdict::Taken(None))));
        assert!(of(StatusCode::NO_CONTENT, "", Some(1)).is_none());
        assert!(of(StatusCode::NOT_FOUND, "", Some(1)).is_none());
    }
}
