//! All that is needed to find out what went wrong on a node, in one file.
//!
//! The layout is that of OpenShift's installer-gather: a folder `log-bundle-ID`, in which the
//! records are under `bootstrap/services`, so that its reader finds them, and failed units, journals
//! and the network where its readers look for them. Ours is beside. What of STATE and LOG is in it
//! [`disclosed`] says.

mod host;
mod mask;

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use provost_api::disclosed::{self, may_leave};
use provost_exec::Secrets;
use provost_fs::{Durability, NewFile};
use provost_plan::Plan;
use provost_record::{ExitCode, Journal, Service};
use tar::{Builder, Header};

use self::mask::Mask;
use super::services::{name as service_name, others};
use provost_node::failure::Failure;
use provost_node::observe::console::{exit, print};
use provost_node::observe::report::unreported;
use provost_node::settings::{Input, Paths};

/// The most of a file that is gathered, in bytes: half of it from each end.
const MOST: u64 = 1 << 20;
/// How many runs' logs are gathered at most, the newest first.
const MOST_RUNS: usize = 20;

/// Our own units.
const UNITS: [&str; 2] = ["provost-boot", "provost-report"];

/// Writes `log-bundle-ID.tar.gz` into `folder` and prints its path.
pub(crate) fn gather(input: &Input, folder: &Path) -> ExitCode {
    let written = write(input, folder).map_err(|e| {
        let message = format!("gathering into {}", folder.display());
        let hint = "name a writable folder with room: provost gather --to DIR";
        Failure::local(message, hint).caused_by(e)
    });
    exit(written.and_then(|path| print(&format!("{}\n", path.display()))))
}

fn write(input: &Input, folder: &Path) -> io::Result<PathBuf> {
    let paths = input.paths();
    // To the millisecond: a bundle doesn't take the place of one that was made just before.
    let time = jiff::Timestamp::now().strftime("%Y%m%d%H%M%S%3f");
    let id = format!("log-bundle-{}-{time}", input.node());
    let path = folder.join(format!("{id}.tar.gz"));
    // Readable by its owner alone.
    let file = NewFile::at(path)?;
    let gz = GzEncoder::new(file, Compression::default());
    let line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let (secrets, mask) = (secrets(input, &paths), Mask::of(&line));
    let mut bundle = Bundle { id: &id, secrets, mask, tar: Builder::new(gz) };
    bundle.all(input, &paths)?;
    let file = bundle.tar.into_inner()?.finish()?;
    let path = file.path().to_owned();
    file.create(Durability::PowerCut)?;
    Ok(path)
}

/// What nobody is to see: as far as it is known, because what is gathered may be what is broken.
fn secrets(input: &Input, paths: &Paths) -> Secrets {
    let kept = provost_node::fetch::kept_texts(&paths.state);
    let plan = kept.iter().find_map(|(_, text)| Plan::parse(text.as_bytes()).ok());
    let (settings, _) = input.usable();
    provost_node::settings::secrets::secrets(&settings, plan.as_ref())
}

struct Bundle<'a> {
    id: &'a str,
    secrets: Secrets,
    mask: Mask,
    tar: Builder<GzEncoder<NewFile>>,
}

impl Bundle<'_> {
    fn all(&mut self, input: &Input, paths: &Paths) -> io::Result<()> {
        for service in Service::ALL {
            // Under the lock of its readers, so that it is whole.
            if let Ok(entries) = Journal::read(&paths.journal(service), 0)
                && !entries.is_empty()
            {
                let texts: Vec<&str> = entries.iter().map(|e| e.json.get()).collect();
                let text = format!("[\n{}\n]\n", texts.join(",\n"));
                self.text(&format!("bootstrap/services/{service}.json"), &text)?;
            }
        }
        let mut services = UNITS.map(str::to_owned).to_vec();
        for path in others(paths) {
            let name = service_name(&path).unwrap_or_default();
            let inside = format!("bootstrap/services/{name}.json");
            match Journal::text(&path) {
                // Whole, so that it can be judged.
                Ok(Some(text)) => self.text(&inside, &String::from_utf8_lossy(&text))?,
                _ => self.file(&inside, &path)?,
            }
            services.push(name.to_owned());
        }
        self.text("unreported.txt", &format!("{}\n", unreported(input)))?;
        self.logs(paths)?;
        for (name, text) in provost_node::fetch::kept_texts(&paths.state) {
            self.text(&format!("published/{name}"), &text)?;
        }
        self.folder("state", &paths.state, disclosed::STATE)?;
        for path in &input.files() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // An admin may have made a link of it.
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            self.file(&format!("config/{name}"), &path)?;
        }
        for (path, text) in host::facts(&services) {
            self.text(&path, &text)?;
        }
        Ok(())
    }

    fn logs(&mut self, paths: &Paths) -> io::Result<()> {
        self.folder("log", &paths.log, disclosed::LOG)?;
        // The ids are UUIDv7: in order of the time at which the runs began.
        let mut runs = list(&paths.log.join("scripts"));
        runs.sort();
        for run in runs.iter().rev().take(MOST_RUNS) {
            let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.folder(&format!("log/scripts/{name}"), run, disclosed::RUN)?;
        }
        Ok(())
    }

    /// The plain files right in a folder whose names are `listed`.
    fn folder(&mut self, name: &str, folder: &Path, listed: &[&str]) -> io::Result<()> {
        let mut files = list(folder);
        files.retain(|path| fs::symlink_metadata(path).is_ok_and(|m| m.is_file()));
        files.sort();
        for path in files {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if may_leave(listed, &file) {
                self.file(&format!("{name}/{file}"), &path)?;
            }
        }
        Ok(())
    }

    /// One file; one that can't be read says so in its place.
    fn file(&mut self, name: &str, path: &Path) -> io::Result<()> {
        match excerpt(path) {
            Ok(bytes) => self.text(name, &String::from_utf8_lossy(&bytes)),
            Err(e) => self.text(name, &format!("reading {}: {e}\n", path.display())),
        }
    }

    fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        let text = self.mask.apply(&self.secrets.hide(text));
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(provost_record::now().as_second().try_into().unwrap_or(0));
        let name = format!("{}/{name}", self.id);
        self.tar.append_data(&mut header, name, text.as_bytes())
    }
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// A file, or both of its ends and how much is left out between them.
fn excerpt(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = provost_fs::open_to_read(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= MOST {
        file.take(MOST).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    Read::by_ref(&mut file).take(MOST / 2).read_to_end(&mut bytes)?;
    let left_out = length - MOST;
    write!(bytes, "\n[{left_out} bytes are left out here; all of it is in {}]\n", path.display())?;
    file.seek(SeekFrom::End(-((MOST / 2) as i64)))?;
    file.take(MOST / 2).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_keeps_both_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let text = format!("begin{}end", "x".repeat(3 << 20));
        fs::write(&path, &text).unwrap();
        let kept = String::from_utf8(excerpt(&path).unwrap()).unwrap();
        assert!(kept.starts_with("begin") && kept.ends_with("end") && kept.len() < 1_100_000);
        assert!(kept.contains("2097160 bytes are left out"), "{}", &kept[524_288..524_400]);
    }
}
