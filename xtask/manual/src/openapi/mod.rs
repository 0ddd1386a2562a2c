//! The description of both HTTP APIs, made of `provost-api`: OpenAPI 3.1.

mod operation;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use provost_api::{ErrorBody, Followed, Node, admins, limits, nodes};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use operation::{Asker, Operation, operation};

/// Writes the document into `folder`.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&document())?;
    fs::write(folder.join("openapi.json"), text + "\n")
}

/// The whole document.
fn document() -> Value {
    let mut schemas = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let mut paths = BTreeMap::<&str, Map<String, Value>>::new();
    let operations =
        [of_nodes(&mut schemas), of_admins(&mut schemas), changes(&mut schemas)].concat();
    for operation in operations {
        let (route, method) = (operation.route.0, operation.method);
        paths.entry(route).or_default().insert(method.to_owned(), operation.json());
    }
    let refused = schema::<ErrorBody>(&mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Provost",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": "The APIs of provostd: the nodes' (published files, reports, enrolment) on their listeners, and the admins' on theirs and on the socket. Words that are enumerated are open: ignore those that you don't know. Files that are published, streams and logs have their media type here and no schema.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "responses": { "refused": {
                "description": "Why it is refused, and what to do about it.",
                "content": { "application/json": { "schema": refused } },
            } },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "identity": { "type": "mutualTLS", "description": "A node's certificate, which provostd has signed." },
            },
        },
    })
}

fn schema<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    schemas.subschema_for::<T>().to_value()
}

/// Which bundle a request is about.
const GENERATION: &[(&str, &str)] = &[("generation", "Of a channel's bundle")];
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const METRICS: &str = "application/openmetrics-text";
const FILE: &str = "application/octet-stream";

/// A record: the keys without which none can be filed. All keys: the reference of records.
fn record() -> Value {
    let text = || json!({ "type": "string", "minLength": 1 });
    json!({
        "type": "object",
        "required": ["timestamp", "phase", "service", "node", "run", "seq"],
        "properties": {
            "timestamp": { "type": "string", "format": "date-time" },
            "phase": text(), "service": text(), "node": text(),
            "run": { "type": "string", "format": "uuid" },
            "seq": { "type": "integer", "minimum": 1, "maximum": limits::SEQ },
        },
    })
}

fn of_nodes(schemas: &mut SchemaGenerator) -> Vec<Operation> {
    use Asker::{Anybody, Node};
    let file = |asker, route, id, summary| {
        let get = operation(asker, "get", route, id, summary);
        get.answers("200", "The file.", FILE, json!({}))
    };
    let records = json!({ "type": "array", "minItems": 1, "items": record() });
    vec![
        file(Anybody, nodes::MANIFEST, "manifest", "What is published for all nodes"),
        file(Anybody, nodes::MANIFEST_SIGNATURE, "manifestSignature", "Its signature"),
        file(
            Anybody,
            nodes::NAMED_MANIFEST,
            "namedManifest",
            "The manifest of a generation, or its signature",
        ),
        file(Anybody, nodes::REFRESH, "refresh", "Until when the publication is valid")
            .query(GENERATION),
        file(Anybody, nodes::REFRESH_SIGNATURE, "refreshSignature", "Its signature")
            .query(GENERATION),
        file(Anybody, nodes::OBJECT, "object", "A file by its digest"),
        file(Anybody, nodes::PACK, "pack", "All files, by the digest of the pack"),
        file(Anybody, nodes::PROGRAM, "program", "The node's program by its digest"),
        operation(Anybody, "get", nodes::INSTALL_SH, "installSh", "The script that makes a machine a node")
            .answers("200", "The script.", TEXT, json!({})),
        file(Node, nodes::PLAN, "plan", "A node's own plan, or its signature"),
        file(Node, nodes::SECRETS, "secrets", "A node's own secrets; over TLS only"),
        operation(Anybody, "post", nodes::ENROL, "enroll", "Ask for an identity; over TLS only")
            .body("application/pkcs10", json!({}))
            .answers("200", "The certificate.", "application/x-pem-file", json!({}))
            .answers(
                "202",
                "An admin has to approve the key.",
                JSON,
                schema::<nodes::EnrolmentPending>(schemas),
            ),
        operation(
            Node,
            "post",
            nodes::SSH_HOST_CERTIFICATES,
            "certifySshHostKeys",
            "Have the node's public ssh host keys certified, one a line, or certificates of them; by its identity alone",
        )
        .body(TEXT, json!({}))
        .answers("200", "The certificate of each, in the same order.", TEXT, json!({})),
        operation(
            Anybody,
            "post",
            nodes::NOT_BEGUN,
            "notBegun",
            "Say that an installer couldn't get the node's program, proved by a digest of the node's token",
        )
        .body(TEXT, json!({}))
        .answers_nothing("200", "The node has failed."),
        operation(Node, "post", nodes::RECORDS, "report", "Report records of a run")
            .body(JSON, records)
            .answers("200", "They are durable.", JSON, schema::<nodes::Acknowledgement>(schemas)),
        operation(
            Node,
            "put",
            nodes::LOG,
            "uploadLog",
            "Upload the log of a step, plain or packed by gzip or zstd; with `provost-log: success`, that of one that didn't fail",
        )
        .body(TEXT, json!({}))
        .answers_nothing("204", "It is durable."),
        operation(Node, "post", nodes::BEAT, "beat", "Say that a step runs for long")
            .body(JSON, schema::<nodes::Beat>(schemas))
            .answers(
                "200",
                "Whether somebody follows its log.",
                JSON,
                schema::<nodes::BeatAnswer>(schemas),
            ),
    ]
}

