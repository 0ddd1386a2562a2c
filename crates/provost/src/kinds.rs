use provost_node::runner::{FOLDER, ManagementKind, PUBLISHED};

/// The kinds of management nodes that this program works with.
pub(crate) const KINDS: &[ManagementKind] = &[
    PUBLISHED,
    #[cfg(feature = "xcat")]
    provost_xcat::XCAT,
    FOLDER,
];
