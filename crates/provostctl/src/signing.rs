//! By what is published: a key's file, its password, or a command that signs.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use provost_publish::{KeyError, SecretKey};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::failure::Failure;

/// Keys that were read already: a command may need one several times, and its password once.
static READ: Mutex<BTreeMap<PathBuf, SecretKey>> = Mutex::new(BTreeMap::new());

/// The most bytes of a file with a password.
const MOST_PASSWORD: u64 = 64 << 10;

/// Notes a key that was just made in the file `path`, so that nobody is asked for its password again.
pub(crate) fn remember(path: &Path, key: SecretKey) {
    READ.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), key);
}

/// How a key signs.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Signing {
    #[command(flatten)]
    password: Password,
    /// Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it
    /// for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes
    /// "$1.minisig", as minisign does
    #[arg(long, value_name = "CMD", help_heading = "Signing")]
    sign_command: Option<String>,
}

/// Where a key's password is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Password {
    /// File with the key's password; for several keys, a line each
    #[arg(
        long,
        value_name = "FILE",
        env = "PROVOSTCTL_KEY_PASSWORD_FILE",
        help_heading = "Signing"
    )]
    key_password_file: Option<PathBuf>,
}

impl Signing {
    /// The command that signs, if one does.
    pub(crate) fn command(&self) -> Option<&str> {
        self.sign_command.as_deref()
    }

    /// A password for a new key.
    pub(crate) fn new_password(&self) -> Result<String, Failure> {
        self.password.new_one()
    }

    /// The key in the file `path`.
    pub(crate) fn key(&self, path: &Path) -> Result<SecretKey, Failure> {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let key = match (read.get(path), &self.sign_command) {
            (Some(key), _) => Ok(key.clone()),
            (None, Some(command)) => match SecretKey::of_command(path, command) {
                // Of two keys that change places one may be a file.
                Err(KeyError::NotAKey { .. }) => self.password.unlock(path)?,
                of_command => of_command,
            },
            (None, None) => self.password.unlock(path)?,
        };
        let key = key.map_err(|e| Failure::of(&e, e.hint()))?;
        read.insert(path.to_owned(), key.clone());
        Ok(key)
    }
}

impl Password {
    fn unlock(&self, path: &Path) -> Result<Result<SecretKey, KeyError>, Failure> {
        match SecretKey::load(path) {
            Err(KeyError::Password { .. }) => {}
            loaded => return Ok(loaded),
        }
        let mut wrong = None;
        for password in self.ask(&format!("password of {}: ", path.display()))? {
            match SecretKey::load_with(path, || Ok(password)) {
                Err(e @ KeyError::WrongPassword { .. }) => wrong = Some(e),
                loaded => return Ok(loaded),
            }
        }
        Ok(Err(wrong.unwrap_or(KeyError::Password { path: path.to_owned() })))
    }

    /// A password for a new key.
    pub(crate) fn new_one(&self) -> Result<String, Failure> {
        let password = self.ask("new password: ")?.into_iter().next().unwrap_or_default();
        if password.is_empty() {
            let hint = "type one, or leave --password out";
            return Err(Failure::new("the password is empty", hint));
        }
        if self.key_password_file.is_none() && self.ask("the same again: ")? != [password.clone()] {
            let error = "the two passwords are not the same";
            return Err(Failure::new(error, "type the same password twice"));
        }
        Ok(password)
    }

    /// The lines of the file, or what is typed at the terminal, where it isn't shown.
    fn ask(&self, prompt: &str) -> Result<Vec<String>, Failure> {
        if let Some(path) = &self.key_password_file {
            let text = provost_fs::read_input(path, MOST_PASSWORD).map_err(|e| {
                let error = format!("reading the password in {}: {e}", path.display());
                Failure::new(error, "name a file that you may read: --key-password-file FILE")
            })?;
            return Ok(text.lines().map(str::to_owned).collect());
        }
        // rpassword asks first and hides afterwards: who types at once would be seen.
        let _unseen = Unseen::begin();
        let typed = rpassword::prompt_password(prompt).map_err(|e| {
            let error = format!("asking for the key's password at the terminal: {e}");
            Failure::new(error, "where there is no terminal: --key-password-file FILE")
        })?;
        Ok(vec![typed])
    }
}

/// While it lives, the terminal doesn't show what is typed.
struct Unseen(File, Termios);

impl Unseen {
    /// None where there is no terminal.
    fn begin() -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        let before = tcgetattr(&terminal).ok()?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Now, &unseen).ok()?;
        Some(Self(terminal, before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing.
        let _ = tcsetattr(&self.0, OptionalActions::Now, &self.1);
    }
}
