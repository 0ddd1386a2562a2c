//! The product as its users see it. One program, so that a change links few; nextest runs each test in a
//! process of its own. Machines and storms have programs of their own.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod admins;
mod analyze;
mod any_mix_of_faults;
mod api_document;
mod backup;
mod beats;
mod before_publishing;
mod beside_others;
mod boot_retry;
mod busy_daemon;
mod caches;
mod changed;
mod channels;
mod check;
mod cli_contract;
mod clock_steps;
mod cloud_init;
mod commands;
mod compat;
mod configuration_page;
mod daemon_log;
mod defaults;
mod disclosed;
mod dry_run;
mod end_to_end;
mod ended_between;
mod enrolment;
mod examples;
mod expiry;
mod failed_nodes;
mod failure_texts;
mod false_alarms;
mod faulty_server;
mod fetching;
mod fetching_again;
mod fetching_failures;
mod fetching_names;
mod fetching_offline;
mod few_resources;
mod following;
mod from_node;
mod full_disk;
mod gather;
mod going_on;
mod groups;
mod guard;
mod history;
mod hooks;
mod host_keys;
mod hostile;
mod how_steps_end;
mod huge_reports;
mod ignored_failures;
mod in_the_way;
mod init;
mod inner_stages;
mod install_page;
mod install_sh;
mod json_page;
mod keys;
mod kickstart;
mod kickstart_fetch;
mod kickstart_page;
mod kills;
mod limits;
mod link_local;
mod links;
mod logging;
mod lost;
mod lying_servers;
mod many_daemons;
mod messages;
mod migrate_page;
mod monitoring;
mod newer_store;
mod no_cgroups;
mod node_life;
mod odd_values;
mod old_kernels;
mod old_logs;
mod open_words;
mod openshift_records;
mod order_hooks;
mod package_repositories;
mod parsers;
mod pending;
mod planted;
mod policies;
mod postscripts;
mod private;
mod proxies;
mod published_page;
mod publishing;
mod readme;
mod reboots;
mod reporting;
mod rerun;
mod retention;
mod rights;
mod round_trips;
mod running_stages;
mod script_environment;
mod scripts;
mod secrets;
mod security_page;
mod shell_library;
mod shell_library_run;
mod slow_steps;
mod snippets;
mod stale;
mod store_copy;
mod stories;
mod success_logs;
mod syncing;
mod tls;
mod troubleshooting_page;
mod tutorial;
mod twelve_stages;
mod upgrading;
mod waiting;
mod web_actions;
mod web_design;
mod web_jobs;
mod web_map;
mod web_node;
mod web_orders;
mod web_page;
mod web_refused;
mod web_script;
mod web_select;
mod web_why;
mod webhooks;
mod why;
mod workstation;
mod wrong_clock;
mod xcat_as_xcat;
mod xcat_failures;
mod xcat_hierarchy;
mod xcat_install;
mod xcat_library;
mod xcat_modes;
mod xcat_mypostscript;
mod xcat_nodes;
mod xcat_ports;
mod xcat_replacements;
mod xcat_scripts;
mod xcat_source;
mod xcat_status;
mod xcat_status_words;
mod xcat_takes_hold;
mod year;

use std::path::Path;

/// A file that no `mod` line names isn't compiled, and its tests are lost without a word.
#[test]
fn no_file_of_tests_is_forgotten() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let crates = std::fs::read_dir(workspace.join("crates")).unwrap();
    let packages = crates.map(|entry| entry.unwrap().path()).chain([workspace.join("tests")]);
    let mut programs = 0;
    for folder in packages.map(|package| package.join("tests")).filter(|tests| tests.exists()) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let program = entry.unwrap().path();
            if program.join("main.rs").exists() {
                each_file_is_named(&program, "main.rs");
                programs += 1;
            }
        }
    }
    assert!(programs > 5, "{programs}");
}

/// The files of `folder`, and of the folders below, are modules of its file `parent`.
fn each_file_is_named(folder: &Path, parent: &str) {
    let text = std::fs::read_to_string(folder.join(parent)).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_file = path.extension().is_some_and(|extension| extension == "rs");
        if !(is_file && !path.ends_with(parent) || path.join("mod.rs").exists()) {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let line = format!("mod {name};");
        let names = |l: &str| l.strip_prefix("pub(crate) ").unwrap_or(l) == line;
        assert!(text.lines().any(names), "{}: no `{line}` names it", path.display());
        if !is_file {
            each_file_is_named(&path, "mod.rs");
        }
    }
}
