//! `provost fetch`: one file for a script, verified.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use provost_bundle::{Digest, Verifying};
use provost_fs::{Durability, NewFile};
use provost_record::{Cause, ExitCode};
use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};

use provost_http::Client;
use provost_node::failure::Failure;
use provost_node::fetch::FetchError;
use provost_node::fetch::retry::{self, StillTrying};
use provost_node::fetch::server::{Server, broken};
use provost_node::observe::console::{complain, harmless};
use provost_node::room;
use provost_node::settings::Input;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// URL of the file, http or https
    #[arg(value_parser = http_url)]
    url: Url,
    /// SHA-256 of the file, in hexadecimal; another file is not written
    #[arg(long, value_name = "HEX")]
    sha256: Digest,
    /// File to write
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

fn http_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|e| e.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err("it isn't an http or https URL".to_owned()),
    }
}

/// Fetches the file with the limits under `[fetch]`, again and again until its deadline.
pub(crate) fn main(input: &Input, args: &FetchArgs) -> ExitCode {
    match room::runtime().and_then(|runtime| runtime.block_on(fetch(input, args))) {
        Ok(()) => ExitCode::Done,
        Err(failure) => fail(&failure),
    }
}

/// Ends a command that a script calls.
pub(super) fn fail(failure: &Failure) -> ExitCode {
    // In the form of a script's error: the runner takes the hint from it.
    let text: String = failure.to_string().lines().map(|line| harmless(line) + "\n").collect();
    let _ = std::io::stderr().write_all(format!("error: {text}").as_bytes());
    failure.exit_code()
}

async fn fetch(input: &Input, args: &FetchArgs) -> Result<(), Failure> {
    // Servers and keys, which may be missing, aren't needed for this.
    let (settings, _) = input.usable();
    let client = settings.client()?;
    let servers = [args.url.clone()];
    let still_trying = |trying: StillTrying| complain(&trying.why.text());
    let attempt = |_, _| transfer(&client, args);
    match retry::try_servers(&servers, settings.fetch.deadline, still_trying, attempt).await {
        Ok(_) => Ok(()),
        Err(unserved) => Err(unserved.why.failure),
    }
}

async fn transfer(client: &Client, args: &FetchArgs) -> Result<(), FetchError> {
    let source = Server::new(client, &args.url);
    let mut response = source.ask("", HeaderMap::new(), &[StatusCode::OK]).await?;
    let url = args.url.as_str();
    let Some(size) = response.content_length() else {
        let message = format!("fetching {url}: the server sent no Content-Length");
        return Err(FetchError::give_up(Failure::new(
            Cause::Fetch,
            message,
            "serve it as a plain file",
        )));
    };
    let disk = |e: std::io::Error| {
        let message = format!("writing {}", args.to.display());
        let hint = "check that its folder exists and has room";
        FetchError::abort(Failure::local(message, hint).caused_by(e))
    };
    let file = NewFile::named(&args.to).map_err(disk)?;
    let mut verifying = Verifying::new(file, url, size, args.sha256);
    while let Some(bytes) = response.chunk().await.map_err(|e| broken(url, &e))? {
        verifying.write_all(&bytes).map_err(disk)?;
    }
    let file = verifying.finish().map_err(|mismatch| {
        let hint = "compare the digest with the file on the server: sha256sum FILE";
        FetchError::give_up(Failure::new(Cause::Verify, mismatch, hint))
    })?;
    file.set_mode(0o644).and_then(|()| file.replace(Durability::PowerCut)).map_err(disk)
}
