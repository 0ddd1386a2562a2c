//! dist/examples/with: the pieces for other systems, run with stand-ins for what these have.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Out, go_template, missing, program, skip_part};
use serde_json::json;
use tempfile::TempDir;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/examples/with").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(sample(name)).unwrap()
}

/// Runs `script` by sh with the programs of `bin` before all others.
fn sh(script: &str, bin: &Path) -> Out {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    Command::new("sh").args(["-c", script]).env("PATH", path).output().unwrap().into()
}

fn stand_in(bin: &Path, name: &str, script: &str) {
    let path = bin.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn confluent_reports_a_node_as_done_only_when_provost_succeeded() {
    let bin = TempDir::new().unwrap();
    for (status, reported) in
        [(0, "n1 provost-install.sh\nreported\n"), (1, "n1 provost-install.sh\n")]
    {
        // Confluent's own function.
        let function = format!("run_remote() {{ echo $PROVOST_NODE $1; return {status}; }}");
        let post = format!("nodename=n1\n{function}\n{}echo reported\n", text("confluent-post"));
        assert_eq!(sh(&post, bin.path()).expect(status).stdout, reported);

        let start = format!("[ \"$*\" = 'start provost-boot' ] && exit {status}");
        stand_in(bin.path(), "systemctl", &start);
        let first_boot = format!("{}echo reported\n", text("confluent-firstboot"));
        let said = sh(&first_boot, bin.path()).expect(status).stdout;
        assert_eq!(said == "reported\n", status == 0);
    }
}

#[test]
fn fai_stops_when_the_script_failed() {
    let folder = TempDir::new().unwrap();
    let (here, bin) = (folder.path().display(), folder.path().join("bin"));
    for at in ["bin", "files", "target/root"] {
        fs::create_dir_all(folder.path().join(at)).unwrap();
    }
    // FAI's ROOTCMD is a chroot into the new root.
    let chroot = format!("shift; exec sh {here}/target/$1");
    stand_in(&bin, "in-root", &chroot);
    let run = |run_by: &str, script: &str| {
        fs::write(folder.path().join("files/provost.sh"), script).unwrap();
        let variables = "LOGDIR={here} FAI={here} target={here}/target ROOTCMD=in-root HOSTNAME=n1";
        let variables = variables.replace("{here}", &here.to_string());
        sh(&format!("env {variables} {}", run_by.replace("{here}", &here.to_string())), &bin)
    };
    let alone = format!("sh {}", sample("fai-script").display());
    assert_eq!(run(&alone, "echo $PROVOST_NODE").expect(0).stdout, "n1\n");
    run(&alone, "exit 3").expect(1);
    let is_left = || folder.path().join("target/root/provost.sh").exists();
    assert!(!is_left(), "it may have a token");

    if let Some(missing) = missing::program("fai-do-scripts", "fai-client") {
        return skip_part(&missing);
    }
    let class = folder.path().join("scripts/PROVOST");
    fs::create_dir_all(&class).unwrap();
    fs::copy(sample("fai-script"), class.join("90-provost")).unwrap();
    fs::set_permissions(class.join("90-provost"), fs::Permissions::from_mode(0o755)).unwrap();
    // As FAI's task does it, with its own functions.
    let task = "classes=PROVOST STOP_ON_ERROR=700 bash -c '. /usr/lib/fai/subroutines
        sendmon() { :; }
        die() { echo \"FAI: $*\"; exit 1; }
        taskname=configure; echo 0 >$LOGDIR/task_error; echo 0 >$LOGDIR/task_local_error
        task_configure; echo FAI goes on'";
    let said = run(task, "echo $PROVOST_NODE").expect(0).stdout;
    assert!(said.contains("PROVOST/90-provost") && said.ends_with("FAI goes on\n"), "{said}");
    let said = run(task, "exit 3").expect(1).stdout;
    assert!(said.ends_with("FAI: FATAL ERROR. Installation stopped.\n"), "{said}");
    assert!(!is_left(), "it may have a token");
}

#[test]
fn warewulf_s_templates_make_a_configuration_that_provost_reads() {
    let folder = TempDir::new().unwrap();
    let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let node = json!({ "Id": "cn001", "Ipaddr": "10.0.0.1", "Tags": { "provost_key": key } });
    let Some(made) = go_template(&text("warewulf/provost.toml.ww"), node.clone()) else { return };
    let file = folder.path().join("provost.toml");
    fs::write(&file, made).unwrap();
    let check = Command::new(program("provost")).arg("--config").arg(&file).arg("check").output();
    let shown = Out::from(check.unwrap()).stdout;
    assert!(shown.contains("cn001") && shown.contains("http://10.0.0.1:8480"), "{shown}");

    // Warewulf's own function.
    let link = text("warewulf/provost-boot.service.ww").replace("softlink", "printf \"to %s\"");
    let link = go_template(&link, node).unwrap();
    let to = link.trim().strip_prefix("to ").unwrap();
    assert_eq!(Path::new(to).file_name(), sample("x/../provost-boot.service").file_name());
}

#[test]
fn slurmd_waits_for_a_run_that_succeeded() {
    let conf = text("slurmd.conf");
    let command = conf.lines().find_map(|line| line.strip_prefix("ExecStartPre=")).unwrap();
    let args: Vec<&str> = command.strip_prefix("/usr/bin/provost ").unwrap().split(' ').collect();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("provost.toml");
    fs::write(&file, format!("[paths]\nstate = {0:?}\nlog = {0:?}\n", folder.path())).unwrap();
    let mut waits = Command::new(program("provost"));
    let out = waits.arg("--config").arg(&file).args(&args).output().unwrap();
    assert!(Out::from(out).expect(0).stdout.contains("no run yet"));
}
