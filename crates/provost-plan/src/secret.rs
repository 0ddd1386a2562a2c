//! Which variables of the environment are secret: those of `env_secret`, whose values are in a document
//! of its own, and others by their names.

use std::collections::BTreeMap;

use provost_bundle::Digest;

use crate::{Plan, PlanError};

/// The names whose values are secret unless a node's configuration says otherwise.
pub const DEFAULT: [&str; 6] =
    ["*PASSW*", "*PASSPHRASE*", "*SECRET*", "*TOKEN*", "*CREDENTIAL*", "*KEY"];

/// Whether the value of the variable is secret by default.
pub fn is_secret(name: &str) -> bool {
    DEFAULT.iter().any(|pattern| matches(pattern, name))
}

/// Puts `(hidden)` in the place of the values of such variables, wherever an argument of a step has one. Those of
/// fewer than four bytes stay, as in logs.
pub fn hide_in_arguments(plan: &mut Plan) {
    let env = plan.env.iter().filter(|(name, value)| is_secret(name) && value.len() >= 4);
    let values: Vec<&str> = env.map(|(_, value)| value.as_str()).collect();
    for step in plan.postscripts.iter_mut().chain(&mut plan.postbootscripts) {
        for arg in &mut step.args {
            for value in &values {
                *arg = arg.replace(value, "(hidden)");
            }
        }
    }
}

/// Whether `name` matches `pattern`, in any case. `*` stands for any text, `?` for one character.
pub fn matches(pattern: &str, name: &str) -> bool {
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

/// The document with the secrets of a node: a plan that has nothing but them. It begins with what nobody
/// can guess who doesn't know `salt`, so that its digest, which the plan names, says nothing of short
/// secrets. It is the same as long as they are.
///
/// # Errors
///
/// It is too long.
pub fn document(
    node: &str,
    secrets: &BTreeMap<String, String>,
    salt: &str,
) -> Result<String, PlanError> {
    let plan = Plan { env: secrets.clone(), ..Plan::empty(node) };
    let body = plan.body()?;
    let content = Digest::of(body.as_bytes());
    let nonce = Digest::of(format!("{salt}\n{content}").as_bytes());
    Ok(format!("# {nonce}\ngeneration = 0\n{body}"))
}

/// Adds to the plan the values of its secrets, whose document this is. False, and nothing is added, where
/// it isn't that of this plan.
pub fn add(plan: &mut Plan, document: &[u8]) -> bool {
    let is_it = plan.secrets_sha256 == Some(Digest::of(document));
    let secrets = Plan::parse(document).ok().filter(|secrets| {
        is_it && secrets.node == plan.node && secrets.env.keys().eq(&plan.secret_env)
    });
    let is_good = secrets.is_some();
    plan.env.extend(secrets.into_iter().flat_map(|secrets| secrets.env));
    is_good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_whole_and_in_any_case() {
        for name in ["ROOTPASSWD", "db_password", "API_KEY", "apikey", "TOKEN", "S3_SECRET_ID"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PASS", "KEYMAP", "KEYBOARD", "PATH", "PWD", ""] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(matches("a?c*", "ABCdef") && !matches("a?c", "ac") && matches("*", ""));
    }
}
