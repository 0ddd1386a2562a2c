//! `provostctl init`: a management node, from its packages to a daemon that serves.

mod addresses;
mod daemon;
mod made;
mod next;
mod places;
mod texts;

use std::path::{Path, PathBuf};

use provost_publish::SecretKey;
use provost_store::location::{self, Location};
use serde::Deserialize;

use self::addresses::Addresses;
use self::daemon::Provostd;
use self::made::{Maker, failed, say};
use self::next::Next;
use self::places::{Places, is_secret};
use crate::address::Admin;
use crate::failure::{Failure, WRONG};
use crate::publish::First;
use crate::signing::{self, Signing};
use crate::{defaults, output};

/// The configuration that the package installs, which may be replaced.
const PACKAGED: &str = include_str!("../../../../xtask/packages/provostd.toml");
/// The scripts that come with Provost.
const SCRIPTS: &str = "/usr/share/provost/postscripts";
/// The folder whose files the unit and provostctl read.
const DIR: &str = "/etc/provost";
const WWW: &str = "/srv/provost/www";

/// `provostctl init`.
#[derive(clap::Args)]
pub(crate) struct Init {
    /// The folder for the key, the configuration, the site and its scripts. With another one, provostd's own
    /// folder is in it, too
    #[arg(long, value_name = "DIR", default_value = DIR)]
    dir: PathBuf,
    /// The folder that nodes fetch from
    #[arg(long, value_name = "DIR", default_value = WWW)]
    www: PathBuf,
    /// An address or a name by which nodes reach this machine; may be given several times. Without it, the
    /// address of the default route
    #[arg(long, value_name = "A")]
    address: Vec<String>,
    /// Protect the key that signs by a password, which is asked for
    #[arg(long, conflicts_with = "public_key")]
    key_password: bool,
    /// Make no key: this is the public half of the one by which --sign-command signs
    #[arg(long, value_name = "FILE", requires = "sign_command")]
    public_key: Option<PathBuf>,
    #[command(flatten)]
    signing: Signing,
    /// Only list what would be made
    #[arg(long)]
    dry_run: bool,
}

/// What `provostd.toml` says of where nodes reach it.
#[derive(Default, Deserialize)]
struct Nodes {
    #[serde(default)]
    node: Servers,
}

#[derive(Default, Deserialize)]
struct Servers {
    #[serde(default)]
    servers: Vec<String>,
}

impl Init {
    pub(crate) fn run(&self, admin: &Admin) -> Result<(), Failure> {
        if !self.dry_run && !rustix::process::geteuid().is_root() {
            let hint =
                "run it as root: sudo provostctl init; or look first: provostctl init --dry-run";
            return Err(
                Failure::new("setting up a management node takes root", hint).with_code(WRONG)
            );
        }
        let dir = std::path::absolute(&self.dir).map_err(|e| failed(&self.dir, &e))?;
        let make = Maker { dry_run: self.dry_run };
        if !self.dry_run && !dir.exists() {
            // Nothing is made for a wrong command line.
            Addresses::find(&self.address)?;
        }
        let _only_one = (!self.dry_run).then(|| made::only_one(&dir)).transpose()?;
        let mut places = self.places(&dir)?;
        let addresses = self.write_provostd(make, &dir, &mut places)?;
        self.write_key(make, &places)?;
        self.write_provostctl(make, &places)?;
        make.write(&places.site, 0o640, texts::SITE)?;
        make.write_scripts(&places.scripts, Path::new(SCRIPTS), ("hello", texts::HELLO))?;

        let provostd = Provostd::of(&places.provostd);
        let authority = make.lacks(&places.data.join("ca/authority.pem"))?;
        let refresh_key = make.lacks(&places.data.join("refresh/provost.key"))?;
        if !self.dry_run {
            let keys = provostd.prepare(&places.data)?;
            for (made, file) in
                [(authority, "ca/authority.pem"), (refresh_key, "refresh/provost.key")]
            {
                if made {
                    say(&format!("wrote: {}", places.data.join(file).display()))?;
                }
            }
            if make.lacks(&places.www.join("manifest.toml"))? {
                make.folder(places.www.parent().unwrap_or(Path::new("/")))?;
                self.publish(admin, &places, &keys)?;
            }
            provostd.check()?;
        } else {
            make.lacks(&places.www.join("manifest.toml"))?;
        }
        let runs = self.start(&provostd)?;
        let install_sh = if self.dry_run { None } else { Some(provostd.install_sh()) };
        let install_sh =
            install_sh.transpose().unwrap_or_else(|Failure { error, hint, .. }| {
                output::note(&format!("note: {error}\n  hint: {hint}"));
                None
            });
        let next = Next { places: &places, addresses, provostd: &provostd, runs, install_sh };
        say(&next.text())
    }

    /// Where things are, by the files that are there already.
    fn places(&self, dir: &Path) -> Result<Places, Failure> {
        let file = dir.join("provostctl.toml");
        let named =
            if file.exists() { defaults::named_in(&file)? } else { defaults::Named::default() };
        let key = named.key.or(self.public_key.clone());
        let key = key.map_or_else(|| Ok(dir.join("provost.key")), std::path::absolute);
        let data = if dir == Path::new(DIR) { location::default_data() } else { dir.join("data") };
        Ok(Places {
            provostd: dir.join("provostd.toml"),
            provostctl: file,
            key: key.map_err(|e| failed(dir, &e))?,
            site: named.site.unwrap_or_else(|| dir.join("site.toml")),
            scripts: named.scripts.unwrap_or_else(|| dir.join("postscripts")),
            data,
            www: std::path::absolute(&self.www).map_err(|e| failed(&self.www, &e))?,
        })
    }

