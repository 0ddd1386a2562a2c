//! `provostctl init`: a management node by one command, on a machine (a network) of its own.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use provost_tests::processes::until;
use provost_tests::{Cluster, Out, SOON, enter_own_network, program, repeats};
use tempfile::TempDir;

use crate::keys::minisign;

/// A machine that is to be one.
pub(crate) struct Machine {
    folder: TempDir,
    daemon: Option<Child>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), daemon: None }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program("provostctl"));
        command.env("PROVOSTCTL_CONFIG", self.path("etc/provostctl.toml"));
        command.args(args).current_dir("/").stdin(Stdio::null());
        command
    }

    fn init_command(&self, more: &[&str]) -> Command {
        let (dir, www) = (self.path("etc"), self.path("srv/www"));
        let args = ["init", "--dir", dir.to_str().unwrap(), "--www", www.to_str().unwrap()];
        let mut command = self.command(&[&args, more].concat());
        // It is what makes that file.
        command.env_remove("PROVOSTCTL_CONFIG");
        command
    }

    pub(crate) fn init(&self, more: &[&str]) -> Out {
        self.init_command(more).output().unwrap().into()
    }

    pub(crate) fn ctl(&self, line: &str) -> Out {
        self.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap().into()
    }

    /// Starts provostd as `init` says.
    pub(crate) fn start(&mut self, said: &str) {
        let line = said.split_once("\nstart provostd:\n").unwrap().1.lines().next().unwrap();
        let line = line
            .trim()
            .replace("provostd --config", &format!("{} --config", program("provostd").display()));
        let daemon =
            Command::new("sh").args(["-c", &format!("exec {line}")]).stderr(Stdio::null()).spawn();
        self.daemon = Some(daemon.unwrap());
        assert!(until(SOON, || self.path("etc/data/listen.json").exists()));
    }

    /// Each file, with what tells that it was changed.
    fn files(&self) -> BTreeMap<PathBuf, (u64, i64, u32)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let data = path.symlink_metadata().unwrap();
                if data.is_dir() {
                    folders.push(path.clone());
                } else if data.is_file() {
                    files.insert(path, (data.ino(), data.mtime_nsec(), data.permissions().mode()));
                }
            }
        }
        files
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// The files that an admin edits or keeps.
const FILES: [&str; 6] = [
    "provost.key",
    "provost.pub",
    "provostd.toml",
    "provostctl.toml",
    "site.toml",
    "postscripts/hello",
];

