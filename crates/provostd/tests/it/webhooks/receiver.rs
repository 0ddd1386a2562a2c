//! A receiver of webhooks, which fails as it is told.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The longest that the next message may take.
const SOON: Duration = Duration::from_secs(60);

/// A request.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) status: u16,
}

impl Request {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Decides by the number of the request; None is never an answer.
type Decide = Arc<dyn Fn(usize) -> Option<u16> + Send + Sync>;

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    requests: Mutex<Vec<Request>>,
    decide: Decide,
    count: watch::Sender<usize>,
}

impl Receiver {
    pub(crate) async fn start(
        decide: impl Fn(usize) -> Option<u16> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            requests: Mutex::default(),
            decide: Arc::new(decide),
            count: watch::Sender::new(0),
        });
        let router = Router::new().fallback(take).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook/very-secret-path", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The messages that were taken.
    pub(crate) fn taken(&self) -> Vec<Value> {
        let is_taken = |request: &&Request| request.status == 200;
        self.requests().iter().filter(is_taken).map(Request::json).collect()
    }

    /// The nodes of the events that were taken, as often as each was.
    pub(crate) fn nodes(&self) -> Vec<String> {
        let name = |event: &Value| event["node"].as_str().unwrap().to_owned();
        let of = |message: &Value| message["events"].as_array().unwrap().clone();
        self.taken().iter().flat_map(of).map(|event| name(&event)).collect()
    }

    /// Waits until what it has is enough.
    pub(crate) async fn until(&self, is_enough: impl Fn(&Self) -> bool) {
        let mut count = self.shared.count.subscribe();
        while !is_enough(self) {
            if tokio::time::timeout(SOON, count.changed()).await.is_err() {
                let last = self.requests().pop().map(|last| (last.status, last.json()));
                panic!("nothing new within {SOON:?}; the last one is {last:?}");
            }
        }
    }
}

async fn take(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let decided = (shared.decide)(shared.requests.lock().unwrap().len());
    let status = decided.unwrap_or_default();
    shared.requests.lock().unwrap().push(Request { headers, body, status });
    shared.count.send_modify(|count| *count += 1);
    match decided {
        Some(status) => StatusCode::from_u16(status).unwrap(),
        None => std::future::pending().await,
    }
}