    /// Writes `provostd.toml`, or learns from the one that is there. Returns the URLs for nodes, and the addresses
    /// that they leave out.
    fn write_provostd(
        &self,
        make: Maker,
        dir: &Path,
        places: &mut Places,
    ) -> Result<(Vec<String>, Vec<String>), Failure> {
        let path = dir.join("provostd.toml");
        let is_packages = std::fs::read_to_string(&path).is_ok_and(|text| text == PACKAGED);
        if path.exists() && !is_packages {
            make.lacks(&path)?;
            let wrong = |e: location::ReadError| Failure::of(&e, e.hint()).with_code(WRONG);
            let known = Location::load(&path).map_err(wrong)?;
            if self.www != Path::new(WWW) && places.www != known.www {
                let error = format!("{} says www = {:?}", path.display(), known.www);
                let hint = "leave out --www, or correct the file";
                return Err(Failure::new(error, hint).with_code(WRONG));
            }
            (places.data, places.www) = (known.data, known.www);
            let (nodes, _) = location::read::<Nodes>(&path).map_err(wrong)?;
            return Ok((nodes.node.servers, Vec::new()));
        }
        let addresses = Addresses::find(&self.address)?;
        make.folder(dir)?;
        let text = texts::provostd(&places.data, &places.www, &addresses);
        match is_packages {
            false => make.write(&path, 0o644, &text)?,
            true if self.dry_run => {
                say(&format!("would write: {}, in place of the package's", path.display()))?
            }
            true => {
                let durability = provost_fs::Durability::PowerCut;
                provost_fs::replace_with_mode(&path, text.as_bytes(), 0o644, durability)
                    .map_err(|e| failed(&path, &e))?;
                say(&format!("wrote: {}, in place of the package's", path.display()))?;
            }
        }
        let others = addresses.others.iter().map(ToString::to_string).collect();
        Ok((addresses.urls(texts::PORT), others))
    }

    /// Makes the key that signs, unless it is there or elsewhere.
    fn write_key(&self, make: Maker, places: &Places) -> Result<(), Failure> {
        let public = places.key.with_extension("pub");
        let is_elsewhere = !places.key.exists() && public.exists();
        if is_elsewhere {
            return say(&format!("exists: {}, and its key is elsewhere", public.display()));
        }
        if self.public_key.is_some() && !places.key.exists() {
            let error = format!("reading the public key {}: there is none", places.key.display());
            let hint = "name the file with the line RW…: --public-key FILE";
            return Err(Failure::new(error, hint).with_code(WRONG));
        }
        if !make.lacks(&places.key)? {
            // An earlier call was ended between the two.
            if self.public_key.is_none()
                && !self.dry_run
                && !public.exists()
                && is_secret(&places.key)
            {
                let key = self.signing.key(&places.key)?;
                key.write_public(&public).map_err(|e| Failure::of(&e, e.hint()))?;
                say(&format!("wrote: {}", public.display()))?;
            }
            return Ok(());
        }
        let password = self.key_password.then(|| self.signing.new_password()).transpose()?;
        let folder = places.key.parent().unwrap_or(Path::new("/"));
        let key = SecretKey::new_pair_with(folder, password.as_deref());
        signing::remember(&places.key, key.map_err(|e| Failure::of(&e, e.hint()))?);
        say(&format!("wrote: {}, and provost.pub beside it", places.key.display()))
    }

    fn write_provostctl(&self, make: Maker, places: &Places) -> Result<(), Failure> {
        let socket = format!("unix:{}", places.data.join("admin.sock").display());
        let is_usual = places.data == location::default_data();
        let named = texts::Named {
            file: &places.provostctl,
            site: &places.site,
            scripts: &places.scripts,
            key: &places.key,
            sign_command: self.public_key.as_ref().and(self.signing.command()),
            www: &places.www,
            admin: Some(socket).filter(|_| !is_usual),
        };
        make.write(&places.provostctl, 0o644, &named.text())
    }

    fn publish(&self, admin: &Admin, places: &Places, keys: &daemon::Keys) -> Result<(), Failure> {
        let Places { site, scripts, key, www, .. } = places;
        let first = First { site, scripts, key, to: www, signing: &self.signing };
        first.publish(admin, &keys.tls, &keys.refresh_key)
    }

    /// Starts the daemon where systemd can. Returns whether it runs.
    fn start(&self, provostd: &Provostd) -> Result<bool, Failure> {
        if !provostd.is_of_unit() {
            return Ok(false);
        }
        match (provostd.runs_always(), self.dry_run) {
            (true, _) => say("exists: provostd.service runs, and starts at each boot")?,
            (false, true) => say("would start: provostd.service, now and at each boot")?,
            (false, false) => {
                provostd.start()?;
                say("started: provostd.service, now and at each boot")?;
            }
        }
        Ok(!self.dry_run)
    }
}
