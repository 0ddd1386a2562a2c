//! `provost install --xcat`: callers of xCAT's programs on this node come here. It makes files and links
//! only, so that it works in an image, too; each has a mark, by which `--remove` finds it.

use std::io;
use std::path::{Path, PathBuf};

use provost_node::failure::Failure;
use provost_node::finding::Finding;
use provost_node::install::{UNITS, put, put_link, this_program};
use provost_node::observe::console::complain;
use provost_node::settings::{Input, Origin, Paths};
use provost_node::state::root::is_unfinished;
use provost_record::ExitCode;

use crate::handover;

/// The programs of xCAT's that our command of the same name replaces: what its boot unit calls on each
/// boot, and on the first one of a node that it has installed.
const PROGRAMS: [&str; 2] = ["xcatdsklspost", "xcatinstallpost"];
/// The suffix of what was there before.
const ASIDE: &str = ".xcat";
/// The mark, in the first or the second line of each file.
const MARK: &str =
    "# Put here by provost install --xcat; provost install --remove takes it away.\n";
/// xCAT's boot unit, and what enables it on older systems.
const OF_XCAT: [&str; 2] = ["systemd/system/xcatpostinit1.service", "init.d/xcatpostinit1"];
const UNIT: &str = "systemd/system/provost-xcat.service";
const WANTED: &str = "systemd/system/multi-user.target.wants";

/// What xCAT does, key by key, in a drop-in of the configuration.
const AS_XCAT: (&str, &str) =
    ("as-xcat.toml", include_str!("../../../../dist/examples/provost.d/as-xcat.toml"));

