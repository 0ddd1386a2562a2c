//! Another key: what it doesn't publish anew is signed again.

use std::fs;
use std::path::Path;

use crate::channels;
use crate::error::PublishError;
use crate::history::{file, numbers, verify};
use crate::key::SecretKey;
use crate::replace::replace;
use crate::target::Target;

/// Signs again with `new` what else `old` has signed in the folder `www`: the history and the channels.
pub fn sign_again(www: &Path, old: &SecretKey, new: &SecretKey) -> Result<(), PublishError> {
    let target = Target::open(www, Path::new("/nonexistent"))?;
    let www = target.path();
    let files = numbers(www).into_iter().map(file).chain([channels::FILE.to_owned()]);
    for path in files.map(|file| www.join(file)) {
        // What neither has signed stays so, and is refused where it is used.
        if !path.exists() || verify(&path, new).is_ok() || verify(&path, old).is_err() {
            continue;
        }
        let text = fs::read(&path).map_err(|e| PublishError::disk("reading", &path, e))?;
        let signature = path.with_added_extension("minisig");
        let text = new.sign(&text, "signed again")?;
        replace(&signature, &text).map_err(|e| PublishError::disk("writing", &signature, e))?;
    }
    Ok(())
}
