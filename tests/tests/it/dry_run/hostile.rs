//! Scripts that try to get out: nothing outside changes, whatever they do. Those that would change more than the
//! namespaces of [`Outer`] hold are for a machine of their own, never for the one that runs the tests.

use provost_tests::{Escape, OldKernel, Out, escapes};

use super::outer::Outer;

/// Runs all of them in this way.
fn nothing_changes(by: impl Fn(&Outer, &str) -> Out) {
    let outer = Outer::new();
    let (before, processes) = (outer.look(), outer.processes());
    for Escape { name, text, .. } in escapes().iter().filter(|escape| !escape.needs_machine) {
        outer.script_as_it_is(name, text);
        let out = by(&outer, name);
        // One makes its own journal unusable.
        assert!(matches!(out.code, Some(0 | 1 | 2 | 5)), "{name}: {out:?}");
        assert!(!out.stderr.contains("making a sandbox: "), "{name}: {out:?}");
        assert!(!out.stdout.contains("LET "), "{name}: {out:?}");
        assert_eq!(outer.look(), before, "{name} changed this: {out:?}");
        assert_eq!(outer.processes(), processes, "{name} left this: {out:?}");
        let script = std::fs::read_to_string(outer.path("scripts").join(name)).unwrap();
        assert_eq!(script, *text, "{name} changed itself");
    }
}

#[test]
fn hostile_scripts_change_nothing_outside() {
    nothing_changes(|outer, name| outer.attempt(name, &[]));
}

#[test]
fn hostile_scripts_without_a_network_change_nothing_outside() {
    nothing_changes(|outer, name| outer.attempt(name, &["--network", "none"]));
}

/// It has no openat2, no clone3 and none of the calls that mount since Linux 5.2.
#[test]
fn hostile_scripts_on_an_old_kernel_change_nothing_outside() {
    let by = OldKernel::Linux4_18.by();
    let by = [&*by[0], &*by[1]];
    nothing_changes(|outer, name| outer.attempt_by(&by, name, &[]));
}

/// Without a sandbox they do harm, which is seen: else the tests above would prove nothing.
#[test]
fn what_a_hole_would_change_is_seen() {
    let all = escapes();
    for name in ["host_name", "modes", "disk", "ipc", "network", "kernel_settings"] {
        let outer = Outer::new();
        let before = outer.look();
        let escape = all.iter().find(|escape| escape.name == name).unwrap();
        // Never on this machine itself.
        assert!(!escape.needs_machine);
        outer.script_as_it_is(name, &escape.text).attempt(name, &["--here"]);
        assert_ne!(outer.look(), before, "{name}");
    }
}
