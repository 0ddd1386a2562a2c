use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, extract::State};
use provost_api::admins::Health;
use provost_steplog::wording::error_chain;
use provost_store::Store;
use std::path::Path;
use std::sync::Arc;

use crate::listener::refusal::Refusal;

/// With less room than this on the data's file system, in bytes, records may be refused.
pub(crate) const LEAST_ROOM: u64 = 1024 * 1024;

/// The daemon's own folder.
#[derive(Clone)]
pub(crate) struct DataFolder(pub(crate) Arc<Path>);

/// Answers 200 if the daemon can do all its work, else 503 with the reason. Nodes get what is
/// published in both cases.
pub(crate) async fn health(
    State(store): State<Arc<dyn Store>>,
    State(DataFolder(data)): State<DataFolder>,
) -> Result<Response, Refusal> {
    if let Err(error) = store.check().await {
        return Ok(failed(error_chain(&error), error.hint()));
    }
    match provost_fs::free_room(&data) {
        Ok(room) if room < LEAST_ROOM => {
            let data = data.display();
            Ok(failed(
                format!("the disk is full: {} KiB are free for {data}", room / 1024),
                &format!("make room on the file system of {data}"),
            ))
        }
        // Without an answer, the store's own is all that is known.
        _ => Ok(Json(health_of("ok", None)).into_response()),
    }
}

fn failed(error: String, hint: &str) -> Response {
    let body = Json(health_of("failed", Some((error, hint.to_owned()))));
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}

fn health_of(status: &str, why: Option<(String, String)>) -> Health {
    let (error, hint) = why.unzip();
    let version = Some(provost_api::VERSION.to_owned());
    Health { status: status.to_owned(), version, error, hint }
}
