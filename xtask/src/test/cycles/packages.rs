use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo;

/// The packages of the workspace, as cargo describes them.
pub(super) fn all() -> Result<Vec<Value>> {
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let output = cargo::command("cargo").args(args).output().context("starting cargo metadata")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("reading what cargo metadata prints")?;
    let packages = list(&metadata["packages"]);
    if packages.is_empty() {
        bail!("cargo metadata names no package");
    }
    Ok(packages.to_vec())
}

/// A package's name, and the root files of its library and programs.
pub(super) fn sources(package: &Value) -> (&str, Vec<PathBuf>) {
    let production =
        |target: &&Value| list(&target["kind"]).iter().any(|kind| kind == "lib" || kind == "bin");
    let targets = list(&package["targets"]).iter().filter(production);
    let roots = targets.filter_map(|target| target["src_path"].as_str()).map(PathBuf::from);
    (package["name"].as_str().unwrap_or_default(), roots.collect())
}

/// The dependencies of crates in the folder `crates` on packages of the workspace that have a program, as
/// `FROM -> TO`. Their tests may have such.
pub(super) fn dependencies_on_programs(packages: &[Value], crates: &Path) -> Vec<String> {
    let has_program = |package: &Value| {
        list(&package["targets"]).iter().any(|target| list(&target["kind"]).contains(&"bin".into()))
    };
    let programs: Vec<&Value> =
        packages.iter().filter(|p| has_program(p)).map(|p| &p["name"]).collect();
    let is_crate = |package: &&Value| {
        package["manifest_path"].as_str().is_some_and(|path| Path::new(path).starts_with(crates))
    };
    let mut wrong = Vec::new();
    for package in packages.iter().filter(is_crate) {
        for dependency in list(&package["dependencies"]) {
            if dependency["kind"] != "dev" && programs.contains(&&dependency["name"]) {
                let [from, to] = [&package["name"], &dependency["name"]]
                    .map(|name| name.as_str().unwrap_or_default().to_owned());
                wrong.push(format!("{from} -> {to}"));
            }
        }
    }
    wrong
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
