//! `provostctl why`: a changed script fails on the four nodes that have fetched it.

mod kept;
mod story;

use std::time::Duration;

use provost_tests::{Cluster, Node, Receiver, processes};
use serde_json::{Value, json};

/// A site whose `disk` ends so; the first four nodes are a group.
fn publish(cluster: &Cluster, ending: &str) {
    cluster.script("disk", &format!("#!/bin/sh\necho looking for the disk\n{ending}\n"));
    cluster.publish().expect(0);
}

/// What all nodes tell, and which of them have which.
fn site() -> (Cluster, Vec<Node>, Receiver) {
    let mut cluster = Cluster::new();
    let receiver = Receiver::start("127.0.0.1:0");
    let url = receiver.url();
    cluster.configure_daemon(&format!(
        "[[webhooks]]\nname = \"ops\"\nurl = {url:?}\nwindow = \"10ms\"\nevents = [\"failed\"]\n"
    ));
    cluster.site(
        "[defaults]\npostscripts = [\"disk\"]\n[groups.rack1]\nnodes = \"cn[01-04]\"\n\
         [groups.rack2]\nnodes = \"cn[05-20]\"\n",
    );
    publish(&cluster, "");
    cluster.start();
    let nodes: Vec<Node> = (1..=20).map(|n| cluster.node(&format!("cn{n:02}"))).collect();
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
    }
    (cluster, nodes, receiver)
}

