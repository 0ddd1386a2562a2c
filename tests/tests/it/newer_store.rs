//! An older provostd at the store of a newer one: it refuses that, and a backup of before the upgrade brings it back
//! (docs/upgrade.md).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use provost_tests::{Cluster, Out, Postgres, skip_if};
use rusqlite::Connection;

/// Where a newer version would have left the store.
enum Place {
    Sqlite,
    Postgres(Postgres),
}

impl Place {
    /// Raises the version of the tables by one, as a newer provostd does.
    fn raise(&self, data: &Path) {
        match self {
            Self::Sqlite => {
                let db = Connection::open(data.join("provost.db")).unwrap();
                let version =
                    db.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
                db.pragma_update(None, "user_version", version.unwrap() + 1).unwrap();
            }
            Self::Postgres(server) => {
                server.sql("site", "UPDATE provost.version SET number = number + 1");
            }
        }
    }

    fn move_aside(&self, data: &Path) {
        fs::rename(data, data.with_extension("newer")).unwrap();
        if let Self::Postgres(server) = self {
            server.sql("site", "ALTER SCHEMA provost RENAME TO provost_newer");
        }
    }
}

/// What is in a folder, with all below it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.is_file() {
            all.insert(path.display().to_string(), fs::read(path).unwrap());
        }
    }
    all
}

fn goes_back(place: &Place) {
    let mut cluster = Cluster::new();
    let store = match place {
        Place::Sqlite => String::new(),
        Place::Postgres(server) => format!("store = {:?}\n", server.database("site")),
    };
    cluster.configure_daemon(&store);
    cluster.start();
    // At the same addresses after its folder was moved.
    let tls = cluster.daemon().address("nodesTls");
    let store = match place {
        Place::Sqlite => String::new(),
        Place::Postgres(server) => format!("store = {:?}\n", server.address("site")),
    };
    cluster.configure_daemon(&format!("{store}[tls]\nlisten = {tls:?}\n"));
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"hello\"]\n").publish().expect(0);
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let (data, config) = (cluster.path("provostd"), cluster.path("provostd.toml"));
    let file = cluster.path("before-upgrade.provost").display().to_string();
    let config = config.to_str().unwrap();
    let backup = |cluster: &Cluster| cluster.ctl(&["backup", "--to", &file, "--config", config]);
    backup(&cluster).expect(0);
    node.provost(&["boot"]).expect(0);
    let address = cluster.kill_daemon();

    place.raise(&data);
    let mut before = files(&data);
    // Where it listened: a daemon that was killed leaves that, and each start removes it.
    before.remove(data.join("listen.json").to_str().unwrap()).unwrap();
    let refuses = |out: Out, code: i32| {
        let out = out.expect(code);
        let hint = "  hint: install the newer Provost again, or restore the backup of before the upgrade: docs/upgrade.md";
        out.says(&["it has version ", ", and this build knows versions up to ", hint]);
    };
    // An exit status for which systemd doesn't start it again and again.
    refuses(cluster.daemon_command(&[]), 2);
    refuses(cluster.daemon_command(&["check"]), 2);
    let good = fs::read(&file).unwrap();
    refuses(backup(&cluster), 1);
    assert!(fs::read(&file).unwrap() == good, "the backup that was there stays");
    let after = files(&data);
    for (name, bytes) in &before {
        assert!(after.get(name) == Some(bytes), "{name} was changed");
    }

    place.move_aside(&data);
    cluster.ctl(&["restore", "--from", &file, "--config", config]).expect(0);
    cluster.start_at(&address);
    let runs = |cluster: &Cluster| {
        let show = cluster.ctl_json(&["show", "cn001"]);
        show["runs"].as_array().unwrap().len()
    };
    assert_eq!(runs(&cluster), 1, "as of the backup");
    node.provost(&["boot"]).expect(0);
    assert_eq!(runs(&cluster), 2);
}

#[test]
fn a_newer_store_is_refused_and_the_backup_of_before_goes_back() {
    goes_back(&Place::Sqlite);
}

#[test]
fn a_newer_database_is_refused_and_the_backup_of_before_goes_back() {
    skip_if(Postgres::missing());
    goes_back(&Place::Postgres(Postgres::start()));
}
