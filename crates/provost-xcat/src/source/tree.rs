//! The scripts as the management node's web server has them.

use std::path::Path;

use provost_bundle::Manifest;
use provost_http::Client;
use provost_node::failure::Failure;
use provost_node::fetch::FetchError;
use provost_node::fetch::server::Server;
use provost_node::settings::{Paths, Xcat};
use provost_node::state::library;
use reqwest::{StatusCode, Url};

use super::complete::complete;
use super::crawl;
use super::next_folder::{NextFolder, disk, link_or_copy};
use crate::commands::install::hand_over;

/// The web server at `base`.
pub(crate) fn web_server<'a>(client: &'a Client, base: &'a Url) -> Server<'a> {
    Server { hint, ..Server::new(client, base) }
}

/// Where the scripts are under the web server.
pub(crate) fn folder(xcat: &Xcat) -> String {
    format!("{}/postscripts/", xcat.install_dir)
}

/// How many names the listing of the scripts' folder has.
pub(crate) async fn count(server: &Server<'_>, xcat: &Xcat) -> Result<usize, FetchError> {
    Ok(crawl::list(server, &folder(xcat)).await?.len())
}

fn hint(path: &str, status: StatusCode) -> Option<String> {
    match status.as_u16() {
        403 if path.ends_with('/') => Some(format!(
            "let the management node's web server list /{path} (Apache: Options Indexes; nginx: \
             autoindex on) and enter that folder and those above it (namei -l)"
        )),
        403 => Some(format!(
            "on the management node the web server can't read /{path}: let it read that file \
             (chmod a+r) and enter the folders above it (namei -l)"
        )),
        404 | 410 => Some(format!(
            "check that the management node's web server serves /{path}, and that the port and \
             install_dir under [source] are its own"
        )),
        _ => None,
    }
}

/// Puts the files of `manifest`, which are in `from`, into `/xcatpost`, in place of what it has.
pub(super) fn mirror(manifest: &Manifest, from: &Path, paths: &Paths) -> Result<(), Failure> {
    let folder = paths.xcatpost.canonicalize().unwrap_or_else(|_| paths.xcatpost.clone());
    let make = || {
        let next = NextFolder::begin(&folder)?;
        for entry in &manifest.files {
            link_or_copy(&from.join(&entry.path), &next.path().join(&entry.path))?;
        }
        complete(next.path(), &folder, None, &library::folder(&paths.state))?;
        hand_over(next.path(), &paths.xcat)?;
        next.take_place()
    };
    make().map_err(|e| disk(&folder, "putting the scripts there, too", e))
}
