//! Programs that trace others themselves, which works only for what nobody else traces.

const NAMES: &[&str] = &[
    "dlv",
    "eu-stack",
    "gcore",
    "gdb",
    "gdb-multiarch",
    "gdbserver",
    "jhsdb",
    "lldb",
    "lldb-server",
    "ltrace",
    "proot",
    "pstack",
    "py-spy",
    "reptyr",
    "rr",
    "strace",
];

/// Whether a program with these arguments is one of them.
pub(super) fn is_debugger(args: &[Vec<u8>]) -> bool {
    let base = |arg: &Vec<u8>| arg.rsplit(|b| *b == b'/').next().map(<[u8]>::to_vec);
    let name = args.first().and_then(base).unwrap_or_default();
    NAMES.iter().any(|known| known.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debuggers_are_known_by_their_name() {
        let is = |name: &str| is_debugger(&[name.as_bytes().to_vec(), b"-p".to_vec()]);
        assert!(is("strace") && is("/usr/bin/gdb"));
        assert!(!is("/opt/gdb/bin/straced") && !is("") && !is_debugger(&[]));
    }
}
