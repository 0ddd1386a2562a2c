//! What a machine is emulated by: QEMU's program for its architecture. Nothing is ever run by KVM, even where there is
//! one: the result is the same everywhere.

/// A kind of machine that QEMU emulates.
pub(crate) struct Emulator {
    pub(crate) program: &'static str,
    /// The machine and its processor, as QEMU's options name them.
    pub(crate) machine: &'static [&'static str],
    /// Its serial line, as the kernel names it.
    pub(crate) console: &'static str,
}

/// What a server is.
pub(crate) const X86_64: Emulator = Emulator {
    program: "qemu-system-x86_64",
    machine: &["-machine", "q35", "-cpu", "max"],
    console: "ttyS0",
};

/// A machine with 64-bit processors of Arm.
pub(crate) const AARCH64: Emulator = Emulator {
    program: "qemu-system-aarch64",
    // Pointers are authenticated, by what is quick to emulate.
    machine: &["-machine", "virt", "-cpu", "max,pauth-impdef=on"],
    console: "ttyAMA0",
};

/// A POWER9 under a hypervisor. An emulator has none of the processor's precautions against Spectre, which its machine
/// has by default.
pub(crate) const PPC64LE: Emulator = Emulator {
    program: "qemu-system-ppc64",
    machine: &[
        "-machine",
        "pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off",
        "-cpu",
        "power9",
    ],
    console: "hvc0",
};
