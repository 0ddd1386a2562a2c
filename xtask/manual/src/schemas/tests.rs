//! A schema takes what the program takes: the samples, and not their mistakes.

use std::path::Path;

use provost_plan::Site;
use serde_json::Value;

use super::all;

const SITE: &str = include_str!("../../../../dist/examples/site.toml");
const PROVOSTD: &str = include_str!("../../../../dist/examples/provostd.toml");
const PACKAGED: &str = include_str!("../../../packages/provostd.toml");

/// Why `value` isn't what `schema` of the document `root` describes, if that is so. Knows what our schemas
/// use, and nothing else: a keyword that isn't known is no answer.
fn refuse(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let Value::Object(keywords) = schema else {
        return (*schema == false).then(|| format!("{value} is too much"));
    };
    let refused = |schema: &Value| refuse(root, schema, value);
    keywords.iter().find_map(|(keyword, argument)| match &**keyword {
        "$schema" | "definitions" | "title" | "description" | "default" | "examples" | "format"
        | "uniqueItems" => None,
        "$ref" => {
            let pointer = argument.as_str()?.trim_start_matches('#');
            refused(root.pointer(pointer).expect(pointer))
        }
        "type" => {
            let is = match argument.as_str()? {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64(),
                other => panic!("type {other}"),
            };
            (!is).then(|| format!("{value} is no {argument}"))
        }
        "properties" => {
            let known = argument.as_object()?.iter();
            known.filter_map(|(key, of)| refuse(root, of, value.get(key)?)).next()
        }
        "additionalProperties" => {
            let known =
                |key: &str| schema.pointer("/properties").is_some_and(|p| p.get(key).is_some());
            let others = value.as_object()?.iter().filter(|(key, _)| !known(key));
            let refused = |(key, value)| Some(format!("{key}: {}", refuse(root, argument, value)?));
            others.filter_map(refused).next()
        }
        "items" => value.as_array()?.iter().find_map(|item| refuse(root, argument, item)),
        "required" => {
            let mut keys = argument.as_array()?.iter().filter_map(Value::as_str);
            keys.find(|key| value.get(key).is_none()).map(|key| format!("{key} is missing"))
        }
        "const" => (argument != value).then(|| format!("{value} isn't {argument}")),
        "enum" => (!argument.as_array()?.contains(value)).then(|| format!("{value} isn't one")),
        "minimum" => (value.as_f64()? < argument.as_f64()?).then(|| format!("{value} is too low")),
        "allOf" => argument.as_array()?.iter().find_map(refused),
        "anyOf" | "oneOf" => {
            let fits = argument.as_array()?.iter().filter(|one| refused(one).is_none()).count();
            (fits == 0 || keyword == "oneOf" && fits > 1).then(|| format!("{value} fits {fits}"))
        }
        other => panic!("the keyword {other}"),
    })
}

/// What the schema `name` has against a file.
fn by_schema(name: &str, text: &str) -> Option<String> {
    let schema = all().into_iter().find(|(of, _)| *of == name).expect(name).1.to_value();
    refuse(&schema, &schema, &toml::from_str(text).expect(text))
}

/// What the program has against it.
fn by_program(name: &str, text: &str) -> Option<String> {
    match name {
        "site" => Site::parse(text, Path::new("site.toml")).err().map(|e| e.to_string()),
        _ => toml::from_str::<provostd::Config>(text).err().map(|e| e.to_string()),
    }
}

#[test]
fn the_samples_are_right_and_name_their_schema() {
    for (name, text) in [("site", SITE), ("provostd", PROVOSTD), ("provostd", PACKAGED)] {
        let named = format!("#:schema file:///usr/share/provost/schema/{name}.json\n");
        assert!(text.starts_with(&named), "{text}");
        assert_eq!(by_schema(name, text), None, "{text}");
        assert_eq!(by_program(name, text), None, "{text}");
    }
}

#[test]
fn a_mistake_is_one_for_the_schema_and_for_the_program() {
    let site = "[groups.g]\nnodes = \"cn1\"\n";
    for text in [
        "default = {}\n".to_owned(),
        "[defaults]\npostscript = []\n".to_owned(),
        "[defaults]\nnodes = \"cn1\"\n".to_owned(),
        "[defaults]\nenv = { PORT = 80 }\n".to_owned(),
        "[defaults]\npostscripts = \"syslog\"\n".to_owned(),
        "[defaults]\nrunbootscripts = \"yes\"\n".to_owned(),
        "[groups.g]\npostscripts = []\n".to_owned(),
        format!("{site}enf = {{}}\n"),
        format!("{site}[nodes.cn1]\nnodes = \"cn1\"\n"),
        format!("{site}[scripts.s]\ntimout = \"1m\"\n"),
        format!("{site}[scripts.s]\ntimeout = 60\n"),
        format!("{site}[scripts.s]\nwhen = \"sometimes\"\n"),
        format!("{site}[scripts.s]\nretries = -1\n"),
        format!("resplit = \"s\"\n{site}"),
    ] {
        is_one("site", &text);
    }
    let www = "www = \"/srv/www\"\n";
    for text in [
        "data = \"/x\"\n".to_owned(),
        format!("{www}port = 80\n"),
        format!("{www}listen = 8480\n"),
        format!("{www}lost_after = 60\n"),
        format!("{www}[guard]\nmax_attempts = 0\n"),
        format!("{www}[guard]\nattempts = 1\n"),
        format!("{www}[node]\nprogram = \"/x\"\n"),
        format!("{www}[quota]\nrecords = 1\n"),
        format!("{www}[quota]\nlogs_mib = -1\n"),
        format!("{www}[xcat]\nport = 3002\n"),
        format!("{www}[xcat]\ndns = \"no\"\n"),
    ] {
        is_one("provostd", &text);
    }
}

#[track_caller]
fn is_one(name: &str, text: &str) {
    assert!(by_program(name, text).is_some(), "the program takes\n{text}");
    assert!(by_schema(name, text).is_some(), "the schema takes\n{text}");
}
