//! `cargo xtask demo`: the whole way through the product, on this machine, in one folder.

mod ground;
mod site;
mod wait;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::cargo;
use ground::{Ended, Ground};

/// Tells the story and checks that it goes as it should. With `keep` the server stays up.
pub(crate) fn run(keep: bool) -> Result<()> {
    ensure!(cargo::is_there("make"), "the build needs make, not found; hint: apt-get install make");
    println!("Building provost, provostd and provostctl.");
    let bins = ["--workspace", "--bin", "provost", "--bin", "provostd", "--bin", "provostctl"];
    let demo = Demo { programs: cargo::build(&bins, &[])?, ground: Ground::new()? };
    let told = demo.tell();
    if keep { demo.keep(told) } else { told.map(drop) }
}

struct Demo {
    programs: BTreeMap<String, PathBuf>,
    ground: Ground,
}

/// Where the daemon is.
struct Server {
    pid: u32,
    nodes: String,
    admin: String,
}

impl Demo {
    fn tell(&self) -> Result<Server> {
        println!("\n## A management node, in {}", self.folder().display());
        let server = self.management_node()?;
        println!("\n## A node, whose root is {}", self.root().display());
        self.node(&server)?;
        println!("\n## The same with one script broken");
        self.broken()?;
        println!("\nAll of it went as it should.");
        Ok(server)
    }

    /// A key, a site, what nodes will fetch, and the daemon.
    fn management_node(&self) -> Result<Server> {
        site::copy_postscripts(&self.folder().join("scripts"))?;
        self.well("provostctl key new --out key")?;
        self.show("site.toml", &site::site_toml(&self.root()))?;
        self.publish("")?;
        self.show("provostd.toml", &site::provostd_toml(self.folder()))?;

        println!("$ provostd --config provostd.toml &");
        let pid = self
            .ground
            .serve(&mut self.command("provostd --config provostd.toml")?, "provostd.log")?;
        let listen = self.folder().join("data/listen.json");
        let listen: Value = serde_json::from_slice(&fs::read(&listen)?)
            .with_context(|| format!("reading {}", listen.display()))?;
        let address = |name: &str| text(&listen[name]).to_owned();
        let server = Server { pid, nodes: address("nodes"), admin: address("admin") };
        println!("serving nodes at {} and admins at {}", server.nodes, server.admin);

        // Nodes have identities, over TLS, from the first boot on.
        let tls = self.quietly("provostd --config provostd.toml ca show --tls")?.text;
        println!("$ provostd --config provostd.toml ca show --tls\n{tls}");
        self.publish(&format!(" --tls {}", tls.trim()))?;
        Ok(server)
    }

    /// The first boot of a node, which ends well.
    fn node(&self, server: &Server) -> Result<()> {
        self.well("provostctl enroll open cn001")?;

        let key = fs::read_to_string(self.folder().join("key/provost.pub"))?;
        let key = key.lines().last().unwrap_or_default();
        let text = site::provost_toml(&self.root(), &server.nodes, key);
        self.show("provost.toml", &text)?;
        fs::create_dir(self.root())?;

        self.well("provost boot")?;
        self.well("provostctl nodes")?;
        let nodes = self.json("provostctl nodes --format json")?;
        expect("the node's status", &nodes[0]["status"], "booted")?;
        let shown = self.json("provostctl show cn001 --format json")?;
        ensure!(shown["identity"]["key"].is_string(), "the node has no identity");
        let name = fs::read_to_string(self.root().join("etc/hostname"))?;
        expect("the node's /etc/hostname", &name.trim().into(), "cn001")?;
        ensure!(self.root().join("etc/motd.d/50-node").is_file(), "the postbootscript did not run");
        Ok(())
    }

    /// A boot that fails, and how its cause is found.
    fn broken(&self) -> Result<()> {
        println!("$ cat >>scripts/setupntp\n{}", site::CHANGE);
        let line = site::break_script(&self.folder().join("scripts/setupntp"))?;
        self.publish("")?;
        let boot = self.shown("provost boot")?;
        println!("(exit status {})", boot.status.code().unwrap_or(-1));
        ensure!(boot.status.code() == Some(1), "provost ended with {}, not with 1", boot.status);

        self.well("provostctl nodes")?;
        self.well("provostctl show cn001")?;
        let why = self.well("provostctl why cn001")?.text;
        ensure!(why.contains("bundle      1 -> 2"), "why doesn't name the new bundle");
        ensure!(
            why.contains("\n+install_keys() {\n") || why.contains("\n+    install -m 0640"),
            "why lacks the diff"
        );
        let log = self.well("provostctl log cn001 setupntp")?.text;
        ensure!(log.contains("chrony.keys"), "the log lacks the command's message");
        self.check_failure(line)
    }

