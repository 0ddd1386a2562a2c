//! What an admin changes on the web page, in a real Chromium, and what another site's page can't.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use provost_tests::browser::{Browser, DESKTOP, PHONE, Screen};
use provost_tests::{Cluster, Network, Out, skip_if};
use serde_json::json;

/// A management node with the nodes cn001 and cn002, and a browser that accepts its certificate.
fn start(screen: Screen) -> (Cluster, Browser) {
    start_with(screen, "")
}

/// The same with more of provostd.toml.
fn start_with(screen: Screen, more: &str) -> (Cluster, Browser) {
    let browser = Browser::start(screen);
    let mut cluster = Cluster::new();
    browser.devtools("Security.setIgnoreCertificateErrors", &json!({"ignore": true}));
    let broken = cluster.path("broken");
    cluster.script("syslog", &format!("#!/bin/sh\n[ ! -e {broken:?} ]\n"));
    cluster.site("[groups.all]\nnodes = \"cn[001-002]\"\npostscripts = [\"syslog\"]\n");
    cluster.publish().expect(0);
    let tls = "[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n";
    cluster.configure_daemon(&format!("{tls}{more}"));
    cluster.start();
    cluster.ctl(&["token", "cn[001-002]"]).expect(0);
    (cluster, browser)
}

/// The address of a page of the listener with a login.
fn at(cluster: &Cluster, path: &str) -> String {
    let admins = cluster.daemon().address("adminTls");
    let port = admins.rsplit(':').next().unwrap();
    format!("https://localhost:{port}{path}")
}

fn log_in(cluster: &Cluster, browser: &Browser, name: &str, role: &str) {
    let token = cluster.ctl(&["admin", "add", name, "--role", role]).expect(0).stdout;
    browser.visit(&at(cluster, "/"));
    browser.is_well_made();
    browser.picture("login");
    browser.click("[name=token]");
    browser.type_keys(token.trim());
    browser.click("main button, form button");
    browser.until_text("header", &format!("Log out {name}"));
}

/// A page of another site, which sends its visitor's browser to change something here.
fn attacker(target: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let page = format!(
        "<!doctype html><title>prize</title><form method=post action=\"{target}\"></form>\
         <script>document.forms[0].submit()</script>"
    );
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            // To the end of the head.
            let _ = lines.find(|line| line.is_empty());
            let length = page.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
            );
            let _ = (&stream).write_all((head + &page).as_bytes());
        }
    });
    address
}

#[test]
fn an_operator_releases_and_removes_after_a_question() {
    let (cluster, browser) = start(PHONE);
    log_in(&cluster, &browser, "lee", "operate");
    browser.is_well_made();
    browser.visit(&at(&cluster, "/nodes/cn001"));
    let offered = browser.text("nav.actions");
    assert!(!offered.contains("Continue"), "there is no program for it: {offered}");
    browser.click("nav.actions a[href$=release]");
    browser.until_text("h1", "Release cn001?");
    browser.is_well_made();
    browser.picture("release");
    browser.click("main button");
    browser.until("the node's page", |browser| browser.url().ends_with("/nodes/cn001"));
    browser.click("nav.actions a[href$=remove]");
    browser.until_text("main", "This can't be undone");
    browser.picture("remove");
    browser.click("main form a");
    browser.until_text("h1", "cn001 defined");
    browser.visit(&at(&cluster, "/nodes/cn001/remove"));
    browser.click("main button");
    browser.until("the list", |browser| browser.url().ends_with("/nodes"));
    browser.until_text("main", "cn002");
    // The site still has it.
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("no reports yet"), "{shown}");
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    for action in ["release", "remove"] {
        let is_his = |line: &str| line.contains("lee") && line.contains(action);
        assert!(audit.lines().any(is_his), "{audit}");
    }

    // His cookie is still in the browser when he visits another site.
    browser.visit(&attacker(&at(&cluster, "/nodes/cn002/remove")));
    browser.until("the answer", |browser| browser.url().contains("/nodes/cn002/remove"));
    cluster.ctl(&["show", "cn002"]).expect(0);
    let text = browser.text("body");
    assert!(text.contains("another site"), "{text}");
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// The example of a program that continues nodes, and what it says of a node's authorized_keys.
fn example() -> (String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let path = root.join("dist/examples/hooks/continue");
    let text = fs::read_to_string(&path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("#     restrict,")).unwrap();
    (path.display().to_string(), format!("restrict,{line}"))
}

