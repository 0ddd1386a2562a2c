use clap::ValueEnum;

/// The installer that runs the script.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Installer {
    /// Anaconda's %post: RHEL, Rocky, Fedora
    Kickstart,
    /// SUSE's
    Autoyast,
    /// Debian's
    Preseed,
    /// Ubuntu's autoinstall
    Subiquity,
}
