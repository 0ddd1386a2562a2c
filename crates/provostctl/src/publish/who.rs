//! Who publishes, for the history.

/// The user: also behind sudo.
pub(super) fn user() -> String {
    let named =
        ["SUDO_USER", "LOGNAME", "USER"].into_iter().filter_map(|name| std::env::var(name).ok());
    let id = rustix::process::getuid();
    named.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| id.as_raw().to_string())
}

/// This machine.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
