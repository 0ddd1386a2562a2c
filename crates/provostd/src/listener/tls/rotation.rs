//! Another authority in the place of the present one. The present one certifies the new one's key before
//! its own key is destroyed: so nodes that know either of them reach the server, whenever they come.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::Path;

use provost_fs::Durability;
use rcgen::{Issuer, KeyPair};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::authority::{
    Authority, AuthorityError, CERTIFICATE, CROSS, FOLDER, KEY, OLD, crypto, file, own_params,
};

/// The new folder in DATA, until it takes the place of the present one.
const NEXT: &str = "ca.next";

/// Makes another authority in the daemon's folder `data`. provostd uses it from its next start on.
pub(crate) fn rotate(data: &Path) -> Result<(), AuthorityError> {
    let (folder, next) = (data.join(FOLDER), data.join(NEXT));
    let old = Authority::open(data)?;
    if folder.join(OLD).exists() {
        return Err(AuthorityError::Unfinished);
    }
    let certificate = folder.join(CERTIFICATE);
    let before = fs::read(&certificate).map_err(file("reading", &certificate))?;
    let issue = || {
        let key = KeyPair::generate()?;
        let own = own_params(&key).self_signed(&key)?.pem();
        let issuer = Issuer::new(own_params(&old.key), &old.key);
        Ok((own_params(&key).signed_by(&key, &issuer)?.pem(), own, key.serialize_pem()))
    };
    let (cross, own, key) = issue().map_err(crypto(&folder.join(KEY)))?;
    let write = || {
        // What a crash has left.
        if next.exists() {
            fs::remove_dir_all(&next)?;
        }
        DirBuilder::new().mode(0o700).create(&next)?;
        // Root may do this; the files are the daemon's.
        let owner = fs::metadata(&folder)?;
        let files = [(KEY, key.as_bytes(), 0o600), (CERTIFICATE, own.as_bytes(), 0o644)];
        for (name, text, mode) in
            files.into_iter().chain([(CROSS, cross.as_bytes(), 0o644), (OLD, &before[..], 0o644)])
        {
            let path = next.join(name);
            provost_fs::replace_with_mode(&path, text, mode, Durability::PowerCut)?;
            chown(&path, Some(owner.uid()), Some(owner.gid()))?;
        }
        chown(&next, Some(owner.uid()), Some(owner.gid()))?;
        renameat_with(CWD, &next, CWD, &folder, RenameFlags::EXCHANGE)?;
        fs::File::open(data)?.sync_all()?;
        // With the old key in it.
        fs::remove_dir_all(&next)
    };
    write().map_err(file("writing", &next))
}

/// The authority before the present one counts no more. Returns whether there was one.
pub(crate) fn finish(data: &Path) -> Result<bool, AuthorityError> {
    let mut was_there = false;
    for name in [OLD, CROSS] {
        let path = data.join(FOLDER).join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            removed => {
                removed.map_err(file("removing", &path))?;
                was_there = true;
            }
        }
    }
    Ok(was_there)
}
