//! `provostctl.toml`: what a site would type for every command, once.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};
use provost_store::location::{self, ReadError};
use serde::Deserialize;

use crate::failure::{Failure, WRONG};

/// The file, where no other is named.
pub(crate) const FILE: &str = "/etc/provost/provostctl.toml";
/// The variable that names another one.
pub(crate) const VARIABLE: &str = "PROVOSTCTL_CONFIG";

/// The keys of the file. Relative paths are relative to its folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Keys {
    site: Option<PathBuf>,
    scripts: Option<PathBuf>,
    key: Option<PathBuf>,
    sign_command: Option<String>,
    key_password_file: Option<PathBuf>,
    www: Option<PathBuf>,
    admin: Option<String>,
    ca: Option<PathBuf>,
    token_file: Option<PathBuf>,
}

/// An option that has a key. Its variable is `PROVOSTCTL_` and the key in capitals.
struct Setting {
    key: &'static str,
    /// The option's long name and the name of its value, which distinguish it from others of that name.
    option: (&'static str, &'static str),
    /// The commands whose option of that name means something else.
    not_of: &'static [&'static str],
}

const fn setting(key: &'static str, option: &'static str, value: &'static str) -> Setting {
    Setting { key, option: (option, value), not_of: &[] }
}

const SETTINGS: [Setting; 9] = [
    setting("site", "site", "FILE"),
    // A script is tried with what stands beside it.
    Setting { not_of: &["try"], ..setting("scripts", "scripts", "DIR") },
    setting("key", "key", "FILE"),
    setting("sign_command", "sign-command", "CMD"),
    setting("key_password_file", "key-password-file", "FILE"),
    // `plan` shows what is published in place of what site.toml says.
    Setting { not_of: &["plan"], ..setting("www", "to", "WWW") },
    setting("admin", "admin", "URL"),
    setting("ca", "ca", "FILE"),
    setting("token_file", "token-file", "FILE"),
];

/// Its variable.
fn variable(key: &str) -> String {
    format!("PROVOSTCTL_{}", key.to_ascii_uppercase())
}

/// What the environment and the file say.
pub(crate) struct Defaults {
    file: PathBuf,
    values: Vec<(&'static Setting, OsString)>,
}

impl Defaults {
    /// Reads them. Only a file that the environment names has to be there.
    pub(crate) fn load() -> Result<Self, Failure> {
        let named = env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let file = PathBuf::from(named.as_deref().unwrap_or(OsStr::new(FILE)));
        let keys = match read(&file) {
            Err(ReadError::Unreadable { source, .. })
                if named.is_none() && source.kind() == ErrorKind::NotFound =>
            {
                Keys::default()
            }
            keys => keys.map_err(|e| failure(&e))?,
        };
        let given = |setting: &Setting| {
            env::var_os(variable(setting.key)).filter(|value| !value.is_empty())
        };
        let values = SETTINGS.iter().zip(keys.in_order());
        let values =
            values.filter_map(|(setting, value)| Some((setting, given(setting).or(value)?)));
        Ok(Self { values: values.collect(), file })
    }

    /// Makes them the defaults of the options of all commands.
    pub(crate) fn apply(&self, command: Command) -> Command {
        let name = command.get_name().to_owned();
        let command = command.mut_args(|arg| self.with_default(&name, arg));
        command.mut_subcommands(|command| self.apply(command))
    }

    fn with_default(&self, command: &str, arg: Arg) -> Arg {
        // An empty variable is as one that isn't set.
        let is_empty = |name| env::var_os(name).is_some_and(|value| value.is_empty());
        let arg = match arg.get_env().is_some_and(is_empty) {
            true => arg.env(Resettable::Reset),
            false => arg,
        };
        let mut values = self.values.iter();
        match values.find(|(setting, _)| setting.is_of(command, &arg)) {
            None => arg,
            Some((_, value)) => {
                // A command line refers to it until the program ends.
                let value: &'static OsStr = Box::leak(value.clone().into_boxed_os_str());
                arg.required(false).required_unless_present(Resettable::Reset).default_value(value)
            }
        }
    }

