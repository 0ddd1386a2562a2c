//! Writers at once, full disks, files that somebody damaged: nothing is lost.

use super::*;

#[test]
fn writers_at_once_lose_nothing() {
    for ways in [[Way::Provost; 2], [Way::Shell; 2], WAYS] {
        let first = Service::new(ways[0]);
        let body = "record_service_stage_start \"s$$\"\nrecord_service_stage_success\n";
        let mut commands: Vec<Command> = (0..20).map(|_| first.command(body)).collect();
        if ways[1] != ways[0] {
            for command in commands.iter_mut().step_by(2) {
                command.env("PROVOST_BIN", "/nonexistent");
            }
        }
        let children: Vec<Child> = commands.iter_mut().map(|c| c.spawn().unwrap()).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let story = first.story();
        assert_eq!(story.len(), 80, "{ways:?}");
        for (phase, count) in [("service start", 20), ("service end success", 20)] {
            assert_eq!(story.iter().filter(|s| *s == phase).count(), count, "{ways:?} {phase}");
        }
        assert!(!story.iter().any(|s| s.contains("failure")), "nobody was cut off: {story:?}");
    }
}

/// A folder with all programs that the library calls but `flock`, as in a small image.
fn programs_without_flock(service: &Service) -> PathBuf {
    let folder = service.path("programs");
    std::fs::create_dir(&folder).unwrap();
    let names = "awk bash cat cp date iconv ln mkdir mv rm sleep sync tr";
    for name in names.split(' ') {
        let from = ["/usr/bin", "/bin"].map(|f| Path::new(f).join(name));
        let from = from.iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(from, folder.join(name)).unwrap();
    }
    folder
}

#[test]
fn writers_at_once_lose_nothing_without_flock_either() {
    let service = Service::new(Way::Shell);
    let path = programs_without_flock(&service);
    let body = "record_service_stage_start s\nrecord_service_stage_success\n";
    let lock = service.path("records/svc.json.lock");
    std::fs::create_dir(service.path("records")).unwrap();
    // What a kill or a power cut may leave: no name, no such process, nothing that names one.
    for (round, left) in (1..).zip(["", "999999999.1.none\n", "garbage\n"]) {
        std::fs::write(&lock, left).unwrap();
        // All are made first, because each writes the script.
        let mut commands: Vec<Command> = (0..20).map(|_| service.command(body)).collect();
        let start = |command: &mut Command| command.env("PATH", &path).spawn().unwrap();
        let writers: Vec<Child> = commands.iter_mut().map(start).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        assert_eq!(service.entries().len(), round * 20 * 4, "{left:?}");
        let files = std::fs::read_dir(service.path("records")).unwrap().count();
        assert_eq!(files, 1, "{left:?}: locks are left");
    }
}

#[test]
fn what_is_no_record_makes_no_file_unreadable() {
    for way in WAYS {
        for text in ["[1,2]", "[[1]]", "[\n1,\n2\n]\n", "null"] {
            let service = Service::new(way);
            std::fs::create_dir(service.path("records")).unwrap();
            std::fs::write(service.records(), text).unwrap();
            assert!(service.run("").success());
            assert_eq!(service.story(), ["service start", "service end success"], "{text}");
            let kept = std::fs::read_to_string(service.path("records/svc.damaged")).unwrap();
            assert_eq!(kept, text);
        }
    }
}

#[test]
fn a_damaged_file_is_mended() {
    let entry = r#"{"timestamp":"2026-11-20T17:00:01Z","phase":"service start"}"#;
    let pretty = "[\n    {\n        \"timestamp\": \"2026-11-20T17:00:01Z\",\n        \"phase\": \"service start\"\n    }\n]\n";
    let cases: [(&str, String, usize); 7] = [
        ("empty", String::new(), 0),
        ("torn", format!("[\n{entry},\n{{\"timestamp\":\"2026-11-20T17:0"), 1),
        ("without an end", format!("[\n{entry}"), 1),
        ("NULs", format!("[\n{entry},\n\0\0\0\0"), 1),
        ("no array", "disk full".to_owned(), 0),
        ("jq's own layout", pretty.to_owned(), 1),
        ("an empty array", "[]".to_owned(), 0),
    ];
    for way in WAYS {
        for (what, text, kept) in &cases {
            let service = Service::new(way);
            std::fs::create_dir(service.path("records")).unwrap();
            std::fs::write(service.records(), text).unwrap();
            let status = service.run("record_service_stage_start s\n");
            assert!(status.success(), "{way:?} {what}");
            let story = service.story();
            assert_eq!(story.len(), kept + 4, "{way:?} {what}: {story:?}");
            assert_eq!(story[kept + 1..][..2], ["stage start s", "stage end s success"]);
        }
    }
}

#[test]
fn what_cannot_be_recorded_does_not_keep_the_script_from_running() {
    for way in WAYS {
        let service = Service::new(way);
        let body = "record_service_stage_start s\nrecord_service_stage_success\ntouch done\n";
        let mut command = service.command(body);
        let out = command.env("SERVICE_RECORDS_DIR", "/proc/no/such").output().unwrap();
        assert!(out.status.success(), "{way:?}");
        assert!(service.path("done").exists(), "{way:?}: the body ran");
        assert!(String::from_utf8_lossy(&out.stderr).contains("is not recorded"), "{way:?}");
    }
}

#[test]
fn a_full_disk_neither_stops_the_script_nor_damages_the_file() {
    skip_if(missing::mounts());
    for way in WAYS {
        let service = Service::new(way);
        let body = "record_service_stage_start s\nrecord_service_stage_success\ntouch done\n";
        service.command(body);
        let records = service.path("records");
        std::fs::create_dir(&records).unwrap();
        // One page is full of a record, the other of something else.
        let script = r#"mount -t tmpfs -o size=8k none records
            printf '[\n{"timestamp":"2026-11-20T17:00:01Z","phase":"service start"%4020s}\n]\n' '' \
                >records/svc.json
            head -c 100000 /dev/zero >records/fill 2>/dev/null
            bash ./svc.sh
            echo $? >status
            cp records/svc.json after"#;
        let mut command = service.command(body);
        let env: Vec<_> =
            command.get_envs().filter_map(|(k, v)| Some((k.to_owned(), v?.to_owned()))).collect();
        command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).envs(env).current_dir(&service.folder);
        let out = command.output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(std::fs::read_to_string(service.path("status")).unwrap(), "0\n", "{said}");
        assert!(service.path("done").exists(), "{way:?}: the body ran");
        assert!(said.contains("is not recorded"), "{way:?}: {said}");
        let after = std::fs::read_to_string(service.path("after")).unwrap();
        let entries: Vec<Value> = serde_json::from_str(&after).unwrap();
        assert_eq!(entries.len(), 1, "{way:?}: {after}");
    }
}
