//! `old-kernel 4.18|3.10 PROGRAM [ARGS…]` runs a program on a kernel that knows no more system calls than
//! that one: a filter refuses the later ones, as the kernel of Enterprise Linux 8 or 7 would.
#![expect(unsafe_code, reason = "no safe wrapper sets a filter")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use libc::sock_filter;

/// The first system call after 4.18, `pidfd_send_signal`; from here on numbers are the same on all
/// architectures.
const AFTER_4_18: u32 = 424;
/// The first one after 3.10 on x86_64, `sched_setattr`. The kernel of Enterprise Linux 7 has getrandom(2).
const AFTER_3_10: u32 = 314;
/// Where `seccomp_data` has the number, and the lower half of waitid(2)'s options.
const NUMBER: u32 = 0;
const OPTIONS: u32 = 16 + 3 * 8;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const MISSING: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
const INVALID: u32 = libc::SECCOMP_RET_ERRNO | libc::EINVAL.cast_unsigned();

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (filter, program) = match args.as_slice() {
        [kernel, program @ ..] if kernel == "4.18" => (linux_4_18(), program),
        [kernel, program @ ..] if kernel == "3.10" => (linux_3_10(), program),
        _ => (Vec::new(), Default::default()),
    };
    let Some((name, args)) = program.split_first() else {
        eprintln!("usage: old-kernel 4.18|3.10 PROGRAM [ARGS...]");
        return ExitCode::from(2);
    };
    let failed = match set(filter) {
        Ok(()) => Command::new(name).args(args).exec(),
        Err(e) => e,
    };
    eprintln!("old-kernel: {name}: {failed}");
    ExitCode::from(2)
}

fn linux_4_18() -> Vec<sock_filter> {
    vec![load(NUMBER), at_least(AFTER_4_18, 0, 1), end(MISSING), end(ALLOW)]
}

/// For x86_64.
fn linux_3_10() -> Vec<sock_filter> {
    let call = |number: libc::c_long| u32::try_from(number).unwrap_or_default();
    vec![
        load(NUMBER),
        equal(call(libc::SYS_waitid), 0, 3),
        load(OPTIONS),
        has(libc::__WALL.cast_unsigned(), 0, 4),
        end(INVALID),
        equal(call(libc::SYS_getrandom), 2, 0),
        at_least(AFTER_3_10, 0, 1),
        end(MISSING),
        end(ALLOW),
    ]
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

/// Skips `yes` instructions if the number is this one, else `no`.
fn equal(number: u32, yes: u8, no: u8) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, yes, no)
}

fn at_least(number: u32, yes: u8, no: u8) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, number, yes, no)
}

fn has(bits: u32, yes: u8, no: u8) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits, yes, no)
}

fn end(result: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, result, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}

/// Sets the filter for this process and all that it starts. Root's programs keep their setuid bits.
fn set(mut filter: Vec<sock_filter>) -> io::Result<()> {
    let len = u16::try_from(filter.len()).unwrap_or_default();
    let program = libc::sock_fprog { len, filter: filter.as_mut_ptr() };
    let set = || {
        // SAFETY: the kernel copies the program, which outlives the call.
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) }
    };
    if set() == 0 {
        return Ok(());
    }
    // SAFETY: it changes a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if set() == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
