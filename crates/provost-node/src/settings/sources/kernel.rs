use std::net::IpAddr;
use std::num::NonZeroU16;

use crate::settings::discover::{KernelLine, host_and_port};
use crate::settings::origin::Origin;
use crate::settings::values::Values;

/// Offers what xCAT's arguments on the kernel's command line say.
pub(crate) fn offer_arguments(kernel: &KernelLine, values: &mut Values) {
    let port = |values: &mut Values, key: &str, port: NonZeroU16, name| {
        values.offer(key, i64::from(port.get()), Origin::KernelOfXcat(name));
    };
    if let Some((host, xcatd)) = kernel.get("XCAT").and_then(host_and_port) {
        values.offer("servers", vec![host], Origin::KernelOfXcat("XCAT"));
        if let Some(xcatd) = xcatd.and_then(NonZeroU16::new) {
            port(values, "source.xcatd_port", xcatd, "XCAT");
        }
    }
    if let Some(monitor) = kernel.get("XCATIPORT").and_then(|port| port.parse().ok()) {
        port(values, "source.monitor_port", monitor, "XCATIPORT");
    }
    if let Some(node) = kernel.get("NODE").filter(|node| provost_plan::is_node_name(node)) {
        values.offer("node", node, Origin::KernelOfXcat("NODE"));
    }
}

/// Offers the syslog server that xCAT's `LOGSERVER=` names. It counts less than the files: a site
/// may turn syslog off there.
pub(crate) fn offer_log_server(kernel: &KernelLine, values: &mut Values) {
    if let Some(ip) = kernel.get("LOGSERVER").and_then(|ip| ip.parse::<IpAddr>().ok()) {
        values.offer("log.syslog", format!("udp://{ip}"), Origin::KernelOfXcat("LOGSERVER"));
    }
}
