use std::fs::{self, DirBuilder, File};
use std::io::{self, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, lchown};
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use provost_fs::Durability;
use provost_steplog::wording::error_chain;
use provost_store::StoreError;
use provost_store::location::{Location, RESTORING};
use provost_store::transfer::{Counts, Part, stream};
use tar::{Entry, EntryType};
use tokio::sync::mpsc;

use super::layout::{DATA, MANIFEST, STORE, WWW};
use super::owner::Names;
use super::renewals::Renewals;
use super::verify::{self, Backed, damaged, open};
use super::{Head, Site, rows};
use crate::failure::Failure;
use crate::output;
use crate::store::{counted, of_store, private};

/// `provostctl restore`.
#[derive(clap::Args)]
pub(crate) struct Restore {
    /// File of provostctl backup
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    #[command(flatten)]
    site: Site,
}

impl Restore {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        private();
        let location = self.site.load()?;
        let head = verify::verify(&self.from)?;
        let (place, marker) = (location.place(), location.data.join(RESTORING));
        let mark = format!("{} {}\n", head.created, head.host);
        let begun = fs::read_to_string(&marker).ok();
        if begun.is_none() {
            refuse_used(&location.data)?;
            place.check_empty().await.map_err(of_store)?;
        }
        let is_begun = begun.is_some_and(|begun| begun == mark);
        begin(&location.data, &marker, (!is_begun).then_some(&mark))
            .map_err(|e| disk(&location.data, &e))?;
        let is_filled = match place.check_empty().await {
            // A database is filled whole or not at all.
            Err(error) if is_begun && error.is_not_empty() => true,
            empty => empty.map(|()| false).map_err(of_store)?,
        };
        let kept = location.www.join(MANIFEST).exists();
        Files::new(&location, kept)?.unpack(&mut open(&self.from)?)?;
        let counts = match is_filled {
            true => self.read_store(head.created, async |parts| Ok(count(parts).await)).await?,
            false => self.read_store(head.created, async |parts| place.import(parts).await).await?,
        };
        finish(&location, &marker).map_err(|e| disk(&location.data, &e))?;
        self.show(&location, &head, &counts, kept)
    }

    /// Gives what the backup of that time has of the store to `take`.
    async fn read_store(
        &self,
        created: Timestamp,
        take: impl AsyncFnOnce(mpsc::Receiver<Part>) -> Result<Counts, StoreError>,
    ) -> Result<Counts, Failure> {
        let (sender, parts) = stream();
        let path = self.from.clone();
        let mut renewals = Renewals::since(created, Timestamp::now());
        let send = tokio::task::spawn_blocking(move || {
            send(&mut open(&path)?, &sender, &mut renewals).map_err(|e| damaged(&path, &e))
        });
        let (sent, taken) = tokio::join!(send, take(parts));
        sent.map_err(|e| damaged(&self.from, &io::Error::other(e)))??;
        taken.map_err(of_store)
    }

    fn show(
        &self,
        location: &Location,
        head: &Head,
        counts: &Counts,
        kept: bool,
    ) -> Result<(), Failure> {
        let Head { created, host, .. } = head;
        let line = format!("restored {} as of {created} on {host}\n", counted(counts));
        output::print(line.as_bytes())?;
        let (www, here) = (location.www.display(), Head::of(&location.www).bundle);
        match (kept, here, head.bundle) {
            (true, Some(here), Some(there)) if here < there => output::note(&format!(
                "note: {www} was there already, with generation {here}, and the backup has {there}: nodes \
                 refuse what is older than they have seen\n  hint: publish again: provostctl publish …"
            )),
            (true, Some(here), _) => output::note(&format!(
                "note: {www} was there already, with generation {here}, and stays as it is"
            )),
            (_, Some(here), _) => output::note(&format!(
                "note: {www} has generation {here} again: nodes that have seen a newer one refuse it\n  \
                 hint: if something was published since the backup, publish again: provostctl publish …"
            )),
            (_, None, _) => output::note("note: nothing was published when the backup was made"),
        }
        output::note(
            "  hint: start provostd: systemctl start provostd; tokens that were made since the backup are \
             unknown, and provostctl pending names their nodes",
        );
        Ok(())
    }
}

/// Sends what the archive has of the store.
fn send(
    archive: &mut Backed,
    parts: &mpsc::Sender<Part>,
    renewals: &mut Renewals,
) -> io::Result<()> {
    for entry in archive.entries()? {
        let entry = entry?;
        if entry.path()?.starts_with(STORE) && !rows::send(BufReader::new(entry), parts, renewals)?
        {
            return Ok(());
        }
    }
    // Fails, as above, where the store has failed, which says why.
    let _ = parts.blocking_send(Part::End);
    Ok(())
}

/// How many rows each table has.
async fn count(mut parts: mpsc::Receiver<Part>) -> Counts {
    let (mut counts, mut last) = (Counts::new(), String::new());
    while let Some(part) = parts.recv().await {
        match part {
            Part::Table { table, .. } => last = table,
            Part::Rows(rows) => *counts.entry(last.clone()).or_default() += rows.len() as u64,
            Part::End => {}
        }
    }
    counts
}

fn disk(path: &Path, e: &io::Error) -> Failure {
    let error = format!("restoring to {}: {}", path.display(), error_chain(e));
    Failure::new(error, "run it as root, where there is room; what was begun is begun anew")
}

