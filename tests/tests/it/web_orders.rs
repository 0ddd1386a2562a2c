//! What an admin has nodes do on the web page: a real Chromium, a real sshd on the nodes, and the example hook.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_tests::browser::{Browser, DESKTOP, ENTER, PHONE, Screen};
use provost_tests::{Cluster, Network, Node, Out, skip_if};
use serde_json::json;

use crate::order_hooks::{forced_command, write_program};
use crate::web_actions::{at, log_in, start_with};

/// A management node whose hooks reach the nodes by the example. While its file `off` exists, ssh reaches none.
struct Site {
    cluster: Cluster,
    browser: Browser,
    network: Network,
}

impl Site {
    fn new(screen: Screen) -> Self {
        skip_if(Browser::missing());
        let network = Network::new();
        let folder = network.path("");
        let hook = folder.join("hook");
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let example = example.join("dist/examples/hooks/continue");
        let path = folder.display();
        write_program(&hook, &format!("#!/bin/sh\nPATH={path}:$PATH exec {}\n", example.display()));
        let config =
            format!("[hooks]\non_continue = {hook:?}\non_boot = {hook:?}\non_rerun = {hook:?}\n");
        let (cluster, browser) = start_with(screen, &config);
        let ran = cluster.path("ran");
        let mount = format!("#!/bin/sh\necho \"$PROVOST_NODE$NODE $*\" >>{ran:?}\n");
        cluster.script("mount_scratch", &mount).script("a;b", "#!/bin/sh\n");
        cluster.site(
            "[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"syslog\", \"mount_scratch /scratch\"]\n",
        );
        cluster.publish().expect(0);
        cluster.ctl(&["token", "cn003"]).expect(0);
        Self { cluster, browser, network }
    }

    /// Lets the hook reach a node of which the key can do what the example allows.
    fn reach(&mut self, name: &str) -> Node {
        let node = self.cluster.node(name);
        let forced = self.network.path(&format!("forced-{name}"));
        forced_command(&forced, &node.path("state"));
        self.network.join(&node);
        node
    }

    /// The way to the nodes is the test's, and so is the key.
    fn open(&self) {
        let folder = self.network.path("");
        let (off, calls) = (self.cluster.path("off"), self.cluster.path("calls"));
        write_program(
            &folder.join("ssh"),
            &format!(
                "#!/bin/sh\necho \"$*\" >>{calls:?}\nwhile [ \"$1\" != -- ]; do shift; done\n\
                 [ ! -e {off:?} ] || {{ echo 'No route to host' >&2; exit 255; }}\n\
                 exec /usr/bin/ssh -F {} -- \"${{2#root@}}\" \"$3\"\n",
                self.network.config()
            ),
        );
        // Each node has a forced command of its own, because all of them are on this machine.
        let public = folder.join("admin.pub");
        let key = fs::read_to_string(&public).unwrap();
        let choose = folder.join("choose");
        let name = "$(basename \"${PROVOST_CONFIG%/*}\")";
        write_program(&choose, &format!("#!/bin/sh\nexec {}/forced-{name}\n", folder.display()));
        let path = choose.display();
        fs::write(&public, format!("restrict,command=\"{path}\" {key}")).unwrap();
    }

    fn last_call(&self) -> String {
        let calls = fs::read_to_string(self.cluster.path("calls")).unwrap();
        calls.lines().last().unwrap().to_owned()
    }

    fn visit(&self, path: &str) {
        self.browser.visit(&at(&self.cluster, path));
    }
}

#[test]
fn an_operator_continues_a_node_by_the_program_of_the_site() {
    let mut site = Site::new(PHONE);
    let node = site.reach("cn001");
    let in_installer = site.reach("cn002");
    site.open();
    let (cluster, browser) = (&site.cluster, &site.browser);
    for file in ["broken", "off"] {
        fs::write(cluster.path(file), "").unwrap();
    }
    node.provost(&["boot"]).expect(1);
    log_in(cluster, browser, "lee", "operate");
    let go_on = || {
        site.visit("/nodes/cn001");
        browser.until_text("h1", "cn001 failed");
        browser.click("nav.actions a[href$=continue]");
        browser.until_text("h1", "Continue cn001?");
        browser.until_text("main", "provost boot --continue");
        browser.is_well_made();
        browser.picture("continue");
        browser.click("main button.danger");
    };
    go_on();
    browser.until_text("main", "hook: exit status 255: No route to host");
    browser.until_text("main", "provostctl continue cn001");
    browser.is_well_made();
    browser.picture("continue-failed");
    // What it reran since is no kickstart.
    in_installer.provost(&["kickstart"]).expect(1);
    in_installer.provost(&["run", "syslog"]).expect(1);
    site.visit("/nodes/cn002/continue");
    browser.until_text("main", "provost kickstart --continue");
    browser.click("main button.danger");
    browser.until_text("main", "1 failed");
    assert!(site.last_call().ends_with(" -- root@cn002 provost kickstart --continue"));
    for file in ["broken", "off"] {
        fs::remove_file(cluster.path(file)).unwrap();
    }
    go_on();
    browser.until_text("main", "1 of 1 sent");
    browser.until_text("main .numbers", "1\nbooted");
    let call = site.last_call();
    assert!(call.starts_with("-i /etc/provost/continue.key -o BatchMode=yes "), "{call}");
    assert!(call.ends_with(" -- root@cn001 provost boot --continue"), "{call}");
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    let is_his = |line: &&str| line.contains("lee") && line.contains("  continue ");
    assert_eq!(audit.lines().filter(is_his).count(), 3, "{audit}");
    assert!(
        audit.contains("(1 of 1 node: cn001: ") && audit.contains("No route to host)"),
        "{audit}"
    );
    // What else its key is used for.
    let mut ssh = Command::new("/usr/bin/ssh");
    let ssh = ssh.args(["-F", &site.network.config(), "cn001", "provost boot --continue; id"]);
    assert_eq!(Out::from(ssh.output().unwrap()).expect(1).stderr.trim(), "refused");
}

