//! `provost check`: the effective configuration, where each value comes from, and whether it works.

mod hardened;
mod machine;
mod server;

use provost_bundle::Limit;
use provost_exec::Secrets;
use provost_record::ExitCode;
use serde_json::{Value, json};

use crate::xcat::{check_installation, try_monitor};
use provost_node::failure::Failure;
use provost_node::finding::{Finding, Outcome, ServerCheck};
use provost_node::observe::console::{exit, harmless, print};
use provost_node::room;
use provost_node::settings::secrets::secrets;
use provost_node::settings::{Input, Overridden, Settings};

/// How long a server may take to connect, or be silent, where the settings allow for more.
const PATIENCE: Limit = Limit::seconds(4);

/// Shows every value with where it comes from, and tries what can be tried without changing
/// anything. Takes no longer than 15 s, whatever is dead.
pub(crate) fn check(input: &Input, json: bool) -> ExitCode {
    let (settings, failures) = input.usable();
    let mut findings: Vec<Finding> =
        failures.iter().map(|failure| Finding::failed("configuration", failure)).collect();
    if findings.is_empty() {
        findings.push(Finding::ok("configuration", "all values are valid"));
    }
    findings.extend(input.overridden().iter().map(overridden));
    let node = settings.node.clone();
    let secrets = secrets(&settings, None);
    let (tried, served) = attempt(input, settings);
    findings.extend(tried);
    let findings: Vec<Finding> = findings.into_iter().map(|f| f.without(&secrets)).collect();
    let values = values(input, &secrets);
    let text = match json {
        true => format!("{:#}\n", json!({"node": node, "values": values, "checks": findings})),
        false => tell(&node, &values, &findings),
    };
    match exit(print(&text)) {
        ExitCode::Done => {}
        unprinted => return unprinted,
    }
    match () {
        () if findings.iter().any(Finding::is_of_this_node) => ExitCode::Usage,
        () if !served => ExitCode::Fetch,
        () => ExitCode::Done,
    }
}

fn overridden(Overridden { key, file, by }: &Overridden) -> Finding {
    let detail = format!("`{key}` of {file} has no effect: overridden by {by}");
    let hint = "remove one of them; provost.server= and provost.node= on the kernel command line \
                take precedence over xCAT's arguments there";
    Finding::note("configuration", detail, hint)
}

/// Looks at this machine and tries the servers. Says also whether any of them would serve a run.
fn attempt(input: &Input, mut settings: Settings) -> (Vec<Finding>, bool) {
    settings.fetch.connect = settings.fetch.connect.min(PATIENCE);
    settings.fetch.stall = settings.fetch.stall.min(PATIENCE);
    let runtime = match room::runtime() {
        Ok(runtime) => runtime,
        Err(failure) => return (vec![Finding::failed("machine", &failure)], false),
    };
    let (paths, node, guard) = (input.paths(), settings.node.clone(), settings.guard);
    let (takes_records, logs) = (input.takes_records(), settings.report_logs);
    let machine = async {
        let look = move || {
            let mut findings = machine::look(&paths, &node, guard, takes_records, logs);
            findings.extend(hardened::look(&paths.state));
            findings.extend(check_installation(&paths));
            findings
        };
        let look = tokio::task::spawn_blocking(look);
        tokio::time::timeout(server::LIMIT, look).await.ok().and_then(Result::ok).unwrap_or_else(
            || {
                let message = format!(
                    "checking STATE and LOG: not finished within {} s",
                    server::LIMIT.as_secs()
                );
                let failure =
                    Failure::local(message, "check for a network file system that hangs: findmnt");
                vec![Finding::failed("state", &failure)]
            },
        )
    };
    let state = input.paths().state;
    let servers = async {
        let client = match settings.client() {
            Ok(client) => client,
            Err(failure) => {
                let findings = vec![Finding::failed("configuration", &failure)];
                return vec![ServerCheck { findings, serves: false }];
            }
        };
        client.identity().remember_in(&state);
        let tries =
            settings.servers.iter().map(|base| server::attempt(&client, base, &settings, &state));
        futures_util::future::join_all(tries).await
    };
    let monitor = try_monitor(&settings, server::LIMIT);
    let (mut findings, servers, monitor) =
        runtime.block_on(async { tokio::join!(machine, servers, monitor) });
    // What hangs in the kernel isn't waited for.
    runtime.shutdown_background();
    let served = servers.iter().any(|server| server.serves);
    findings.extend(servers.into_iter().flat_map(|server| server.findings));
    findings.extend(monitor);
    (findings, served)
}

/// `{"key", "value", "from"}` each. A token isn't shown, nor a password in a URL.
fn values(input: &Input, secrets: &Secrets) -> Vec<Value> {
    let (config, origin) = input.config();
    let mut values = vec![json!({"key": "config", "value": config, "from": origin.to_string()})];
    let rest = input.values().map(|(key, value, origin)| {
        let value = hide(json!(value), secrets);
        json!({"key": key, "value": value, "from": origin.to_string()})
    });
    values.extend(rest);
    if let Some(origin) = input.token_origin() {
        let shown = "(given, not shown)";
        values.push(json!({"key": "token", "value": shown, "from": origin.to_string()}));
    }
    if let Some(origin) = input.join_origin() {
        let shown = "(given, not shown)";
        values.push(json!({"key": "join", "value": shown, "from": origin.to_string()}));
    }
    values
}

fn hide(value: Value, secrets: &Secrets) -> Value {
    match value {
        Value::String(text) => secrets.hide(&text).into(),
        Value::Array(list) => list.into_iter().map(|value| hide(value, secrets)).collect(),
        other => other,
    }
}

fn tell(node: &str, values: &[Value], findings: &[Finding]) -> String {
    let rows: Vec<[String; 3]> = values
        .iter()
        .map(|row| {
            let value = match &row["value"] {
                Value::String(text) => text.clone(),
                Value::Array(list) if list.is_empty() => "(none)".to_owned(),
                Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(" "),
                other => other.to_string(),
            };
            [plain(&row["key"]), harmless(&value), harmless(&plain(&row["from"]))]
        })
        .collect();
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    // A long value pushes its own line only.
    let (keys, texts) = (wide(0).unwrap_or(0), wide(1).unwrap_or(0).min(40));
    let mut text = format!("{}\n\n", harmless(node));
    for [key, value, from] in &rows {
        text += &format!("{key:keys$}  {value:texts$}  {from}\n");
    }
    text += "\n";
    findings.iter().for_each(|finding| text += &finding.text());
    let count = |outcome| findings.iter().filter(|f| f.result == outcome).count();
    text + &format!("\n{} failed, {} to note\n", count(Outcome::Failed), count(Outcome::Note))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
