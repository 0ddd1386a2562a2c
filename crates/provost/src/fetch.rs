//! `provost fetch`: one file for a script, verified.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use provost_bundle::{Digest, Verifying};
use provost_record::{Cause, ExitCode};
use reqwest::header::HeaderMap;
use reqwest::{Client, StatusCode, Url};

use provost_node::failure::Failure;
use provost_node::fetch::server::{Server, broken};
use provost_node::fetch::{FetchError, retry};
use provost_node::observe::console::{complain, harmless};
use provost_node::settings::Input;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Where it is
    url: Url,
    /// Its SHA-256, in hexadecimal; what has another is never written to FILE
    #[arg(long, value_name = "HEX")]
    sha256: Digest,
    /// Where it goes
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

/// Fetches the file with the limits under `[fetch]`, again and again until its deadline.
pub(crate) fn main(input: &Input, args: &FetchArgs) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(fetch(input, args)),
        Err(e) => Err(Failure::config(e, "see ulimit -n and the free memory")),
    };
    match result {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            // As a script says it: the runner takes the hint from there.
            let text: String =
                failure.to_string().lines().map(|line| harmless(line) + "\n").collect();
            let _ = std::io::stderr().write_all(format!("error: {text}").as_bytes());
            failure.exit_code()
        }
    }
}

async fn fetch(input: &Input, args: &FetchArgs) -> Result<(), Failure> {
    // Servers and keys, which may be missing, aren't needed for this.
    let (settings, _) = input.usable();
    let client = provost_node::http::client(&settings)?;
    let servers = [args.url.clone()];
    let say = |text: &str| complain(text);
    let attempt = |_| transfer(&client, args);
    match retry::try_servers(&servers, settings.fetch.deadline, say, attempt).await {
        Ok(_) => Ok(()),
        Err(unserved) => Err(unserved.why.failure),
    }
}

async fn transfer(client: &Client, args: &FetchArgs) -> Result<(), FetchError> {
    let source = Server::new(client, &args.url);
    let mut response = source.ask("", HeaderMap::new(), &[StatusCode::OK]).await?;
    let url = args.url.as_str();
    let Some(size) = response.content_length() else {
        let message = format!("fetching {url}: the server doesn't tell how long it is");
        return Err(FetchError::give_up(Failure::new(
            Cause::Fetch,
            message,
            "serve it as a plain file",
        )));
    };
    let folder = args.to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let disk = |e: std::io::Error| {
        let message = format!("writing {}", args.to.display());
        let hint = "see that its folder is there, and has room";
        FetchError::abort(Failure::local(message, hint).caused_by(e))
    };
    let file = tempfile::Builder::new()
        .prefix(".fetch-")
        .permissions(PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)
        .map_err(disk)?;
    let mut verifying = Verifying::new(file, url, size, args.sha256);
    while let Some(bytes) = response.chunk().await.map_err(|e| broken(url, &e))? {
        verifying.write_all(&bytes).map_err(disk)?;
    }
    let file = verifying.finish().map_err(|mismatch| {
        let hint = "see that the digest is that of the file, and the file whole on the server";
        FetchError::give_up(Failure::new(Cause::Verify, mismatch, hint))
    })?;
    file.as_file().sync_all().map_err(disk)?;
    file.persist(&args.to).map_err(|e| disk(e.error))?;
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(disk)
}
