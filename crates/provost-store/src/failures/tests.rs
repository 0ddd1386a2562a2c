use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn failed(name: &str, stage: &str, cause: Cause, message: &str) -> Node {
    let detail = Detail {
        stage: Some(stage.into()),
        cause: Some(cause),
        error_message: Some(message.into()),
        ..Detail::default()
    };
    Node { name: name.into(), status: Status::Failed, detail, ..Node::default() }
}

/// Parts of a message that differ from node to node, a new one each time.
struct Varying(u64);

impl Varying {
    fn number(&mut self, most: u64) -> u64 {
        // Knuth's MMIX generator.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn word(&mut self) -> &'static str {
        let words = ["scratch", "home", "apps", "data", "opt", "local", "proj"];
        words[self.number(words.len() as u64) as usize]
    }

    fn path(&mut self) -> String {
        let parts: Vec<&str> = (0..=1 + self.number(3)).map(|_| self.word()).collect();
        format!("/{}/{}", parts.join("/"), self.number(1000))
    }

    fn address(&mut self) -> String {
        match self.number(3) {
            0 => format!("10.{}.{}.{}", self.number(256), self.number(256), self.number(256)),
            1 => format!("fe80::{:x}:{:x}", self.number(65_536), self.number(65_536)),
            _ => format!("{}.cluster.example.org", self.word()),
        }
    }

    fn hex(&mut self) -> String {
        format!("{:08x}{:08x}", self.number(1 << 31), self.number(1 << 31))
    }

    fn time(&mut self) -> String {
        let month = ["Jan", "May", "Nov"][self.number(3) as usize];
        let (day, hour) = (1 + self.number(28), self.number(24));
        format!("{month} {day:>2} {hour:02}:{:02}:{:02}", self.number(60), self.number(60))
    }
}

/// Stages, and what the real tools print in them. `N` in braces is a number, `P` a path, `A` an
/// address, `H` hexadecimal, `T` a time, `NODE` the node; each is another one each time.
const CAUSES: [(&str, &str); 12] = [
    (
        "otherpkgs",
        "Get:{N} http://{A}/ubuntu noble/main amd64 Packages [{N} kB]\n\
         E: Unable to locate package slurmd\notherpkgs: {N} of {N} packages failed",
    ),
    (
        "otherpkgs",
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process {N} (apt-get)\n\
         E: Unable to acquire the dpkg frontend lock ({P}), is another process using it?",
    ),
    (
        "otherpkgs",
        "Errors during downloading metadata for repository 'repo-{N}':\n  - Curl error (6): \
         Couldn't resolve host name for http://{A}/{H}/repomd.xml [Could not resolve host: {A}]\n\
         Error: Failed to download metadata for repo 'repo-{N}': Cannot download repomd.xml",
    ),
    (
        "otherpkgs",
        "Last metadata expiration check: {N}:{N} ago on {T}.\nError: \n Problem: conflicting \
         requests\n  - nothing provides libmunge.so.{N}()(64bit) needed by \
         slurm-{N}.{N}-1.el9.x86_64 from repo-{N}",
    ),
    (
        "mount_scratch",
        "mount.nfs: timeout set for {T} 2026\nmount.nfs: trying text-based options \
         'vers=4.2,addr={A},clientaddr={A}'\n\
         mount.nfs: Connection timed out for {A}:{P} on {P}",
    ),
    ("mount_scratch", "mount.nfs: access denied by server while mounting {A}:{P}"),
    (
        "mount_scratch",
        "  % Total    % Received % Xferd\n  0     0    0     0    0     0 --:--:--  0:00:{N}\n\
         curl: (7) Failed to connect to {A} port {N} after {N} ms: Connection refused",
    ),
    (
        "services",
        "Job for slurmd.service failed because the control process exited with error code.\n\
         See \"systemctl status slurmd.service\" and \"journalctl -xeu slurmd.service\" for \
         details.\n{T} {NODE} systemd[{N}]: slurmd.service: Failed with result 'exit-code'.",
    ),
    (
        "configure",
        "  File \"{P}/configure.py\", line {N}, in main\n    config = json.load(open(path))\n\
         FileNotFoundError: [Errno 2] No such file or directory: '{P}.json'",
    ),
    (
        "drivers",
        "package nvidia-{N}.{N}.x86_64 does not verify: Header V4 RSA/SHA256 Signature, key ID \
         {H}: NOKEY\nerror: unpacking of archive failed on file {P};{H}: cpio: read failed - No \
         space left on device",
    ),
    (
        "images",
        "tar: {P}: Cannot open: Read-only file system\n\
         tar: Exiting with failure status due to previous errors",
    ),
    (
        "keys",
        "ssh: connect to host {A} port {N}: No route to host\nscp: Connection closed\n\
         {NODE}: keys: failed after {N} s",
    ),
];

