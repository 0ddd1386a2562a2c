//! `provostctl.toml`: what each command line would need to say.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use provost_tests::{Cluster, Out, program};

const SITE: &str = "[groups.all]\nnodes = \"cn[1-4]\"\npostscripts = [\"hello\"]\n";

/// A management node whose provostctl.toml names all that commands need.
struct World(Cluster);

impl World {
    fn new() -> Self {
        let cluster = Cluster::new();
        cluster.script("hello", "#!/bin/sh\necho hello\n").site(SITE);
        let world = Self(cluster);
        // Relative to the file's folder.
        world.file("site = \"site.toml\"\nscripts = \"scripts\"\nkey = \"key/provost.key\"\nwww = \"www\"\n");
        world
    }

    fn file(&self, text: &str) {
        std::fs::write(self.0.path("provostctl.toml"), text).unwrap();
    }

    fn ctl(&self, line: &str) -> Out {
        self.ctl_with(line, &[])
    }

    /// Runs `provostctl LINE` with variables of the environment, in a folder that has none of the files.
    fn ctl_with(&self, line: &str, variables: &[(&str, &str)]) -> Out {
        let mut command = Command::new(program("provostctl"));
        command.args(line.split_whitespace()).current_dir("/");
        command.env("PROVOSTCTL_CONFIG", self.0.path("provostctl.toml"));
        command.envs(variables.iter().copied()).output().unwrap().into()
    }
}

#[test]
fn a_day_of_publishing_names_nothing_twice() {
    let world = World::new();
    let published = world.ctl("publish").expect(0).stdout;
    let www = world.0.www().display().to_string();
    assert!(published.starts_with(&format!("published generation 1 to {www}: ")), "{published}");

    world.ctl("channel set canary cn1").expect(0);
    assert_eq!(world.ctl("channel list").expect(0).stdout, "canary: cn1\n");
    world.0.script("hello", "#!/bin/sh\necho hello again\n");
    world.ctl("publish --to-channel canary").expect(0);
    world.ctl("promote canary").expect(0);
    world.ctl("rollback").expect(0);
    let history = world.ctl("history").expect(0).stdout;
    assert!(history.starts_with("generation 3, rolled back, for all nodes"), "{history}");
    world.ctl("channel remove canary").expect(0);

    assert!(world.ctl("plan cn1").expect(0).stdout.contains("hello  groups.all"));
    // What is published knows no more where it comes from than the history does.
    world.ctl(&format!("plan cn1 --to {www}")).expect(0);
    world.ctl("publish --lint-only").expect(0);

    let show = world.ctl("key show").expect(0).stdout;
    assert!(show.contains("signs"), "{show}");
    let next = world.0.path("next");
    world.ctl(&format!("key new --out {}", next.display())).expect(0);
    let rotate = format!("key rotate --next {}/provost.key", next.display());
    let hint = world.ctl(&rotate).expect(0).stderr;
    let set = format!("hint: set key = \"{}/provost.key\" in provostctl.toml", next.display());
    assert!(hint.contains(&set), "{hint}");
    let revoke = format!("key revoke {} --key {}/provost.key", world.0.key(), next.display());
    world.ctl(&revoke).expect(0);
}

#[test]
fn an_option_overrides_a_variable_and_that_the_file() {
    let world = World::new();
    let (by_variable, by_option) = (world.0.path("by-variable"), world.0.path("by-option"));
    let (by_variable, by_option) = (by_variable.to_str().unwrap(), by_option.to_str().unwrap());
    let variable = [("PROVOSTCTL_WWW", by_variable)];
    let to = |out: Out| out.expect(0).stdout.split([' ', ':']).nth(4).unwrap().to_owned();
    assert_eq!(to(world.ctl_with("publish", &[])), world.0.www().to_str().unwrap());
    assert_eq!(to(world.ctl_with("publish", &variable)), by_variable);
    assert_eq!(to(world.ctl_with(&format!("publish --to {by_option}"), &variable)), by_option);
    // An empty one says nothing.
    let empty = world.ctl_with("history", &[("PROVOSTCTL_WWW", "")]).expect(0).stdout;
    assert!(empty.starts_with("generation 1, "), "{empty}");
    // A variable doesn't contradict an option that stands for another choice.
    let site = world.0.path("site.toml");
    let site = [("PROVOSTCTL_SITE", site.to_str().unwrap())];
    world.ctl_with(&format!("plan cn1 --to {by_option}"), &site).expect(0);

    // The address of provostd: the file's, unless something else is named.
    world.file("admin = \"unix:/by-file.sock\"\n");
    let asked = |line: &str, variables: &[_]| world.ctl_with(line, variables).expect(1).stderr;
    assert!(asked("nodes", &[]).contains("at unix:/by-file.sock: "));
    let variable = [("PROVOSTCTL_ADMIN", "unix:/by-variable.sock")];
    assert!(asked("nodes", &variable).contains("at unix:/by-variable.sock: "));
    assert!(asked("nodes --admin unix:/o.sock", &variable).contains("at unix:/o.sock: "));
    let empty = ["ADMIN", "CA", "TOKEN_FILE", "KEY_PASSWORD_FILE"];
    let empty = empty.map(|name| (format!("PROVOSTCTL_{name}"), ""));
    let empty: Vec<_> = empty.iter().map(|(name, value)| (&**name, *value)).collect();
    assert!(asked("nodes", &empty).contains("at unix:/by-file.sock: "));
    assert!(world.ctl("nodes --help").expect(0).stdout.contains("unix:/by-file.sock]"));
}

#[test]
fn what_is_missing_is_named_with_each_way_to_say_it() {
    let world = World::new();
    world.file("site = \"site.toml\"\nwww = \"www\"\n");
    let file = world.0.path("provostctl.toml").display().to_string();
    let out = world.ctl("publish").expect(2);
    assert_eq!(
        out.stderr.lines().collect::<Vec<_>>(),
        [
            "provostctl: missing --scripts DIR, --key FILE",
            &format!(
                "  hint: name it: --scripts DIR, --key FILE; by the environment: PROVOSTCTL_SCRIPTS, \
                 PROVOSTCTL_KEY; or for all commands: scripts, key in {file}"
            ),
        ]
    );
    // What no file can say is as it was.
    world.ctl("promote").expect(2).says(&["<CHANNEL>", "Usage: "]);
}

#[test]
fn a_wrong_file_is_refused_with_the_line_and_no_help_needs_it() {
    let world = World::new();
    world.file("www = \"www\"\nsites = \"site.toml\"\n");
    let file = world.0.path("provostctl.toml").display().to_string();
    let says = [&*file, "line 2", "unknown field `sites`", "hint: correct it; its keys: site, "];
    for line in ["publish", "nodes", "plan cn1 --site /x"] {
        world.ctl(line).expect(2).says(&says);
    }
    for line in ["publish --help", "--help", "help", "help node-sets", "help publish"] {
        world.ctl(line).expect(0);
    }
    // Only a file that is named has to be there.
    std::fs::remove_file(&file).unwrap();
    world.ctl("history").expect(2).says(&[&file, "hint: name a readable file: PROVOSTCTL_CONFIG"]);
}

#[test]
fn an_answer_that_is_too_long_for_the_memory_is_refused() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let admin = format!("http://{}", server.local_addr().unwrap());
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9000000000000\r\n\r\n[").unwrap();
    });
    let out = Command::new(program("provostctl")).args(["nodes", "--admin", &admin]).output();
    answer.join().unwrap();
    Out::from(out.unwrap())
        .expect(1)
        .says(&["is longer than 1 GiB", "hint: name provostd's admin"]);
}
