use std::path::Path;

use provost_bundle::SecretKey;

use crate::failure::Failure;
use crate::output;

/// `provostctl key new`.
pub(crate) fn new(out: &Path) -> Result<(), Failure> {
    let key = SecretKey::new_pair(out).map_err(|e| Failure::of(&e, e.hint()))?;
    output::note(&format!(
        "wrote {} (keep it secret) and {}; the line for [trust] keys on the nodes:",
        out.join("provost.key").display(),
        out.join("provost.pub").display(),
    ));
    output::print(format!("{}\n", key.public_line()).as_bytes())
}
