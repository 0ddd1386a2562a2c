//! What `provostctl snippet` prints goes through other programs before it runs: readers of their own
//! formats, and template engines, which must not take a piece of it for theirs.

use std::io::Write;
use std::process::{Command, Stdio};

use provost_tests::{Cluster, Out, go_template, missing, skip_part};
use serde_json::{Value, json};

use crate::kickstart::site;

const ALL: [&str; 8] =
    ["kickstart", "autoyast", "preseed", "subiquity", "agama", "sh", "cloud-init", "ignition"];

fn snippet(cluster: &Cluster, installer: &str, more: &[&str]) -> String {
    cluster.ctl(&[&["snippet", installer, "cn001"], more].concat()).expect(0).stdout
}

/// What `program` prints that gets `text`; none where it isn't here.
fn through(text: &str, package: &str, program: &[&str]) -> Option<String> {
    let mut child = Command::new(program[0])
        .args(&program[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let out = Out::from(child.wait_with_output().unwrap());
    if out.stderr.contains("ModuleNotFoundError") {
        skip_part(&format!("no {package}"));
        return None;
    }
    Some(out.expect(0).stdout)
}

const JINJA: &str = "import sys, jinja2
print(jinja2.Environment(keep_trailing_newline=True).from_string(sys.stdin.read()).render(), end='')";
const CHEETAH: &str = "import sys
from Cheetah.Template import Template
print(Template(sys.stdin.read()), end='')";
const MAKO: &str = "import sys
from mako.template import Template
print(Template(sys.stdin.read()).render(), end='')";
const GENSHI: &str = "import sys
from genshi.template import NewTextTemplate
print(NewTextTemplate(sys.stdin.read()).generate().render(encoding=None), end='')";
const ERB: &str = "require 'erb'; print ERB.new(STDIN.read, trim_mode: '-').result";

#[test]
fn a_snippet_goes_through_the_engines_that_carry_it_unchanged() {
    let (cluster, _root) = site("#!/bin/sh\n");
    for installer in ALL {
        let text = snippet(&cluster, installer, &[]);
        // Those of Jinja2, Go, Curtin, ERB.
        for mark in ["{{", "}}", "{%", "%}", "{#", "#}", "<%", "%>"] {
            assert!(!text.contains(mark), "{installer} has {mark}");
        }
        // xCAT's are #WORD:…#.
        let mut words = text.split('#').skip(1);
        let is_xcat = words.any(|after| {
            let word = after.trim_start_matches(|c: char| c.is_ascii_uppercase());
            word.len() < after.len() && word.starts_with(':')
        });
        assert!(!is_xcat, "{installer} has a mark of xCAT's");
        if let Some(out) = through(&text, "python3-jinja2", &["/usr/bin/python3", "-c", JINJA]) {
            assert_eq!(out, text, "{installer}");
        }
        if let Some(out) = go_template(&text, json!({})) {
            assert_eq!(out, text, "{installer} by Go");
        }
        if missing::program("ruby", "ruby").is_none() {
            let out = through(&text, "ruby", &["ruby", "-e", ERB]);
            assert_eq!(out.as_ref(), Some(&text), "{installer}");
        }
    }
}

#[test]
fn a_raw_snippet_comes_out_of_its_engine_as_it_is() {
    let (cluster, _root) = site("#!/bin/sh\n");
    let engines = [
        ("jinja", "python3-jinja2", JINJA),
        ("cheetah", "python3-cheetah", CHEETAH),
        ("mako", "python3-mako", MAKO),
        ("genshi", "python3-genshi", GENSHI),
    ];
    for installer in ALL {
        let plain = snippet(&cluster, installer, &[]);
        for (engine, package, program) in engines {
            let raw = snippet(&cluster, installer, &["--raw", engine]);
            let Some(out) = through(&raw, package, &["/usr/bin/python3", "-c", program]) else {
                continue;
            };
            assert_eq!(out.trim_end(), plain.trim_end(), "{installer} by {engine}");
        }
    }
}

#[test]
fn a_preseed_s_lines_are_one_command_that_installs() {
    let (cluster, root) = site("#!/bin/sh\n");
    let text = snippet(&cluster, "preseed", &["--token"]);
    assert!(text.contains("'fetch_program() {'"), "it can't be read: {text}");
    let file = cluster.path("preseed.cfg");
    std::fs::write(&file, text).unwrap();
    // As Debian's own reader takes it, with databases of its own.
    let database = cluster.path("debconf.dat");
    let at = |name: &str, file: &std::path::Path| {
        format!("\nName: {name}\nDriver: File\nFilename: {}\n", file.display())
    };
    let both = at("c", &database) + &at("t", &cluster.path("templates.dat"));
    let conf = cluster.path("debconf.conf");
    std::fs::write(&conf, format!("Config: c\nTemplates: t\n{both}")).unwrap();
    let mut read = Command::new("debconf-set-selections");
    read.arg(&file).env("DEBCONF_SYSTEMRC", conf);
    Out::from(read.output().unwrap()).expect(0);
    let database = std::fs::read_to_string(database).unwrap();
    let command = database.lines().find_map(|line| line.strip_prefix("Value: ")).unwrap();
    // Debian's in-target runs a command in the new root.
    let outside = "mkdir -p /target; ln -sfn /root /target/root\n";
    let command = command.replace("in-target", "in_target");
    root.sh(&format!("{outside}in_target() {{ \"$@\"; }}\n{command}")).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");
    assert!(!root.path("/root/provost-install.sh").exists());
}

#[test]
fn agama_and_any_other_installer_run_the_script_in_the_new_root() {
    let (cluster, root) = site("#!/bin/sh\n");
    let script = snippet(&cluster, "sh", &["--token"]);
    assert!(script.starts_with("#!/bin/sh\n"));
    root.sh(&script).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");

    let profile: Value = serde_json::from_str(&snippet(&cluster, "agama", &["--token"])).unwrap();
    let post = &profile["scripts"]["post"][0];
    assert_eq!(post["chroot"], true);
    root.sh(post["content"].as_str().unwrap()).expect(0);
}

/// The script in the data for cloud-init.
fn run_command(text: &str) -> String {
    assert!(text.starts_with("#cloud-config\n"), "{text}");
    let read = "import sys, json, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)";
    let Some(out) = through(text, "python3-yaml", &["/usr/bin/python3", "-c", read]) else {
        let block = text.split_once("  - |\n").unwrap().1;
        return block
            .lines()
            .map(|l| format!("{}\n", l.strip_prefix("    ").unwrap_or(l)))
            .collect();
    };
    let data: Value = serde_json::from_str(&out).unwrap();
    data["runcmd"][0].as_str().unwrap().to_owned()
}

#[test]
fn cloud_init_installs_and_boots_the_node_and_sees_what_failed() {
    let (cluster, root) = site("#!/bin/sh\n[ ! -e /root/broken ]\n");
    root.sh("touch /root/broken").expect(0);
    let script = run_command(&snippet(&cluster, "cloud-init", &["--token"]));
    root.sh(&script).expect(1).says(&["the kickstart FAILED with exit status 1", "setup"]);
    assert_eq!(cluster.status("cn001")["status"], "failed");
    root.sh("rm /root/broken").expect(0);
    root.sh(&script).expect(0);
    assert_eq!(root.text("/root/greeted"), "ran\n");
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn ignition_s_file_is_the_script_and_its_unit_runs_it_until_it_succeeded() {
    let (cluster, root) = site("#!/bin/sh\n");
    let text = snippet(&cluster, "ignition", &["--token"]);
    if missing::program("ignition-validate", "ignition").is_none() {
        let valid = through(&text, "ignition", &["ignition-validate", "-"]);
        assert_eq!(valid.as_deref(), Some(""));
    } else {
        skip_part("no ignition-validate (Debian's ignition)");
    }
    let config: Value = serde_json::from_str(&text).unwrap();
    let file = &config["storage"]["files"][0];
    assert_eq!(file["mode"], 0o600, "it may have a token");
    let source = file["contents"]["source"].as_str().unwrap();
    let script = percent_encoding::percent_decode_str(source.strip_prefix("data:,").unwrap());
    let path = file["path"].as_str().unwrap();
    root.sh("mkdir -p /etc/provost").expect(0);
    std::fs::write(root.path(path), script.collect::<Vec<u8>>()).unwrap();
    let unit = config["systemd"]["units"][0]["contents"].as_str().unwrap();
    let of = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    assert_eq!(of("ConditionPathExists="), path);
    // Where /usr is read-only, as on the systems that have Ignition.
    let usr = "mount --bind /usr /usr && mount -o remount,bind,ro /usr";
    root.sh(&format!("{usr} && {} && {}", of("ExecStart="), of("ExecStartPost="))).expect(0);
    assert!(!root.path(path).exists());
    assert_eq!(cluster.status("cn001")["status"], "booted");
    let boot = root.text("/etc/systemd/system/provost-boot.service");
    assert!(boot.contains("ExecStart=/opt/bin/provost boot\n"), "{boot}");
    root.sh("/opt/bin/provost boot").expect(0);
}

#[test]
fn a_snippet_for_a_node_that_is_not_published_says_so() {
    let (cluster, _root) = site("#!/bin/sh\n");
    let note = "note: cn999 isn't in what is published: its installation will fail";
    cluster.ctl(&["snippet", "kickstart", "cn999"]).expect(0).says(&[note]);
    let known = cluster.ctl(&["snippet", "kickstart", "cn001"]).expect(0).stderr;
    assert!(!known.contains("isn't in what is published"), "{known}");
}
