//! A node with SELinux enforcing, by Debian's policy: installed by its %post, booted, and an admin's
//! reruns; then a management node. The machine is compared with itself before Provost was there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use provost_tests::{Cluster, Packages};
use tempfile::NamedTempFile;

use crate::disk::Disk;
use crate::image::from_inside;
use crate::machine::{Machine, required};
use crate::site::{IDENTITIES, ended, started, waits_for};

/// The audit's messages come by the kernel's log, where there is no auditd; all of them.
const ENFORCING: &str = "security=selinux selinux=1 enforcing=1 sysctl.kernel.printk_ratelimit=0";

/// Those that write files which have labels of their own.
const SCRIPTS: [&str; 13] = [
    "hostname",
    "mkresolvconf",
    "setupntp",
    "sudoer",
    "syncfiles",
    "motd",
    "hostkeys",
    "remoteshell",
    "setupscratch",
    "setsysctl",
    "serialconsole",
    "syslog",
    "addsiterepo",
];

/// A repository without a package.
const REPOSITORY: &str = "mkdir /srv/repo && touch /srv/repo/Packages";

/// What the scripts have written, which by hand they write anew.
const WRITTEN: &str = "/etc/hostname /etc/resolv.conf /etc/motd.d /opt/site /home/admin/.ssh /root/.ssh \
    /etc/sysctl.d/90-setsysctl.conf /etc/rsyslog.d/30-management-node.conf \
    /etc/apt/sources.list.d /etc/systemd/system/getty.target.wants";

/// What the node runs in beside them.
const DOMAIN: &str = "#!/bin/bash\ncat /proc/self/attr/current | tee /root/domain\n";

/// The domain of an installer's script, started from root's shell here.
const INSTALLED_BY: &str = "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023";

/// That of provost-boot.service: Debian's policy has it for all services that it doesn't know, and leaves it
/// unconfined. docs/selinux-firewall-fips.md says so.
const BOOTED_IN: &str = "system_u:system_r:initrc_t:s0";

/// Those of provost-report.service and provostd.service, which are confined by systemd and not by the policy.
const REPORTED_IN: &str = BOOTED_IN;
const SERVED_IN: &str = BOOTED_IN;

/// Starts, in place of the unit's program, another one with the same label.
const REPORT_SHOWS_ITS_DOMAIN: &str = "cd /run/systemd/system && mkdir provost-report.service.d && \
    printf '[Service]\\nExecStart=\\nExecStart=cat /proc/self/attr/current\\nStandardOutput=file:/run/domain\\n' \
    >provost-report.service.d/domain.conf && systemctl daemon-reload && systemctl start provost-report && \
    rm -r provost-report.service.d && systemctl daemon-reload; cd && cat /run/domain";

/// What that policy has such a service write below /var/log, although the label of the folder is another.
const ITS_LOGS: &str = ":initrc_var_log_t:";

const SITE: &str = "\
[nodes.cn001.env]
AUTHORIZED_KEYS = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0YrPS9YczLfC3pGj8BK/QXRln9awY/2M/SAudlX8Gb admin\"
MASTER_IP = \"10.0.2.2\"
NAMESERVERS = \"10.0.2.3\"
NTPSERVERS = \"10.0.2.2\"
SCRATCH_DEVICE = \"/dev/vdb\"
SERIALPORT = \"0\"
SITEREPO_lab = \"/srv/repo\"
SITEREPO_lab_KEY = \"unsigned\"
SUDOER = \"admin\"
SUDOER_KEYS = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0YrPS9YczLfC3pGj8BK/QXRln9awY/2M/SAudlX8Gb admin\"
SYSCTL_net_ipv4_ip_forward = \"1\"
";

/// A node that its kickstart and its first boot have run all of [`SCRIPTS`] on, the latter under its unit.
fn cluster() -> Cluster {
    required();
    let cluster = Cluster::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../postscripts");
    for name in SCRIPTS {
        cluster.script(name, &fs::read_to_string(source.join(name)).unwrap());
    }
    let part = "packages.sh"; // of addsiterepo
    fs::copy(source.join(part), cluster.scripts().join(part)).unwrap();
    cluster.script("domain", DOMAIN);
    let data = cluster.scripts().join("_sync");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("cron"), "# nothing\n").unwrap();
    let list = "_sync/cron -> /etc/cron.d/site 0644\n_sync/cron -> /opt/site/bin/cron 0755\n";
    fs::write(data.join("list"), list).unwrap();
    let scripts = SCRIPTS.map(|name| format!("{name:?}")).join(", ");
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"domain\", \"syncfiles\"]\npostbootscripts = [{scripts}, \"domain\"]\n{SITE}"
    ));
    let cluster = started(cluster, IDENTITIES);
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    cluster
}

