//! All that configures a node, from all sources, in their order.

mod files;
mod kernel;
mod servers;

use std::path::PathBuf;

use super::discover::Machine;
use super::fragment::Fragment;
use super::origin::{Origin, Overridden};
use super::values::Values;
use crate::failure::Failure;

/// The configuration file, unless another one is given.
const DEFAULT: &str = "/etc/provost/provost.toml";

/// A value that an option of the command line gives, by its key.
pub type Flag = (&'static str, toml::Value, Origin);

/// What all sources together give, not validated as a whole yet.
pub struct Input {
    /// The configuration file.
    pub(crate) config: (PathBuf, Origin),
    pub(crate) values: Values,
    pub(crate) fragment: Fragment,
    /// A token that was given directly.
    pub(crate) token: Option<(String, Origin)>,
    /// A join token that was given directly.
    pub(crate) join: Option<(String, Origin)>,
    /// What is wrong in the files. It is left out of the values; no script runs while there is any.
    pub mistakes: Vec<Failure>,
}

impl Input {
    /// Reads all sources: the flags, the environment, the kernel's command line, the configuration
    /// file with its drop-ins (`provost.d/*.toml` next to it; the last by name counts most), xCAT's
    /// xcatinfo, the DHCP leases, the host's name. The first source that has a key wins. A file that
    /// was asked for must be there.
    pub fn read(config: Option<(PathBuf, Origin)>, flags: Vec<Flag>) -> Self {
        Self::read_on(&Machine::here(), config, flags, |name| std::env::var(name).ok())
    }

    fn read_on(
        machine: &Machine,
        config: Option<(PathBuf, Origin)>,
        flags: Vec<Flag>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let must_exist = config.is_some();
        let config = config.unwrap_or((DEFAULT.into(), Origin::Default));
        let (mut values, mut mistakes) = (Values::default(), Vec::new());
        for (key, value, origin) in flags {
            values.offer(key, value, origin);
        }
        let get_environment = |name: &str| {
            let name = format!("PROVOST_{}", name.to_ascii_uppercase());
            let value = environment(&name).filter(|value| !value.is_empty())?;
            Some((value, Origin::Environment(name)))
        };
        offer_short_keys(&mut values, &mut mistakes, get_environment);
        let kernel = machine.kernel_line();
        let get_kernel =
            |name: &str| Some((kernel.get(&format!("provost.{name}"))?.to_owned(), Origin::Kernel));
        offer_short_keys(&mut values, &mut mistakes, get_kernel);
        // They are no values that are shown.
        let secret = |name| get_environment(name).or_else(|| get_kernel(name));
        let (token, join) = (secret("token"), secret("join"));
        kernel::offer_arguments(&kernel, &mut values);
        files::offer(&config.0, must_exist, &mut values, &mut mistakes);
        kernel::offer_log_server(&kernel, &mut values);
        servers::offer(machine, &kernel, &mut values, &mut mistakes);
        values.offer("node", host_name(), Origin::HostName);
        let fragment = merge(&mut values, &mut mistakes);
        Self { config, values, fragment, token, join, mistakes }
    }

    /// Notes a mistake if the configuration names none of these kinds of management nodes. The first
    /// kind then serves to report it.
    pub fn require_kind(&mut self, known: &[&str]) {
        let kind = &mut self.fragment.source.kind;
        if known.contains(&kind.as_str()) {
            return;
        }
        let from = self.values.from("source.kind");
        let known_kinds = known.join(", ");
        let message = format!("unknown source.kind {kind:?}{from}; expected one of {known_kinds}");
        let hint = "set `kind` under [source], or install a provost that was built with that kind";
        self.mistakes.push(Failure::config(message, hint));
        *kind = known.first().map(ToString::to_string).unwrap_or_default();
    }

    /// The configuration file and its drop-ins, as far as they exist.
    pub fn files(&self) -> Vec<PathBuf> {
        files::all(&self.config.0)
    }

    /// ` (from ORIGIN)`, for a message about the value of `key`.
    pub(crate) fn from(&self, key: &str) -> String {
        self.values.from(key)
    }

    /// Every value by its key, with where it comes from.
    pub fn values(&self) -> impl Iterator<Item = (&str, &toml::Value, &Origin)> {
        self.values.iter()
    }

    /// The values in files that have no effect.
    pub fn overridden(&self) -> &[Overridden] {
        self.values.overridden()
    }

    /// The configuration file.
    pub fn config(&self) -> &(PathBuf, Origin) {
        &self.config
    }

    /// Where a join token comes from that was given directly.
    pub fn join_origin(&self) -> Option<&Origin> {
        self.join.as_ref().map(|(_, origin)| origin)
    }

    /// Where a token comes from that was given directly.
    pub fn token_origin(&self) -> Option<&Origin> {
        self.token.as_ref().map(|(_, origin)| origin)
    }
}

/// Offers the keys that have a short name in the environment and on the kernel's command line.
fn offer_short_keys(
    values: &mut Values,
    mistakes: &mut Vec<Failure>,
    get: impl Fn(&str) -> Option<(String, Origin)>,
) {
    let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    if let Some((node, origin)) = get("node") {
        values.offer("node", node, origin);
    }
    for (name, key) in [("server", "servers"), ("key", "trust.keys")] {
        if let Some((text, origin)) = get(name) {
            values.offer(key, list(text), origin);
        }
    }
    if let Some((text, origin)) = get("generation") {
        match text.parse::<u32>() {
            Ok(least) => values.offer("trust.least_generation", i64::from(least), origin),
            Err(_) => {
                let message = format!("the least generation {text:?} from {origin} isn't a number");
                let hint = "use the number that provostctl publish printed";
                mistakes.push(Failure::config(message, hint));
            }
        }
    }
}

/// Each value was checked by itself; this finds what is wrong only in the whole.
fn merge(values: &mut Values, mistakes: &mut Vec<Failure>) -> Fragment {
    values.merge().unwrap_or_else(|e| {
        let hint = "check the configuration files and their drop-ins";
        mistakes.push(Failure::config(e.message(), hint));
        Values::default().merge().expect("a test checks that the defaults are complete")
    })
}

/// The host's name up to its first dot.
fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
