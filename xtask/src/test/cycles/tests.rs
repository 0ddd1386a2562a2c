use std::fs;

use super::*;

/// The arrows within the cycles of a crate made of `sources`, as `FROM -> TO: NAMES`.
fn cycle_arrows(sources: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in sources {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let arrows = arrows::of(&Modules::read(&folder.path().join("lib.rs")).unwrap());
    let cycles = cycles(&arrows);
    let shown = cycles.iter().flat_map(|cycle| describe(cycle, &arrows, folder.path()));
    shown.collect()
}

#[test]
fn files_that_import_each_other_are_a_cycle() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B; fn f() { crate::c::g(1); }"),
        ("c.rs", "pub fn g(n: u8) -> super::a::A { todo!() }"),
    ]);
    assert_eq!(found, ["a.rs -> b.rs: B", "b.rs -> c.rs: g", "c.rs -> a.rs: A"]);
}

#[test]
fn imports_in_one_direction_are_none() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b; pub use a::run;"),
        ("a.rs", "use crate::b::{self, B}; pub fn run() { b::f(B) }"),
        ("b.rs", "use std::fs; pub struct B; pub fn f(_: B) { fs::read(\"a\"); }"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_parent_that_only_re_exports_its_children_imports_none_of_them() {
    let lib = "mod a; pub const LIMIT: u8 = 1; pub use a::{A, make};";
    let a = "pub struct A; pub fn make() -> A { assert!(crate::LIMIT > 0); A }";
    assert_eq!(cycle_arrows(&[("lib.rs", lib), ("a.rs", a)]), Vec::<String>::new());
    let calls = format!("{lib} fn f() {{ make(); }}");
    let expected = ["a.rs -> lib.rs: LIMIT", "lib.rs -> a.rs: make"];
    assert_eq!(cycle_arrows(&[("lib.rs", &calls), ("a.rs", a)]), expected);
}

#[test]
fn a_re_export_leads_to_the_file_that_defines() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b; use std::fmt;"),
        ("a/mod.rs", "mod inner; mod other; pub use inner::*;"),
        ("a/inner.rs", "pub fn f() { crate::b::g() }"),
        ("a/other.rs", "pub fn h() {}"),
        ("b.rs", "use crate::a::f as renamed; pub fn g() { renamed() }"),
    ]);
    assert_eq!(found, ["a/inner.rs -> b.rs: g", "b.rs -> a/inner.rs: f"]);
}

#[test]
fn a_method_counts_where_it_is_defined() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod run; mod step;"),
        ("run.rs", "pub struct Run; impl Run { fn all(&self) { self.step() } }"),
        ("step.rs", "use crate::run::Run; impl Run { pub fn step(&self) {} }"),
    ]);
    assert_eq!(found, ["run.rs -> step.rs: Run::step", "step.rs -> run.rs: Run"]);
}

#[test]
fn paths_in_macros_and_attributes_count() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn f() -> String { format!(\"{}\", crate::b::NAME) }"),
        (
            "b.rs",
            "#[derive(Args)] struct B { #[arg(value_parser = crate::a::f)] b: u8 }
                  pub const NAME: &str = \"\";",
        ),
    ]);
    assert_eq!(found, ["a.rs -> b.rs: NAME", "b.rs -> a.rs: f"]);
}

#[test]
fn a_variable_is_not_the_function_of_the_same_name() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b; pub use b::step; fn f(step: u8) -> u8 { step + a::LIMIT }"),
        ("a.rs", "pub const LIMIT: u8 = 1;"),
        ("b.rs", "pub fn step() { crate::f(1); }"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn tests_may_import_what_they_like() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::f; pub fn g() { f() }"),
        ("b.rs", "pub fn f() {} #[cfg(test)] use crate::a::g; #[cfg(test)] mod tests;"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}
