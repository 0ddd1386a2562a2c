//! Named pipes by which scripts and tests wait for each other.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::Duration;

use provost_tests::processes::ready;
use provost_tests::{Ground, pipe};

/// For what has to come before long.
pub(crate) const SOON: Duration = Duration::from_secs(5);

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
