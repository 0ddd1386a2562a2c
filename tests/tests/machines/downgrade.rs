//! A management node that goes back to an older version, as docs/upgrade.md says.

use serde_json::Value;

use crate::machine::Machine;
use crate::management::runs;

const PAGE: &str = include_str!("../../../docs/upgrade.md");

/// Raises the version of the store by one, as a newer version may: the last byte of the `user_version` of an SQLite
/// file (sqlite.org/fileformat2.html, 1.3).
const RAISE: &str = "(set -e; cd /var/lib/provostd; at='bs=1 seek=63 conv=notrunc status=none'; \
    version=$(od -An -tu1 -j63 -N1 provost.db); \
    printf \"\\\\$(printf %o $((version + 1)))\" | dd $at of=provost.db)";

/// The commands of the page below this heading that are for the management node, with the packages that there are.
fn commands(heading: &str) -> impl Iterator<Item = String> {
    let section = PAGE.split_once(heading).unwrap().1;
    let block = section.split("\n```").nth(1).unwrap();
    block.lines().skip(1).map(|line| match line.strip_prefix("dpkg -i ") {
        Some(_) => "dpkg -i old/provost-server_*.deb 2>&1".to_owned(),
        None => line.to_owned(),
    })
}

/// What the page has an admin do before an upgrade.
pub(crate) fn back_up(machine: &mut Machine) {
    let backup = commands("## The management node").next().unwrap();
    runs(machine, &format!("mkdir -m 700 /backup && {backup}"));
}

fn count_runs(machine: &mut Machine, node: &str) -> usize {
    let show = format!("provostctl show {node} --runs 200 --format json");
    let show: Value = serde_json::from_str(&runs(machine, &show)).unwrap();
    show["runs"].as_array().unwrap().len()
}

/// The daemon runs, of the new version; `cn011` has booted since the backup.
pub(crate) fn is_lived_through(machine: &mut Machine) {
    let before = count_runs(machine, "cn011");
    runs(machine, &format!("systemctl stop provostd && {RAISE}"));
    runs(machine, "sha256sum /var/lib/provostd/provost.db >raised");
    // Without the page: it stays down, says why, and changes nothing.
    let printed =
        runs(machine, "dpkg -i old/provost-server_*.deb 2>&1; ! systemctl start provostd");
    for (property, value) in [("ActiveState", "failed\n"), ("ExecMainStatus", "2\n")] {
        let is = runs(machine, &format!("systemctl show -P {property} provostd"));
        assert_eq!(is, value, "{printed}");
    }
    let said = runs(machine, "journalctl --no-pager -u provostd -t provostd -o cat -n 2 | cat");
    for text in
        ["this build knows versions up to", "hint: install the newer Provost again, or restore"]
    {
        assert!(said.contains(text), "{said}");
    }
    runs(machine, "sha256sum --check --quiet raised");

    for command in commands("## Back again") {
        runs(machine, &command);
    }
    assert_eq!(runs(machine, "stat -c %U /var/lib/provostd/provost.db"), "provostd\n");
    let restored = count_runs(machine, "cn011");
    assert!(restored < before, "{restored} runs, as of the backup; {before} before");
    runs(machine, "provost --config /root/cn011/provost.toml boot");
    assert_eq!(count_runs(machine, "cn011"), restored + 1);
}
