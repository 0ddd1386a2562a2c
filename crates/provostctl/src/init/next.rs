//! What an admin does next.

use super::daemon::Provostd;
use super::places::{Places, is_secret};

/// The last words of `provostctl init`.
pub(super) struct Next<'a> {
    pub(super) places: &'a Places,
    /// The URLs where nodes reach this machine, and its other addresses.
    pub(super) addresses: (Vec<String>, Vec<String>),
    pub(super) provostd: &'a Provostd,
    pub(super) runs: bool,
}

impl Next<'_> {
    pub(super) fn text(&self) -> String {
        let Self { places, addresses: (urls, others), provostd, runs } = self;
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
        text += &format!(
            "\nthe first node: run cn001.sh there, as root\n  \
             provostctl snippet sh cn001 --join >cn001.sh\n  \
             provostctl wait-for cn001 --status booted\n\
             edit {site} and {scripts}/; then: provostctl publish\n\
             back up {dir}/, and what provostd knows: provostctl backup --to FILE"
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
}
