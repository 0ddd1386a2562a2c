//! Arguments as a shell needs them.

use std::fmt::Write;

use crate::terminal::steers;

/// How much of a command's arguments is kept, in bytes before they are quoted.
pub const MOST_ARGS: usize = 4096;
/// What stands in the place of what is left out.
const CUT: char = '…';

/// `args` on one line, quoted so that bash reads the same words again; what a terminal would act
/// on, and what isn't UTF-8, is written as `$'\x1b'`. Of more than [`MOST_ARGS`] bytes the rest is
/// left out, and `…` says so.
pub fn quote<A: AsRef<[u8]>>(args: impl IntoIterator<Item = A>) -> String {
    let (mut text, mut room) = (String::new(), MOST_ARGS);
    for (at, arg) in args.into_iter().enumerate() {
        let arg = arg.as_ref();
        if at > 0 {
            text.push(' ');
        }
        if arg.len() > room {
            if room > 0 {
                word(&arg[..room], at == 0, &mut text);
            }
            text.push(CUT);
            break;
        }
        word(arg, at == 0, &mut text);
        room -= arg.len();
    }
    text
}

/// Adds one word. `is_first`: where `A=B` would set a variable.
fn word(arg: &[u8], is_first: bool, text: &mut String) {
    match std::str::from_utf8(arg) {
        Ok(plain) if !plain.contains(steers) => {
            if !plain.is_empty() && plain.bytes().all(|b| is_safe(b) && !(is_first && b == b'=')) {
                text.push_str(plain);
            } else {
                text.push('\'');
                text.push_str(&plain.replace('\'', r"'\''"));
                text.push('\'');
            }
        }
        _ => escaped(arg, text),
    }
}

/// Whether no shell gives `b` a meaning within a word.
fn is_safe(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&b)
}

/// Adds `arg` in bash's `$'…'`.
fn escaped(arg: &[u8], text: &mut String) {
    let bytes = |bytes: &[u8], text: &mut String| {
        // Always two digits: bash takes no third one.
        bytes.iter().for_each(|b| write!(text, "\\x{b:02x}").unwrap_or_default());
    };
    text.push_str("$'");
    for chunk in arg.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\'' | '\\' => text.extend(['\\', c]),
                c if steers(c) => bytes(c.encode_utf8(&mut [0; 4]).as_bytes(), text),
                c => text.push(c),
            }
        }
        bytes(chunk.invalid(), text);
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        for (args, quoted) in [
            (&["apt-get", "install", "-y", "slurmd=1.2"][..], "apt-get install -y slurmd=1.2"),
            (&["a b", "", "it's", "$HOME", "~", "*"], r"'a b' '' 'it'\''s' '$HOME' '~' '*'"),
            (&["A=b", "A=b"], "'A=b' A=b"),
            (&["printf", "\x1b[2J\n'\\"], r"printf $'\x1b[2J\n\'\\'"),
            (&["grüße", "\u{202e}x"], r"'grüße' $'\xe2\x80\xaex'"),
            (&[], ""),
        ] {
            assert_eq!(quote(args), quoted);
        }
        assert_eq!(quote([b"a\xffb"]), r"$'a\xffb'");
    }

    #[test]
    fn arguments_are_cut() {
        let long = "x".repeat(MOST_ARGS);
        assert_eq!(quote([&long]), long);
        assert_eq!(quote([&*long, "y"]), format!("{long} …"));
        assert_eq!(quote(["ab", &long]), format!("ab {}…", &long[2..]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// bash is the judge. No argument holds a NUL.
        #[test]
        fn bash_reads_the_same_words_again(
            args in prop::collection::vec(prop::collection::vec(1u8..=255, 0..20), 1..20),
        ) {
            let script = format!("printf '%s\\0' {}", quote(&args));
            prop_assert!(!script.contains(steers));
            let read = Command::new("bash").args(["-c", &script]).output().unwrap().stdout;
            let expected: Vec<u8> = args.iter().flat_map(|a| [&a[..], b"\0"].concat()).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
