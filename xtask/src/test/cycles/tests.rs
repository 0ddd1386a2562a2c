use std::fs;

use serde_json::{Value, json};

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
fn an_import_is_of_the_file_that_it_names_whatever_that_re_exports() {
    let of = |inner: &str, parent: &str| {
        cycle_arrows(&[
            ("lib.rs", "mod a; mod b; use std::fmt;"),
            ("a/mod.rs", parent),
            ("a/inner.rs", inner),
            ("b.rs", "use crate::a::f as renamed; pub fn g() { renamed() }"),
        ])
    };
    let parents = ["mod inner; pub use inner::*;", "mod inner; pub use inner::f;"];
    for parent in parents {
        // What is re-exported isn't imported by the file that does it.
        assert_eq!(of("pub fn f() { crate::b::g() }", parent), Vec::<String>::new());
        let calls = format!("{parent} fn h() {{ inner::f() }}");
        let expected =
            ["a/inner.rs -> b.rs: g", "a/mod.rs -> a/inner.rs: f", "b.rs -> a/mod.rs: f"];
        assert_eq!(of("pub fn f() { crate::b::g() }", &calls), expected);
    }
}

#[test]
fn a_module_is_imported_as_its_file() {
    let found = cycle_arrows(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "pub mod inner; fn f() { crate::b::g() }"),
        ("a/inner.rs", "pub fn h() {}"),
        ("b.rs", "use crate::a; pub fn g() { a::inner::h() }"),
    ]);
    assert_eq!(found, ["a/mod.rs -> b.rs: g", "b.rs -> a/mod.rs: a"]);
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

/// As `cargo metadata` describes a package.
fn package(manifest: &str, programs: &[&str], dependencies: &[(&str, Option<&str>)]) -> Value {
    let name = manifest.split('/').rev().nth(1);
    let targets = programs.iter().map(|name| json!({"name": name, "kind": ["bin"]}));
    let dependencies = dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind}));
    json!({
        "name": name, "manifest_path": manifest,
        "targets": targets.chain([json!({"name": "lib", "kind": ["lib"]})]).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

#[test]
fn a_crate_depends_on_no_package_that_has_a_program() {
    let of = |dependencies: &[(&str, Option<&str>)]| {
        let daemon = package("/w/crates/daemon/Cargo.toml", &["daemon"], &[("store", None)]);
        let command = package("/w/crates/command/Cargo.toml", &["command"], dependencies);
        let manual = package("/w/xtask/manual/Cargo.toml", &["manual"], &[("daemon", None)]);
        let store = package("/w/crates/store/Cargo.toml", &[], &[]);
        packages::dependencies_on_programs(
            &[daemon, command, manual, store],
            Path::new("/w/crates"),
        )
    };
    assert_eq!(of(&[("store", None), ("daemon", Some("dev"))]), Vec::<String>::new());
    assert_eq!(of(&[("daemon", None)]), ["command -> daemon"]);
    assert_eq!(of(&[("daemon", Some("build"))]), ["command -> daemon"]);
}
