//! Who publishes, for the history.

/// The user: also behind sudo.
pub(super) fn user() -> String {
    let named =
        ["SUDO_USER", "LOGNAME", "USER"].into_iter().filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| {
        // A timer of systemd's and a container have none of them.
        let id = rustix::process::getuid().as_raw();
        provost_fs::user_name(id).ok().flatten().unwrap_or_else(|| id.to_string())
    })
}

/// This machine.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
