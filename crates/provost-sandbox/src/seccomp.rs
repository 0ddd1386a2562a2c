//! The system calls that are refused in it: those that act on the whole machine, whatever namespaces
//! there are, and those through which attacks on the kernel came.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use provost_exec::architecture;

/// Refused with EPERM.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];
/// Of ioctl(2): what puts characters into a terminal as if they were typed.
const TYPED: [u64; 2] = [0x5412, 0x541c];

/// Refuses them to this process and all that it starts; with `unix` also sockets of that family.
pub(super) fn apply(unix: bool) -> Result<(), String> {
    let text = |e: &dyn std::fmt::Display| format!("installing the filter of system calls: {e}");
    for program in programs(unix).map_err(|e| text(&e))? {
        seccompiler::apply_filter(&program).map_err(|e| text(&e))?;
    }
    Ok(())
}

fn programs(unix: bool) -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let refused = REFUSED.iter().chain(architecture::OWN_CALLS_ON_MACHINE);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        refused.map(|call| (*call, Vec::new())).collect();
    let flags = |flag: libc::c_int| {
        let flag = u64::from(flag.cast_unsigned());
        condition(0, SeccompCmpOp::MaskedEq(flag), flag)
    };
    // Through a cgroup namespace, cgroups can be mounted that root may change.
    let namespaces = || {
        Ok::<_, seccompiler::BackendError>(vec![
            flags(libc::CLONE_NEWCGROUP)?,
            flags(libc::CLONE_NEWUSER)?,
        ])
    };
    rules.insert(libc::SYS_unshare, namespaces()?);
    rules.insert(libc::SYS_clone, namespaces()?);
    let typed = TYPED.map(|request| condition(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, typed.into_iter().collect::<Result<_, _>>()?);
    if unix {
        let family = u64::from(libc::AF_UNIX.cast_unsigned());
        rules.insert(libc::SYS_socket, vec![condition(0, SeccompCmpOp::Eq, family)?]);
        rules.extend(architecture::SOCKET_BY_MEMORY.map(|call| (call, Vec::new())));
    }
    // Its flags are in memory, which no filter sees. The C library then uses clone(2).
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    Ok([filter(rules, libc::EPERM)?, filter(unknown, libc::ENOSYS)?])
}

fn condition(
    argument: u8,
    is: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, value)?;
    SeccompRule::new(vec![condition])
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    error: libc::c_int,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let in_both = |(call, rules): (i64, Vec<SeccompRule>)| {
        let second = architecture::SECOND_TABLE.map(|bit| (call | bit, rules.clone()));
        [(call, rules)].into_iter().chain(second)
    };
    let rules = rules.into_iter().flat_map(in_both).collect();
    let refused = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, TargetArch::x86_64)?;
    let mut program: BpfProgram = filter.try_into()?;
    // It begins with: load the architecture, go on if it is this one, else end the process. The library knows no Power.
    program[1].k = architecture::AUDIT;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library's own program for this architecture, where it knows that, is the same.
    #[test]
    fn the_filter_is_for_this_architecture() {
        let of = |arch| {
            let rules = BTreeMap::from([(libc::SYS_acct, Vec::new())]);
            let refused = SeccompAction::Errno(1);
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
            BpfProgram::try_from(filter).unwrap()
        };
        for arch in ["x86_64", "aarch64", "riscv64"] {
            let own = filter(BTreeMap::from([(libc::SYS_acct, Vec::new())]), 1).unwrap();
            let theirs = of(TargetArch::try_from(arch).unwrap());
            assert_eq!(own[1].k == theirs[1].k, arch == architecture::OWN, "{arch}");
            assert_eq!((&own[0], &own[2]), (&theirs[0], &theirs[2]));
            assert_eq!((own[1].code, own[1].jt, own[1].jf), (theirs[1].code, 1, 0));
        }
    }

    /// What the kernel does at a call, as it runs a filter on what it knows of it: seccomp(2), bpf(4).
    fn answer(unix: bool, arch: u32, call: libc::c_long, args: [u64; 2]) -> u32 {
        let call = u32::try_from(call).unwrap();
        let args = args.map(u64::to_ne_bytes).concat();
        let data = [&call.to_ne_bytes()[..], &arch.to_ne_bytes(), &[0; 8], &args].concat();
        let of = |program: &BpfProgram| {
            let (mut at, mut value) = (0, 0);
            loop {
                let step = &program[at];
                let k = step.k as usize;
                let jump = |is: bool| usize::from(if is { step.jt } else { step.jf });
                at += 1;
                match step.code {
                    0x20 => value = u32::from_ne_bytes(data[k..k + 4].try_into().unwrap()),
                    0x54 => value &= step.k,
                    0x05 => at += k,
                    0x15 => at += jump(value == step.k),
                    0x06 => return step.k,
                    other => panic!("what is {other:#x}?"),
                }
            }
        };
        // The strictest answer of all filters, which has the lowest number but for KILL_PROCESS.
        programs(unix).unwrap().iter().map(of).min_by_key(|answer| answer.cast_signed()).unwrap()
    }

    #[test]
    fn the_kernel_refuses_what_acts_on_the_machine_and_nothing_else() {
        let refused = |error: libc::c_int| libc::SECCOMP_RET_ERRNO | error.cast_unsigned();
        let (no, unknown) = (refused(libc::EPERM), refused(libc::ENOSYS));
        let (yes, kill) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_KILL_PROCESS);
        let own = |call, args| answer(false, architecture::AUDIT, call, args);
        for call in REFUSED.iter().chain(architecture::OWN_CALLS_ON_MACHINE) {
            assert_eq!(own(*call, [0; 2]), no, "{call}");
            if let Some(bit) = architecture::SECOND_TABLE {
                assert_eq!(own(call | bit, [0; 2]), no, "{call}");
            }
        }
        for call in [libc::SYS_openat, libc::SYS_mount, libc::SYS_execve, libc::SYS_setns] {
            assert_eq!(own(call, [u64::MAX; 2]), yes, "{call}");
            assert_eq!(answer(false, architecture::AUDIT ^ 1, call, [0; 2]), kill);
            assert_eq!(answer(false, architecture::AUDIT ^ 0x4000_0000, call, [0; 2]), kill);
        }
        assert_eq!(own(libc::SYS_clone3, [0; 2]), unknown);
        for call in [libc::SYS_clone, libc::SYS_unshare] {
            // The rest of the word is nothing to the kernel.
            for more in [0, 0x11, 0xffff_ffff_0000_0000] {
                assert_eq!(
                    own(call, [0x1000_0000 | more, 0]),
                    no,
                    "{call}: CLONE_NEWUSER {more:x}"
                );
                assert_eq!(
                    own(call, [0x0200_0000 | more, 0]),
                    no,
                    "{call}: CLONE_NEWCGROUP {more:x}"
                );
                assert_eq!(own(call, [0x0002_0000 | more, 0]), yes, "{call}: CLONE_NEWNS {more:x}");
            }
        }
        for request in TYPED {
            assert_eq!(own(libc::SYS_ioctl, [1, request]), no);
            assert_eq!(own(libc::SYS_ioctl, [request, 1]), yes);
        }
        let (unix, inet) = ([1, 1], [2, 1]);
        assert_eq!(own(libc::SYS_socket, unix), yes);
        assert_eq!(answer(true, architecture::AUDIT, libc::SYS_socket, unix), no);
        assert_eq!(answer(true, architecture::AUDIT, libc::SYS_socket, inet), yes);
        if let Some(call) = architecture::SOCKET_BY_MEMORY {
            assert_eq!(answer(true, architecture::AUDIT, call, inet), no);
        }
    }
}
