//! What an installer needs first: the nodes' program, the address that serves it, and the
//! publisher's key.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use axum::http::StatusCode;
use provost_api::{admins as api, published};
use provost_bundle::Manifest;
use provost_steplog::wording::error_chain;

use super::node_programs::NodePrograms;
use crate::listener::refusal::Refusal;
use crate::published::PublishedFolder;

/// Addresses for documentation (RFC 5737, RFC 3849): nothing is sent there.
const FAR_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const FAR_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Where that is known from.
#[derive(Clone)]
pub(crate) struct Installer {
    pub(crate) www: PublishedFolder,
    pub(crate) programs: Arc<NodePrograms>,
    /// The address of the nodes' listener.
    pub(crate) nodes_at: SocketAddr,
    /// The URLs that the configuration has in place of that.
    pub(crate) servers: Vec<String>,
}

impl Installer {
    pub(crate) async fn needs(&self) -> Result<api::Installer, Refusal> {
        let path = self.www.join(published::MANIFEST);
        let unpublished = |e: &dyn std::error::Error| {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("reading the key from {}: {}", path.display(), error_chain(e)),
                "publish first: provostctl publish",
            )
        };
        let text = tokio::fs::read(&path).await.map_err(|e| unpublished(&e))?;
        let manifest = Manifest::parse(&text).map_err(|e| unpublished(&e))?;
        let digests = self.programs.digests().await?;
        let programs: BTreeMap<String, String> =
            digests.into_iter().map(|(arch, digest)| (arch, digest.to_string())).collect();
        let sha256 = programs.get("x86_64").or_else(|| programs.values().next());
        Ok(api::Installer {
            server: self.server(),
            key: manifest.key,
            sha256: sha256.cloned().unwrap_or_default(),
            programs,
            generation: manifest.generation,
            tls: manifest.tls.is_some(),
        })
    }
}

impl Installer {
    /// Where nodes reach it, as `PROVOST_SERVER` has it.
    fn server(&self) -> Option<String> {
        match self.servers.is_empty() {
            true => address(self.nodes_at).ok(),
            false => Some(self.servers.join(",")),
        }
    }
}

/// The address at which other machines reach the listener that is bound to `bound`. For one that is
/// bound to all addresses it is the address of the default route.
fn address(bound: SocketAddr) -> io::Result<String> {
    let (here, far): (SocketAddr, SocketAddr) = match bound {
        SocketAddr::V4(_) => ((Ipv4Addr::UNSPECIFIED, 0).into(), (FAR_V4, 9).into()),
        SocketAddr::V6(_) => ((Ipv6Addr::UNSPECIFIED, 0).into(), (FAR_V6, 9).into()),
    };
    let mut at = bound;
    if bound.ip().is_unspecified() {
        let socket = UdpSocket::bind(here)?;
        socket.connect(far)?;
        at.set_ip(socket.local_addr()?.ip());
    }
    Ok(format!("http://{at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_address_is_the_address() {
        assert_eq!(address(([10, 0, 0, 1], 8480).into()).unwrap(), "http://10.0.0.1:8480");
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 80));
        assert_eq!(address(v6).unwrap(), "http://[::1]:80");
        if let Ok(found) = address(([0, 0, 0, 0], 8480).into()) {
            assert!(!found.contains("0.0.0.0") && found.ends_with(":8480"), "{found}");
        }
    }
}
