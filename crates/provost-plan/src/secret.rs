//! Which variables of the environment are secret, by their names.

/// The names whose values are secret unless a node's configuration says otherwise.
pub const DEFAULT: [&str; 6] =
    ["*PASSW*", "*PASSPHRASE*", "*SECRET*", "*TOKEN*", "*CREDENTIAL*", "*KEY"];

/// Whether the value of the variable is secret by default.
pub fn is_secret(name: &str) -> bool {
    DEFAULT.iter().any(|pattern| matches(pattern, name))
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
