//! docs/configuration.md says what the node's command does, no more and no less.

use std::collections::BTreeMap;
use std::path::Path;

use provost_tests::xcat::Authority;
use provost_tests::{Out, program};
use serde_json::Value;

const SECTIONS: [&str; 10] =
    ["", "source", "trust", "paths", "fetch", "run", "report", "log", "guard", "scripts.NAME"];

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// `provost check` of a configuration file with `text`.
fn check(folder: &Path, text: &str) -> Value {
    let file = folder.join("provost.toml");
    std::fs::write(&file, text).unwrap();
    let mut command = std::process::Command::new(program("provost"));
    command.arg("--config").arg(file).args(["check", "--format", "json"]);
    let out: Out = command.output().unwrap().into();
    out.json()
}

/// What is wrong with a configuration.
fn mistakes(document: &Value) -> Vec<String> {
    let checks = document["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["what"] == "configuration" && check["result"] == "failed")
        .map(|check| check["detail"].as_str().unwrap().to_owned())
        .collect()
}

/// The keys of the page's tables, each with its default; empty where there is none.
fn documented() -> BTreeMap<String, String> {
    let page = page("configuration.md");
    let tables = page.split_once("## The keys").unwrap().1;
    let code = |cell: &str| cell.trim().trim_matches('`').to_owned();
    tables
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            (code(cells[1]), code(cells[2]))
        })
        .collect()
}

#[test]
fn every_key_is_on_the_page_and_every_key_of_the_page_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut keys = Vec::new();
    for section in SECTIONS {
        let head = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
        let told = mistakes(&check(folder.path(), &format!("{head}no-such-key = 1\n")));
        // `unknown field `no-such-key`, expected one of `a`, `b``
        let known = told.iter().find_map(|text| text.split_once("expected ")).unwrap().1;
        let names = known.split('`').skip(1).step_by(2);
        let full = |name: &str| match section {
            "" => name.to_owned(),
            _ => format!("{section}.{name}"),
        };
        let is_section = |name: &String| {
            let of_it = format!("{name}.");
            SECTIONS.iter().any(|section| section == name || section.starts_with(&of_it))
        };
        keys.extend(names.map(full).filter(|name| !is_section(name)));
    }
    keys.sort();
    let documented: Vec<String> = documented().into_keys().collect();
    assert_eq!(documented, keys);
}

#[test]
fn the_defaults_are_those_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let document = check(folder.path(), "");
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[{}]", list.join(", "))
        }
        other => other.to_string(),
    };
    let values = document["values"].as_array().unwrap().iter();
    let mut defaults: BTreeMap<String, String> = values
        .filter(|row| row["from"] == "default")
        .map(|row| (row["key"].as_str().unwrap().to_owned(), plain(&row["value"])))
        .collect();
    // A machine may have been told by its DHCP lease what its servers are.
    let has_default = |key: &str, default: &str| !default.is_empty() && key != "servers";
    let mut documented = documented();
    assert_eq!(documented["servers"], "[]");
    documented.retain(|key, default| has_default(key, default));
    defaults.remove("servers");
    assert_eq!(documented, defaults);
}

#[test]
fn the_examples_are_good() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let out = std::process::Command::new(program("provostctl"))
        .args(["key", "new", "--out", &key.display().to_string()])
        .output();
    Out::from(out.unwrap()).expect(0);
    let key = std::fs::read_to_string(key.join("provost.pub")).unwrap();
    let key = key.lines().last().unwrap();
    std::fs::write(folder.path().join("token"), "a-token\n").unwrap();
    let authority = Authority::new(&folder.path().join("authority"));
    std::fs::copy(authority.certificate(), folder.path().join("ca.pem")).unwrap();
    for name in ["configuration.md", "node.md"] {
        let page = page(name);
        let blocks: Vec<&str> = page.split("```toml\n").skip(1).collect();
        assert!(!blocks.is_empty(), "{name}");
        for block in blocks {
            let text = block.split("```").next().unwrap();
            let text = text
                .replace("RWQ…", key)
                .replace("/etc/provost", &folder.path().display().to_string())
                // Where nobody answers at once.
                .replace("10.0.0.1:8480", "127.0.0.1:1")
                .replace("10.0.0.2:8480", "127.0.0.1:1");
            let mut told = mistakes(&check(folder.path(), &text));
            // What a part of a configuration leaves out isn't wrong in it.
            let left_out =
                |m: &String| m.starts_with("no server is") || m.starts_with("[trust] is empty");
            told.retain(|mistake| !(name == "node.md" && left_out(mistake)));
            assert_eq!(told, [""; 0], "{text}");
        }
    }
}