/// The failure of `node` by the `n`th cause.
fn failure(n: usize, node: &str, varying: &mut Varying) -> Node {
    let (stage, text) = CAUSES[n];
    let mut message = String::new();
    let mut rest = text;
    while let Some((before, (kind, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        message.push_str(before);
        message.push_str(&match kind {
            "N" => (1 + varying.number(9999)).to_string(),
            "P" => varying.path(),
            "A" => varying.address(),
            "H" => varying.hex(),
            "T" => varying.time(),
            _ => node.to_owned(),
        });
        rest = after;
    }
    message.push_str(rest);
    let at = Timestamp::from_second(1_800_000_000 + varying.number(9999) as i64).unwrap();
    Node { since: Some(at), ..failed(node, stage, Cause::Exit, &message) }
}

#[test]
fn five_hundred_failures_of_twelve_causes_are_twelve_groups() {
    let mut varying = Varying(42);
    let mut expected = BTreeMap::<usize, BTreeSet<String>>::new();
    let mut nodes = Vec::new();
    for n in 0..600 {
        let cause = if n < 12 { n } else { varying.number(12) as usize };
        let name = format!("cn{n:04}");
        nodes.push(failure(cause, &name, &mut varying));
        expected.entry(cause).or_default().insert(name);
    }
    let groups = failure_groups(&nodes);
    let keys: Vec<_> = groups.iter().map(|group| group.detail.error_message.as_deref()).collect();
    assert_eq!(groups.len(), 12, "{keys:#?}");
    let mut found: Vec<BTreeSet<String>> =
        groups.iter().map(|group| group.nodes.iter().cloned().collect()).collect();
    let mut expected: Vec<BTreeSet<String>> = expected.into_values().collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(groups.is_sorted_by_key(|group| std::cmp::Reverse(group.nodes.len())));
    let of_all = |time: fn(&FailureGroup) -> Option<Timestamp>| groups.iter().filter_map(time);
    assert_eq!(of_all(|group| group.first).min(), nodes.iter().filter_map(|n| n.since).min());
    assert_eq!(of_all(|group| group.last).max(), nodes.iter().filter_map(|n| n.since).max());
}

#[test]
fn an_id_stays_the_same() {
    let node = failed("cn001", "disk", Cause::Exit, "no disk 7");
    assert_eq!(failure_id(&node).as_deref(), Some("367ff6"));
    assert_eq!(failure_id(&Node { name: "cn002".into(), ..node.clone() }), failure_id(&node));
    assert_eq!(failure_id(&Node { status: Status::Booted, ..node.clone() }), None);
    let rerun = Some(UpdateStatus::Failed);
    assert!(has_failed(&Node { status: Status::Booted, updatestatus: rerun, ..node }));
}

#[test]
fn stage_cause_and_message_each_split_a_group() {
    let nodes = [
        failed("cn001", "disk", Cause::Exit, "no disk"),
        failed("cn002", "mount", Cause::Exit, "no disk"),
        failed("cn003", "disk", Cause::Exec, "no disk"),
        failed("cn004", "disk", Cause::Exit, "no space"),
        // Of a time-out, what was printed last is no cause unless it says so.
        failed("cn005", "disk", Cause::Timeout, "12 % of the first"),
        failed("cn006", "disk", Cause::Timeout, "and now the second"),
        failed("cn007", "disk", Cause::Timeout, "no such disk"),
    ];
    let groups = failure_groups(&nodes);
    assert_eq!(groups.len(), 6);
    assert_eq!(groups[0].nodes, ["cn005", "cn006"]);
}
