use provost_node::failure::Failure;
use provost_node::runner::{ManagementKind, PUBLISHED};
use provost_node::settings::Input;

/// The kinds of management nodes that this program works with.
pub(crate) const KINDS: &[ManagementKind] = &[
    PUBLISHED,
    #[cfg(feature = "xcat")]
    provost_xcat::XCAT,
];

/// The mistake of a configuration that names another kind, as one may for a program that was built
/// with more of them.
pub(crate) fn mistake(input: &Input) -> Option<Failure> {
    let name = input.source_kind();
    if KINDS.iter().any(|kind| kind.name == name) {
        return None;
    }
    let message = format!("this provost was built without `kind = \"{name}\"` under [source]");
    Some(Failure::config(message, "install one that was built with it: cargo build --release"))
}
