//! Forms of pages, and the requests of the API that they become.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Response, header};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::answer;
use crate::admin::request::MAX_REQUEST;
use crate::listener::bodies::Bodies;
use crate::listener::refusal::Refusal;

/// The longest refusal of the API, in bytes.
const MAX_REFUSAL: usize = 64 * 1024;

/// The fields of a form, or of an address, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(pub(super) Vec<(String, String)>);

impl Fields {
    /// Reads `application/x-www-form-urlencoded`.
    pub(super) fn parse(text: &str) -> Self {
        let decoded = |part: &str| {
            let blanks = part.replace('+', " ");
            percent_decode_str(&blanks).decode_utf8_lossy().into_owned()
        };
        let field = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decoded(name), decoded(value))
        };
        Self(text.split('&').filter(|part| !part.is_empty()).map(field).collect())
    }

    /// The value of the first field of that name, if it has any.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(field, _)| field == name)?;
        Some(value.trim()).filter(|value| !value.is_empty())
    }

    /// Those of the body of a request.
    pub(super) async fn read(bodies: &Bodies, body: Body) -> Result<Self, Refusal> {
        let held = bodies.read(body, MAX_REQUEST).await?;
        Ok(Self::parse(&String::from_utf8_lossy(&held.bytes)))
    }
}

/// The same request with another body.
pub(super) fn with_json(mut head: Parts, json: &Value) -> Request {
    head.headers.remove(header::CONTENT_LENGTH);
    Request::from_parts(head, Body::from(json.to_string()))
}

/// The page of a refusal by the API.
pub(super) async fn refused(response: Response<Body>, section: &str) -> Response<Body> {
    let status = response.status();
    let bytes = to_bytes(response.into_body(), MAX_REFUSAL).await.unwrap_or_default();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    answer::refused(&Refusal::new(status, text("error"), text("hint")), section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let fields = Fields::parse("nodes=cn%5B001-002%5D&script=a+b%26c&failed&nodes=x&odd=%ff");
        assert_eq!(fields.value("nodes"), Some("cn[001-002]"));
        assert_eq!(fields.value("script"), Some("a b&c"));
        assert_eq!((fields.value("failed"), fields.value("none")), (None, None));
        assert_eq!(fields.value("odd"), Some("\u{fffd}"));
        assert_eq!(Fields::parse(""), Fields::default());
    }
}
