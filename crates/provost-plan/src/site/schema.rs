//! What editors know of `site.toml`.

use schemars::{Schema, generate::SchemaSettings};
use serde_json::{Value, json};

use super::file::File;

/// The JSON schema of `site.toml`.
pub fn schema() -> Schema {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<File>();
    // Of all sections groups alone have nodes, and must have them.
    let section = schema.pointer("/definitions/Section").cloned().unwrap_or_default();
    let mut group = section.clone();
    group["required"] = json!(["nodes"]);
    let mut set = |pointer: &str, value: Value| {
        if let Some(place) = schema.pointer_mut(pointer) {
            *place = value;
        }
    };
    set("/properties/groups/additionalProperties/$ref", json!("#/definitions/Group"));
    let mut rest = section;
    if let Some(properties) = rest["properties"].as_object_mut() {
        properties.remove("nodes");
    }
    set("/definitions/Section", rest);
    if let Some(definitions) = schema.pointer_mut("/definitions").and_then(Value::as_object_mut) {
        definitions.insert("Group".to_owned(), group);
    }
    schema
}
