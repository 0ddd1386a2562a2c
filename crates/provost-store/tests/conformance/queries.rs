//! What is asked costs by what is found, not by the history. A statement that a store begins to use is
//! found here as soon as the suite runs it: what was run is collected and explained.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};

use provost_store::{Postgres, PostgresFiles, Sqlite};
use provost_tests::Postgres as Server;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, Error, auto_extension, ffi};

use crate::enrolment::enrols;
use crate::notices::queues;
use crate::pruning::{ROOM, prunes};
use crate::suite::conforms;

/// What grows with each boot, each script, each notice and each change of an admin.
const HISTORY: [&str; 6] = ["record", "run", "log", "notice", "audit", "step"];

/// The statements that may read all of a table, by how they begin, each with its reason.
const ALL: [(&str, &str); 6] = [
    ("SELECT id, node, run FROM (", "once a day, and when an admin asks for it"),
    (
        "SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint FROM log",
        "when an admin asks what would be removed",
    ),
    ("SELECT at, who, source, action, request, result FROM audit", "stops at the newest so many"),
    ("SELECT script, count(*), count(cause) FROM step", "as many rows as nodes have scripts"),
    ("SELECT script, cause IS NOT NULL FROM step", "the same"),
    ("SELECT receiver, count(*) FROM notice", "what waits, which has a limit for each receiver"),
];

fn may_read_all(sql: &str) -> bool {
    ALL.iter().any(|(start, _)| sql.starts_with(start))
}

/// Whether it reads or changes rows.
fn is_query(sql: &str) -> bool {
    ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].iter().any(|word| sql.starts_with(word))
}

/// The statements that each SQLite file's connections have run.
static RUN: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

fn statements(file: &Path) -> BTreeSet<String> {
    let mut run = RUN.lock().unwrap_or_else(PoisonError::into_inner);
    run.remove(file.to_str().unwrap()).unwrap_or_default()
}

/// Collects what the connections run that are opened from now on.
fn collect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[expect(unsafe_code, reason = "SQLite calls a function of C")]
        // SAFETY: `trace` opens and closes nothing.
        unsafe { auto_extension::register_auto_extension(trace) }.unwrap();
    });
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn trace(
    db: *mut ffi::sqlite3,
    error: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    let begin = |mut db: Connection| {
        let file = db.path().unwrap_or_default().to_owned();
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(statement, _) = event {
                let mut run = RUN.lock().unwrap_or_else(PoisonError::into_inner);
                run.entry(file.clone()).or_default().insert(statement.sql().trim().to_owned());
            }
        };
        db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note))
    };
    // SAFETY: SQLite gives its connection and the place for an error.
    unsafe { auto_extension::init_auto_extension(db, error, begin) }
}

/// What of the plan of `sql` reads all of a table.
fn scans(db: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    let mut explained = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    // What isn't bound is null.
    let steps = explained.raw_query().mapped(|row| row.get::<_, String>(3));
    let scans = |step: &String| {
        HISTORY.iter().any(|table| {
            let step = format!("{step} ");
            step.starts_with(&format!("SCAN {table} "))
        })
    };
    Ok(steps.collect::<Result<Vec<_>, _>>()?.into_iter().filter(scans).collect())
}

#[tokio::test]
async fn sqlite_reads_no_table_of_the_history_whole() {
    collect();
    let (mut all, mut folder) = (BTreeSet::new(), tempfile::tempdir().unwrap());
    for part in 0..4 {
        folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provost.db");
        let store = Sqlite::open_with(folder.path(), ROOM).unwrap();
        // Without the migrations.
        statements(&file);
        match part {
            0 => conforms(&store).await,
            1 => prunes(&store).await,
            2 => enrols(&store).await,
            _ => queues(&store).await,
        }
        drop(store);
        all.extend(statements(&file).into_iter().filter(|sql| is_query(sql)));
    }
    assert!(all.len() > 50, "they were collected: {all:#?}");
    let db = Connection::open(folder.path().join("provost.db")).unwrap();
    let found = all.iter().filter(|sql| !may_read_all(sql)).filter_map(|sql| {
        let scans = scans(&db, sql).unwrap();
        (!scans.is_empty()).then(|| format!("{sql}: {scans:?}"))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{found:#?}");
    let none = scans(&db, "SELECT body FROM record").unwrap();
    assert_eq!(none, ["SCAN record"], "a scan is found");
}

/// The statements in a server's log.
fn logged(log: &str) -> BTreeSet<String> {
    let mut statements = BTreeSet::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once("LOG:  execute ") else { continue };
        let Some((_, first)) = rest.split_once(": ") else { continue };
        let mut sql = first.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with('\t')) {
            sql = format!("{sql}\n{more}");
        }
        if is_query(&sql) {
            statements.insert(sql);
        }
    }
    statements
}

/// What of the plan of `sql` reads all of a table, or of an index.
fn scans_of(server: &Server, sql: &str) -> Vec<String> {
    let numbers = sql.split('$').skip(1).map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().unwrap_or(0)
    });
    let nulls = vec!["NULL"; numbers.max().unwrap_or(0)].join(", ");
    let nulls = if nulls.is_empty() { nulls } else { format!("({nulls})") };
    // Tables are empty here: only where no index serves a table is read whole.
    let explain = format!(
        "SET search_path = provost; SET enable_seqscan = off; SET enable_bitmapscan = off;
         SET plan_cache_mode = force_generic_plan;
         PREPARE it AS {sql}; EXPLAIN (COSTS off) EXECUTE it{nulls}"
    );
    let plan = server.sql("queries", &explain);
    let lines: Vec<&str> = plan.lines().map(str::trim).collect();
    let reads_all = |at: &usize| {
        let (line, next) = (lines[*at], lines.get(at + 1).unwrap_or(&""));
        let of = |table: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            words.windows(2).any(|pair| pair[0] == "on" && pair[1] == table)
        };
        let by_index = line.contains("Index") && next.starts_with("Index Cond:");
        line.contains("Scan") && HISTORY.iter().any(|table| of(table)) && !by_index
    };
    (0..lines.len()).filter(reads_all).map(|at| lines[at].to_owned()).collect()
}

#[tokio::test]
async fn postgres_reads_no_table_of_the_history_whole() {
    let server = Server::start();
    let url = server.database("queries");
    let open = async || {
        Postgres::open(&url.parse().unwrap(), &PostgresFiles::default(), ROOM).await.unwrap()
    };
    // What is gathered of tables changes plans, here only on a slow machine.
    server.sql("postgres", "ALTER SYSTEM SET autovacuum = off");
    server.sql("postgres", "SELECT pg_reload_conf()");
    // Without the migrations.
    drop(open().await);
    server.sql("queries", "ALTER DATABASE queries SET log_statement = 'all'");
    conforms(&open().await).await;
    for part in 0..3 {
        server.sql("queries", "TRUNCATE provost.node, provost.run, provost.record, provost.log");
        match part {
            0 => prunes(&open().await).await,
            1 => enrols(&open().await).await,
            _ => queues(&open().await).await,
        }
    }
    let all = logged(&server.logged());
    assert!(all.len() > 50, "they were collected: {all:#?}");
    let found = all.iter().filter(|sql| !may_read_all(sql)).filter_map(|sql| {
        let scans = scans_of(&server, sql);
        (!scans.is_empty()).then(|| format!("{sql}: {scans:?}"))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(!scans_of(&server, "SELECT body FROM record").is_empty(), "a scan is found");
}
