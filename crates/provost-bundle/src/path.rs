/// Why a path can't be published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} can't be a script's name: {why}")]
pub struct PathError {
    path: String,
    why: &'static str,
}

impl PathError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        "give the file a plain name, such as syslog or site/syslog".to_owned()
    }
}

/// Checks that `path` names a file inside a folder for every program that reads it: relative,
/// without `.` or `..`, and without characters that a shell or a terminal treats specially.
pub fn check_path(path: &str) -> Result<(), PathError> {
    let refuse = |why| Err(PathError { path: path.chars().take(300).collect(), why });
    if path.is_empty() {
        return refuse("it is empty");
    }
    if path.starts_with('/') {
        return refuse("it begins with a slash");
    }
    if path.len() > 1024 {
        return refuse("it is longer than 1024 bytes");
    }
    if path.chars().any(char::is_control) {
        return refuse("it has a control character");
    }
    if path.chars().any(is_format) {
        return refuse("it has an invisible character, which can change how a name is shown");
    }
    if path.contains('\\') {
        return refuse("it has a backslash");
    }
    for component in path.split('/') {
        match component {
            "" => return refuse("it has an empty part"),
            "." | ".." => return refuse("it has a part `.` or `..`"),
            c if c.starts_with('-') => {
                return refuse("a part of it begins with `-`, like an option");
            }
            c if c.len() > 255 => return refuse("a part of it is longer than 255 bytes"),
            _ => {}
        }
    }
    Ok(())
}

/// Whether Unicode has it as a format character (category Cf, such as U+202E, which turns the
/// direction of text), or as a separator of lines or paragraphs.
fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
        | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_its_folder() {
        for good in ["syslog", "site/syslog.sh", "a b", "ä", "..a", ".hidden", "x-"] {
            assert_eq!(check_path(good), Ok(()));
        }
        let long = "x".repeat(256);
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "a/../b",
            "./a",
            "a//b",
            "a/",
            "-rf",
            "a/-b",
            "a\nb",
            "a\0",
            "\u{9b}2J",
            "txt.\u{202e}hs",
            "a\u{2066}b",
            "a\u{200b}b",
            "a\u{feff}",
            "a\\b",
            &long,
        ] {
            assert!(check_path(bad).is_err(), "{bad:?}");
        }
    }
}
