//! What xCAT calls a run, and what runs in it.

use provost_record::Service;

/// What a script of a run is called in xCAT's log. At a diskless boot xCAT calls all of them
/// postbootscripts, because they run after it.
pub(crate) fn kind(service: Service) -> &'static str {
    match service {
        Service::Kickstart | Service::Run | Service::Other(_) => "postscript",
        Service::Boot => "postbootscript",
    }
}

/// The tag by which tools find the messages of scripts in the management node's logs.
pub(crate) fn label(service: Service) -> &'static str {
    match service {
        Service::Kickstart => "xcat.deployment.postscript",
        Service::Boot => "xcat.deployment.postbootscript",
        Service::Run | Service::Other(_) => "xcat.updatenode.postscript",
    }
}
