use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Answers with `bytes`, or with the one range of them that the request asks for (RFC 9110, 14.2).
pub(crate) fn in_range(headers: &HeaderMap, bytes: Vec<u8>) -> Response {
    let accepts = [(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))];
    let length = bytes.len() as u64;
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let parsed = range.and_then(|range| http_range_header::parse_range_header(range).ok());
    // What isn't understood is ignored, as the RFC has it; more than one range is, too.
    let Some(parsed) = parsed.filter(|parsed| parsed.ranges.len() == 1) else {
        return (accepts, bytes).into_response();
    };
    let content_range = |part: String| [(header::CONTENT_RANGE, format!("bytes {part}/{length}"))];
    match parsed.validate(length).ok().and_then(|ranges| ranges.into_iter().next()) {
        Some(range) => {
            let (first, last) = (*range.start(), *range.end());
            let part = bytes[first as usize..=last as usize].to_vec();
            let headers = content_range(format!("{first}-{last}"));
            (StatusCode::PARTIAL_CONTENT, accepts, headers, part).into_response()
        }
        None => (StatusCode::RANGE_NOT_SATISFIABLE, content_range("*".into())).into_response(),
    }
}