#[test]
fn one_command_makes_a_management_node_whose_nodes_have_identities() {
    enter_own_network("10.0.0.1/8");
    let mut machine = Machine::new();
    let out = machine.init(&["--address", "10.0.0.1", "--address", "a b"]).expect(2);
    out.says(&["\"a b\" is no address or host name", "hint: name one by which nodes reach"]);
    assert!(machine.files().is_empty(), "{:?}", machine.files());
    let listed = machine.init(&["--dry-run"]).expect(0).stdout;
    for name in ["provost.key", "provostd.toml", "provostctl.toml", "site.toml", "postscripts"] {
        let path = machine.path("etc").join(name);
        assert!(listed.contains(&format!("would write: {}", path.display())), "{listed}");
    }
    assert!(machine.files().is_empty() && !machine.path("etc").exists(), "{:?}", machine.files());

    let said = machine.init(&[]).expect(0).stdout;
    for text in [
        "published generation 1 to ",
        "provostd.toml: a start would work\n",
        "\nnodes reach this machine at http://10.0.0.1:8480\n",
        "/provost.key is root on every node: move it, or use --public-key\n",
        "etc/provostd.toml --to FILE\n",
        "by its configuration; in each shell:\n  export PROVOSTCTL_CONFIG=/",
        "\n  provostctl enroll open cn001\nas root on cn001:\n  curl -fsS \
         http://10.0.0.1:8480/install.sh -o install.sh\n  sh install.sh ",
        "then here:\n  provostctl wait-for cn001 --status booted\n",
    ] {
        assert!(said.contains(text), "{text:?} isn't in\n{said}");
    }
    for name in FILES {
        let path = machine.path("etc").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.contains('#') || name.starts_with("provost."),
            "{name} explains nothing: {text}"
        );
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(
            mode & 0o004 == 0,
            ["provost.key", "site.toml"].contains(&name),
            "{name}: {mode:o}"
        );
    }

    machine.start(&said);
    // Nothing has to be named any more.
    assert!(machine.ctl("plan cn001").expect(0).stdout.contains("hello"));
    assert!(machine.ctl("publish").expect(0).stdout.contains("is up to date"));
    let opened = machine.ctl("enroll open cn001 --for 1h").expect(0).stdout;
    let (_, on_node) = opened.split_once('\n').unwrap();
    assert!(said.contains(on_node), "init doesn't say {on_node}, but {said}");

    let public = std::fs::read_to_string(machine.path("etc/provost.pub")).unwrap();
    let key = public.lines().last().unwrap();
    let elsewhere = Cluster::new();
    let node = elsewhere.node_without_token("cn001");
    node.configure(&format!("servers = [\"http://10.0.0.1:8480\"]\n[trust]\nkeys = [{key:?}]\n"));
    // It has no token: the window gives it an identity.
    let settings = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let settings = settings.lines().filter(|line| !line.starts_with("token_file"));
    let settings = settings.collect::<Vec<_>>().join("\n");
    std::fs::write(node.path("provost.toml"), settings).unwrap();
    let boot = node.provost(&["boot"]).expect(0);
    assert!(boot.stderr.contains("hello: ok"), "{}", boot.stderr);
    machine.ctl("wait-for cn001 --status booted --timeout 1m").expect(0);
    let show = machine.ctl("show cn001 --format json").expect(0).json();
    assert!(show["identity"]["key"].is_string(), "{show}");

    // A second time, beside the daemon that runs.
    let before = machine.files();
    let again = machine.init(&[]).expect(0).stdout;
    let etc = machine.path("etc");
    for name in ["provost.key", "provostd.toml", "provostctl.toml", "site.toml", "postscripts"] {
        let line = format!("exists: {}", etc.join(name).display());
        assert!(again.lines().any(|shown| shown == line), "{line} isn't in\n{again}");
    }
    assert!(!again.contains("wrote: ") && !again.contains("published "), "{again}");
    let own = |path: &&PathBuf| !path.starts_with(etc.join("data"));
    let kept: Vec<_> = before.iter().filter(|(path, _)| own(path)).collect();
    let after = machine.files();
    assert_eq!(kept, after.iter().filter(|(path, _)| own(path)).collect::<Vec<_>>());

    // The key may be moved: no other is made in its place.
    std::fs::rename(etc.join("provost.key"), machine.path("safe.key")).unwrap();
    let moved = machine.init(&[]).expect(0).stdout;
    assert!(moved.contains("provost.pub, and its key is elsewhere\n"), "{moved}");
    assert!(
        !moved.contains("is root on every node") && !etc.join("provost.key").exists(),
        "{moved}"
    );
}

#[test]
fn an_init_that_was_killed_goes_on_and_leaves_no_half_of_a_file() {
    enter_own_network("10.0.0.1/8");
    let whole = Machine::new();
    whole.init(&[]).expect(0);
    for at in 0..repeats(12, 200) {
        let machine = Machine::new();
        let mut child =
            machine.init_command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Any moment will do.
        std::thread::sleep(Duration::from_millis(u64::try_from(at).unwrap() * 7));
        let _ = child.kill();
        child.wait().unwrap();
        for name in FILES {
            let there = std::fs::metadata(machine.path("etc").join(name));
            let right = std::fs::metadata(whole.path("etc").join(name)).unwrap();
            // The texts have the temporary folder's path, which is as long everywhere.
            assert!(there.is_err() || there.unwrap().len() == right.len(), "{name} is cut off");
        }
        machine.init(&[]).expect(0);
        for name in FILES {
            assert!(machine.path("etc").join(name).exists(), "{name} after a kill");
        }
        assert!(machine.path("srv/www/manifest.toml").exists());
    }
}

