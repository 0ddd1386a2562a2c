//! The architectures that nodes have, as an ELF header names them and as uname(1) does. No other module
//! knows one.

use std::fmt;

/// How many bytes of a file tell what it is for.
pub const HEADER_LEN: usize = 20;

/// What an x86_64 kernel runs: i386's programs as well. The others' are as they are in elf(5), `e_machine`.
const RUN_HERE: &[u16] = if cfg!(target_arch = "x86_64") {
    &[62, 3]
} else if cfg!(target_arch = "aarch64") {
    &[183, 40]
} else if cfg!(target_arch = "powerpc64") {
    &[21]
} else {
    panic!("name this architecture's ELF machine")
};

/// This one, as Rust calls it.
pub const OWN: &str = std::env::consts::ARCH;
/// How a filter of system calls is told of this one's own table (`AUDIT_ARCH_*` of linux/audit.h): `e_machine`, and
/// that it has 64 bits and the least significant byte first.
pub const AUDIT: u32 = RUN_HERE[0] as u32 | 0x8000_0000 | 0x4000_0000;
/// The calls that not all architectures have and that act on the whole machine.
#[cfg(target_arch = "x86_64")]
pub const OWN_CALLS_ON_MACHINE: &[libc::c_long] =
    &[libc::SYS__sysctl, libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_uselib];
/// The calls that not all architectures have and that act on the whole machine. Power's are those of
/// arch/powerpc/kernel/syscalls/syscall.tbl.
#[cfg(target_arch = "powerpc64")]
pub const OWN_CALLS_ON_MACHINE: &[libc::c_long] = &[
    libc::SYS__sysctl,
    libc::SYS_pciconfig_iobase,
    libc::SYS_pciconfig_read,
    libc::SYS_pciconfig_write,
    libc::SYS_rtas,
    libc::SYS_stime,
    libc::SYS_uselib,
];
/// The calls that not all architectures have and that act on the whole machine.
#[cfg(target_arch = "aarch64")]
pub const OWN_CALLS_ON_MACHINE: &[libc::c_long] = &[];
/// The call that makes a socket by arguments in memory, which no filter sees: Power's kernel has it beside socket(2).
#[cfg(target_arch = "powerpc64")]
pub const SOCKET_BY_MEMORY: Option<libc::c_long> = Some(libc::SYS_socketcall);
/// The call that makes a socket by arguments in memory, which no filter sees.
#[cfg(not(target_arch = "powerpc64"))]
pub const SOCKET_BY_MEMORY: Option<libc::c_long> = None;
/// The bit that all calls of a second table have, which does the same (`__X32_SYSCALL_BIT`).
pub const SECOND_TABLE: Option<libc::c_long> =
    if cfg!(target_arch = "x86_64") { Some(0x4000_0000) } else { None };

/// The names that `uname -m` prints, each with `e_machine`, whether its words have 64 bits, and whether their
/// most significant byte comes first.
const NAMES: [(&str, Elf); 8] = [
    ("x86_64", Elf { machine: 62, is_64_bit: true, is_big_endian: false }),
    ("aarch64", Elf { machine: 183, is_64_bit: true, is_big_endian: false }),
    ("ppc64le", Elf { machine: 21, is_64_bit: true, is_big_endian: false }),
    ("ppc64", Elf { machine: 21, is_64_bit: true, is_big_endian: true }),
    ("i686", Elf { machine: 3, is_64_bit: false, is_big_endian: false }),
    ("armv7l", Elf { machine: 40, is_64_bit: false, is_big_endian: false }),
    ("riscv64", Elf { machine: 243, is_64_bit: true, is_big_endian: false }),
    ("s390x", Elf { machine: 22, is_64_bit: true, is_big_endian: true }),
];

/// What an ELF file is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    machine: u16,
    is_64_bit: bool,
    is_big_endian: bool,
}

impl Elf {
    /// Reads the first [`HEADER_LEN`] bytes of a file; none if it isn't ELF. Authority: elf(5).
    pub fn parse(head: &[u8]) -> Option<Self> {
        let head = head.get(..HEADER_LEN)?.strip_prefix(b"\x7fELF")?;
        // After the magic number: EI_CLASS, EI_DATA, …, and `e_machine` as the last two bytes.
        let is_64_bit = match head[0] {
            1 => false,
            2 => true,
            _ => return None,
        };
        let machine = [head[14], head[15]];
        let (is_big_endian, machine) = match head[1] {
            1 => (false, u16::from_le_bytes(machine)),
            2 => (true, u16::from_be_bytes(machine)),
            _ => return None,
        };
        Some(Self { machine, is_64_bit, is_big_endian })
    }

    /// Whether this machine's kernel runs it.
    pub(crate) fn runs_here(self) -> bool {
        RUN_HERE.contains(&self.machine) && self.is_big_endian == cfg!(target_endian = "big")
    }
}

/// The architecture as uname(1) calls it, or what the header has.
impl fmt::Display for Elf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, elf)| elf == self) {
            Some((name, _)) => f.write_str(name),
            None => {
                let bits = if self.is_64_bit { 64 } else { 32 };
                let first = if self.is_big_endian { "most" } else { "least" };
                write!(
                    f,
                    "ELF machine {} ({bits} bits, {first} significant byte first)",
                    self.machine
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header.
    fn head(class: u8, data: u8, machine: [u8; 2]) -> [u8; HEADER_LEN] {
        let mut head = [0; HEADER_LEN];
        head[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, data]);
        head[18..].copy_from_slice(&machine);
        head
    }

    #[test]
    fn a_header_names_its_architecture_by_machine_class_and_order_of_bytes() {
        let name = |head: &[u8]| Elf::parse(head).map(|elf| elf.to_string());
        for (head, is) in [
            (head(2, 1, [62, 0]), "x86_64"),
            (head(2, 1, [183, 0]), "aarch64"),
            (head(2, 1, [21, 0]), "ppc64le"),
            (head(2, 2, [0, 21]), "ppc64"),
            (head(1, 1, [3, 0]), "i686"),
            (head(1, 1, [62, 0]), "ELF machine 62 (32 bits, least significant byte first)"),
            (head(2, 2, [1, 2]), "ELF machine 258 (64 bits, most significant byte first)"),
        ] {
            assert_eq!(name(&head).as_deref(), Some(is));
        }
        for other in [&b"#!/bin/sh\n# of twenty bytes"[..], b"\x7fELF", &head(9, 1, [62, 0])] {
            assert_eq!(name(other), None);
        }
    }

    #[test]
    fn this_program_runs_here_and_one_of_another_order_of_bytes_does_not() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let own = Elf::parse(&own).unwrap();
        assert!(own.runs_here(), "{own}");
        assert!(!Elf { is_big_endian: !own.is_big_endian, ..own }.runs_here());
        assert!(!Elf { machine: 22, ..own }.runs_here());
    }
}
