//! Identities that nodes have renewed since a backup. Nobody knows of these once it is restored, so each identity counts
//! for as much longer as the backup is old: else a node that has done all that it should is refused.

use jiff::Timestamp;
use provost_store::transfer::{Row, Value};

/// Extends the identities of a backup, whose rows come table by table.
pub(super) struct Renewals {
    /// When the backup was made, in milliseconds of Unix time.
    created: i64,
    /// How much longer they count, in milliseconds.
    longer: i64,
    /// Where the rows that come now have when an identity ends, and when it was revoked.
    columns: Option<(usize, usize)>,
}

impl Renewals {
    /// Of a backup that was made at `created` and is restored at `now`.
    pub(super) fn since(created: Timestamp, now: Timestamp) -> Self {
        let [created, now] = [created, now].map(Timestamp::as_millisecond);
        Self { created, longer: now.saturating_sub(created).max(0), columns: None }
    }

    /// The rows that come are of this table.
    pub(super) fn begin(&mut self, table: &str, columns: &[String]) {
        let place = |name: &str| columns.iter().position(|column| column == name);
        let places = || Some((place("until")?, place("revoked")?));
        self.columns = (table == "identity").then(places).flatten();
    }

    /// Extends what counted when the backup was made.
    pub(super) fn extend(&self, row: &mut Row) {
        let Some((until, revoked)) = self.columns else { return };
        if row.get(revoked) == Some(&Value::Null)
            && let Some(Value::Number(until)) = row.get_mut(until)
            && *until > self.created
        {
            *until = until.saturating_add(self.longer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_that_counted_counts_for_as_long_as_it_did_at_the_backup() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut renewals = Renewals::since(at(1_000), at(1_600));
        let mut extended = |table: &str, until: i64, revoked: Value| {
            renewals.begin(table, &["node", "until", "revoked"].map(str::to_owned));
            let mut row = vec![Value::Text("cn001".to_owned()), Value::Number(until), revoked];
            renewals.extend(&mut row);
            row[1].clone()
        };
        assert_eq!(extended("identity", 1_200_000, Value::Null), Value::Number(1_800_000));
        assert_eq!(
            extended("identity", 900_000, Value::Null),
            Value::Number(900_000),
            "it had ended"
        );
        let revoked = Value::Number(950_000);
        assert_eq!(extended("identity", 1_200_000, revoked), Value::Number(1_200_000));
        assert_eq!(extended("admin", 1_200_000, Value::Null), Value::Number(1_200_000));
    }
}
