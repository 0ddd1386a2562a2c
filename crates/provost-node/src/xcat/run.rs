use std::net::IpAddr;
use std::path::Path;

use provost_plan::Plan;
use provost_record::{Cause, Record, Service};

use crate::fetch::Fetched;
use crate::observe::echo::Echo;
use crate::runner::outbox::Outbox;
use crate::runner::run::Run;
use crate::settings::{Input, Origin, Settings};
use crate::state::root::Root;
use crate::xcat::{FIRST_BOOT_IS_PAST, Info, Log, beginning, hand_over, has_unit, note, status};

impl Run<'_> {
    /// Tells xCAT's log what happens from now on, where the management node is xCAT's.
    pub(crate) fn begin_xcat_log(&mut self, input: &Input, settings: &Settings) {
        if settings.xcat.is_none() || self.xcat_log.is_some() {
            return;
        }
        let mut log = Log::new(&self.paths.xcat_log, &self.node, self.service);
        let syslog = input.messages().ok().and_then(|messages| messages.syslog);
        let host = settings.servers.first().and_then(|server| server.host_str());
        match (syslog, host.and_then(address)) {
            (Some(server), _) => log.send_to(server),
            (None, Some(ip)) if !has_syslog(input) => log.send_to_master(ip),
            (None, _) => {}
        }
        self.xcat_log = Some(log);
    }

    /// What xCAT is told when this run begins. What its own unit runs says only how it ended, as
    /// xCAT's programs do: that it boots, initrd and unit have said.
    pub(crate) fn first_words(&self, input: &Input, root: Root) -> &'static [&'static str] {
        let by_unit = origin(input, "source.kind") == Some(&Origin::Flag("xcatdsklspost"))
            && has_unit(&self.paths.etc);
        if by_unit { &[] } else { beginning(self.service, root != Root::Other) }
    }

    /// What the plan says about the status. A root that has booted before says that it boots only
    /// where something `runs` then.
    pub(crate) async fn planned(&mut self, input: &Input, plan: &Plan, root: Root, runs: bool) {
        let words = self.first_words(input, root);
        let Some(Outbox::Status(status)) = &mut self.outbox else { return };
        let no = plan.env.get("NODESTATUS").is_some_and(|value| is_no(value));
        if no && self.service != Service::Run {
            status.hush("NODESTATUS in the site table says no").await;
        }
        if runs && root == Root::Booted {
            status.tell(words).await;
        }
    }

    /// Has the node know about itself what xCAT's own scripts let it know before postscripts run.
    pub(crate) fn note_xcat(
        &mut self,
        input: &Input,
        settings: &Settings,
        fetched: &Fetched,
        root: Root,
    ) {
        let server = fetched.server.as_ref().or(settings.servers.first());
        let (Some(xcat), Some(server)) = (&settings.xcat, server) else { return };
        let master = fetched.plan.env.get("MASTER_IP").and_then(|ip| address(ip));
        if let (Some(log), Some(ip), false) = (&mut self.xcat_log, master, has_syslog(input)) {
            log.send_to_master(ip);
        }
        let info = Info {
            xcat,
            plan: &fetched.plan,
            server,
            service: self.service,
            installed: root != Root::Other,
            booted: root == Root::Booted,
            moved: origin(input, "servers") == Some(&Origin::Flag("-M")),
        };
        if let Err(e) = info.note(&self.paths.xcat) {
            self.not_in_xcatinfo(&e);
        }
        if let Err(e) = hand_over(&fetched.folder, &self.paths.xcat) {
            let folder = fetched.folder.display();
            self.console.say(&format!("having updatenode come here by {folder}/xcatlib.sh: {e}"));
        }
    }

    /// A script begins: in xCAT's log, and for whoever looks on at an `updatenode`.
    pub(crate) fn tell_xcat_begin(&mut self, script: &str) {
        if let Some(log) = &mut self.xcat_log {
            log.begins(script);
        }
        if let Some(echo) = self.echo_of_update() {
            echo.line(format!("postscript start..: {script}"));
        }
    }

    /// It has ended as `end` says, with its output in `log`.
    pub(crate) fn tell_xcat_end(&mut self, end: &Record, log: &Path) {
        if let Some(xcat) = &mut self.xcat_log {
            xcat.ended(end, log);
        }
        let (Some(echo), Some(script)) = (self.echo_of_update(), &end.stage) else { return };
        echo.line(match end.cause {
            Some(Cause::Missing) => format!("postscript {script} does NOT exist."),
            _ => format!("postscript end....: {script} exited with code {}", status(end)),
        });
    }

    fn echo_of_update(&self) -> Option<&Echo> {
        self.echo.as_ref().filter(|_| self.service == Service::Run)
    }

    /// What xCAT's own scripts leave at the end.
    pub(crate) fn end_xcat(&mut self, root: Root, well: bool) {
        let Some(log) = &mut self.xcat_log else { return };
        if self.service == Service::Boot && root != Root::Booted {
            log.completed(well);
        }
        let fact = match (self.service, root) {
            // The first boot looks there.
            (Service::Kickstart, _) => ("POSTSCRIPTS_RC", (!well).then_some("1")),
            (Service::Boot, Root::Installed) if well => FIRST_BOOT_IS_PAST,
            (Service::Boot | Service::Run, _) => return,
        };
        if let Err(e) = note(&self.paths.xcat, fact) {
            self.not_in_xcatinfo(&e);
        }
    }

    /// A script that wants to know will say so itself.
    fn not_in_xcatinfo(&mut self, e: &std::io::Error) {
        let folder = self.paths.xcat.display();
        self.console.say(&format!("bringing {folder}/xcatinfo up to date: {e}"));
    }
}

fn is_no(value: &str) -> bool {
    ["0", "n", "no"].iter().any(|no| value.eq_ignore_ascii_case(no))
}

/// Whether somebody says where syslog goes.
fn has_syslog(input: &Input) -> bool {
    origin(input, "log.syslog").is_some_and(|origin| *origin != Origin::Default)
}

fn origin<'i>(input: &'i Input, key: &str) -> Option<&'i Origin> {
    input.values().find(|(name, ..)| *name == key).map(|(.., origin)| origin)
}

/// The address of a host, as a URL or a table has it. A name isn't looked up, since that takes
/// time.
fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
}
