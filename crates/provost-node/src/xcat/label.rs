//! What xCAT calls a run, and what runs in it.

use provost_record::Service;

/// What a script of such a run is: xCAT's own log lines begin so. At a diskless boot it calls
/// all of them postbootscripts, as they run after it.
pub(crate) fn kind(service: Service) -> &'static str {
    match service {
        Service::Kickstart | Service::Run => "postscript",
        Service::Boot => "postbootscript",
    }
}

/// By what tools tell messages of scripts from others in the management node's logs.
pub(crate) fn label(service: Service) -> &'static str {
    match service {
        Service::Kickstart => "xcat.deployment.postscript",
        Service::Boot => "xcat.deployment.postbootscript",
        Service::Run => "xcat.updatenode.postscript",
    }
}