#[test]
fn an_operator_continues_a_node_by_the_program_of_the_site() {
    skip_if(Browser::missing());
    let mut network = Network::new();
    let (program, restricted) = example();
    let folder = network.path("");
    let hook = folder.join("hook");
    let path = folder.display();
    write_program(&hook, &format!("#!/bin/sh\nPATH={path}:$PATH exec {program}\n"));
    let config = format!("[hooks]\non_continue = {hook:?}\n");
    let (cluster, browser) = start_with(PHONE, &config);
    let node = cluster.node("cn001");
    network.join(&node);
    let public = folder.join("admin.pub");
    fs::write(&public, format!("{restricted} {}", fs::read_to_string(&public).unwrap())).unwrap();
    // The way to the nodes is the test's, and so is the key.
    let (off, calls) = (cluster.path("off"), cluster.path("calls"));
    write_program(
        &folder.join("ssh"),
        &format!(
            "#!/bin/sh\necho \"$*\" >>{calls:?}\nwhile [ \"$1\" != -- ]; do shift; done\n\
             [ ! -e {off:?} ] || {{ echo 'No route to host' >&2; exit 255; }}\n\
             exec /usr/bin/ssh -F {} -- \"${{2#root@}}\" \"$3\"\n",
            network.config()
        ),
    );
    for file in ["broken", "off"] {
        fs::write(cluster.path(file), "").unwrap();
    }
    node.provost(&["boot"]).expect(1);

    log_in(&cluster, &browser, "lee", "operate");
    let go_on = || {
        browser.visit(&at(&cluster, "/nodes/cn001"));
        browser.until_text("h1", "cn001 failed");
        browser.click("nav.actions a[href$=continue]");
        browser.until_text("h1", "Continue cn001?");
        browser.is_well_made();
        browser.picture("continue");
        browser.click("main button");
    };
    go_on();
    browser.until_text("main", "hook: exit status 255: No route to host");
    browser.until_text("main", "provostctl continue cn001");
    // What it reran since is no kickstart.
    let in_installer = cluster.node("cn002");
    in_installer.provost(&["kickstart"]).expect(1);
    in_installer.provost(&["run", "syslog"]).expect(1);
    browser.visit(&at(&cluster, "/nodes/cn002/continue"));
    browser.click("main button");
    browser.until_text("main", "continuing cn002: ");
    let last_call = || fs::read_to_string(&calls).unwrap().lines().last().unwrap().to_owned();
    assert!(last_call().ends_with(" -- root@cn002 provost kickstart --continue"));
    for file in ["broken", "off"] {
        fs::remove_file(cluster.path(file)).unwrap();
    }
    go_on();
    browser.until("the node's page", |browser| browser.url().ends_with("/nodes/cn001"));
    browser.until_text("h1", "cn001 booted");
    let call = last_call();
    assert!(call.starts_with("-i /etc/provost/continue.key -o BatchMode=yes "), "{call}");
    assert!(call.ends_with(" -- root@cn001 provost boot --continue"), "{call}");
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    let is_his = |line: &&str| line.contains("lee") && line.contains("  continue ");
    assert_eq!(audit.lines().filter(is_his).count(), 3, "{audit}");
    // What else its key is used for.
    let mut ssh = Command::new("/usr/bin/ssh");
    let ssh = ssh.args(["-F", &network.config(), "cn001", "provost boot --continue; id"]);
    assert_eq!(Out::from(ssh.output().unwrap()).expect(1).stderr.trim(), "refused");
}

#[test]
fn a_reader_is_offered_nothing_and_refused_all_without_javascript_as_well() {
    let (cluster, browser) = start(Screen { scripts: false, ..DESKTOP });
    log_in(&cluster, &browser, "ann", "read");
    browser.visit(&at(&cluster, "/nodes/cn001"));
    let page = browser.text("body");
    assert!(page.contains("cn001 defined") && !page.contains("Release"), "{page}");
    browser.visit(&at(&cluster, "/nodes/cn001/remove"));
    browser.until_text("main", "ann has the role read, and remove needs the role operate");
    cluster.ctl(&["show", "cn001"]).expect(0);
}
