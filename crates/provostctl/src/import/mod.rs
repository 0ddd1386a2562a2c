//! `provostctl import`: another system's tables as a `site.toml`.

mod ansible;
mod compare;
mod environment;
mod factor;
mod inventory;
mod mypostscripts;
mod notes;
mod site;
mod unreadable;
mod warewulf;
mod xcat;
mod xcat_commands;
mod yaml;

use provost_steplog::wording;
use std::io;
use std::path::{Path, PathBuf};

use provost_fs::{Durability, NewFile};
use provost_plan::Site;
use provost_steplog::terminal::escape_cell;

use self::notes::Notes;
use self::unreadable::Unreadable;
use crate::failure::Failure;
use crate::{output, site_file};

/// Which system it is from.
#[derive(clap::Subcommand)]
pub(crate) enum Import {
    /// Import from an xCAT management node; lists what can't be carried over
    Xcat(FromXcat),
    /// Import an Ansible inventory, in INI or YAML; lists what can't be carried over
    Ansible {
        /// Inventories, or the output of `ansible-inventory --list --yaml`, which has the variables of
        /// group_vars and host_vars as well
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        to: To,
    },
    /// Import nodes.conf of Warewulf 4; lists what can't be carried over
    Warewulf {
        /// The file, usually /etc/warewulf/nodes.conf
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        to: To,
    },
}

/// What xCAT knows: of its tables, or of the files that it hands its nodes.
#[derive(clap::Args)]
pub(crate) struct FromXcat {
    /// The output of these commands on an xCAT management node, one file each: `lsdef -t node -l -z`,
    /// `lsdef -t osimage -l -z`, and `tabdump` of site, postscripts, nodelist, nodegroup, nodetype, noderes,
    /// networks and routes
    #[arg(value_name = "FILE", required_unless_present_any = ["from_xcat", "mypostscripts", "compare"])]
    files: Vec<PathBuf>,
    /// Run these commands here, on the xCAT management node, and read the package lists of its images
    #[arg(long, conflicts_with_all = ["files", "mypostscripts"])]
    from_xcat: bool,
    /// Read what xCAT hands each node, usually in /tftpboot/mypostscripts, in place of its tables
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    mypostscripts: Option<PathBuf>,
    #[command(flatten)]
    to: To,
    /// Print how each node's plan in SITE differs from the file that xCAT hands it today, in this folder
    #[arg(long, value_name = "DIR", requires = "site")]
    compare: Option<PathBuf>,
    /// The site.toml that is compared
    #[arg(long, value_name = "SITE", requires = "compare")]
    site: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct To {
    /// File to write; standard output by default
    #[arg(long, value_name = "SITE")]
    to: Option<PathBuf>,
}

impl Import {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Xcat(from) => from.run(),
            Self::Ansible { files, to } => from_ansible(files, to),
            Self::Warewulf { file, to } => from_warewulf(file, to),
        }
    }
}

impl FromXcat {
    fn run(&self) -> Result<(), Failure> {
        if self.from_xcat || self.mypostscripts.is_some() || !self.files.is_empty() {
            self.import()?;
        }
        let (Some(folder), Some(path)) = (&self.compare, &self.site) else { return Ok(()) };
        let handed = mypostscripts::read(folder, &mut Notes::default())?;
        let site = site_file::read(path)?;
        compare::compare(&handed, &site, path)
    }

    fn import(&self) -> Result<(), Failure> {
        if let Some(folder) = &self.mypostscripts {
            let mut notes = Notes::default();
            let handed = mypostscripts::read(folder, &mut notes)?;
            let (xcat, contents) = mypostscripts::as_tables(&handed, &mut notes);
            let site::Imported { text, notes } = site::write(&xcat, Some(contents), notes);
            return self.to.deliver(&text, &notes, handed.len());
        }
        let xcat = if self.from_xcat { xcat_commands::read()? } else { self.tables()? };
        if xcat.nodes().is_empty() {
            return Err(Failure::new(
                "none of these files names a node",
                "add the output of `tabdump nodelist` or `lsdef -t node -l -z`",
            ));
        }
        let site::Imported { text, notes } = site::write(&xcat, None, Notes::default());
        self.to.deliver(&text, &notes, xcat.nodes().len())
    }

