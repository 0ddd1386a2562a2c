//! The commands of a node: `provost`.

use provost_record::ExitCode;

use super::command::{Exits, Files, Sections, sections};

/// Of what runs scripts.
const RUN: Exits = &[
    (
        ExitCode::Done as u8,
        "Everything that had to run has run and succeeded; or the machine reboots, after which the run continues.",
    ),
    (
        ExitCode::PostscriptFailed as u8,
        "A postscript failed, or the machine could not be rebooted.",
    ),
    (
        ExitCode::Usage as u8,
        "The command line, the configuration, or this node's disk or permissions are wrong.",
    ),
    (ExitCode::Fetch as u8, "The bundle or the plan could not be fetched or verified."),
    (ExitCode::Held as u8, "The guard holds the node."),
    (ExitCode::Interrupted as u8, "A signal ended the run."),
    (ExitCode::Busy as u8, "Another run is in progress."),
];
/// Of what shows or changes something on this node alone.
const HERE: Exits = &[
    (ExitCode::Done as u8, "Done."),
    (
        ExitCode::Usage as u8,
        "The command line, the configuration, or this node's disk or permissions are wrong.",
    ),
];

const STATUS: Exits = &[
    (ExitCode::Done as u8, "Done; with --wait: the run succeeded, or there was none yet."),
    (ExitCode::PostscriptFailed as u8, "With --wait: a postscript failed."),
    (
        ExitCode::Usage as u8,
        "The command line, the configuration, or this node's disk or permissions are wrong, now or in the run; \
         with --wait: a script waits for its own run.",
    ),
    (
        ExitCode::Fetch as u8,
        "With --wait: the bundle or the plan could not be fetched, or did not verify.",
    ),
    (ExitCode::Held as u8, "With --wait: the guard holds the node."),
    (ExitCode::Interrupted as u8, "With --wait: the run was interrupted, or cut off."),
];

const CONFIG: (&str, &str) =
    ("/etc/provost/provost.toml, provost.d/*.toml", "The configuration: provost.toml(5).");
const TOKEN: (&str, &str) = ("/etc/provost/token", "The node's token, mode 0600.");
const STATE: (&str, &str) =
    ("/var/lib/provost", "Scripts as they were verified, markers, what is not yet reported.");
const JOURNALS: (&str, &str) = (
    "/var/log/provost/services/SERVICE.json",
    "The records of all runs of kickstart, boot and run, as JSON.",
);
const LOGS: (&str, &str) =
    ("/var/log/provost/scripts/RUN/NN-SCRIPT.log", "The log of each script of a run.");
const MESSAGES: (&str, &str) = ("/var/log/provost/provost.log", "The messages of the console.");
const OF_A_RUN: Files = &[CONFIG, TOKEN, STATE, JOURNALS, LOGS, MESSAGES];

/// Of a script that is only tried.
pub(super) const TRY: Exits = &[
    (0, "The script has succeeded."),
    (1, "It has failed."),
    (2, "The command line is wrong, or site.toml or the script can't be used."),
    (5, "The run was interrupted."),
];

