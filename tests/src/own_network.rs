use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::skip;

/// Says what there is when it is there, and waits until nobody needs it any more.
const MAKE: &str = r#"ip link set lo up && ip address add "$1" dev lo && echo ready && exec cat"#;

/// Moves this thread, with all that it starts from now on, into a network of its own in which this
/// machine has `address`: what a page says can be typed as it stands, on any port. It skips the
/// test where this process may not.
pub fn enter_own_network(address: &str) {
    if let Err(why) = try_own_network(address) {
        skip(&why)
    }
}

/// The same; an error, with the reason, where this process may not.
pub fn try_own_network(address: &str) -> Result<(), String> {
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "sh", "-c", MAKE, "sh", address]);
    let unshare = unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut holder = unshare.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let made = said == "ready\n";
    if made {
        let network = File::open(format!("/proc/{}/ns/net", holder.id())).unwrap();
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    }
    // This closes its standard input, which ends it.
    let out = holder.wait_with_output().unwrap();
    if made {
        return Ok(());
    }
    Err(format!("no network can be made: {}", String::from_utf8_lossy(&out.stderr).trim()))
}