#[test]
fn it_is_installed_boots_and_reruns_without_a_denial_and_with_the_right_labels() {
    let cluster = cluster();
    let there = format!("http://{}", from_inside(&cluster));
    let script = cluster.post_script(&["--join", "--server", &there]);
    let disk = Disk::with_selinux(|root| {
        fs::write(root.path("/root/post"), &script).unwrap();
        Packages::make().copy_to(root, "/root");
    });
    let scratch = NamedTempFile::new().unwrap();
    scratch.as_file().set_len(64 << 20).unwrap();
    let disks = [scratch.path()];

    let mut machine = disk.boot_with(ENFORCING, &disks);
    machine.log_in();
    assert_eq!(runs(&mut machine, "getenforce"), "Enforcing\n");
    runs(&mut machine, "systemctl is-system-running --wait");
    // A generator of systemd's isn't allowed to look at the line that root is logged in on.
    runs(&mut machine, "systemctl daemon-reload");
    runs(&mut machine, REPOSITORY);
    let before = Findings::of(&mut machine);

    runs(&mut machine, "sh -e /root/post >/root/log 2>&1 || { cat /root/log; false; }");
    Findings::of(&mut machine).are_in(&before);
    assert_eq!(domain(&mut machine), INSTALLED_BY);
    runs(&mut machine, "rm /etc/ssh/ssh_host_*");
    machine.types("poweroff");
    machine.says("reboot: Power down");

    let mut machine = disk.boot_with(ENFORCING, &disks);
    machine.boots();
    waits_for(&cluster, "booted");
    machine.log_in();
    let run = &cluster.ctl_json(&["show", "cn001"])["runs"][0];
    assert!(ended(run).iter().all(|end| end.ends_with(": success")), "{run:#}");
    Findings::of(&mut machine).are_in(&before);
    assert_eq!(domain(&mut machine), BOOTED_IN);

    // By hand, what isn't there any more is written anew.
    let anew = "umount /scratch && rmdir /scratch && dd if=/dev/zero of=/dev/vdb bs=1M count=1";
    runs(&mut machine, &format!("rm -r {WRITTEN} && {anew}"));
    for script in SCRIPTS {
        // Each of two makes host keys.
        runs(&mut machine, "rm -f /etc/ssh/ssh_host_*");
        runs(&mut machine, &format!("provost run {script} 2>&1"));
        assert_eq!(runs(&mut machine, "restorecon -n -v -R /etc/ssh"), "", "{script}");
    }
    runs(&mut machine, "systemctl start provost-report");
    assert_eq!(one(&runs(&mut machine, REPORT_SHOWS_ITS_DOMAIN)), REPORTED_IN);
    Findings::of(&mut machine).are_in(&before);
    let below = runs(&mut machine, "umount /scratch && restorecon -n -v /scratch");
    assert_eq!(below, "");

    serves(&mut machine);
    Findings::of(&mut machine).are_in(&before);
}

/// Makes it a management node, as the tutorial does, and a node of its own.
fn serves(machine: &mut Machine) {
    runs(machine, "dpkg -i /root/provost-server_*.deb >/dev/null && provostctl init");
    let pid = "$(systemctl show -P MainPID provostd)";
    assert_eq!(one(&runs(machine, &format!("cat /proc/{pid}/attr/current"))), SERVED_IN);
    runs(machine, "rm -r /etc/provost/provost.toml /var/lib/provost /var/log/provost");
    runs(machine, "provostctl snippet sh cn001 --join >/root/again");
    runs(machine, "sh -e /root/again >/root/log 2>&1 || { cat /root/log; false; }");
    // The published folder is another one each time.
    runs(
        machine,
        "echo 'echo again; false' >>/etc/provost/postscripts/hello && provostctl publish",
    );
    runs(machine, "systemctl restart provostd");
    runs(machine, "provost boot 2>&1 && provostctl wait-for cn001 --status booted --timeout 1m");
    // The log of what fails is uploaded.
    let log = runs(machine, "! provost run hello 2>/dev/null && provostctl log cn001 hello");
    assert!(log.contains("again"), "{log}");
}

/// What the script ran in, the last time.
fn domain(machine: &mut Machine) -> String {
    one(&runs(machine, "cat /root/domain")).to_owned()
}

/// A label as the kernel shows it, without its end.
fn one(label: &str) -> &str {
    label.trim_end_matches(['\n', '\0'])
}

/// What SELinux finds wrong.
struct Findings {
    /// What it has refused since the machine's boot, each kind once: who, what, on what.
    denied: BTreeSet<String>,
    /// Files whose label isn't the one that the policy has for them.
    labels: BTreeSet<String>,
}

impl Findings {
    fn of(machine: &mut Machine) -> Self {
        let denied = "dmesg | grep -E 'avc: +denied|SELINUX_ERR|invalid context' || :";
        let labels = "restorecon -n -v -R /boot /etc /home /opt /root /run /srv /usr /var $(ls -d /scratch 2>/dev/null)";
        Self {
            denied: runs(machine, denied).lines().map(kind).collect(),
            labels: runs(machine, labels)
                .lines()
                .filter(|line| !(line.contains("/var/log/provost/") && line.contains(ITS_LOGS)))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Nothing is wrong that wasn't `before`.
    #[track_caller]
    fn are_in(&self, before: &Self) {
        let denied: Vec<_> = self.denied.difference(&before.denied).collect();
        let labels: Vec<_> = self.labels.difference(&before.labels).collect();
        assert!(denied.is_empty() && labels.is_empty(), "{denied:#?} {labels:#?}");
    }
}

/// A refusal without what differs from one to the next, such as process ids.
fn kind(line: &str) -> String {
    const KEYS: [&str; 4] = ["comm=", "scontext=", "tcontext=", "tclass="];
    let what = line.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let words = line.split_whitespace().filter(|word| KEYS.iter().any(|key| word.starts_with(key)));
    what.map_or_else(
        || line.to_owned(),
        |(what, _)| format!("{} {}", what.trim(), words.collect::<Vec<_>>().join(" ")),
    )
}

/// Runs a command, which must succeed. Returns what it printed.
#[track_caller]
fn runs(machine: &mut Machine, command: &str) -> String {
    let (printed, succeeded) = machine.shell(command);
    assert!(succeeded, "{command}: {printed}");
    printed
}