pub(super) const ALL: &[Sections] = &[
    sections(
        "provost",
        RUN,
        OF_A_RUN,
        &[
            ("Run what this boot needs, as the unit provost-boot does:", "provost boot"),
            ("See what happened:", "provost status"),
            ("Continue after a failure, once its cause is fixed:", "provost boot --continue"),
        ],
    ),
    sections(
        "provost boot",
        RUN,
        OF_A_RUN,
        &[
            ("Run what this boot needs, and show what scripts print:", "provost boot --verbose"),
            ("Continue with the script that failed:", "provost boot --continue"),
        ],
    ),
    sections(
        "provost kickstart",
        RUN,
        OF_A_RUN,
        &[("In an installer's last script, in the new root:", "provost kickstart")],
    ),
    sections(
        "provost run",
        RUN,
        OF_A_RUN,
        &[
            ("Run a script again, with an argument:", "provost run mount_scratch /scratch"),
            (
                "Run two scripts, as xCAT's updatenode names them:",
                "provost run -P 'syslog,mount_scratch /scratch'",
            ),
            ("See each line that bash runs:", "provost run -x otherpkgs"),
        ],
    ),
    sections(
        "provost try",
        TRY,
        &[],
        &[(
            "See what a script does to an image, on a workstation:",
            "provost try scripts/syslog --site site.toml --node cn001 --root /images/compute",
        )],
    ),
    sections(
        "provost status",
        STATUS,
        &[CONFIG, JOURNALS],
        &[
            ("Show the last run:", "provost status"),
            (
                "Start a service only after a run that succeeded:",
                "provost status --wait && systemctl start slurmd",
            ),
        ],
    ),
    sections(
        "provost log",
        HERE,
        &[LOGS],
        &[
            ("Show the log of the script that failed or ran last:", "provost log"),
            ("Show only the commands that failed:", "provost log otherpkgs --failed"),
            ("Follow a script that runs:", "provost log --follow"),
        ],
    ),
    sections(
        "provost check",
        &[
            (ExitCode::Done as u8, "All is well: a run would be served."),
            (ExitCode::Usage as u8, "Something is wrong with this node or its configuration."),
            (ExitCode::Fetch as u8, "No server would serve a run."),
        ],
        &[CONFIG, TOKEN],
        &[
            ("See the effective configuration, and whether it works:", "provost check"),
            ("Try a configuration before it is installed:", "provost check --config new.toml"),
        ],
    ),
    sections(
        "provost gather",
        HERE,
        &[("log-bundle-NODE-TIME.tar.gz", "What it writes; it can be read by its owner alone.")],
        &[("Collect all that is known of this node's runs:", "provost gather --to /tmp")],
    ),
    sections(
        "provost analyze",
        &[
            (ExitCode::Done as u8, "Nothing is wrong with any service."),
            (ExitCode::PostscriptFailed as u8, "Something is wrong with a service."),
            (ExitCode::Usage as u8, "There is no run to judge."),
        ],
        &[
            JOURNALS,
            (
                "$SERVICE_RECORDS_DIR",
                "The records of other services; /var/log/openshift if it isn't set.",
            ),
        ],
        &[
            ("Show why the last run failed:", "provost analyze"),
            (
                "The same of another node's bundle:",
                "provost analyze log-bundle-cn001-20261120170000000.tar.gz",
            ),
        ],
    ),
    sections(
        "provost report",
        &[
            (ExitCode::Done as u8, "Everything is reported."),
            (
                ExitCode::Usage as u8,
                "The command line, the configuration, or this node's disk or permissions are wrong.",
            ),
            (ExitCode::Fetch as u8, "Not everything could be reported."),
            (ExitCode::Busy as u8, "A run is in progress, which reports by itself."),
        ],
        &[CONFIG, TOKEN, STATE],
        &[("Send what could not be sent, as provost-report.timer does:", "provost report")],
    ),
    sections(
        "provost record",
        HERE,
        &[],
        &[
            (
                "Record that a service of your own begins:",
                "provost record service-start --file /var/log/openshift/setup.json",
            ),
            (
                "Record that it failed:",
                "provost record service-end --file /var/log/openshift/setup.json --result failure --error-message 'no disk'",
            ),
        ],
    ),
    sections(
        "provost fetch",
        &[
            (ExitCode::Done as u8, "The file is written."),
            (
                ExitCode::Usage as u8,
                "The command line, the configuration, or this node's disk or permissions are wrong.",
            ),
            (ExitCode::Fetch as u8, "The file could not be fetched, or has another digest."),
        ],
        &[CONFIG],
        &[(
            "In a script:",
            "provost fetch http://10.0.0.1/tools.tar --sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 --to /opt/tools.tar",
        )],
    ),
    sections(
        "provost sign-host-keys",
        &[
            (ExitCode::Done as u8, "The certificates are printed."),
            (
                ExitCode::Usage as u8,
                "The command line or the configuration is wrong, or this node has no identity.",
            ),
            (
                ExitCode::Fetch as u8,
                "The management node couldn't be reached, or refused the keys.",
            ),
        ],
        &[CONFIG, STATE],
        &[(
            "In a script:",
            "provost sign-host-keys </etc/ssh/ssh_host_ed25519_key.pub >/etc/ssh/ssh_host_ed25519_key-cert.pub",
        )],
    ),
    sections("provost release", HERE, &[STATE], &[("Let this node run again:", "provost release")]),
    sections(
        "provost stamp",
        &[
            (ExitCode::Done as u8, "The steps are marked."),
            (
                ExitCode::Usage as u8,
                "The command line or the configuration is wrong, or the image's files or rights are.",
            ),
            (ExitCode::Fetch as u8, "The bundle or the plan could not be fetched or verified."),
            (ExitCode::Busy as u8, "Another run is in progress."),
        ],
        &[CONFIG, ("ROOT/var/lib/provost/done", "The marks.")],
        &[
            ("Mark all that the image already has:", "provost stamp --root /images/compute"),
            ("Mark one script:", "provost stamp --root /images/compute otherpkgs"),
        ],
    ),
    sections(
        "provost install",
        HERE,
        &[(
            "/opt/xcat/xcatdsklspost, /opt/xcat/xcatinstallpost",
            "xCAT's programs; the originals are kept as NAME.xcat.",
        )],
        &[
            ("Take over from xCAT's programs:", "provost install --xcat"),
            ("Restore xCAT's own:", "provost install --remove"),
        ],
    ),
    sections(
        "provost xcatdsklspost",
        RUN,
        OF_A_RUN,
        &[("As updatenode calls it:", "provost xcatdsklspost 1 -m 10.0.0.1 syslog")],
    ),
    sections(
        "provost xcatinstallpost",
        RUN,
        OF_A_RUN,
        &[("As xCAT's unit calls it at the first boot:", "provost xcatinstallpost")],
    ),
    sections(
        "provost reboot-request",
        HERE,
        &[STATE],
        &[("At the end of a script:", "provost reboot-request the new kernel is installed")],
    ),
];
