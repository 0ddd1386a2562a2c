//! What a package is made of, for scanners: CycloneDX 1.5, in JSON.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::package::Package;
use crate::notices::{Library, linked};

/// The document of the package: its programs' libraries, each with its licence and digest. It has neither a
/// serial number nor another time than the commit's, so that it is the same whenever it is made.
pub(super) fn text(package: &Package) -> Result<String> {
    let components: Vec<Value> =
        linked(&[package.programs, package.served].concat())?.iter().map(component).collect();
    let version = &package.place.version;
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": package.date("+%Y-%m-%dT%H:%M:%SZ")?,
            "component": {
                "type": "application",
                "bom-ref": package.name,
                "name": package.name,
                "version": version,
                "licenses": [{ "license": { "id": "Apache-2.0" } }],
            },
        },
        "components": components,
        "dependencies": [{
            "ref": package.name,
            "dependsOn": components.iter().map(|one| one["bom-ref"].clone()).collect::<Vec<_>>(),
        }],
    });
    let text = serde_json::to_string_pretty(&document).context("writing a list of libraries")?;
    Ok(text + "\n")
}

fn component(library: &Library) -> Value {
    let Library { name, version, license, checksum, .. } = library;
    // A version with build metadata has a plus, which a package URL escapes.
    let purl = format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"));
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
    });
    if let Some(license) = license {
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}