/// Refuses a daemon's folder that has anything.
fn refuse_used(data: &Path) -> Result<(), Failure> {
    let is_used = match fs::read_dir(data) {
        Ok(entries) => entries.flatten().any(|entry| entry.file_name() != "provostd.lock"),
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        Err(e) => return Err(disk(data, &e)),
    };
    if !is_used {
        return Ok(());
    }
    let data = data.display();
    let hint = format!("stop provostd, and move it aside: mv {data} {data}.old");
    Err(Failure::new(format!("restoring to {data}: it isn't empty"), hint))
}

/// Marks the folder, which was empty, as filled from a backup; and removes what a restore that was cut off has left in it.
fn begin(data: &Path, marker: &Path, mark: Option<&String>) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    if let Some(mark) = mark {
        // In place: another file before it would be left by a kill in a folder without a mark.
        let mut file = File::create(marker)?;
        file.write_all(mark.as_bytes())?;
        file.sync_all()?;
        provost_fs::sync_folder(data)?;
    }
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        match entry.file_name() {
            name if name == RESTORING => {}
            _ if entry.file_type()?.is_dir() => fs::remove_dir_all(entry.path())?,
            _ => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// All of it is on the disk, then it counts.
fn finish(location: &Location, marker: &Path) -> io::Result<()> {
    for folder in [&location.www, &location.data] {
        if folder.exists() {
            rustix::fs::syncfs(File::open(folder)?)?;
        }
    }
    provost_fs::remove(marker, Durability::PowerCut)
}

/// The name of the published manifest until all that it names is there: a restore that was cut off must
/// not take what it has left for what was published before.
const MANIFEST_UNTIL_ALL_IS_THERE: &str = "manifest.toml.restoring";

/// The files of the archive, on their way to their folders.
struct Files<'a> {
    location: &'a Location,
    /// Whether what is published stays as it is.
    keeps_www: bool,
    names: Names,
    is_root: bool,
}

impl<'a> Files<'a> {
    fn new(location: &'a Location, keeps_www: bool) -> Result<Self, Failure> {
        let names = Names::read().map_err(|e| disk(&location.data, &e))?;
        let is_root = rustix::process::geteuid().is_root();
        Ok(Self { location, keeps_www, names, is_root })
    }

    fn unpack(&self, archive: &mut Backed) -> Result<(), Failure> {
        let put = |entry: io::Result<Entry<'_, _>>| -> io::Result<()> {
            let mut entry = entry?;
            let name = entry.path()?.into_owned();
            match self.target(&name)? {
                Some(target) => self.put(&mut entry, &target).map_err(|e| {
                    io::Error::new(
                        e.kind(),
                        format!("writing {}: {}", target.display(), error_chain(&e)),
                    )
                }),
                None => Ok(()),
            }
        };
        let unpacked = archive.entries().and_then(|mut entries| entries.try_for_each(put));
        unpacked.map_err(|e| disk(&self.location.data, &e))?;
        self.put_manifest().map_err(|e| disk(&self.location.www, &e))
    }

    fn put_manifest(&self) -> io::Result<()> {
        let www = &self.location.www;
        let from = www.join(MANIFEST_UNTIL_ALL_IS_THERE);
        if self.keeps_www || !from.exists() {
            return Ok(());
        }
        rustix::fs::syncfs(File::open(www)?)?;
        fs::rename(from, www.join(MANIFEST))
    }

    /// Where a file of the archive belongs.
    fn target(&self, name: &Path) -> io::Result<Option<PathBuf>> {
        if name.components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(io::Error::other(format!("{} is no name", name.display())));
        }
        let below = |folder: &Path, top| name.strip_prefix(top).ok().map(|rest| join(folder, rest));
        let mut www = below(&self.location.www, WWW).filter(|_| !self.keeps_www);
        if let Some(www) = &mut www
            && *www == self.location.www.join(MANIFEST)
        {
            www.set_file_name(MANIFEST_UNTIL_ALL_IS_THERE);
        }
        Ok(below(&self.location.data, DATA).or(www))
    }

    fn put<R: io::Read>(&self, entry: &mut Entry<'_, R>, target: &Path) -> io::Result<()> {
        let kind = entry.header().entry_type();
        if kind == EntryType::Symlink {
            // None leads out of its folder.
            let link = entry.link_name()?.unwrap_or_default().into_owned();
            if link.file_name() != Some(link.as_os_str()) {
                return Err(io::Error::other(format!("it is a link to {}", link.display())));
            }
        } else if kind == EntryType::Directory {
            fs::create_dir_all(target)?;
        } else if kind != EntryType::Regular {
            return Err(io::Error::other("it is no file"));
        }
        entry.set_preserve_permissions(true);
        entry.unpack(target)?;
        if self.is_root {
            let header = entry.header();
            let (user, group) = self
                .names
                .numbers(header.username().ok().flatten(), header.groupname().ok().flatten());
            let number = |named: Option<u32>, else_: io::Result<u64>| match named {
                Some(number) => Ok(number),
                None => u32::try_from(else_?).map_err(io::Error::other),
            };
            lchown(target, Some(number(user, header.uid())?), Some(number(group, header.gid())?))?;
        }
        Ok(())
    }
}

fn join(folder: &Path, rest: &Path) -> PathBuf {
    // Without a slash at the end.
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}
