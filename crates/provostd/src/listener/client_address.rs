//! Whose connection it is, as far as the connection itself says it.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use provost_store::KeyDigest;

/// The address of a client.
pub(crate) trait ClientAddress {
    fn ip(&self) -> IpAddr;

    /// Whether nobody in between can read or change what it says.
    fn is_private(&self) -> bool {
        false
    }

    /// The id of the user of this machine who is the client, if that is known.
    fn user(&self) -> Option<u32> {
        None
    }

    /// The key of which the client has the secret part, once it has proved that.
    fn key(&self) -> ClientKey {
        ClientKey::default()
    }
}

/// A client's key, if it has one and has proved it.
pub(crate) type ClientKey = Arc<OnceLock<KeyDigest>>;

impl ClientAddress for std::net::SocketAddr {
    fn ip(&self) -> IpAddr {
        std::net::SocketAddr::ip(self).to_canonical()
    }
}
