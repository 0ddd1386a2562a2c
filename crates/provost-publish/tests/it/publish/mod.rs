//! Publishing to a real folder, under a umask that would keep everything private.

mod checks;
mod content;
mod folder;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use provost_bundle::{Manifest, Policy, PublicKey, Tls, Trust, Validity, unpack};
use provost_publish::{
    Access, Input, Prepared, Publication, PublishError, Published, SecretKey, Succession, Used,
    prepare, publish,
};
use tempfile::TempDir;

/// An admin's folders, and what is to be published from them.
struct Admin {
    home: TempDir,
    key: SecretKey,
    overrides: BTreeMap<String, Policy>,
    required: BTreeMap<String, String>,
    plans: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    valid_for: SignedDuration,
    refresh_key: Option<PublicKey>,
    tls: Option<Option<Tls>>,
    refresh: bool,
    used: Used,
    group: Option<u32>,
}

impl Admin {
    fn new() -> Self {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let home = tempfile::tempdir().unwrap();
        let key = SecretKey::new_pair(&home.path().join("key")).unwrap();
        let admin = Self {
            home,
            key,
            overrides: BTreeMap::new(),
            required: BTreeMap::from([(
                "syslog".to_owned(),
                "defaults.postscripts (site.toml:3)".to_owned(),
            )]),
            secrets: BTreeMap::new(),
            plans: BTreeMap::from([
                ("cn001".to_owned(), "x = 1\n".to_owned()),
                ("cn002".to_owned(), "x = 2\n".to_owned()),
            ]),
            valid_for: Validity::DEFAULT,
            refresh_key: None,
            tls: None,
            refresh: false,
            used: Used::default(),
            group: None,
        };
        admin.write("syslog", "#!/bin/sh\n# /// provost\n# timeout = \"5m\"\n# ///\necho\n", 0o644);
        admin.write("sub/tool", "#!/bin/sh\nexit 0\n", 0o755);
        admin.write("sub/data", "data\r\nof Windows\r\n", 0o644);
        admin.write("copy", "data\r\nof Windows\r\n", 0o644);
        admin.write(".git/config", "private", 0o600);
        admin.write("syslog~", "", 0o600);
        admin
    }

    fn scripts(&self) -> PathBuf {
        self.home.path().join("scripts")
    }

    fn www(&self) -> PathBuf {
        self.home.path().join("srv/www")
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) {
        let path = self.scripts().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.home.path()) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn publish(&self) -> Result<Published, PublishError> {
        self.publish_to(&self.www())
    }

    fn publish_to(&self, to: &Path) -> Result<Published, PublishError> {
        self.publication(to, publish)
    }

    /// What `done` makes of a publication that is prepared.
    fn prepare<T>(&self, access: Access, done: impl FnOnce(Prepared<'_>) -> T) -> T {
        self.publication(&self.www(), |publication| done(prepare(publication, access).unwrap()))
    }

    fn publication<T>(&self, to: &Path, done: impl FnOnce(&Publication<'_>) -> T) -> T {
        let (scripts, overrides, required) = (&self.scripts(), &self.overrides, &self.required);
        done(&Publication {
            input: Input {
                scripts,
                is_whole: false,
                overrides,
                required,
                plans: &self.plans,
                secrets: &self.secrets,
            },
            groups: &BTreeMap::new(),
            key: &self.key,
            succession: &Succession::default(),
            to,
            group: self.group,
            salt: "salt",
            valid_for: self.valid_for,
            refresh_key: self.refresh_key.as_ref().map(PublicKey::line),
            daemons_key: None,
            revoke: None,
            tls: self.tls.as_ref().map(Option::as_ref),
            last_tls: None,
            refresh: self.refresh,
            used: self.used.clone(),
            channel: None,
            ends_channels: false,
        })
    }

    /// What a node makes of what is published: the manifest, every file, every plan.
    fn fetch(&self) -> Manifest {
        let www = self.www();
        let trust = Trust::new(&[self.key.public_line().to_owned()], None, false).unwrap();
        let read = |file: &str| fs::read(www.join(file)).unwrap();
        let signature =
            |file: &str| fs::read_to_string(www.join(format!("{file}.minisig"))).unwrap();
        let bytes = read("manifest.toml");
        trust.check_manifest(&bytes, Some(&signature("manifest.toml"))).unwrap();
        let manifest = Manifest::parse(&bytes).unwrap();
        let into = tempfile::tempdir().unwrap();
        unpack(&*read(&manifest.pack.path()), &manifest, into.path()).unwrap();
        assert_eq!(provost_bundle::Digest::of(&read(&manifest.pack.path())), manifest.pack.sha256);
        for file in &manifest.files {
            assert_eq!(provost_bundle::Digest::of(&read(&file.object_path())), file.sha256);
        }
        for node in self.plans.keys() {
            let file = format!("plans/{node}.toml");
            trust.check_plan(&file, &read(&file), Some(&signature(&file)), &manifest).unwrap();
            let belongs_to = format!("\nmanifest = {}\n", manifest.generation);
            assert!(self.plan_text(node).contains(&belongs_to), "{}", self.plan_text(node));
        }
        manifest
    }

    fn plan_text(&self, node: &str) -> String {
        fs::read_to_string(self.www().join(format!("plans/{node}.toml"))).unwrap()
    }

    /// A plan without the lines that say which publication it belongs to.
    fn plan(&self, node: &str) -> String {
        let of_publication = |line: &&str| {
            ["manifest = ", "made = ", "expires = "].iter().any(|key| line.starts_with(key))
        };
        let text = self.plan_text(node);
        text.split_inclusive('\n').filter(|line| !of_publication(line)).collect()
    }
}

/// Everything under a folder: inode, mode, time of change and content of each file.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u64, u32, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut content = Vec::new();
        if metadata.is_dir() {
            all.extend(snapshot(&path));
        } else if metadata.is_file() {
            content = fs::read(&path).unwrap();
        }
        all.insert(path, (metadata.ino(), metadata.mode(), metadata.ctime_nsec(), content));
    }
    all
}
