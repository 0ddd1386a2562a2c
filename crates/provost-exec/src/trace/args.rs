//! A command's arguments.

use std::fs::File;
use std::io::Read;

use provost_steplog::{MOST_ARGS, quote};

use crate::output::Secrets;

/// Reads the arguments of a process that has just begun a program: a little more than is kept, so
/// that no secret is cut in two.
pub(super) fn read(pid: i32, secrets: &Secrets) -> Vec<Vec<u8>> {
    let most = MOST_ARGS + 1 + secrets.longest();
    let mut text = vec![0; most];
    let file = File::open(format!("/proc/{pid}/cmdline"));
    // One read is enough: the kernel gives all that there is room for. What can't be read has no
    // arguments.
    let read = file.and_then(|mut file| file.read(&mut text));
    text.truncate(read.unwrap_or_default());
    let args = text.strip_suffix(b"\0").unwrap_or(&text).split(|b| *b == 0);
    args.map(<[u8]>::to_vec).collect()
}

/// Arguments as they stand in the log: cut, quoted, without secrets.
pub(super) fn shown(args: &[Vec<u8>], secrets: &Secrets) -> String {
    let text = quote(args.iter().map(|arg| secrets.hide_bytes(arg)));
    // Without quotes in the script, the words of one are several arguments.
    secrets.hide(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_shown_even_where_arguments_are_cut() {
        let secrets = Secrets::new([("PW", "hunter2")]);
        let args = |text: &str| vec![b"curl".to_vec(), text.as_bytes().to_vec()];
        assert_eq!(shown(&args("-u=hunter2"), &secrets), "curl '-u=[redacted:PW]'");
        let words = Secrets::new([("PW", "two words")]);
        let args = [b"echo", &b"two"[..], b"words"].map(<[u8]>::to_vec);
        assert_eq!(shown(&args, &words), "echo [redacted:PW]");
        let args = |text: &str| vec![b"curl".to_vec(), text.as_bytes().to_vec()];
        for before in MOST_ARGS - 20..MOST_ARGS + 5 {
            let text = shown(&args(&format!("{}hunter2", "x".repeat(before))), &secrets);
            assert!(!text.contains("hun"), "{before}");
        }
    }

    #[test]
    fn a_process_s_own_arguments_are_read() {
        let pid = std::process::id().cast_signed();
        let own: Vec<_> = std::env::args().map(String::into_bytes).collect();
        assert_eq!(read(pid, &Secrets::default()), own);
    }
}
