//! `provostd prepare`: the keys that a first start makes, made before it, so that what is published can name them.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use provost_publish::KeyError;
use provost_store::location::RESTORING;

use crate::config::Config;
use crate::error::DaemonError;
use crate::listener::tls::{self, Show, ShowError};
use crate::published::refresher;

/// Why they can't be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Tls(#[from] ShowError),
}

impl PrepareError {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Daemon(error) => error.hint(),
            Self::Key(error) => error.hint(),
            Self::Tls(error) => error.hint(),
        }
    }
}

/// Makes what isn't there yet. Returns what `provostctl publish` takes, an option and its value a line.
pub(crate) fn prepare(config: &Config) -> Result<String, PrepareError> {
    let data = &config.data;
    let created = DirBuilder::new().recursive(true).mode(0o700).create(data);
    created.map_err(DaemonError::file("creating the folder", data))?;
    if data.join(RESTORING).exists() {
        return Err(DaemonError::HalfRestored(data.clone()).into());
    }
    let refresh = refresher::open_or_make(data)?;
    let tls = match config.tls.off {
        true => "off\n".to_owned(),
        false => {
            tls::identity(config).map_err(ShowError::from)?;
            Show::of(config)?.line()
        }
    };
    Ok(format!("tls {tls}refresh-key {}\n", refresh.public_line()))
}