fn list(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

#[expect(clippy::too_many_lines, reason = "a list")]
fn of_admins(schemas: &mut SchemaGenerator) -> Vec<Operation> {
    use admins as api;
    let get = |route, id, summary| operation(Asker::Admin, "get", route, id, summary);
    let history = json!({
        "type": "object",
        "required": ["node", "runs"],
        "properties": {
            "node": schema::<Node>(schemas),
            "identity": schema::<api::NodeIdentity>(schemas),
            "runs": { "type": "array", "items": {
                "type": "object", "required": ["service", "run", "stages", "records"],
                "properties": { "records": list(record()) },
            } },
            "more": { "type": "boolean" },
        },
    });
    vec![
        get(api::NODES, "nodes", "The nodes")
            .query(&[("nodes", "Only these, as a set: cn[001-512]")])
            .answers("200", "The nodes, by name.", JSON, list(schema::<Node>(schemas))),
        get(api::NODE, "node", "A node with its newest runs")
            .query(&[("runs", "How many runs are shown whole")])
            .answers("200", "The node.", JSON, history),
        get(api::CHANGES, "changes", "What was changed for a node between two runs")
            .query(&[
                ("bundles", "The bundles of the two: 16-17"),
                ("plans", "The plans of the two: 3-4"),
                ("script", "The script whose diff is asked for"),
            ])
            .answers("200", "The changes.", JSON, schema::<api::NodeChanges>(schemas)),
        get(
            api::FOLLOW,
            "follow",
            "What the log of a script that runs has grown by; waits up to 5 s",
        )
        .query(&[("from", "From which byte on")])
        .answers("200", "What there is.", JSON, schema::<Followed>(schemas)),
        get(api::RUN_RECORDS, "runRecords", "The records of a run, as the node sent them").answers(
            "200",
            "The records.",
            JSON,
            list(record()),
        ),
        get(api::RUN_LOG, "runLog", "An uploaded log").answers("200", "The log.", TEXT, json!({})),
        get(api::EVENTS, "events", "Events from now on, as server-sent events")
            .query(&[("beats", "Whether beats are events, too")])
            .answers("200", "The stream.", "text/event-stream", json!({})),
        get(api::PENDING, "pending", "The nodes and keys that may not report yet").answers(
            "200",
            "Both, by name.",
            JSON,
            list(schema::<api::PendingNode>(schemas)),
        ),
        get(api::INSTALLER, "installer", "What an installer needs first").answers(
            "200",
            "That.",
            JSON,
            schema::<api::Installer>(schemas),
        ),
        get(api::SCRIPTS, "scripts", "The published scripts").answers(
            "200",
            "Their names.",
            JSON,
            schema::<api::Scripts>(schemas),
        ),
        get(api::GROUPS, "groups", "The groups of the published site").answers(
            "200",
            "Each with its nodes.",
            JSON,
            schema::<api::Groups>(schemas),
        ),
        get(api::PUBLICATIONS, "publications", "What was published, and by whom").answers(
            "200",
            "The oldest first.",
            JSON,
            list(schema::<api::Publication>(schemas)),
        ),
        get(api::EXPIRY, "expiry", "All that expires, soonest first").answers(
            "200",
            "What is due first.",
            JSON,
            schema::<Vec<api::Expiring>>(schemas),
        ),
        get(api::HISTORY, "history", "What runs did and how nodes stood over time")
            .query(&[("range", "How far back: hour, day, week or year")])
            .answers("200", "Points without a gap.", JSON, schema::<api::History>(schemas)),
        get(
            api::SSH_AUTHORITY,
            "sshAuthority",
            "The authority of certified host keys, as a line of known_hosts",
        )
        .answers("200", "The authority.", JSON, schema::<api::SshAuthority>(schemas)),
        get(api::GENERATIONS, "generations", "The newest generations that nodes have reported")
            .answers("200", "Those.", JSON, schema::<api::Generations>(schemas)),
        get(api::PRUNE, "prunable", "What of the history would be deleted").answers(
            "200",
            "How much.",
            JSON,
            schema::<api::Pruned>(schemas),
        ),
        get(api::WINDOWS, "windows", "The open windows of enrolment").answers(
            "200",
            "Those with the same end together.",
            JSON,
            list(schema::<api::Window>(schemas)),
        ),
        get(api::ADMINS, "admins", "The admins").answers(
            "200",
            "Those who have a token.",
            JSON,
            list(schema::<api::Admin>(schemas)),
        ),
        get(api::AUDIT, "audit", "Who changed what").query(&[("since", "Since when")]).answers(
            "200",
            "The newest changes, the oldest first.",
            JSON,
            list(schema::<api::AuditEntry>(schemas)),
        ),
        get(api::HEALTH, "health", "Whether nodes can report")
            .answers("200", "They can.", JSON, schema::<api::Health>(schemas))
            .answers("503", "They can't.", JSON, schema::<api::Health>(schemas)),
        get(api::METRICS, "metrics", "Metrics for Prometheus").answers(
            "200",
            "The metrics.",
            METRICS,
            json!({}),
        ),
    ]
}

/// What admins change.
fn changes(schemas: &mut SchemaGenerator) -> Vec<Operation> {
    use admins as api;
    let post = |route, id, summary| operation(Asker::Admin, "post", route, id, summary);
    let nodes_request = schema::<api::NodesRequest>(schemas);
    vec![
        post(api::TOKENS, "makeTokens", "Make tokens")
            .body(JSON, schema::<api::TokensRequest>(schemas))
            .answers(
                "200",
                "The tokens, which are shown only once.",
                JSON,
                list(schema::<api::NewToken>(schemas)),
            ),
        post(api::RELEASE, "release", "Release nodes that the guard holds")
            .body(JSON, nodes_request.clone())
            .answers("200", "The nodes.", JSON, list(schema::<api::Released>(schemas))),
        post(api::REMOVE, "remove", "Remove nodes and all that is known of them")
            .body(JSON, nodes_request.clone())
            .answers("200", "The nodes.", JSON, list(schema::<api::Named>(schemas))),
        post(
            api::BOOTS,
            "noteBoots",
            "Note that nodes were sent a boot by ssh, or weren't after all",
        )
        .body(JSON, schema::<api::BootsRequest>(schemas))
        .answers("200", "Those that are known.", JSON, list(schema::<api::Named>(schemas))),
        post(api::PRUNE, "prune", "Delete history older than [retention]").answers(
            "200",
            "How much was.",
            JSON,
            schema::<api::Pruned>(schemas),
        ),
        post(api::JOIN, "join", "Make join tokens")
            .body(JSON, schema::<api::TimeRequest>(schemas))
            .answers(
                "200",
                "The tokens, which are shown only once.",
                JSON,
                list(schema::<api::NewJoin>(schemas)),
            ),
        post(api::WINDOWS, "openWindow", "Open a window of enrolment")
            .body(JSON, schema::<api::TimeRequest>(schemas))
            .answers("200", "The window.", JSON, schema::<api::Window>(schemas)),
        post(api::CLOSE_WINDOWS, "closeWindows", "Close windows of enrolment")
            .body(JSON, schema::<api::CloseRequest>(schemas))
            .answers("200", "Which.", JSON, schema::<api::Closed>(schemas)),
        post(api::APPROVE, "approve", "Make a pending key a node's identity")
            .body(JSON, schema::<api::KeyRequest>(schemas))
            .answers("200", "The identity.", JSON, schema::<api::Approved>(schemas)),
        post(api::REJECT, "reject", "Reject a pending key")
            .body(JSON, schema::<api::KeyRequest>(schemas))
            .answers("200", "The key.", JSON, schema::<api::Rejected>(schemas)),
        post(api::REVOKE, "revoke", "End identities and tokens").body(JSON, nodes_request).answers(
            "200",
            "The nodes.",
            JSON,
            list(schema::<api::Revoked>(schemas)),
        ),
        post(api::ADMINS, "addAdmin", "Add an admin; on the socket only")
            .body(JSON, schema::<api::AdminRequest>(schemas))
            .answers(
                "200",
                "The admin, and the token, which is shown only once.",
                JSON,
                schema::<api::NewAdmin>(schemas),
            ),
        post(api::REMOVE_ADMIN, "removeAdmin", "End an admin's token; on the socket only")
            .body(JSON, schema::<api::AdminName>(schemas))
            .answers("200", "The admin.", JSON, schema::<api::AdminName>(schemas)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_route_of_the_contract_is_in_the_document_once() {
        let document = document();
        let paths = document["paths"].as_object().unwrap();
        let source = concat!(
            include_str!("../../../../crates/provost-api/src/admins/mod.rs"),
            include_str!("../../../../crates/provost-api/src/nodes.rs")
        );
        let routes = source.split("Route(\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let routes: Vec<&str> = routes.collect();
        assert!(routes.len() > 30, "{routes:?}");
        for route in &routes {
            assert!(paths.contains_key(*route), "{route}");
        }
        assert_eq!(paths.len(), routes.len());
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
    }
}
