use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;

/// Accepts a request only if its Host is this listener: a browser that DNS rebinding has led here
/// sends the foreign name.
pub(crate) async fn check(
    State(bound): State<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if named.is_some_and(|host| is_ours(host, bound.ip())) {
        return next.run(request).await;
    }
    Refusal::new(
        StatusCode::MISDIRECTED_REQUEST,
        format!("this listener isn't {:?}", named.unwrap_or_default()),
        format!("use http://{bound}, or localhost"),
    )
    .into_response()
}

/// The same for a socket, which a browser reaches by a port that ssh forwards to it. What isn't a
/// browser may call it by any word without a dot, which no foreign site's name is.
pub(crate) async fn check_forwarded(request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let is_ours = |host: &str| is_ours(host, Ipv4Addr::LOCALHOST.into()) || !host.contains('.');
    if named.is_none_or(is_ours) {
        return next.run(request).await;
    }
    let error = format!("this socket isn't {:?}", named.unwrap_or_default());
    let hint = "use localhost: ssh -L 8481:DATA/admin.sock MANAGEMENT-NODE";
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, error, hint).into_response()
}

/// Whether `host` is localhost, a loopback address or the address that is bound. A listener that is
/// bound to all addresses accepts each address, and no other name.
fn is_ours(host: &str, bound: IpAddr) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address == bound || bound.is_unspecified(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_name_is_not_ours() {
        let ours = |host, bound: &str| is_ours(host, bound.parse().unwrap());
        for host in ["localhost", "LOCALHOST:8481", "127.0.0.1:8481", "127.0.0.2", "[::1]:8481"] {
            assert!(ours(host, "127.0.0.1"), "{host}");
        }
        for host in ["evil.example:8481", "localhost.evil.example", "10.0.0.1", "", "a b", "[::1"] {
            assert!(!ours(host, "127.0.0.1"), "{host}");
        }
        assert!(ours("10.0.0.1:8481", "10.0.0.1") && !ours("10.0.0.2", "10.0.0.1"));
        assert!(ours("10.0.0.2", "0.0.0.0") && !ours("evil.example", "0.0.0.0"));
    }
}
