use crate::transfer::Row;

/// A table of the stream. Both stores have it under this name and with these columns, unless they say
/// otherwise in their module `transfer`.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The first ones are its key.
    pub(crate) columns: &'static [&'static str],
}

/// All of them, in the order of the stream. A test of the stores fails where one is missing.
pub(crate) const TABLES: &[Table] = &[
    Table { name: "node", columns: &["name", "state", "due"] },
    Table { name: "token", columns: &["node", "sha256", "old_sha256", "old_until"] },
    Table { name: "run", columns: &["id", "node", "run", "began", "pruned"] },
    Table { name: "record", columns: &["run", "seq", "json"] },
    Table { name: "log", columns: &["node", "run", "name", "at", "success", "bytes"] },
    Table { name: "step", columns: &["node", "script", "ms", "cause", "since", "run", "usual"] },
    Table { name: "identity", columns: &["key", "node", "since", "until", "revoked"] },
    Table {
        name: "enrolment_join",
        columns: &["node", "sha256", "since", "until", "origin", "spent"],
    },
    Table { name: "enrolment_window", columns: &["node", "until"] },
    Table {
        name: "enrolment_request",
        columns: &["node", "key", "address", "client", "since", "last", "second", "rejected"],
    },
    Table { name: "admin", columns: &["name", "role", "token", "created", "until"] },
    Table { name: "audit", columns: &["id", "at", "who", "source", "action", "request", "result"] },
    Table { name: "notice", columns: &["id", "receiver", "at", "body"] },
    Table { name: "storm", columns: &["began"] },
    Table {
        name: "history",
        columns: &["step", "at", "began", "succeeded", "failed", "boots", "nodes"],
    },
    Table { name: "history_part", columns: &["id", "at", "began", "succeeded", "failed", "boots"] },
    Table {
        name: "storm_result",
        columns: &["began", "ended", "nodes", "succeeded", "failed", "lost"],
    },
    Table { name: "job", columns: &["id", "began", "beat", "ended", "interrupted", "body"] },
    Table { name: "job_node", columns: &["job", "node", "failure"] },
];

/// The table of this name, and those of its columns that a stream has. An older version's stream may
/// have fewer, a newer one's more.
pub(crate) fn columns_of(
    name: &str,
    columns: &[String],
) -> Result<(&'static Table, Vec<&'static str>), String> {
    let table = TABLES.iter().find(|table| table.name == name);
    let table = table.ok_or_else(|| format!("this version knows no table {name:?}"))?;
    let known = |column: &String| {
        let known = table.columns.iter().find(|known| **known == *column);
        let why = || format!("this version knows no column {column:?} of the table {name}");
        known.copied().ok_or_else(why)
    };
    let mut columns: Vec<_> = columns.iter().map(known).collect::<Result<_, _>>()?;
    if name == "enrolment_join" && !columns.contains(&"since") {
        columns.push("since");
    }
    Ok((table, columns))
}

/// Adds to a row what an older version's stream doesn't have: of a join token when it was made, which is as if it had
/// no time, so that it is never due.
pub(crate) fn complete(columns: &[&str], row: &mut Row) {
    if columns.last() == Some(&"since")
        && row.len() + 1 == columns.len()
        && let Some(until) = columns.iter().position(|column| *column == "until")
    {
        row.push(row[until].clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Value;

    #[test]
    fn a_join_token_of_an_older_version_gets_when_it_was_made() {
        let older = ["node", "sha256", "until", "origin", "spent"].map(str::to_owned);
        let (table, columns) = columns_of("enrolment_join", &older).unwrap();
        let mut row: Row = (0..5).map(Value::Number).collect();
        complete(&columns, &mut row);
        assert_eq!((columns.len(), &row[5]), (6, &Value::Number(2)));
        // One that lacks another value is damaged.
        row.truncate(4);
        complete(&columns, &mut row);
        assert_eq!(row.len(), 4);
        let own: Vec<String> = table.columns.iter().map(|name| (*name).to_owned()).collect();
        let (_, columns) = columns_of("enrolment_join", &own).unwrap();
        assert_eq!(columns, table.columns);
        complete(&columns, &mut row);
        assert_eq!(row.len(), 4);
    }
}