#[test]
fn of_two_at_once_the_second_finds_what_the_first_has_made() {
    enter_own_network("10.0.0.1/8");
    for _ in 0..repeats(3, 50) {
        let machine = Machine::new();
        let both = [(); 2].map(|()| {
            let mut init = machine.init_command(&[]);
            init.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        let both = both.map(|init| Out::from(init.wait_with_output().unwrap()).expect(0).stdout);
        let wrote = both.each_ref().map(|said| said.matches("wrote: ").count());
        assert!(wrote.contains(&0) && wrote[0] != wrote[1], "{both:#?}");
    }
}

#[test]
fn what_is_there_is_used_and_what_is_wrong_is_named() {
    enter_own_network("10.0.0.1/8");
    let machine = Machine::new();
    let (etc, site) = (machine.path("etc"), machine.path("own-site.toml"));
    std::fs::create_dir(&etc).unwrap();
    std::fs::write(&site, "[nodes.login]\n").unwrap();
    let names = format!("site = {site:?}\n");
    std::fs::write(etc.join("provostctl.toml"), names).unwrap();
    std::fs::write(
        etc.join("provostd.toml"),
        "www = \"../other\"\ndata = \"data\"\nlisten = \"10.0.0.1:9000\"\n",
    )
    .unwrap();
    let out = machine.init(&[]).expect(2);
    out.says(&["provostd.toml says www = ", "hint: leave out --www, or correct the file"]);
    let dir = etc.to_str().unwrap();
    let mut command = machine.command(&["init", "--dir", dir]);
    let out = Out::from(command.env_remove("PROVOSTCTL_CONFIG").output().unwrap()).expect(0);
    assert!(out.stdout.contains(&format!("exists: {}", site.display())), "{}", out.stdout);
    assert!(machine.path("other/plans/login.toml").exists() && !etc.join("site.toml").exists());

    // Another program has the port: provostd's own words, and exit status 2.
    let taken = std::net::TcpListener::bind("10.0.0.1:9000").unwrap();
    let mut command = machine.command(&["init", "--dir", dir]);
    let out = Out::from(command.env_remove("PROVOSTCTL_CONFIG").output().unwrap()).expect(2);
    out.says(&[
        "provostd: listening on 10.0.0.1:9000 (listen)",
        "provostd wouldn't start",
        "it continues from here",
    ]);
    drop(taken);
}

#[test]
fn a_key_may_have_a_password_or_sign_elsewhere() {
    enter_own_network("10.0.0.1/8");
    let machine = Machine::new();
    let password = machine.path("password");
    std::fs::write(&password, "geheim\n").unwrap();
    machine.init(&["--key-password", "--key-password-file", password.to_str().unwrap()]).expect(0);
    let sealed = std::fs::read_to_string(machine.path("etc/provost.key")).unwrap();
    assert!(sealed.lines().nth(1).unwrap().starts_with("RWRTY"), "{sealed}");
    // Without its password there is nothing to publish with.
    machine.ctl("publish --refresh").expect(1);

    let machine = Machine::new();
    let elsewhere = Cluster::new();
    let public = elsewhere.path("token.pub");
    minisign(&elsewhere, &["-G", "-W", "-p", "token.pub", "-s", "token.key"], "").expect(0);
    let missing = machine.init(&["--public-key", public.to_str().unwrap()]).expect(2);
    missing.says(&["missing --sign-command CMD"]);
    let sign =
        format!("minisign -S -s '{}' -m \"$1\" -t \"$2\"", elsewhere.path("token.key").display());
    for more in [&["--dry-run"][..], &[]] {
        let none = ["--public-key", "/no/such.pub", "--sign-command", &sign];
        let none = machine.init(&[&none, more].concat()).expect(2);
        none.says(&["reading the public key /no/such.pub: there is none", "--public-key FILE"]);
    }

    let by = ["--public-key", public.to_str().unwrap(), "--sign-command", &sign];
    let said = machine.init(&by).expect(0).stdout;
    assert!(!said.contains("is root on every node"), "{said}");
    assert!(!machine.path("etc/provost.key").exists());
    // The command signs from now on, without being named again.
    let hello = machine.path("etc/postscripts/hello");
    std::fs::write(&hello, std::fs::read_to_string(&hello).unwrap() + "echo more\n").unwrap();
    assert!(machine.ctl("publish").expect(0).stdout.contains("published generation 2"));
    let files = machine.files();
    assert!(!machine.init(&[]).expect(0).stdout.contains("wrote: "));
    assert_eq!(machine.files(), files);
}