    /// What is wrong with a command line that lacks options, if each of them has a key.
    pub(crate) fn missing(&self, error: &clap::Error) -> Option<Failure> {
        let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
            return None;
        };
        // Such as `--site <FILE>`.
        let setting = |shown: &String| {
            let (option, value) = shown.strip_prefix("--")?.split_once(" <")?;
            let option = (option, value.strip_suffix('>')?);
            SETTINGS.iter().find(|setting| setting.option == option)
        };
        let missing = missing.iter().map(setting).collect::<Option<Vec<_>>>()?;
        let all = |show: fn(&Setting) -> String| {
            missing.iter().map(|setting| show(setting)).collect::<Vec<_>>().join(", ")
        };
        let flags = all(|setting| format!("--{} {}", setting.option.0, setting.option.1));
        let (variables, keys) =
            (all(|setting| variable(setting.key)), all(|setting| setting.key.to_owned()));
        let hint = format!(
            "name it: {flags}; by the environment: {variables}; or for all commands: {keys} in {}",
            self.file.display()
        );
        Some(Failure::new(format!("missing {flags}"), hint).with_code(WRONG))
    }
}

impl Setting {
    fn is_of(&self, command: &str, arg: &Arg) -> bool {
        let value = arg.get_value_names().and_then(<[_]>::first);
        arg.get_long() == Some(self.option.0)
            && value.is_some_and(|name| name.as_str() == self.option.1)
            && !self.not_of.contains(&command)
    }
}

impl Keys {
    /// In the order of [`SETTINGS`].
    fn in_order(self) -> [Option<OsString>; SETTINGS.len()] {
        let Self {
            site,
            scripts,
            key,
            sign_command,
            key_password_file,
            www,
            admin,
            ca,
            token_file,
        } = self;
        let path = |path: Option<PathBuf>| path.map(PathBuf::into_os_string);
        let text = |text: Option<String>| text.map(OsString::from);
        [
            path(site),
            path(scripts),
            path(key),
            text(sign_command),
            path(key_password_file),
            path(www),
            text(admin),
            path(ca),
            path(token_file),
        ]
    }
}

/// What a file names of a site.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) site: Option<PathBuf>,
    pub(crate) scripts: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

/// What the file at `path` names.
pub(crate) fn named_in(path: &Path) -> Result<Named, Failure> {
    let Keys { site, scripts, key, .. } = read(path).map_err(|e| failure(&e))?;
    Ok(Named { site, scripts, key })
}

fn read(file: &Path) -> Result<Keys, ReadError> {
    let (keys, folder) = location::read::<Keys>(file)?;
    let file = |path: Option<PathBuf>| path.map(|path| folder.join(path));
    Ok(Keys {
        site: file(keys.site),
        scripts: file(keys.scripts),
        key: file(keys.key),
        key_password_file: file(keys.key_password_file),
        www: file(keys.www),
        ca: file(keys.ca),
        token_file: file(keys.token_file),
        ..keys
    })
}

fn failure(error: &ReadError) -> Failure {
    let hint = match error {
        ReadError::Unreadable { .. } => {
            format!("name a readable file: {VARIABLE}=FILE, or unset it; {FILE} needn't be there")
        }
        ReadError::Invalid { .. } => {
            let keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
            format!("correct it; its keys: {}", keys.join(", "))
        }
    };
    Failure::of(error, hint).with_code(WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/provostctl-toml.md");
    const SAMPLE: &str = include_str!("../../../dist/examples/provostctl.toml");

    #[test]
    fn the_page_and_the_sample_have_each_key_with_its_option_and_variable() {
        let cells = |line: &str| -> Vec<String> {
            line.split('|').skip(1).take(3).map(|cell| cell.trim().to_owned()).collect()
        };
        let rows: Vec<_> = PAGE.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
        let expected = SETTINGS.iter().map(|Setting { key, option: (long, value), .. }| {
            [format!("`{key}`"), format!("`--{long} {value}`"), format!("`{}`", variable(key))]
                .to_vec()
        });
        assert_eq!(rows, expected.collect::<Vec<_>>());
        // Commented out or not.
        let keys: String = SAMPLE
            .lines()
            .map(|line| {
                let is_key = |line: &&str| {
                    line.split_once(" = ")
                        .is_some_and(|(key, _)| SETTINGS.iter().any(|s| s.key == key))
                };
                line.strip_prefix("# ").filter(is_key).unwrap_or(line).to_owned() + "\n"
            })
            .collect();
        let keys: Keys = toml::from_str(&keys).unwrap();
        assert!(keys.in_order().iter().all(Option::is_some));
        toml::from_str::<Keys>(SAMPLE).unwrap();
        toml::from_str::<Keys>("no_such_key = 1").unwrap_err();
    }

    #[test]
    fn each_key_is_an_option_of_a_command() {
        fn options(command: &Command) -> Vec<Arg> {
            let own = command.get_arguments().cloned();
            own.chain(command.get_subcommands().flat_map(options)).collect()
        }
        let options = options(&crate::command());
        for setting in &SETTINGS {
            assert!(options.iter().any(|arg| setting.is_of("", arg)), "{}", setting.key);
        }
    }
}