/// Without the hour, which is a factor as well unless it begins just then.
fn without_time(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("    time "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn what_the_failed_nodes_share_and_what_has_changed_on_one_is_told() {
    let (cluster, nodes, receiver) = site();
    let none = cluster.ctl(&["why"]).expect(0);
    assert_eq!(none.stdout, "no node has failed\n");

    publish(&cluster, "exit 3");
    for node in &nodes[..4] {
        node.provost(&["boot"]).expect(1);
    }
    let all = without_time(&cluster.ctl(&["why"]).expect(0).stdout);
    let reason = "script disk of generation 2: 4 of 4 failed have it, 0 of 16 others";
    let factors: Vec<&str> = all.lines().skip(1).map(str::trim).collect();
    let others = ["bundle 2", "group rack1"]
        .map(|factor| format!("{factor}: 4 of 4 failed have it, 0 of 16 others"));
    assert_eq!(factors, [reason, &others[0], &others[1]], "what all nodes share is none: {all}");
    assert!(all.starts_with("4 failed in disk: exit status 3  @cause:"), "{all}");
    let id = all.lines().next().unwrap().rsplit_once(' ').unwrap().1;
    assert_eq!(without_time(&cluster.ctl(&["why", id]).expect(0).stdout), all);

    // The same in one line wherever a cause stands.
    let overview = cluster.ctl(&["nodes", "--group"]).expect(0).stdout;
    assert!(overview.contains(&format!("    why    {reason}\n")), "{overview}");
    let rows = cluster.ctl(&["nodes"]).expect(0).stdout;
    assert!(rows.contains(&format!("why: {reason}  {id}\n")), "{rows}");
    // Where finding them takes long, the page has those of the failures before for a while.
    let row = format!("<dt>why</dt><dd>{reason}</dd>");
    let is_shown = || cluster.daemon().get("/").contains(&row);
    assert!(processes::until(Duration::from_secs(30), is_shown), "{}", cluster.daemon().get("/"));
    let is_told = || receiver.bodies().iter().any(|body| body["why"] == reason);
    assert!(processes::until(Duration::from_secs(30), is_told), "{:?}", receiver.bodies());

    let one = without_time(&cluster.ctl(&["why", "cn02"]).expect(0).stdout);
    assert!(one.starts_with(&all), "{one}");
    assert!(one.contains("\n    bundle      1 -> 2\n"), "{one}");
    assert!(one.contains("\n    script      disk changed by generation 2, 20"), "{one}");
    let diff = "\n--- disk (generation 1)\n+++ disk (generation 2)\n@@ -1,3 +1,3 @@\n #!/bin/sh\n \
                echo looking for the disk\n-\n+exit 3\n";
    assert!(one.ends_with(diff), "{one}");
    let well = cluster.ctl(&["why", "cn09"]).expect(0).stdout;
    assert_eq!(well, "cn09 has not failed\n");

    let document: Value = cluster.ctl(&["why", "cn02", "--format", "json"]).expect(0).json();
    assert_eq!(document["others"], 16);
    let first = &document["failures"][0]["factors"][0];
    assert_eq!(
        (&first["name"], &first["value"]),
        (&json!("script"), &json!("disk of generation 2"))
    );
    let bundle = &document["changed"]["differences"][0];
    assert_eq!(bundle, &json!({ "name": "bundle", "then": "1", "now": "2" }));
    let script = &document["changed"]["scripts"][0];
    assert_eq!((&script["script"], &script["generation"]), (&json!("disk"), &json!(2)));
    assert!(document["changed"]["diff"].as_str().unwrap().contains("+exit 3"), "{document}");

    // An admin who only reads gets names and digests.
    let reader = cluster.daemon().socket().replace("admin.sock", "read.sock");
    let shown = cluster.ctl(&["--admin", &reader, "why", "cn02"]).expect(0).stdout;
    assert!(shown.contains("script      disk changed by generation 2"), "{shown}");
    assert!(shown.contains("no diff     texts and values are for the role operate\n"), "{shown}");
    assert!(!shown.contains("+exit 3"), "{shown}");
}

#[test]
fn a_changed_plan_a_step_before_it_and_the_first_line_that_differs_are_told() {
    let mut cluster = Cluster::new();
    let site = |more: &str| {
        format!(
            "[nodes.cn001]\npostscripts = [{more}\"disk\"]\n[nodes.cn001.env]\nDISK = \"{}\"\n\
             ROOT_PASSWORD = \"{}\"\n",
            if more.is_empty() { "sda" } else { "sdb" },
            if more.is_empty() { "s3same" } else { "s3other" }
        )
    };
    cluster.script("early", "#!/bin/sh\n");
    cluster.script("disk", "#!/bin/sh\necho looking\necho at $DISK\n[ $DISK = sda ]\n");
    cluster.site(&site("")).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let (settings, address) = (cluster.settings_for(&[]), cluster.daemon().nodes());
    let settings = settings.replace("servers = []", &format!("servers = [\"http://{address}\"]"));
    node.configure(&format!("{settings}[report]\nlogs = \"all\"\n"));
    node.provost(&["boot"]).expect(0);
    cluster.site(&site("\"early\", ")).publish().expect(0);
    node.provost(&["run", "early"]).expect(0);
    node.provost(&["boot"]).expect(1);
    let told = cluster.ctl(&["why", "cn001"]).expect(0).stdout;
    for line in [
        "plan        1 -> 2",
        "env DISK    sda -> sdb",
        "env ROOT_PASSWORD  changed (hidden)",
        "postscript  + early",
        "early       ran before it, and not then",
        "in between  run of early succeeded, ",
        "output      line 2: \"at sda\" -> \"at sdb\"\n",
    ] {
        assert!(told.contains(&format!("\n    {line}")), "{line}:\n{told}");
    }
    assert!(!told.contains("s3"), "{told}");
    let reader = cluster.daemon().socket().replace("admin.sock", "read.sock");
    let shown = cluster.ctl(&["--admin", &reader, "why", "cn001"]).expect(0).stdout;
    assert!(shown.contains("\n    env DISK    changed\n"), "{shown}");

    // A log that isn't there is compared on the node.
    node.configure(&settings);
    cluster.site(&site("")).publish().expect(0);
    node.provost(&["boot"]).expect(0);
    cluster.site(&site("\"early\", ")).publish().expect(0);
    node.provost(&["boot"]).expect(1);
    let told = cluster.ctl(&["why", "cn001"]).expect(0).stdout;
    let line = told.lines().find(|line| line.starts_with("    output ")).unwrap();
    let command = line.split_once("ssh cn001 '").unwrap().1.strip_suffix('\'').unwrap();
    let logs = node.path("log/scripts").display().to_string();
    let command = command.replace("/var/log/provost/scripts", &logs);
    let out = std::process::Command::new("bash").args(["-c", &command]).output().unwrap();
    let out = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out, "2c2\n< at sda\n---\n> at sdb\n", "{command}");
}

/// Fetching prints nothing into a log: there is no command that compares two.
#[test]
fn a_failed_fetch_is_compared_by_what_there_is_of_it() {
    let mut cluster = Cluster::new();
    cluster.script("disk", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"disk\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    std::fs::write(cluster.www().join("manifest.toml"), "").unwrap();
    node.provost(&["boot"]).expect(3);
    let told = cluster.ctl(&["why", "cn001"]).expect(0).stdout;
    assert!(told.contains("\nsince fetch last succeeded ("), "{told}");
    assert!(!told.contains("00-fetch") && !told.contains("    output "), "{told}");
    assert!(told.contains("\n    runs        "), "{told}");
    let document: Value = cluster.ctl(&["why", "cn001", "--format", "json"]).expect(0).json();
    assert_eq!(document["changed"]["stage"], "fetch", "{document}");
    assert!(document["changed"]["output"].is_null(), "{document}");
    let page = cluster.daemon().get("/nodes/cn001");
    assert!(page.contains("fetch last succeeded") && !page.contains("00-fetch"), "{page}");
}

#[test]
fn a_held_node_shows_why_it_is_and_what_has_changed_before() {
    let mut cluster = Cluster::new();
    let publish = |cluster: &Cluster, ending: &str| {
        let header = "# /// provost\n# when = \"change\"\n# ///";
        cluster.script("disk", &format!("#!/bin/sh\n{header}\n{ending}\n"));
        cluster.publish().expect(0);
    };
    cluster.site("[nodes.cn001]\npostscripts = [\"disk\"]\n");
    publish(&cluster, "");
    cluster.start();
    let node = cluster.node("cn001");
    // The second time it doesn't run any script.
    (0..2).for_each(|_| drop(node.provost(&["boot"]).expect(0)));
    publish(&cluster, "exit 3");
    (0..3).for_each(|_| drop(node.provost(&["boot"]).expect(1)));
    node.provost(&["boot"]).expect(4);
    let told = cluster.ctl(&["why", "cn001"]).expect(0).stdout;
    assert!(told.starts_with("1 held  @cause:"), "{told}");
    for line in [
        "    held after 3 failures; the last: disk, exit status 3",
        "    there is no other node to compare with\n",
        "since disk last succeeded (",
        "    script      disk changed by generation 2, 20",
        "    in between  boot succeeded, 20",
    ] {
        assert!(told.contains(&format!("\n{line}")), "{line}:\n{told}");
    }
}

#[test]
fn a_failure_that_is_not_there_is_an_error() {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster
        .ctl(&["why", "@cause:abcdef"])
        .expect(1)
        .says(&["no failure has the id abcdef", "hint: "]);
    cluster.ctl(&["why", "cn99"]).expect(1);
    cluster.ctl(&["why", "a b"]).expect(2).says(&["not a node's name"]);
}

#[test]
fn the_first_record_of_a_run_and_the_node_have_its_facts() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let history: Value = cluster.ctl(&["show", "cn001", "--format", "json"]).json();
    let facts = &history["node"]["facts"];
    assert_eq!(facts, &history["runs"][0]["records"][0]["facts"], "{history}");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(facts["kernel"], kernel.trim());
    for name in ["os", "arch", "cpus", "memoryMiB"] {
        assert!(facts[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {facts}");
    }
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("machine ") && shown.contains(kernel.trim()), "{shown}");
}
