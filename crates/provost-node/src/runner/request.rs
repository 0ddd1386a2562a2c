use provost_plan::Step;
use provost_plan::mypostscript::{Group, List};
use provost_record::Service;

use crate::state::root::Root;

/// What a run is asked to do.
pub enum RunRequest {
    /// The postscripts: `kickstart`.
    Postscripts,
    /// What this boot needs: `boot`.
    Boot,
    /// The same, of a root that others have installed.
    FirstBoot,
    /// The same, of such a root that has booted before.
    Reboot,
    /// What the last run of the same service left unfinished: `--continue`.
    Continue(Box<Self>),
    /// The lists of the plan, or one part of them: xCAT's `updatenode`.
    Lists {
        /// The part.
        part: Option<(List, Option<Group>)>,
        /// Variables besides those of the plan.
        environment: Vec<(String, String)>,
    },
    /// These lines, whatever the plan says, read as xCAT reads a line of a list: its `updatenode`.
    Lines {
        /// The lines, in order.
        lines: Vec<String>,
        /// Variables besides those of the plan.
        environment: Vec<(String, String)>,
    },
    /// These steps, whatever the plan says: `run`.
    Named {
        /// The steps, in order.
        steps: Vec<Step>,
        /// Variables besides those of the plan.
        environment: Vec<(String, String)>,
        /// Whether bash shows builtins and functions in the log as well.
        trace_lines: bool,
    },
}

impl RunRequest {
    /// The service that does it.
    pub fn service(&self) -> Service {
        match self {
            Self::Postscripts => Service::Kickstart,
            Self::Boot | Self::FirstBoot | Self::Reboot => Service::Boot,
            Self::Continue(of) => of.service(),
            Self::Lists { .. } | Self::Lines { .. } | Self::Named { .. } => Service::Run,
        }
    }

    /// Variables besides those of the plan.
    pub(crate) fn environment(&self) -> &[(String, String)] {
        match self {
            Self::Lists { environment, .. }
            | Self::Lines { environment, .. }
            | Self::Named { environment, .. } => environment,
            _ => &[],
        }
    }

    /// What the root is where the disk doesn't say: the caller knows a root that others installed.
    pub(crate) fn assumed_root(&self) -> Root {
        match self {
            Self::FirstBoot => Root::Installed,
            Self::Reboot => Root::Booted,
            Self::Continue(of) => of.assumed_root(),
            _ => Root::Other,
        }
    }
}
