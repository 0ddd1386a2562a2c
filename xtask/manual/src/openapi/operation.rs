//! An operation of an API, as an OpenAPI document has it.

use provost_api::{Route, admins};
use serde_json::{Map, Value, json};

/// Who may ask.
#[derive(Clone, Copy)]
pub(super) enum Asker {
    /// Anybody, on the nodes' listeners.
    Anybody,
    /// A node, by its identity or its token.
    Node,
    /// An admin, by a token over TLS or on the socket of those who operate.
    Admin,
}

/// What is asked for, and what is answered.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) route: Route,
    id: &'static str,
    summary: &'static str,
    asker: Asker,
    query: &'static [(&'static str, &'static str)],
    body: Option<Value>,
    answers: Vec<(&'static str, &'static str, Value)>,
}

pub(super) fn operation(
    asker: Asker,
    method: &'static str,
    route: Route,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    Operation { method, route, id, summary, asker, query: &[], body: None, answers: Vec::new() }
}

impl Operation {
    pub(super) fn query(mut self, query: &'static [(&'static str, &'static str)]) -> Self {
        self.query = query;
        self
    }

    pub(super) fn body(mut self, kind: &str, schema: Value) -> Self {
        self.body = Some(json!({ kind: { "schema": schema } }));
        self
    }

    pub(super) fn answers(
        mut self,
        status: &'static str,
        about: &'static str,
        kind: &str,
        schema: Value,
    ) -> Self {
        self.answers.push((status, about, json!({ kind: { "schema": schema } })));
        self
    }

    pub(super) fn answers_nothing(mut self, status: &'static str, about: &'static str) -> Self {
        self.answers.push((status, about, Value::Null));
        self
    }

    pub(super) fn json(self) -> Value {
        let segments = self.route.0.split('/');
        let names = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let in_path = names.map(|name| {
            json!({ "name": name, "in": "path", "required": true,
                "schema": { "type": "string", "minLength": 1 } })
        });
        let in_query = self.query.iter().map(|(name, about)| {
            json!({ "name": name, "in": "query", "required": false, "description": about,
                "schema": query_schema(name) })
        });
        let parameters: Vec<Value> = in_path.chain(in_query).collect();
        let mut responses = Map::new();
        for (status, about, content) in self.answers {
            let mut response = json!({ "description": about });
            if !content.is_null() {
                response["content"] = content;
            }
            responses.insert(status.to_owned(), response);
        }
        responses.insert("default".to_owned(), json!({ "$ref": "#/components/responses/refused" }));
        let mut operation = json!({
            "operationId": self.id, "summary": self.summary, "tags": [match self.asker {
                Asker::Anybody | Asker::Node => "nodes",
                Asker::Admin => "admins",
            }],
            "responses": responses,
        });
        operation["security"] = match self.asker {
            Asker::Anybody => json!([]),
            Asker::Node => json!([{ "identity": [] }, { "token": [] }]),
            // On the socket the connection says who asks.
            Asker::Admin => json!([{ "token": [] }, {}]),
        };
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        if let Some(content) = self.body {
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
        operation
    }
}

fn query_schema(name: &str) -> Value {
    match name {
        "runs" | "from" | "generation" => {
            json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX })
        }
        // Two generations.
        "bundles" | "plans" => json!({ "type": "string", "pattern": "^[0-9]{1,18}-[0-9]{1,18}$" }),
        // A path in the bundle.
        "script" => json!({ "type": "string" }),
        "range" => json!({ "type": "string", "enum": ["hour", "day", "week", "year"] }),
        "beats" => json!({ "type": "boolean" }),
        "since" => json!({ "type": "string", "format": "date-time" }),
        // A name; a set is as good.
        _ => json!({ "type": "string", "pattern": admins::NODE_NAMES }),
    }
}
