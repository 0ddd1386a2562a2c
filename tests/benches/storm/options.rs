use std::fmt;
use std::time::Duration;

use provost_bundle::Limit;

use crate::simulated::Store;

/// What is asked for on the command line.
pub(crate) struct Options {
    pub(crate) nodes: usize,
    /// Within which time all of them boot.
    pub(crate) over: Duration,
    pub(crate) store: Store,
    pub(crate) daemons: usize,
    /// How often a daemon or the database is killed meanwhile.
    pub(crate) kills: usize,
    /// Whether nodes with identities are compared with nodes that have tokens.
    pub(crate) identities: bool,
    /// Whether nodes that upload the logs of all steps are compared with nodes that don't.
    pub(crate) logs: bool,
}

impl Options {
    pub(crate) fn read() -> Self {
        let mut options = Self {
            nodes: 1000,
            over: Duration::ZERO,
            store: Store::Sqlite,
            daemons: 1,
            kills: 0,
            identities: false,
            logs: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            // Cargo's own.
            if word == "--bench" {
                continue;
            }
            if word == "--identities" {
                options.identities = true;
                continue;
            }
            if word == "--logs" {
                options.logs = true;
                continue;
            }
            let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "--nodes" => options.nodes = number(&value),
                "--over" => {
                    let limit = (value != "0s").then(|| value.parse::<Limit>().unwrap());
                    options.over = limit.map_or(Duration::ZERO, |limit| limit.duration());
                }
                "--store" => {
                    options.store = match value.as_str() {
                        "sqlite" => Store::Sqlite,
                        "postgres" => Store::Postgres { syncs: true },
                        _ => panic!("unknown store {value:?}; expected sqlite or postgres"),
                    }
                }
                "--daemons" => options.daemons = number(&value),
                "--kills" => options.kills = number(&value),
                _ => panic!("unknown argument {word}"),
            }
        }
        options.nodes = options.nodes.max(1);
        options.daemons = options.daemons.max(1);
        let shares = options.daemons == 1 || options.store != Store::Sqlite;
        assert!(shares, "many daemons can't share a SQLite file: add --store postgres");
        // Each daemon has an authority and a port of its own, and a restart would take another port.
        let is_one = options.daemons == 1 && options.kills == 0;
        assert!(is_one || !options.identities, "--identities takes one daemon that isn't killed");
        options
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|e| panic!("{text:?} isn't a number: {e}"))
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = if self.store == Store::Sqlite { "SQLite" } else { "PostgreSQL" };
        write!(
            f,
            "{} nodes within {:?}, daemons: {}, over {store}, killed: {} times",
            self.nodes, self.over, self.daemons, self.kills
        )
    }
}
