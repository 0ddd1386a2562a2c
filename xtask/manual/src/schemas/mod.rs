//! The schemas of configuration files, for editors.

use std::fs;
use std::io;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Writes each schema into `folder`.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    for (name, schema) in all() {
        let text = serde_json::to_string_pretty(&schema)?;
        fs::write(folder.join(format!("{name}.json")), text + "\n")?;
    }
    Ok(())
}

/// The schemas, by the names of their files.
fn all() -> [(&'static str, Schema); 2] {
    let site = provost_plan::site_schema();
    let provostd = of::<provostd::Config>();
    [("site", site), ("provostd", provostd)].map(|(name, mut schema)| {
        WithoutNull.transform(&mut schema);
        schema.insert("title".to_owned(), format!("{name}.toml").into());
        (name, schema)
    })
}

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<T>()
}

/// Takes null out of what a key may be: TOML has none, a key is left out.
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [one] = &types[..] {
                let one = one.clone();
                object.insert("type".to_owned(), one);
            }
        }
        if let Some(Value::Array(any)) = object.get_mut("anyOf") {
            any.retain(|one| one["type"] != "null");
            if let [Value::Object(one)] = &any[..] {
                // Next to a $ref nothing else counts in this draft.
                let one = Value::Object(one.clone());
                object.remove("anyOf");
                object.insert("allOf".to_owned(), Value::Array(vec![one]));
            }
        }
        if object.get("default").is_some_and(Value::is_null) {
            object.remove("default");
        }
    }
}

#[cfg(test)]
mod tests;