#[test]
fn an_operator_acts_on_a_selection_by_the_program_of_the_site() {
    let mut site = Site::new(DESKTOP);
    let nodes = ["cn001", "cn002"].map(|name| site.reach(name));
    let off = site.cluster.node("cn003");
    site.network.join_dead("cn003");
    site.open();
    let (cluster, browser) = (&site.cluster, &site.browser);
    fs::write(cluster.path("broken"), "").unwrap();
    nodes.iter().chain([&off]).for_each(|node| drop(node.provost(&["boot"]).expect(1)));
    fs::remove_file(cluster.path("broken")).unwrap();
    log_in(cluster, browser, "lee", "operate");

    // From the cause to what is typed on its nodes.
    site.visit("/");
    browser.click(".failure h3 a");
    browser.until_text("h1", "Nodes");
    browser.until_text("main", "3 nodes");
    browser.click("nav.actions a[href*='/act/continue?cause=']");
    browser.until_text("h1", "Continue 3 nodes?");
    let asked = browser.text("main");
    assert!(asked.contains("cn[001-003]") && asked.contains("provost boot --continue"), "{asked}");
    browser.is_well_made();
    browser.picture("act-confirm");
    browser.click("main button.danger");
    browser.until_text("main", "2 of 3 sent");
    browser.until_text("main", "Connection refused");
    browser.until_text("main .numbers", "2\nbooted");
    let result = browser.text("main");
    assert!(
        result.contains("1 failed") && result.contains("provostctl continue cn003"),
        "{result}"
    );
    browser.is_well_made();
    browser.picture("act-result");
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    let line = audit.lines().find(|line| line.contains("  continue ")).unwrap();
    for part in ["failed", "lee", "nodes=cn[001-003]", "(1 of 3 nodes: cn003: "] {
        assert!(line.contains(part), "{part}: {audit}");
    }

    // A rerun with the arguments of the plan, by keyboard.
    let ran = cluster.path("ran");
    fs::remove_file(&ran).unwrap();
    site.visit("/nodes?q=cn%5B001-002%5D");
    browser.click("nav.actions a[href*='/act/rerun?']");
    browser.until_text("h1", "Rerun on 2 nodes");
    browser.is_well_made();
    browser.run(
        "document.querySelector('[name=script]').value = 'mount_scratch'; \
                 document.querySelector('form.filter button').focus()",
    );
    browser.type_keys(&ENTER.to_string());
    browser.until_text("h1", "Rerun mount_scratch on 2 nodes?");
    browser.until_text("main", "provost run mount_scratch /scratch");
    browser.click("main button.danger");
    browser.until_text("main .numbers", "2\nsynced");
    let text = fs::read_to_string(&ran).unwrap();
    assert_eq!(text.lines().filter(|line| line.ends_with(" /scratch")).count(), 2, "{text}");

    // A name that a shell would read is refused before ssh.
    site.visit("/act/rerun?nodes=cn001&script=a%3Bb");
    browser.until_text("main", "provost run 'a;b'");
    browser.until_text("main", "not in the plan of");
    browser.click("main button.danger");
    browser.until_text("main", "aren't plain words");
    assert!(!site.last_call().contains("a;b"));
    site.visit("/act/rerun?nodes=cn001&script=none");
    browser.until_text("main", "no script \"none\" is published");
    site.visit("/act/boot?nodes=cn009");
    browser.until_text("main", "unknown node \"cn009\"");
    site.visit("/act/boot?status=installing");
    browser.until_text("main", "no node is selected");
    site.visit("/jobs/none");
    browser.until_text("main", "there is no job");
}

#[test]
fn commands_and_nodes_are_copied_by_a_button() {
    let (cluster, browser) = start_with(DESKTOP, "");
    let permissions = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.devtools("Browser.grantPermissions", &permissions);
    log_in(&cluster, &browser, "lee", "operate");
    // Before the login it said that one is needed.
    browser.complaints();
    browser.visit(&at(&cluster, "/act/boot?q=cn%5B001-002%5D"));
    let copied = || browser.run("return navigator.clipboard.readText()");
    browser.click("dd.names button.copy");
    browser.until("the nodes", |_| copied() == "cn[001-002]");
    browser.run("document.querySelector('main p button.copy').focus()");
    browser.type_keys(&ENTER.to_string());
    browser.until("the command", |_| copied() == "provostctl boot cn[001-002]");
    browser.until_text("main p button.copy", "Copied");
    browser.until_text("main p button.copy", "Copy");
    // By plain HTTP from elsewhere there is no such clipboard.
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})",
    );
    browser.click("dd.names button.copy");
    browser.until_text("dd.names button.copy", "Copied");
    browser.is_well_made();
    assert_eq!(browser.complaints(), [""; 0]);
}