    /// What a program is told of the failure.
    fn check_failure(&self, line: usize) -> Result<()> {
        let nodes = self.json("provostctl nodes cn001 --format json")?;
        let node = &nodes[0];
        expect("the node's status", &node["status"], "failed")?;
        expect("the failed stage", &node["stage"], "setupntp")?;
        expect("the cause", &node["cause"], "exit")?;
        ensure!(node["exitCode"] == 1, "the exit status is {}, not 1", node["exitCode"]);
        let place = format!("{line} install_keys ");
        ensure!(text(&node["errorLine"]).starts_with(&place), "the place is {}", node["errorLine"]);
        ensure!(text(&node["hint"]).contains("put the keys into"), "the hint is {}", node["hint"]);

        let shown = self.json("provostctl show cn001 --format json")?;
        let records =
            shown["runs"][0]["records"].as_array().context("reading the run's records")?;
        let failed = records.iter().find(|r| r["stage"] == "setupntp" && r["result"] == "failure");
        let command = text(&failed.context("looking for the failed stage")?["command"]);
        ensure!(command.starts_with("install -m 0640"), "the command is {command:?}");
        let last = records.last().context("looking for the run's end")?;
        ensure!(
            last["notRun"] == serde_json::json!(["syslog", "motd"]),
            "what did not run is {}",
            last["notRun"]
        );
        Ok(())
    }

    fn publish(&self, more: &str) -> Result<Ended> {
        let line =
            "provostctl publish --site site.toml --scripts scripts --key key/provost.key --to www";
        self.well(&format!("{line}{more}"))
    }

    /// Leaves all in place, and says what can be done with it.
    fn keep(self, told: Result<Server>) -> Result<()> {
        let folder = self.folder().display().to_string();
        let bin = self.programs.values().next().and_then(|p| p.parent()).unwrap_or(Path::new(""));
        match &told {
            Err(_) => println!("\nKept as it is: {folder}"),
            Ok(server) => println!(
                "
The server stays up: process {}, nodes at http://{}, admins at http://{}.
Try, in a shell:

  cd {folder}
  export PATH={}:$PATH PROVOST_CONFIG=$PWD/provost.toml PROVOSTCTL_ADMIN=unix:$PWD/data/admin.sock
  provost status                       # what the node says of itself
  provostctl show cn001 --format json
  mkdir -p node/srv/ntp && touch node/srv/ntp/chrony.keys && provost boot && provostctl nodes

The end: kill {} && rm -r {folder}",
                server.pid,
                server.nodes,
                server.admin,
                bin.display(),
                server.pid,
            ),
        }
        self.ground.leave();
        told.map(drop)
    }

    fn folder(&self) -> &Path {
        self.ground.folder()
    }

    fn root(&self) -> PathBuf {
        self.folder().join("node")
    }

    /// Writes a file into the folder and shows it.
    fn show(&self, name: &str, text: &str) -> Result<()> {
        println!("$ cat {name}\n{text}");
        Ok(fs::write(self.folder().join(name), text)?)
    }

    /// The command that a user would type as `line`, with what it needs in its environment.
    fn command(&self, line: &str) -> Result<Command> {
        let mut words = line.split(' ');
        let program = words.next().unwrap_or_default();
        let path = self.programs.get(program);
        let mut command = Command::new(path.with_context(|| format!("{program} was not built"))?);
        command
            .args(words)
            .env("PROVOST_CONFIG", self.folder().join("provost.toml"))
            .env("PROVOSTCTL_ADMIN", format!("unix:{}/data/admin.sock", self.folder().display()));
        Ok(command)
    }

    fn shown(&self, line: &str) -> Result<Ended> {
        println!("$ {line}");
        let ended = self.ground.run(&mut self.command(line)?, true)?;
        println!();
        Ok(ended)
    }

    /// Runs `line` as a user would see it; it has to succeed.
    fn well(&self, line: &str) -> Result<Ended> {
        ended_well(line, self.shown(line)?)
    }

    fn quietly(&self, line: &str) -> Result<Ended> {
        ended_well(line, self.ground.run(&mut self.command(line)?, false)?)
    }

    fn json(&self, line: &str) -> Result<Value> {
        let text = self.quietly(line)?.text;
        serde_json::from_str(&text).with_context(|| format!("reading what {line} printed:\n{text}"))
    }
}

fn ended_well(line: &str, ended: Ended) -> Result<Ended> {
    ensure!(ended.status.success(), "{line}: {}", ended.status);
    Ok(ended)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn expect(what: &str, is: &Value, should_be: &str) -> Result<()> {
    if is != should_be {
        bail!("{what} is {is}, not {should_be:?}");
    }
    Ok(())
}
