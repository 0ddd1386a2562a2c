//! The words by which a node tells its status.

use provost_node::settings::discover::Machine;
use provost_record::Service;

use super::messages::NEXT;

/// What is sent when a run of `service` starts; `is_installed` is whether a kickstart made this root.
pub(super) fn at_start(service: Service, is_installed: bool) -> &'static [&'static str] {
    match service {
        Service::Kickstart => &["installstatus installing"],
        Service::Boot if is_installed => &["installstatus postbooting"],
        Service::Boot => &["installstatus netbooting"],
        // updatenode itself notes how it ended.
        Service::Run | Service::Other(_) => &[],
    }
}

/// What is sent when one ends. A node that failed must not install itself again, which might never
/// end.
pub(super) fn at_end(service: Service, has_succeeded: bool) -> &'static [&'static str] {
    match (service, has_succeeded) {
        (Service::Kickstart, true) => &[NEXT],
        (Service::Kickstart, false) => &[NEXT, "installstatus failed"],
        (Service::Boot, true) => &["installstatus booted"],
        (Service::Boot, false) => &["installstatus failed"],
        (Service::Run | Service::Other(_), _) => &[],
    }
}

/// Whether the kernel's command line says that no status is wanted. `next` is no status: a node that
/// doesn't send it installs itself again.
pub(crate) fn is_disabled() -> bool {
    Machine::here().kernel_line().has("nonodestatus")
}
