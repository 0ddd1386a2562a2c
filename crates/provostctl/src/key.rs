use std::path::Path;

use provost_bundle::SecretKey;

use crate::failure::Failure;
use crate::output;

/// `provostctl key new`.
pub(crate) fn new(out: &Path) -> Result<(), Failure> {
    let key = SecretKey::new_pair(out).map_err(|e| Failure::new(e.to_string(), e.hint()))?;
    output::say(&format!(
        "wrote {} (keep it secret) and {}; nodes trust it by [trust] keys = [\"…\"] with:",
        out.join("provost.key").display(),
        out.join("provost.pub").display(),
    ));
    output::print(format!("{}\n", key.public_line()).as_bytes())
}