    fn tables(&self) -> Result<xcat::Xcat, Failure> {
        let mut xcat = xcat::Xcat::default();
        for path in &self.files {
            let text = text(path, "name readable files with the output of tabdump and lsdef")?;
            let hint = "use the unchanged output of `tabdump TABLE` or `lsdef -t node -l -z`";
            xcat.read(&text).map_err(|e| unusable(path, &e, hint))?;
        }
        Ok(xcat)
    }
}

fn from_ansible(files: &[PathBuf], to: &To) -> Result<(), Failure> {
    let mut ansible = ansible::Ansible::default();
    let mut notes = Notes::default();
    for path in files {
        let text = text(path, "name the inventory's files; not a folder, and no program")?;
        let hint = "check it with ansible-inventory -i FILE --list";
        ansible.read(path, &text).map_err(|e| unusable(path, &e, hint))?;
        for folder in ["group_vars", "host_vars"] {
            if path.with_file_name(folder).is_dir() {
                notes.add(format!(
                    "{folder} beside {}: import what has its variables too: ansible-inventory -i {0} \
                     --list --yaml",
                    path.display()
                ));
            }
        }
    }
    if ansible.count() == 0 {
        let error = "none of these files names a host";
        return Err(Failure::new(error, "name an inventory, such as /etc/ansible/hosts"));
    }
    let nodes = ansible.count();
    let inventory = ansible.inventory(&mut notes);
    let hint = "check it with ansible-inventory -i FILE --graph";
    let inventory = inventory.map_err(|what| Failure::new(what, hint))?;
    let text = inventory.write("ansible", &mut notes);
    to.deliver(&text, &notes, nodes)
}

fn from_warewulf(file: &Path, to: &To) -> Result<(), Failure> {
    let mut warewulf = warewulf::Warewulf::default();
    let text = text(file, "name Warewulf's nodes.conf, usually /etc/warewulf/nodes.conf")?;
    let hint = "name the nodes.conf of Warewulf 4, as wwctl reads it";
    warewulf.read(&text).map_err(|e| unusable(file, &e, hint))?;
    if warewulf.count() == 0 {
        return Err(Failure::new(format!("{} names no node", file.display()), hint));
    }
    let mut notes = Notes::default();
    let text = warewulf.inventory(&mut notes).write("warewulf", &mut notes);
    to.deliver(&text, &notes, warewulf.count())
}

fn text(path: &Path, hint: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|e| Failure::new(format!("reading {}: {e}", path.display()), hint))
}

fn unusable(path: &Path, e: &Unreadable, hint: &str) -> Failure {
    Failure::new(format!("{}:{}: {}", path.display(), e.line, e.what), hint)
}

impl To {
    /// Writes the `site.toml`, and says what it doesn't have.
    fn deliver(&self, text: &str, notes: &Notes, nodes: usize) -> Result<(), Failure> {
        Site::parse(text, Path::new("site.toml"))
            .map_err(|e| Failure::new(format!("checking the result: {e}"), e.hint()))?;
        match &self.to {
            None => output::print(text.as_bytes())?,
            Some(path) => save(path, text)?,
        }
        for note in notes.iter() {
            output::note(&format!("not carried over: {}", escape_cell(note)));
        }
        let (nodes, notes) = (wording::count(nodes, "node"), notes.iter().len());
        output::note(&format!("{nodes}; {notes} not carried over"));
        Ok(())
    }
}

/// Writes a new file. One that exists is not replaced: an admin may have edited it.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut file = NewFile::at(path)?;
        file.write(text.as_bytes())?;
        file.create(Durability::PowerCut)
    };
    write().map_err(|e| {
        let error = format!("writing {}: {e}", path.display());
        Failure::new(error, "name a new file in a folder that you can write to")
    })
}
