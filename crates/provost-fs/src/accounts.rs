use std::io;
use std::path::Path;

use crate::read_given_text;

/// The most bytes of such a file.
const MOST: u64 = 64 << 20;

/// The id of the group `name`: a number, or a name in /etc/group. The program may be static, so it
/// can't ask a directory service.
pub fn group_id(name: &str) -> io::Result<Option<u32>> {
    if let Ok(id) = name.parse() {
        return Ok(Some(id));
    }
    let groups = read_given_text(Path::new("/etc/group"), MOST)?;
    let mut entries = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let entry = entries.find(|entry| entry.first() == Some(&name));
    Ok(entry.and_then(|entry| entry.get(2)?.parse().ok()))
}

/// The name of the user `id`, if /etc/passwd has it.
pub fn user_name(id: u32) -> io::Result<Option<String>> {
    let (users, id) = (read_given_text(Path::new("/etc/passwd"), MOST)?, id.to_string());
    let mut entries = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let entry = entries.find(|entry| entry.get(2) == Some(&&*id));
    Ok(entry.map(|entry| entry[0].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_number_or_a_name_that_is_known() {
        assert_eq!(group_id("root").unwrap(), Some(0));
        assert_eq!(group_id("1234").unwrap(), Some(1234));
        assert_eq!(group_id("nobody has this group").unwrap(), None);
    }

    #[test]
    fn a_user_has_a_name_if_the_file_has_it() {
        assert_eq!(user_name(0).unwrap().as_deref(), Some("root"));
        assert_eq!(user_name(4_000_000_000).unwrap(), None);
    }
}
