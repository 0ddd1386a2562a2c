//! What was said between programs: today's daemon answers those requests, and today's node understands those answers.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use provost_tests::faults::{Answer, Faulty, Request};
use regex::Regex;
use serde_json::Value;

use super::Recording;
use super::exchange::{Content, Exchange, Listener, Received, Sent};

impl Recording {
    fn exchanges(&self) -> Vec<Exchange> {
        serde_json::from_str(&self.read("exchanges.json")).unwrap()
    }
}

#[test]
fn requests_are_answered_as_they_were() {
    for recording in Recording::all() {
        let cluster = recording.cluster("sqlite/before.db.zst");
        let mut renewed = Renewed::default();
        for Exchange { listener, request, answer: expected } in recording.exchanges() {
            let request = renewed.replace_in(request);
            // No node could join before.
            if request.path == "/v1/join" {
                recording.publish_tls(&cluster);
            }
            let answer = request.send(&cluster, listener);
            let place = format!("{} {}", request.method, request.path);
            assert_eq!(answer.status, expected.status, "{place}: {answer:?}\n{expected:?}");
            for name in expected.headers.keys() {
                assert!(answer.headers.contains_key(name), "{place}: no {name}: {answer:?}");
            }
            if let (Some(old), Some(new)) =
                (expected.headers.get("etag"), answer.headers.get("etag"))
            {
                renewed.0.push((old.clone(), new.clone()));
            }
            match (answer.body.json(), expected.body.json()) {
                (Some(today), Some(recorded)) => {
                    has_keys(&today, &recorded, &place);
                    renewed.learn(&today, &recorded);
                }
                // What is published, byte for byte.
                _ if listener == Listener::Nodes => {
                    assert_eq!(answer.body, expected.body, "{place}")
                }
                (today, recorded) => assert_eq!(today.is_some(), recorded.is_some(), "{place}"),
            }
        }
    }
}

/// Tokens and tags are new each time: those that were recorded, each with that of today.
#[derive(Default)]
struct Renewed(Vec<(String, String)>);

impl Renewed {
    fn learn(&mut self, today: &Value, recorded: &Value) {
        match (today, recorded) {
            (Value::Object(today), Value::Object(recorded)) => {
                for (key, old) in recorded {
                    match (&today[key], old) {
                        (Value::String(new), Value::String(old)) if key == "token" => {
                            self.0.push((old.clone(), new.clone()));
                        }
                        (new, old) => self.learn(new, old),
                    }
                }
            }
            (Value::Array(today), Value::Array(recorded)) => {
                today.iter().zip(recorded).for_each(|(new, old)| self.learn(new, old));
            }
            _ => {}
        }
    }

    fn replace_in(&self, mut request: Sent) -> Sent {
        for (old, new) in &self.0 {
            for value in request.headers.values_mut() {
                *value = value.replace(old, new);
            }
        }
        request
    }
}

/// Asserts that `today` has the keys of `recorded`, with values of the same types.
#[track_caller]
fn has_keys(today: &Value, recorded: &Value, place: &str) {
    match (today, recorded) {
        (Value::Object(today), Value::Object(recorded)) => {
            for (key, value) in recorded {
                let place = format!("{place} .{key}");
                let own = today.get(key).unwrap_or_else(|| panic!("{place} is gone: {today:?}"));
                has_keys(own, value, &place);
            }
        }
        (Value::Array(today), Value::Array(recorded)) => {
            assert!(today.len() >= recorded.len(), "{place}: {today:?}");
            today.iter().zip(recorded).for_each(|(own, value)| has_keys(own, value, place));
        }
        _ => {
            let kinds = [today, recorded].map(std::mem::discriminant);
            assert_eq!(kinds[0], kinds[1], "{place}: {today} was {recorded}");
        }
    }
}

#[test]
fn answers_are_understood_as_they_were() {
    for recording in Recording::all() {
        let cluster = recording.cluster("sqlite/before.db.zst");
        let answers = RecordedAnswers::new(recording.exchanges());
        let server = Faulty::answering(move |request| answers.to(request));
        for (name, status, uploads) in [("cn001", 0, 0), ("cn002", 1, 1)] {
            let node = recording.new_node(&cluster, name, server.address());
            // The second time it asks whether something has changed.
            for _ in 0..2 - uploads {
                let out = node.provost(&["boot"]).expect(status);
                assert!(!out.stderr.contains("not sent yet"), "{}", out.stderr);
            }
            let path = format!("/v1/nodes/{name}/");
            let asked = server.exchanges();
            let of_node = asked.iter().filter(|e| e.request.path.starts_with(&path));
            let of_node: Vec<_> = of_node.collect();
            let logs = of_node.iter().filter(|e| e.request.path.contains("/logs/")).count();
            assert!(of_node.len() > uploads && logs == uploads, "{of_node:#?}");
        }
        let unknown = server.exchanges().into_iter().filter(|exchange| {
            exchange.answer.as_ref().is_none_or(|answer| answer.status == NOT_RECORDED)
        });
        let unknown: Vec<_> = unknown.map(|exchange| exchange.request.path).collect();
        // A request that an older daemon doesn't know comes with a newer program.
        let is_today = recording.0 == Recording::of_today().0;
        assert!(unknown.is_empty() || !is_today, "{unknown:?}");
    }
}

/// Of requests that nobody sent then.
const NOT_RECORDED: u16 = 404;

/// The answers that were recorded, by what was asked; the last of them again and again.
struct RecordedAnswers(Mutex<HashMap<String, Vec<Received>>>);

impl RecordedAnswers {
    fn new(exchanges: Vec<Exchange>) -> Self {
        let mut all = HashMap::<_, Vec<Received>>::new();
        let of_nodes = exchanges.into_iter().filter(|e| e.listener == Listener::Nodes);
        for Exchange { request, answer, .. } in of_nodes {
            let conditional = request.headers.contains_key(CONDITION);
            all.entry(key(&request.method, &request.path, conditional))
                .or_default()
                .insert(0, answer);
        }
        Self(Mutex::new(all))
    }

    fn to(&self, request: &Request) -> Answer {
        let mut all = self.0.lock().unwrap();
        let conditional = request.header(CONDITION).is_some();
        let answer = match all.get_mut(&key(&request.method, &request.path, conditional)) {
            Some(answers) if answers.len() > 1 => answers.pop().unwrap(),
            Some(answers) => answers[0].clone(),
            None => return Answer { status: NOT_RECORDED, headers: Vec::new(), body: Vec::new() },
        };
        let mut body = answer.body.bytes();
        // How many records there are in one request depends on how fast the scripts are.
        if let (Some(mut ack), Ok(Value::Array(sent))) =
            (answer.body.json(), serde_json::from_slice(&request.body))
            && ack.get("acked").is_some()
        {
            ack["acked"] = sent.last().unwrap()["seq"].clone();
            body = Content::Text(ack.to_string()).bytes();
        }
        Answer { status: answer.status, headers: answer.headers.into_iter().collect(), body }
    }
}

/// By what a node asks for what has changed alone.
const CONDITION: &str = "if-none-match";

/// Method and path, without the run's id.
fn key(method: &str, path: &str, conditional: bool) -> String {
    static RUN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap());
    format!("{method} {} {conditional}", RUN.replace_all(path, "[RUN]"))
}
