//! `provost sign-host-keys`: certificates of this node's ssh host keys, for a script.

use std::io::{self, Read, Write};

use provost_api::limits;
use provost_node::failure::Failure;
use provost_node::fetch::host_keys;
use provost_node::room;
use provost_node::runner::connect;
use provost_node::settings::Input;
use provost_record::{ExitCode, Service};

use super::fetch::fail;

/// Has the keys on stdin certified, and prints their certificates.
pub(crate) fn main(input: &Input) -> ExitCode {
    match sign(input) {
        Ok(()) => ExitCode::Done,
        Err(failure) => fail(&failure),
    }
}

fn sign(input: &Input) -> Result<(), Failure> {
    let local = |doing: &'static str| {
        move |e: io::Error| Failure::local(doing, "check what it is connected to").caused_by(e)
    };
    let mut keys = Vec::new();
    let mut stdin = io::stdin().lock().take(limits::SSH_HOST_KEYS as u64 + 1);
    stdin.read_to_end(&mut keys).map_err(local("reading host keys from stdin"))?;
    let certificates = room::runtime()?.block_on(async {
        let (connection, _) = connect(input, Service::Run, String::new());
        host_keys::certify(&connection, &keys).await
    })?;
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(&certificates).and_then(|()| stdout.flush());
    printed.map_err(local("printing certificates"))
}
