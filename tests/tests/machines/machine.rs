//! A machine under QEMU's plain emulation, and what goes over its serial line.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use provost_tests::skip;
use tempfile::NamedTempFile;

use crate::emulator::{Emulator, X86_64};

/// The longest that a machine may take to say what is waited for: a boot takes 15 s of a processor
/// that it has for itself, and other work here takes its share of that.
const LONG: Duration = Duration::from_secs(900);

/// The kernel's arguments: nothing that costs an emulator time, a power-off rather than a wait
/// when the kernel panics.
const APPEND: &str = "quiet panic=-1 mitigations=off random.trust_cpu=on";

/// A machine that is on. It goes off with this, as if its power were cut.
pub(crate) struct Machine {
    qemu: Child,
    keyboard: ChildStdin,
    serial: Arc<Serial>,
    /// Read again at each reboot.
    _initrd: NamedTempFile,
    /// How much of the serial line has been waited for, in bytes.
    seen: usize,
}

#[derive(Default)]
struct Serial {
    line: Mutex<Line>,
    more: Condvar,
}

#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    off: bool,
}

/// What making an image takes.
const PROGRAMS: [&str; 4] = ["debootstrap", "cpio", "zstd", "mke2fs"];

/// Ends the test where no machine can be booted.
pub(crate) fn required() {
    required_of(&X86_64);
}

/// The same for a machine of another kind.
pub(crate) fn required_of(emulator: &Emulator) {
    if !rustix::process::geteuid().is_root() {
        skip("making a node's image takes root");
    }
    // A container's root may mount nothing.
    let unshared = Command::new("unshare").args(["--mount", "true"]).status();
    if !unshared.is_ok_and(|status| status.success()) {
        skip("making a node's image takes the right to mount");
    }
    let is_there = |name: &&str| {
        Command::new("sh")
            .args(["-c", "command -v $0", name])
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    let mut programs = [emulator.program].into_iter().chain(PROGRAMS);
    if let Some(name) = programs.find(|name| !is_there(name)) {
        skip(&format!("no {name}"));
    }
}

impl Machine {
    /// Switches on a machine that boots `kernel` with more `arguments` and `initrd`, and has `disks`.
    pub(crate) fn start(
        kernel: &Path,
        arguments: &str,
        initrd: NamedTempFile,
        disks: &[&Path],
    ) -> Self {
        Self::start_by(&X86_64, kernel, arguments, initrd, disks)
    }

    /// The same of another kind.
    pub(crate) fn start_by(
        emulator: &Emulator,
        kernel: &Path,
        arguments: &str,
        initrd: NamedTempFile,
        disks: &[&Path],
    ) -> Self {
        let disks: Vec<String> = disks
            .iter()
            .map(|disk| format!("file={},if=virtio,format=raw", disk.display()))
            .collect();
        let console = emulator.console;
        let mut qemu = Command::new(emulator.program)
            .args(["-accel", "tcg,thread=multi"])
            .args(emulator.machine)
            .args(["-smp", "1", "-m", "1024", "-nographic"])
            .arg("-kernel")
            .arg(kernel)
            .arg("-initrd")
            .arg(initrd.path())
            .args(["-append", &format!("console={console} {APPEND} {arguments}")])
            .args(["-netdev", "user,id=n0", "-device", "virtio-net-pci,netdev=n0,romfile="])
            .args(disks.iter().flat_map(|disk| ["-drive", disk]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("QEMU starts");
        let keyboard = qemu.stdin.take().unwrap();
        let mut screen = qemu.stdout.take().unwrap();
        let serial = Arc::new(Serial::default());
        let writer = Arc::clone(&serial);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                let n = screen.read(&mut bytes).unwrap_or(0);
                let mut line = writer.line.lock().unwrap();
                line.bytes.extend_from_slice(&bytes[..n]);
                line.off = n == 0;
                writer.more.notify_all();
                if n == 0 {
                    return;
                }
            }
        });
        Self { qemu, keyboard, serial, _initrd: initrd, seen: 0 }
    }

    /// Waits until the machine says `text`, after all that has been waited for. Returns what it
    /// said before that.
    #[track_caller]
    pub(crate) fn says(&mut self, text: &str) -> String {
        self.says_unless(text, None)
    }

    /// Waits until its boot has succeeded; ends the test as soon as it has failed.
    #[track_caller]
    pub(crate) fn boots(&mut self) {
        self.says_unless("boot succeeded", Some("boot FAILED"));
    }

    #[track_caller]
    fn says_unless(&mut self, text: &str, unless: Option<&str>) -> String {
        let at = self.find(text, self.seen, unless);
        let before = &self.serial.line.lock().unwrap().bytes[self.seen..at];
        self.seen = at + text.len();
        String::from_utf8_lossy(before).into_owned()
    }

    /// Waits until `text` is there, after the first `from` bytes, and ends the test if `unless` is. Returns where.
    #[track_caller]
    fn find(&self, text: &str, from: usize, unless: Option<&str>) -> usize {
        let until = Instant::now() + LONG;
        let mut line = self.serial.line.lock().unwrap();
        loop {
            let position = |text: &str| {
                let mut parts = line.bytes[from..].windows(text.len());
                parts.position(|part| part == text.as_bytes())
            };
            if let Some(at) = position(text) {
                return from + at;
            }
            let left = until.saturating_duration_since(Instant::now());
            let why = match unless {
                Some(other) if position(other).is_some() => format!("said {other:?}"),
                _ if line.off => "is off".to_owned(),
                _ if left.is_zero() => "is silent about it".to_owned(),
                _ => {
                    line = self.serial.more.wait_timeout(line, left).unwrap().0;
                    continue;
                }
            };
            drop(line); // the rest of the story is told at the end of the test
            panic!("the machine was to say {text:?}, and {why}");
        }
    }

    /// Where the firmware began the boot of which something has been waited for.
    fn switched_on(&self) -> usize {
        let firmware = b"SeaBIOS";
        let seen = &self.serial.line.lock().unwrap().bytes[..self.seen];
        seen.windows(firmware.len()).rposition(|part| part == firmware).unwrap_or(0)
    }

    /// Types a line.
    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("the machine is on");
    }

    /// Waits for this boot's login prompt and logs in as root. Returns what stood between that and
    /// the shell.
    #[track_caller]
    pub(crate) fn log_in(&mut self) -> String {
        // It may stand there already, with messages after it.
        self.find("login: ", self.switched_on(), None);
        self.types("root");
        let greeting = self.says("root@");
        // Nothing of a pager's or an editor's in what commands print.
        self.shell("export TERM=dumb");
        greeting
    }

    /// Runs a command at the prompt. Returns what it printed, and whether it succeeded.
    #[track_caller]
    pub(crate) fn shell(&mut self, command: &str) -> (String, bool) {
        // The line is echoed, once or twice; the quotes keep that from looking like the answer.
        self.types(&format!("echo be''gin; {command}; echo sta''tus=$?."));
        self.says("begin\r\n");
        let printed = self.says("status=").replace('\r', "");
        // What units print on the console comes in between: `[  194.495818] provost[524]: …`.
        let is_of_console = |line: &&str| {
            let time = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
            time.is_some_and(|(time, _)| time.trim().parse::<f64>().is_ok())
        };
        let printed = printed.split_inclusive('\n').filter(|line| !is_of_console(line)).collect();
        let status = self.says(".");
        (printed, status == "0")
    }

    /// All that it has said so far.
    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.serial.line.lock().unwrap().bytes).into_owned()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
        if thread::panicking() {
            eprintln!("the machine's serial line:\n{}\n(end of the serial line)", self.said());
        }
    }
}
