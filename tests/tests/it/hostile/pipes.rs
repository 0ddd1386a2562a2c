//! Named pipes by which scripts and tests wait for each other.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::Duration;

use provost_tests::processes::ready;
use provost_tests::{Ground, Run, World, pipe};

/// For what has to come before long.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// Says that it has begun, waits for its go, and ends well.
pub(crate) const WAITS: &str = r#"#!/bin/sh
# /// provost
# timeout = "2s"
# ///
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
daemon=$!
echo $$ >"$PROVOST_TEST/begun"
read -r _ <"$PROVOST_TEST/go"
kill $daemon
"#;

/// Makes a named pipe and holds both of its ends, so that nobody blocks on opening it.
pub(crate) fn open_pipe(ground: &Ground, name: &str) -> File {
    let path = ground.path(name);
    pipe(&path);
    File::options().read(true).write(true).open(path).unwrap()
}

/// A line that somebody writes into `pipe` before long.
#[track_caller]
pub(crate) fn line(pipe: &File) -> String {
    let fd = OwnedFd::from(pipe.try_clone().unwrap());
    assert!(ready(&fd, SOON), "nobody writes");
    let mut text = [0; 100];
    let n = (&*pipe).read(&mut text).unwrap();
    String::from_utf8_lossy(&text[..n]).trim().to_owned()
}

/// Runs the node's only script. Returns with it having begun, its process id, and what lets it
/// go on.
pub(crate) fn begin(ground: &Ground, world: World, script: &str) -> (Run, i32, std::fs::File) {
    let (begun, go) = (open_pipe(ground, "begun"), open_pipe(ground, "go"));
    // The test may have been started with signals ignored, as nohup does.
    let by = ["env", "--default-signal=HUP,INT,TERM"];
    let run = ground.start_by(&by, world, &["run", script]);
    let pid = line(&begun).parse().unwrap();
    (run, pid, go)
}
