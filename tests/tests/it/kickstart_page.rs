//! docs/kickstart.md shows what happens.

use provost_tests::{Chroot, Cluster};

const PAGE: &str = include_str!("../../../docs/kickstart.md");
/// The script that fails on the page.
const SETUPNTP: &str = "#!/bin/bash\ninstall_keys() {\n    install -m 0640 \
                        /srv/ntp/chrony.keys /etc/chrony.keys\n}\ninstall_keys\n";

/// Without what differs from run to run: numbers, the node's key, and the log's path, which has the
/// run's id.
fn constant(text: &str) -> String {
    let mut plain = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.contains("/scripts/")) {
        let line = line.split_once(" SHA256:").map_or(line, |(before, _)| before);
        for c in line.chars() {
            let c = if c.is_ascii_digit() { '0' } else { c };
            // A longer number takes the place of spaces.
            if !(matches!(c, '0' | ' ') && plain.ends_with(c)) {
                plain.push(c);
            }
        }
        plain.push('\n');
    }
    // On a machine that is busy it takes seconds.
    plain.replace(" ms", " s").replace("0.0 s", "0 s")
}

#[test]
fn the_page_s_command_makes_what_fails_as_the_page_shows() {
    let root = Chroot::new();
    let mut cluster = Cluster::new();
    cluster.script("hostname", "#!/bin/sh\n").script("setupntp", SETUPNTP);
    cluster.site("[nodes.cn001]\npostscripts = [\"hostname\", \"setupntp\"]\n").publish().expect(0);
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);

    let command = PAGE.lines().find(|line| line.starts_with("provostctl snippet")).unwrap();
    let command = command.split(" >>").next().unwrap();
    let here = format!("http://{}", cluster.daemon().nodes());
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let args = args.iter().map(|arg| if arg.starts_with("http:") { &*here } else { arg });
    let text = cluster.ctl(&args.collect::<Vec<_>>()).expect(0).stdout;
    let script = text.split_once('\n').unwrap().1.strip_suffix("%end\n").unwrap();
    root.sh(script).expect(1);

    let shown = PAGE.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(constant(&root.text("/dev/console")), constant(shown));
}
