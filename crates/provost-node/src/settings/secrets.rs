//! Which values of a plan's environment are secret.

use std::collections::BTreeMap;

use provost_exec::Secrets;
use reqwest::Url;

use crate::settings::Settings;

/// The secrets of this node: its token, the passwords in its URLs, and those in `env`.
pub fn secrets(settings: &Settings, env: &BTreeMap<String, String>) -> Secrets {
    let is_secret = |name: &str| settings.redact.iter().any(|pattern| matches(pattern, name));
    let named = env.iter().filter(|(name, _)| is_secret(name));
    let named = named.map(|(name, value)| (name.as_str(), value.as_str()));
    let token = settings.token.iter().map(|token| ("token", token.0.as_str()));
    let proxy = settings.proxy.iter().filter_map(|proxy| Url::parse(proxy).ok());
    let urls: Vec<Url> = settings.servers.iter().cloned().chain(proxy).collect();
    let passwords = urls.iter().filter_map(|url| Some(("password", url.password()?)));
    Secrets::new(token.chain(passwords).chain(named))
}

/// Whether `name` matches `pattern`, in any case. `*` stands for any text, `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| matches(rest.as_str(), &name[at..]))
        }
        Some(expected) => {
            let mut name = name.chars();
            name.next().is_some_and(|c| {
                (expected == '?' || expected.eq_ignore_ascii_case(&c))
                    && matches(rest.as_str(), name.as_str())
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_whole_and_in_any_case() {
        let names: Vec<String> = crate::settings::default("log.redact").try_into().unwrap();
        let is_secret = |name: &str| names.iter().any(|pattern| matches(pattern, name));
        for name in ["ROOTPASSWD", "db_password", "API_KEY", "apikey", "TOKEN", "S3_SECRET_ID"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PASS", "KEYMAP", "KEYBOARD", "PATH", "PWD", ""] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(matches("a?c*", "ABCdef") && !matches("a?c", "ac") && matches("*", ""));
    }
}
