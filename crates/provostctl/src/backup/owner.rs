use std::fs;
use std::io;

/// The names of users and groups: on another machine the same name may have another number.
pub(super) struct Names {
    users: Vec<(String, u32)>,
    groups: Vec<(String, u32)>,
}

impl Names {
    /// Those of this machine.
    pub(super) fn read() -> io::Result<Self> {
        // Both files begin their lines with NAME:PASSWORD:NUMBER.
        let entries = |path: &str| -> io::Result<Vec<(String, u32)>> {
            let text = match fs::read_to_string(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
                text => text?,
            };
            let entry = |line: &str| {
                let mut fields = line.split(':');
                Some((fields.next()?.to_owned(), fields.nth(1)?.parse().ok()?))
            };
            Ok(text.lines().filter_map(entry).collect())
        };
        Ok(Self { users: entries("/etc/passwd")?, groups: entries("/etc/group")? })
    }

    /// The name of the user with this number.
    pub(super) fn user(&self, number: u32) -> Option<&str> {
        name(&self.users, number)
    }

    /// The name of the group with this number.
    pub(super) fn group(&self, number: u32) -> Option<&str> {
        name(&self.groups, number)
    }

    /// The numbers here of a user and a group that are called so, if they are known.
    pub(super) fn numbers(
        &self,
        user: Option<&str>,
        group: Option<&str>,
    ) -> (Option<u32>, Option<u32>) {
        (number(&self.users, user), number(&self.groups, group))
    }
}

fn name(entries: &[(String, u32)], number: u32) -> Option<&str> {
    entries.iter().find(|entry| entry.1 == number).map(|entry| &*entry.0)
}

fn number(entries: &[(String, u32)], name: Option<&str>) -> Option<u32> {
    entries.iter().find(|entry| Some(&*entry.0) == name).map(|entry| entry.1)
}
