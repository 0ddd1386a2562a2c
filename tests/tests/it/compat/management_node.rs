//! What provostd kept is read by today's.

use provost_tests::{Cluster, Postgres, skip_if};

use super::{RETENTION, Recording, document, includes};

/// Asserts that today's provostctl prints what was printed.
#[track_caller]
fn prints(cluster: &Cluster, recording: &Recording, file: &str) {
    prints_but(cluster, recording, file, |_| {});
}

/// The same, once `change` has changed what was printed.
#[track_caller]
fn prints_but(
    cluster: &Cluster,
    recording: &Recording,
    file: &str,
    change: impl Fn(&mut serde_json::Value),
) {
    for (command, mut expected) in recording.printed(file) {
        change(&mut expected);
        let args: Vec<&str> = command.split(' ').chain(["--format", "json"]).collect();
        let today = document(cluster.ctl(&args).expect(0));
        includes(&today, &expected, &format!("{}: {command}", recording.0.display()));
    }
    let nodes = cluster.ctl(&["nodes"]).expect(0).stdout;
    assert!(nodes.contains("cn002") && nodes.contains("fails"), "{nodes}");
    let show = cluster.ctl(&["show", "cn002"]).expect(0).stdout;
    assert!(show.contains("no disk"), "{show}");
}

#[test]
fn a_store_of_sqlite_is_served() {
    for recording in Recording::all() {
        let cluster = recording.cluster("sqlite/after.db.zst");
        prints(&cluster, &recording, "sqlite/printed.json");
    }
}

#[test]
fn a_store_of_postgres_is_served() {
    skip_if(Postgres::missing());
    let server = Postgres::start();
    for (number, recording) in Recording::all().iter().enumerate() {
        let store = server.load(&format!("site{number}"), &recording.path("postgres/site.sql"));
        let mut cluster = recording.published();
        cluster.configure_daemon(&format!("store = {store:?}\n{RETENTION}"));
        cluster.start();
        prints(&cluster, recording, "postgres/printed.json");
    }
}

#[test]
fn a_backup_is_restored() {
    for recording in Recording::all() {
        let mut cluster = Cluster::new();
        cluster.configure_daemon(RETENTION);
        // For its configuration.
        cluster.start();
        cluster.kill_daemon();
        for folder in ["provostd", "www"] {
            // What a daemon that was never asked has written.
            let _ = std::fs::remove_dir_all(cluster.path(folder));
        }
        let (file, config) = (recording.path("site.backup"), cluster.path("provostd.toml"));
        let (file, config) = (file.to_str().unwrap(), config.to_str().unwrap());
        cluster.ctl(&["restore", "--from", file, "--config", config]).expect(0);
        cluster.start();
        // Identities count for longer by the backup's age.
        prints_but(&cluster, &recording, "sqlite/printed.json", |printed| {
            if let Some(identity) = printed.get_mut("identity").and_then(|it| it.as_object_mut()) {
                identity.remove("until");
            }
        });
    }
}
