use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Answer, Request};

/// Who knows the right answers.
pub(super) enum Behind {
    /// The server at this address.
    Server(String),
    /// The same, behind a proxy that drops the headers which it doesn't know.
    Proxied(String),
    /// This folder, as a plain web server serves it.
    Folder(PathBuf),
    /// This folder for what is published, the server at this address for reports.
    Cache(PathBuf, String),
    /// This function.
    Function(Box<dyn Fn(&Request) -> Answer + Send + Sync>),
}

impl Behind {
    pub(super) fn answer(&self, request: &Request) -> io::Result<Answer> {
        match self {
            Self::Server(address) => request.send_on(address),
            Self::Proxied(address) => {
                let mut answer = request.send_on(address)?;
                answer.headers.retain(|(name, _)| name != "provost-signature");
                Ok(answer)
            }
            Self::Function(answer) => Ok(answer(request)),
            Self::Cache(_, address) if request.path.starts_with("/v1/") => request.send_on(address),
            Self::Folder(folder) | Self::Cache(folder, _) => Ok(file(folder, request)),
        }
    }
}

/// What a plain web server answers, which runs as a user of its own: what isn't for all to read
/// isn't for it.
pub(super) fn file(folder: &Path, request: &Request) -> Answer {
    let page = |status, text: &str| Answer::new(status, "text/html", format!("<h1>{text}</h1>\n"));
    if request.method != "GET" {
        return page(405, "Method Not Allowed");
    }
    let path = folder.join(request.path.trim_start_matches('/'));
    match std::fs::metadata(&path) {
        // The server is in the group of the plans.
        Ok(about) if about.is_dir() || about.permissions().mode() & 0o044 == 0 => {
            page(403, "Forbidden")
        }
        Ok(_) => match std::fs::read(&path) {
            Ok(bytes) => Answer::new(200, "application/octet-stream", bytes),
            Err(_) => page(500, "Internal Server Error"),
        },
        Err(_) => page(404, "Not Found"),
    }
}
