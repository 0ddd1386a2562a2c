use provost_api::admins::PRUNE;
use provost_steplog::wording;
use provost_store::Pruned;

use crate::client::Client;
use crate::failure::Failure;
use crate::output;

/// `provostctl prune`.
pub(crate) async fn prune(client: &Client, dry_run: bool) -> Result<(), Failure> {
    let (verb, pruned): (&str, Pruned) = match dry_run {
        true => ("would remove", client.get(PRUNE).await?),
        false => ("removed", client.post(PRUNE, &serde_json::json!({})).await?),
    };
    let count = |n: u64, what: &str| wording::count(u32::try_from(n).unwrap_or(u32::MAX), what);
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let line = format!(
        "{verb} {} with {} ({}), and {} ({})\n",
        count(pruned.runs, "run"),
        count(pruned.records, "record"),
        mib(pruned.record_bytes),
        count(pruned.logs, "log"),
        mib(pruned.log_bytes),
    );
    output::print(line.as_bytes())
}
