//! What an admin does next.

use std::path::Path;

use provost_bundle::Digest;

use super::daemon::Provostd;
use super::places::{Places, is_secret};
use crate::{defaults, install_sh};

/// The first node of the example site.
const NODE: &str = "cn001";

/// The last words of `provostctl init`.
pub(super) struct Next<'a> {
    pub(super) places: &'a Places,
    /// The URLs where nodes reach this machine, and its other addresses.
    pub(super) addresses: (Vec<String>, Vec<String>),
    pub(super) provostd: &'a Provostd,
    pub(super) runs: bool,
    /// The script that makes a machine a node, once something is published.
    pub(super) install_sh: Option<String>,
}

impl Next<'_> {
    pub(super) fn text(&self) -> String {
        let Self { places, addresses: (urls, others), provostd, runs, .. } = self;
        let mut text = String::new();
        if !urls.is_empty() {
            text += &format!("\nnodes reach this machine at {}\n", urls.join(", "));
        }
        if !others.is_empty() {
            let (others, file) = (others.join(", "), places.provostd.display());
            text += &format!("it also has {others}; where nodes use one of these, edit {file}\n");
        }
        if !runs {
            text += &format!("\nstart provostd:\n  {}\n", provostd.line());
        }
        let (site, scripts) = (places.site.display(), places.scripts.display());
        let dir = places.provostd.parent().unwrap_or(&places.provostd).display();
        let key = places.key.display();
        let defaults = places.provostctl.as_path();
        let mut config = String::new();
        if defaults != Path::new(defaults::FILE) {
            text += &format!(
                "\nprovostctl finds all of this by its configuration; in each shell:\n  \
                 export {}={}\n",
                defaults::VARIABLE,
                shell_words::quote(&defaults.to_string_lossy())
            );
            let provostd = places.provostd.to_string_lossy();
            config = format!(" --config {}", shell_words::quote(&provostd));
        }
        text += &self.first_node();
        text += &format!(
            "\nedit {site} and {scripts}/; then: provostctl publish\n\
             back up {dir}/, and what provostd knows: provostctl backup{config} --to FILE"
        );
        if places.key.with_extension("pub") != places.key
            && places.key.exists()
            && is_secret(&places.key)
        {
            text +=
                &format!("\nwhoever has {key} is root on every node: move it, or use --public-key");
        }
        text
    }

    /// What to type for it, here and there.
    fn first_node(&self) -> String {
        let script = self.install_sh.as_deref();
        let there = script.and_then(|script| {
            let sha256 = Digest::of(script.as_bytes()).to_string();
            Some(install_sh::shown(NODE, &provost_installer::url_of(script)?, &sha256))
        });
        let there = there.unwrap_or_else(|| format!("as root on {NODE}: what that prints\n"));
        format!(
            "\nthe first node:\n  provostctl enroll open {NODE}\n{there}then here:\n  \
             provostctl wait-for {NODE} --status booted\n"
        )
    }
}
