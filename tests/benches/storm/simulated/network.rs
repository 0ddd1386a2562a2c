use std::net::Ipv4Addr;
use std::process::Command;

use provost_tests::try_own_network;

/// What the nodes' addresses begin with, and as text with its length.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 64, 1, 0);
const RANGE: &str = "10.64.0.0/10";

/// How the nodes of a storm and their servers find each other, on one machine.
pub(crate) struct Network {
    has_addresses: bool,
}

impl Network {
    /// Moves this thread, and what it starts, into a network in which each node has an address of its
    /// own: servers have limits for each. Where that may not be done all have the same, which is said.
    pub(crate) fn enter() -> Self {
        // A machine that is asked at such an address sees itself ask from there.
        let route = ["route", "add", "local", RANGE, "dev", "lo"];
        let own = try_own_network("10.0.0.1/32");
        let own = own.inspect_err(|why| eprintln!("all nodes have one address: {why}"));
        let has_addresses =
            own.is_ok() && Command::new("ip").args(route).status().unwrap().success();
        Self { has_addresses }
    }

    /// Where the node with that number finds who listens at `port` of all addresses.
    pub(crate) fn server(&self, number: usize, port: u16) -> String {
        let own = Ipv4Addr::from_bits(FIRST.to_bits() + number as u32);
        let address = if self.has_addresses { own } else { Ipv4Addr::LOCALHOST };
        format!("{address}:{port}")
    }
}