/// Puts the files in their places, or removes them. With `as_xcat` the configuration is xCAT's as well.
pub fn main(input: &Input, remove: bool, as_xcat: bool) -> ExitCode {
    let done = match Installation::of(input) {
        Ok(installation) if remove => installation.remove(),
        Ok(installation) => installation.install(input, as_xcat),
        Err(failure) => Err(failure),
    };
    match done {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

/// Where the files are, and what they call.
struct Installation {
    xcat: PathBuf,
    xcatpost: PathBuf,
    etc: PathBuf,
    /// The drop-in with xCAT's own ways.
    as_xcat: PathBuf,
    program: PathBuf,
    /// The program, with the configuration file that was named.
    command: String,
    /// Whether a kickstart of this root has begun and not succeeded, so that it doesn't boot as a
    /// diskless one does.
    is_unfinished: bool,
}

impl Installation {
    fn of(input: &Input) -> Result<Self, Failure> {
        let paths = input.paths();
        let program = this_program().map_err(|e| {
            let hint = "call it by its path: /usr/bin/provost";
            Failure::local("finding this program's own file", hint).caused_by(e)
        })?;
        let mut command = quoted(&program);
        let (config, origin) = input.config();
        let as_xcat = config.with_extension("d").join(AS_XCAT.0);
        if *origin != Origin::Default {
            let config = std::path::absolute(config).map_err(|e| failed(config, e))?;
            command += &format!(" --config {}", quoted(&config));
        }
        let is_unfinished = is_unfinished(&paths);
        let Paths { xcat, xcatpost, etc, .. } = paths;
        Ok(Self { xcat, xcatpost, etc, as_xcat, program, command, is_unfinished })
    }

    fn install(&self, input: &Input, as_xcat: bool) -> Result<(), Failure> {
        if as_xcat {
            self.put_as_xcat().map_err(|e| failed(&self.as_xcat, e))?;
        }
        for name in PROGRAMS {
            let path = self.xcat.join(name);
            // A node that xCAT hasn't installed has only the first.
            if name == PROGRAMS[0] || path.exists() {
                self.put_wrapper(name, &path).map_err(|e| failed(&path, e))?;
            }
        }
        hand_over(&self.xcatpost, &self.xcat).map_err(|e| failed(&self.xcatpost, e))?;
        self.enable_at_boot().map_err(|e| failed(&self.etc.join(UNIT), e))?;
        let program = self.program.display();
        complain(&format!(
            "to go back: provost install --remove; or remove {program}, and what was there before \
             runs as it did"
        ));
        for failure in input.usable().1 {
            complain(&format!("note: nothing will run yet: {failure}"));
        }
        Ok(())
    }

    /// One that is there already stays: an admin may have taken lines away.
    fn put_as_xcat(&self) -> io::Result<()> {
        let path = self.as_xcat.display();
        if self.as_xcat.symlink_metadata().is_ok() {
            complain(&format!("{path} is there already, and stays as it is"));
            return Ok(());
        }
        put(&self.as_xcat, format!("{MARK}{}", AS_XCAT.1).as_bytes(), 0o644)?;
        complain(&format!(
            "{path} has runs go on as xCAT's do: each of its lines says what it gives up"
        ));
        Ok(())
    }

    /// At every instant there is a program at `path`, the old one or the new one.
    fn put_wrapper(&self, name: &str, path: &Path) -> io::Result<()> {
        let aside = aside(path);
        let text = format!(
            "#!/bin/sh\n{MARK}# Without the program, what was here before runs as it did.\n\
             [ -x {program} ] && exec {command} {name} \"$@\"\nexec {aside} \"$@\"\n",
            program = quoted(&self.program),
            command = self.command,
            aside = quoted(&aside),
        );
        let mut kept = String::new();
        if path.symlink_metadata().is_ok() && !is_ours(path) {
            remove_file(&aside)?;
            std::fs::hard_link(path, &aside)?;
            kept = format!("; what was there is kept as {}", aside.display());
        }
        put(path, text.as_bytes(), 0o755)?;
        complain(&format!("{} calls {}{kept}", path.display(), self.program.display()));
        Ok(())
    }

    /// Makes sure that one unit calls it at boot.
    fn enable_at_boot(&self) -> io::Result<()> {
        let ours = self.etc.join(format!("{WANTED}/provost-boot.service"));
        let (of_xcat, ours) = (has_boot_unit(&self.etc), ours.symlink_metadata().is_ok());
        if !of_xcat && !ours && self.is_unfinished {
            complain(
                "at boot nothing calls it, because the kickstart of this root failed: \
                 provost status; fix that, then run `provost kickstart` again",
            );
            return Ok(());
        }
        match (of_xcat, ours) {
            (true, true) => complain(
                "at boot xCAT's unit xcatpostinit1 calls it, and provost-boot runs the same \
                 scripts again: systemctl disable provost-boot",
            ),
            (true, false) => complain("at boot xCAT's unit xcatpostinit1 calls it"),
            (false, true) => complain("at boot provost-boot runs, as before"),
            (false, false) => {
                let unit = self.etc.join(UNIT);
                put(&unit, self.unit().as_bytes(), 0o644)?;
                put_link(&unit, &self.link())?;
                complain(&format!("at boot {} calls it", unit.display()));
            }
        }
        Ok(())
    }

    /// The unit of a boot without xCAT, except for the command.
    fn unit(&self) -> String {
        let (program, wanted) = (self.program.display(), self.etc.join(WANTED));
        // Others may be enabled later.
        let others = ["provost-boot", "xcatpostinit1"]
            .map(|name| format!("ConditionPathExists=!{}/{name}.service\n", wanted.display()));
        let condition = format!("\n[Unit]\nConditionPathExists={program}\n{}", others.concat());
        let command = format!("{} xcatdsklspost", self.command);
        let boot = UNITS[0].1.replace("\n[Unit]\n", &condition);
        format!("{MARK}{}", boot.replace("/usr/bin/provost boot", &command))
    }

    fn link(&self) -> PathBuf {
        self.etc.join(WANTED).join("provost-xcat.service")
    }

    fn remove(&self) -> Result<(), Failure> {
        for name in PROGRAMS {
            let path = self.xcat.join(name);
            restore(&path).map_err(|e| failed(&path, e))?;
        }
        handover::take_line(&self.xcatpost).map_err(|e| failed(&self.xcatpost, e))?;
        if is_ours(&self.as_xcat) {
            remove_file(&self.as_xcat).map_err(|e| failed(&self.as_xcat, e))?;
            complain(&format!("{} is removed", self.as_xcat.display()));
        }
        let unit = self.etc.join(UNIT);
        if is_ours(&unit) {
            let removed = remove_file(&self.link()).and_then(|()| remove_file(&unit));
            removed.map_err(|e| failed(&unit, e))?;
            complain(&format!("{} is removed", unit.display()));
        }
        // Those with other files in them stay.
        let wanted = self.etc.join(WANTED);
        let drop_ins = self.as_xcat.parent();
        let made = wanted.ancestors().take(3).chain([self.xcat.as_path()]).chain(drop_ins);
        made.for_each(|folder| std::fs::remove_dir(folder).unwrap_or_default());
        Ok(())
    }
}

/// Whether xCAT's own unit calls its programs at boot.
pub(crate) fn has_boot_unit(etc: &Path) -> bool {
    OF_XCAT.iter().any(|path| etc.join(path).symlink_metadata().is_ok())
        || Path::new("/usr/lib").join(OF_XCAT[0]).exists()
}

/// What is wrong with an installation; none where nothing is installed. Whatever has made xCAT's files
/// anew since has taken our place.
pub fn check(paths: &Paths) -> Option<Finding> {
    let Paths { xcat, xcatpost, .. } = paths;
    let wrapper = xcat.join(PROGRAMS[0]);
    let replaced = |name: &&str| {
        let path = xcat.join(name);
        aside(&path).symlink_metadata().is_ok() && !is_ours(&path)
    };
    let lost = |whose: &str, why: String| {
        let message = format!("the next {whose} will be xCAT's own: {why}");
        Finding::failed("install", &Failure::config(message, "run: provost install --xcat"))
    };
    if let Some(name) = PROGRAMS.into_iter().find(replaced) {
        let path = xcat.join(name);
        return Some(lost("boot", format!("{} is xCAT's again", path.display())));
    }
    if !is_ours(&wrapper) {
        return None;
    }
    let library = xcatpost.join("xcatlib.sh");
    if library.is_symlink() {
        let why = "an updatenode is xCAT's own: the management node has no xcatlib.sh, by which it \
                   would come here";
        return Some(Finding::note("install", why, "run scripts on the node: provost run -P LIST"));
    }
    if !handover::has_line(xcatpost, &quoted(&wrapper)) {
        let why = format!("{} doesn't lead to {}", library.display(), wrapper.display());
        return Some(lost("updatenode", why));
    }
    Some(Finding::ok("install", "xCAT's boot unit and updatenode call provost"))
}

/// Makes every `updatenode` come here, on a node where this is installed: `xcatpost` is the folder of
/// the scripts, `xcat` that of xCAT's programs.
pub(crate) fn hand_over(xcatpost: &Path, xcat: &Path) -> io::Result<()> {
    let wrapper = xcat.join(PROGRAMS[0]);
    if !is_ours(&wrapper) {
        return Ok(());
    }
    let program = this_program()?;
    handover::put_line(xcatpost, &quoted(&program), &quoted(&wrapper))
}

/// Puts back what was at `path` before.
fn restore(path: &Path) -> io::Result<()> {
    let (at, aside) = (path.display(), aside(path));
    let was_there = aside.symlink_metadata().is_ok();
    if is_ours(path) {
        if was_there {
            std::fs::rename(&aside, path)?;
            complain(&format!("{at} is xCAT's again"));
        } else {
            remove_file(path)?;
            complain(&format!("{at} is removed; there was none before"));
        }
        return std::fs::File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all();
    }
    let is_back = was_there
        && (path.symlink_metadata().is_err() || std::fs::read(path)? == std::fs::read(&aside)?);
    if is_back {
        std::fs::rename(&aside, path)?;
        complain(&format!("{at} is xCAT's again"));
    } else if was_there {
        complain(&format!(
            "{at} isn't what provost put there: it stays, and so does {}, which was there before",
            aside.display()
        ));
    }
    Ok(())
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ASIDE);
    name.into()
}

fn is_ours(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|there| there.is_file());
    is_file
        && std::fs::read(path).is_ok_and(|text| {
            text.split_inclusive(|b| *b == b'\n').take(2).any(|line| line == MARK.as_bytes())
        })
}

fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// As one word for a shell, and in a unit.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn failed(path: &Path, e: io::Error) -> Failure {
    let hint = "run it as root, and check that this is a writable file system";
    Failure::local(format!("putting {} in its place", path.display()), hint).caused_by(e)
}
