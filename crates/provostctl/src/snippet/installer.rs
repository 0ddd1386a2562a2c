use clap::ValueEnum;

/// What runs the script.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Installer {
    /// Anaconda's %post: RHEL, Rocky, Fedora
    Kickstart,
    /// SUSE's
    Autoyast,
    /// Debian's
    Preseed,
    /// Ubuntu's autoinstall
    Subiquity,
    /// That of SUSE Linux Enterprise 16: JSON for "scripts"
    Agama,
    /// Any that runs a script in the new root at its end
    Sh,
    /// cloud-init at the first boot, by user data or vendor data
    CloudInit,
    /// Ignition at the first boot, in JSON
    Ignition,
}

impl Installer {
    /// Whether the script runs in the booted root, and so has to do what a boot does.
    pub(super) fn is_booted(self) -> bool {
        matches!(self, Self::CloudInit | Self::Ignition)
    }
}

/// The template engine that the text goes through, which would take a piece of it for its own.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Engine {
    /// Jinja2 with other delimiters than its own: BlueBanquise, Ansible, cloud-init
    Jinja,
    /// Cobbler's
    Cheetah,
    /// Python's
    Mako,
    /// Bcfg2's
    Genshi,
}

impl Engine {
    /// `text` such that the engine's output is `text`.
    pub(super) fn raw(self, text: &str) -> String {
        match self {
            Self::Jinja => format!("{{% raw %}}{text}{{% endraw %}}\n"),
            Self::Cheetah => format!("#raw\n{text}#end raw\n"),
            Self::Mako => format!("<%text>{text}</%text>\n"),
            // It has no block for that: its marks are doubled instead.
            Self::Genshi => text.replace('\\', r"\\").replace('$', "$$"),
        }
    }
}
