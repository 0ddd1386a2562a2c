use jiff::{SignedDuration, Timestamp};
use provost_steplog::Paint;
use provost_steplog::terminal::escape_json;
use provost_store::AuditEntry;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::period::Period;
use crate::table::{Table, Tone};

/// `provostctl audit`.
#[derive(clap::Args)]
pub(crate) struct Audit {
    /// Only changes of the last D, such as 12h or 30d
    #[arg(long, value_name = "D")]
    since: Option<Period>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Audit {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let ago = self.since.map_or(SignedDuration::MAX, |period| period.0);
        let since = Timestamp::now().saturating_sub(ago).unwrap_or(Timestamp::MIN);
        if self.format == Format::Json {
            let all: Box<RawValue> = client.changes(since).await?;
            return output::print(format!("{}\n", escape_json(all.get())).as_bytes());
        }
        let all: Vec<AuditEntry> = client.changes(since).await?;
        if all.is_empty() {
            return output::print(b"nothing was changed\n");
        }
        if all.len() == provost_api::limits::AUDIT {
            output::note(&format!(
                "only the newest {} changes are shown",
                provost_api::limits::AUDIT
            ));
        }
        let mut table = Table::new(["WHEN", "RESULT", "WHO", "FROM", "ACTION", "REQUEST"]);
        for entry in all {
            let (result, tone) = match entry.result.as_deref() {
                Some("done") => ("done", Tone::Good),
                Some(text) if text.starts_with("failed: ") => ("failed", Tone::Bad),
                Some(_) => ("refused", Tone::Bad),
                None => ("unknown", Tone::Busy),
            };
            let why = entry.result.as_deref().and_then(|text| {
                text.strip_prefix("refused: ").or_else(|| text.strip_prefix("failed: "))
            });
            let request = [request(&entry.request), why.map(|why| format!("({why})"))];
            let request = request.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let at = format!("{:.0}", entry.at);
            table.add([at, result.into(), entry.who, entry.from, entry.action, request], tone);
        }
        output::print(table.render(output::width(), Paint::of_stdout()).as_bytes())
    }
}

/// A request in short: what is false or null has no effect.
fn request(json: &RawValue) -> Option<String> {
    let request: Value = serde_json::from_str(json.get()).unwrap_or_default();
    let part = |(key, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(key.clone()),
        Value::String(text) => Some(format!("{key}={text}")),
        Value::Number(ms) if key.ends_with("Ms") => {
            let time = SignedDuration::from_millis(ms.as_i64().unwrap_or_default());
            Some(format!("{}={time:#}", key.trim_end_matches("Ms")))
        }
        other => Some(format!("{key}={other}")),
    };
    Some(request.as_object()?.iter().filter_map(part).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_shown_in_short() {
        let shown = |json: &str| request(&RawValue::from_string(json.to_owned()).unwrap());
        let tokens =
            r#"{"force":false,"missing":true,"nodes":"cn[001-004]","overlapMs":604800000}"#;
        assert_eq!(shown(tokens).as_deref(), Some("missing nodes=cn[001-004] overlap=168h"));
        assert_eq!(shown("null"), None);
    }
}
