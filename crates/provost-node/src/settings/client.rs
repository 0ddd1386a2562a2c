use provost_http::{Client, ClientOptions};

use super::Settings;
use crate::failure::Failure;

impl Settings {
    /// The HTTP client of a node with these settings.
    pub fn client(&self) -> Result<Client, Failure> {
        Client::new(ClientOptions {
            connect: self.fetch.connect,
            stall: self.fetch.stall,
            proxy: self.proxy.as_deref(),
            ca: self.ca.as_deref().unwrap_or_default(),
        })
        .map_err(|e| Failure::config(&e, e.hint()))
    }
}
