//! `provostctl expiry`: what expires when, and what to do about it.

use jiff::Timestamp;
use provost_api::admins::{EXPIRY, Expiring};
use provost_steplog::terminal::escape_json;
use provost_steplog::{Paint, wording};
use provost_store::words;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::table::{Table, Tone};

/// `provostctl expiry`.
pub(crate) async fn expiry(client: &Client, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        let all: Box<RawValue> = client.get(EXPIRY).await?;
        return output::print(format!("{}\n", escape_json(all.get())).as_bytes());
    }
    let all: Vec<Expiring> = client.get(EXPIRY).await?;
    let now = Timestamp::now();
    let mut table = Table::new(["WHAT", "EXPIRES", "NAME", "AT"]);
    for one in &all {
        let (when, at) = if is_never(one.expires) {
            ("never".to_owned(), String::new())
        } else {
            let when = match now.duration_until(one.expires).try_into().map(wording::age) {
                Ok(time) => format!("in {time}"),
                Err(_) => format!("{} ago", words::ago(one.expires, now)),
            };
            (when, one.expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        };
        let tone = if one.soon { Tone::Bad } else { Tone::Good };
        table.add([one.what.to_string(), when, one.name.clone(), at], tone);
    }
    output::print(table.render(output::width(), Paint::of_stdout()).as_bytes())?;
    for one in all.iter().filter(|one| one.soon) {
        output::note(&format!("{}\n  hint: {}", words::expiring(one, now), one.hint));
    }
    Ok(())
}

/// Whether it is the end of all time, as of a certificate that has none (RFC 5280, 4.1.2.5): later than what a
/// `Timestamp` can hold.
fn is_never(expires: Timestamp) -> bool {
    expires.as_second() == Timestamp::MAX.as_second()
}

/// What is due first, for the end of other lists.
pub(crate) async fn note(client: &Client) {
    // An older provostd doesn't know it.
    let mut all: Vec<Expiring> = client.get(EXPIRY).await.unwrap_or_default();
    all.retain(|one| one.soon);
    if let Some(first) = all.first() {
        let first = words::expiring(first, Timestamp::now());
        let more = match all.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        output::note(&format!("{first}{more}: provostctl expiry"));
    }
}
