//! docs/security.md names the module that attacks each promise; here are its tests. A promise without one isn't made.

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../docs/security.md");

/// How each promise of the page begins, and the tests that attack it: `MODULE::TEST`, of another crate
/// `CRATE: MODULE::TEST`.
#[rustfmt::skip]
const PROMISES: &[(&str, &[&str])] = &[
    // A user on a node.
    ("reads no configuration, token or report", &["rights::what_a_user_may_not_read_is_said_and_not_guessed"]),
    ("reads nothing that a node keeps", &[
        "private::all_that_a_node_keeps_is_root_s_alone_whichever_command_made_it",
        "private::no_other_user_can_lock_what_a_run_waits_for",
        "private::a_group_may_read_what_a_node_keeps_but_no_secret",
    ]),
    ("can't report for the node", &["provostd: listeners::a_node_speaks_for_itself_only"]),
    ("hides no failure over xCAT's ports", &[
        "provostd: xcat::a_user_of_a_node_that_reports_with_a_token_hides_no_failure_and_reads_no_plan",
    ]),
    ("hangs no boot", &[
        "planted::a_pipe_or_20_gb_of_nothing_in_the_place_of_any_file_of_a_boot_hangs_nothing",
        "planted::what_an_admin_or_the_system_gives_a_node_hangs_no_boot_and_fills_no_memory",
    ]),
    // A script.
    ("it ends at its time-out", &["hostile::setsid", "hostile::fork_bomb", "hostile::leaves_its_cgroup"]),
    ("what it prints changes no terminal", &[
        "hostile::what_is_harmful_on_a_terminal_is_kept_and_not_shown",
        "limits::the_runner_stays_small_while_20_mb_are_fetched_and_1_gb_is_printed",
    ]),
    ("values of secret variables", &[
        "secrets::no_secret_is_in_any_log_record_message_or_upload",
        "provost-exec: secrets::no_shell_quotes_a_secret_so_that_it_is_shown",
        "provost-exec: secrets::no_program_writes_a_secret_so_that_it_is_shown",
        "enrolment::a_node_gets_its_secrets_by_tls_and_keeps_and_shows_none",
    ]),
    ("no secret is in what [gather]", &[
        "disclosed::no_secret_is_in_what_leaves_a_node",
        "disclosed::no_secret_is_in_what_leaves_a_management_node",
        "gather::all_that_tells_what_went_wrong_is_in_one_file_and_nothing_secret",
    ]),
    // Also in tests/machines/escapes.rs.
    ("in a [dry run]", &[
        "dry_run::hostile_scripts_change_nothing_outside",
        "dry_run::hostile_scripts_without_a_network_change_nothing_outside",
        "dry_run::hostile_scripts_on_an_old_kernel_change_nothing_outside",
        "dry_run::a_limit_that_is_reached_is_named",
    ]),
    ("a script that a process replaces", &[
        "changed::a_script_that_is_changed_while_it_starts_never_succeeds_with_what_was_not_verified",
        "changed::a_script_that_is_changed_before_its_interpreter_opens_it_never_succeeds",
    ]),
    // A node's root.
    ("acts only for that node", &["provostd: listeners::a_node_speaks_for_itself_only"]),
    ("fills no store", &[
        "provostd: quotas::one_token_that_sends_logs_without_end_is_told_to_come_back_in_an_hour",
        "provostd: quotas::one_token_that_sends_records_without_end_is_told_to_come_back_in_an_hour",
        "provostd: quotas::one_token_that_begins_runs_without_end_is_told_to_come_back_in_an_hour",
        "provostd: floods::nodes_behind_one_address_keep_their_connections_when_a_stranger_there_opens_thousands",
    ]),
    ("a record, log or beat of any bytes", &["parsers::bodies_of_requests"]),
    ("does nothing as an admin", &[
        "provostd: admins::only_a_token_of_an_admin_opens_anything_over_tls",
        "provostd: listeners::only_the_socket_changes_anything",
    ]),
    ("has ssh host keys certified", &[
        "host_keys::a_node_gets_certificates_for_itself_alone_and_by_its_identity_alone",
    ]),
    ("is refused once its identity", &[
        "enrolment::revoke_ends_an_identity_on_open_connections_and_in_sessions_for_good",
        "enrolment::an_identity_counts_and_ends_on_every_daemon_at_once",
        "full_disk::a_full_disk_takes_prune_remove_revoke_and_admin_remove",
        "full_disk::a_revocation_that_a_full_database_cannot_store_is_refused_until_there_is_room",
    ]),
    // A neighbour on the network.
    ("makes a node run nothing", &[
        "provost-publish: trust::only_what_a_trusted_key_signed_is_trusted",
        "any_mix_of_faults::whatever_mix_of_faults_a_node_meets_it_does_what_it_should_and_tells_all",
        "lying_servers::nothing_outside_the_bundle_can_be_named_to_run",
    ]),
    ("brings back nothing old", &[
        "stale::what_was_signed_long_ago_is_refused_unless_this_node_knows_it",
        "stale::a_plan_of_yesterday_does_not_run_with_the_bundle_of_today",
        "fetching_failures::an_older_bundle_or_plan_is_refused_and_told_as_that",
    ]),
    ("makes a node believe nothing in an expired manifest", &[
        "tls::one_of_before_tls_takes_no_token_by_plain_http",
        "tls::an_authority_that_was_ended_is_given_no_token",
    ]),
    ("hides none of the [links]", &[
        "keys::nobody_in_between_cuts_a_key_out_where_a_node_is_told_of_both",
    ]),
    ("with `tls` in the manifest", &[
        "tls::what_is_private_goes_over_tls_alone_from_the_first_boot_on",
        "tls::a_server_that_the_manifest_does_not_name_is_refused",
        "tls::a_lost_or_older_folder_sends_no_node_back_to_plain_http",
        "tls::a_node_without_a_plan_shows_its_token_to_nobody",
    ]),
    ("reads no [secret]", &[
        "enrolment::a_node_without_tls_runs_nothing_and_says_why",
        "enrolment::what_is_changed_on_the_way_is_refused",
    ]),
    ("a node that sends its token over plain HTTP", &["tls::a_site_may_end_tokens_by_plain_http"]),
    ("a CA that was [rotated]", &[
        "tls::another_authority_takes_over_and_locks_no_node_out",
        "tls::an_authority_that_was_ended_is_given_no_token",
    ]),
    ("with `[tokens] allowed = false`", &["tls::a_site_may_end_tokens_by_plain_http"]),
    ("as an admin's neighbour", &["admins::neither_a_stranger_nor_a_wrong_server_gets_anything"]),
    ("isn't accepted as a node by `provostctl`'s ssh", &[
        "host_keys::a_node_with_new_keys_at_each_boot_is_known_and_no_other_machine_is",
    ]),
    ("with `install.sh` and its digest", &[
        "install_sh::what_is_not_the_file_of_the_digest_is_refused_before_anything_is_run",
    ]),
    ("marks no node as failed", &[
        "kickstart_fetch::a_join_token_says_failed_and_is_neither_sent_nor_spent_by_that",
        "kickstart_fetch::a_script_whose_program_is_gone_fails_where_an_admin_sees_it",
    ]),
    ("hangs no run by a server", &[
        "lying_servers::an_endless_answer_is_cut_off_in_fetching_and_in_reporting",
        "lying_servers::a_good_server_serves_whatever_the_first_one_does",
        "fetching_failures::a_fetch_that_keeps_failing_is_told_long_before_its_deadline",
    ]),
    // A stranger on the provisioning network.
    ("gets what is published and signed", &[
        "provostd: listeners::the_bundle_is_served_by_the_shape_of_its_paths_alone",
        "provostd: listeners::a_node_speaks_for_itself_only",
    ]),
    ("gets no secret of a node", &["enrolment::nobody_else_gets_the_secrets_of_a_node"]),
    ("gets no identity", &[
        "enrolment::a_join_token_is_spent_by_its_first_use_and_gives_the_same_key_the_same_answer",
        "enrolment::a_join_token_counts_from_the_nodes_address_alone_and_for_its_time",
        "enrolment::a_window_gives_the_first_key_an_identity_until_it_is_closed",
        "enrolment::a_join_token_gives_one_identity_which_speaks_for_its_node_alone",
    ]),
    ("changes no node's status", &[
        "pending::a_node_without_a_valid_token_is_pending_until_it_reports_well",
    ]),
    ("displaces no pending key", &[
        "enrolment::a_flood_of_keys_pushes_out_none_that_an_admin_has_seen_and_is_one_line",
    ]),
    ("takes the listener from no other client", &[
        "provostd: floods::nine_thousand_idle_connections_of_one_address_delay_no_others_plan",
        "provostd: floods::three_hundred_readers_at_a_byte_in_ten_seconds_lose_their_places",
    ]),
    ("claims no other address", &[
        "proxies::a_connection_of_a_proxy_without_a_whole_header_is_closed",
        "proxies::nobody_claims_another_address_by_a_header_of_http",
    ]),
    ("reaches nothing of the admin API", &[
        "admins::neither_a_stranger_nor_a_wrong_server_gets_anything",
        "provostd: admins::only_a_token_of_an_admin_opens_anything_over_tls",
        "provostd: listeners::only_the_socket_changes_anything",
        "provostd: listeners::a_page_of_somebody_elses_reads_nothing_by_a_name_that_leads_here",
    ]),
    // An admin.
    ("a role allows only what it lists", &["provostd: admins::a_role_allows_what_those_below_it_do_and_nothing_above"]),
    ("each change is logged", &[
        "provostd: admins::each_change_is_noted_with_who_from_where_and_its_result",
        "provostd: admins::what_cannot_be_noted_is_not_changed",
    ]),
    ("a token expires at its time", &[
        "provostd: admins::what_goes_on_for_long_ends_with_the_token_or_the_login_that_it_was_asked_for_by",
    ]),
    ("another site's page", &["provostd: admins::a_browser_logs_in_and_out_and_no_other_site_uses_its_cookie"]),
    // A thief of the database.
    ("finds no usable token of a node or an admin", &[
        "provostd: listeners::a_node_speaks_for_itself_only",
        "provostd: admins::a_role_allows_what_those_below_it_do_and_nothing_above",
    ]),
    ("with the ssh key of the [example", &[
        "order_hooks::the_key_of_the_example_runs_what_is_published_alone",
        "order_hooks::the_hook_hands_on_no_hostile_name",
        "web_orders::an_operator_acts_on_a_selection_by_the_program_of_the_site",
    ]),
    // A thief of the signing key.
    ("a key that was replaced", &[
        "keys::a_replaced_key_publishes_nothing",
        "node_life::a_new_key_takes_over_from_the_old_one",
    ]),
    ("whatever is lost of `WWW`", &[
        "keys::a_node_forgets_no_key_and_no_revocation_that_it_has_accepted",
        "keys::a_key_without_what_was_beside_it_locks_no_node_out",
    ]),
    ("a key with a password", &[
        "keys::a_key_with_a_password_signs_with_it_alone_and_the_stock_tool_reads_it",
        "keys::it_is_asked_for_at_the_terminal_and_never_shown",
    ]),
    ("what a [revoked key]", &[
        "keys::a_node_refuses_what_a_revoked_key_signs_and_remembers_it",
        "keys::a_plan_by_a_revoked_key_is_refused_with_the_manifest_that_says_so",
    ]),
    ("a key behind a command", &[
        "keys::a_command_signs_all_that_nodes_verify",
        "keys::what_a_command_does_wrong_is_said_and_nothing_is_published",
    ]),
    // In the sections, in their order.
    ("**The generation.**", &["fetching_failures::an_older_bundle_or_plan_is_refused_and_told_as_that"]),
    ("**The time.**", &["stale::what_was_signed_long_ago_is_refused_unless_this_node_knows_it"]),
    ("**The pair.**", &[
        "stale::a_plan_that_says_what_it_said_goes_with_newer_bundles_and_one_that_was_replaced_does_not",
    ]),
    ("**The servers.**", &["stale::the_newest_of_what_the_servers_offer_is_run"]),
    ("**The kernel command line.**", &["stale::the_kernel_command_line_may_say_how_old_is_too_old"]),
    ("**Expiry.**", &[
        "enrolment::an_identity_that_has_ended_is_refused_and_one_that_is_half_over_is_to_be_renewed",
    ]),
    ("**Revoking**", &["enrolment::revoke_ends_an_identity_on_open_connections_and_in_sessions_for_good"]),
    ("**Requests**", &[
        "enrolment::what_is_not_a_request_of_the_keys_owner_is_refused",
        "enrolment::a_flood_of_keys_pushes_out_none_that_an_admin_has_seen_and_is_one_line",
    ]),
    ("**A copied disk.**", &["enrolment::a_join_token_gives_one_identity_which_speaks_for_its_node_alone"]),
];

/// What is promised between the tables and items, in the page's words, and the tests that attack it.
#[rustfmt::skip]
const IN_PROSE: &[(&str, &[&str])] = &[
    ("The database has no signing key", &[
        "disclosed::the_database_has_no_key_that_signs",
        "disclosed::no_secret_is_in_what_leaves_a_management_node",
    ]),
    ("provostd takes from a [proxy](proxies.md) in `[tls] proxies` only the address", &["proxies::nobody_claims_another_address_by_a_header_of_http"]),
    ("refresher's key can extend a manifest that names it, nothing\nelse", &[
        "stale::a_thief_of_the_refreshers_key_signs_nothing_that_runs_and_brings_nothing_back",
        "stale::the_management_node_refreshes_what_it_serves_if_it_may",
        "provost-publish: publish::a_refresh_is_about_one_manifest_and_by_one_key",
    ]),
    ("Keys of `minisign -G` work too", &["keys::a_key_of_the_stock_tool_signs_with_its_password"]),
    ("nothing is published", &[
        "keys::what_a_command_does_wrong_is_said_and_nothing_is_published",
    ]),
    ("refuses a key that nodes have reported as not trusted", &[
        "keys::a_key_that_nodes_have_said_they_do_not_trust_publishes_nothing",
    ]),
    ("A key can't revoke itself", &["keys::a_revoked_key_publishes_no_more_and_no_key_revokes_itself"]),
    ("whatever the node's clock says", &[
        "enrolment::an_identity_is_given_though_the_nodes_clock_is_behind_and_not_where_it_is_ahead",
    ]),
    ("only over TLS from a\nserver whose key the manifest names", &["tls::a_server_that_the_manifest_does_not_name_is_refused"]),
    ("keeps anybody with the plan from guessing short passwords", &["enrolment::who_has_the_plan_cannot_try_short_secrets"]),
    ("must have no right to\nread the salt or the secrets", &[
        "enrolment::a_node_gets_its_secrets_by_tls_and_keeps_and_shows_none",
        "provost-publish: publish::other_users_of_the_management_node_read_no_secret_of_a_plan",
    ]),
    ("the node sends nothing private, and reports later", &["tls::one_of_before_tls_takes_no_token_by_plain_http"]),
    ("a change is effective at once", &[
        "enrolment::revoke_ends_an_identity_on_open_connections_and_in_sessions_for_good",
        "enrolment::an_identity_counts_and_ends_on_every_daemon_at_once",
    ]),
];

/// The promises of the page: the rows of its tables, each with the modules that they name, and the items that begin
/// with what they are about.
fn promises() -> Vec<(&'static str, Vec<&'static str>)> {
    let tables = PAGE.split("| promise | test |\n|---|---|\n").skip(1);
    let rows = tables.flat_map(|table| table.lines().take_while(|line| line.starts_with('|')));
    let rows = rows.map(|row| {
        let mut cells = row.trim_matches('|').rsplit('|');
        let tests = cells.next().unwrap().split('`').skip(1).step_by(2).collect();
        (row.trim_start_matches("| "), tests)
    });
    let items = PAGE.lines().filter(|line| line.starts_with("- **"));
    rows.chain(items.map(|item| (item.trim_start_matches("- "), Vec::new()))).collect()
}

/// Whether the test is there: in the file of its module, or in its folder.
fn is_there(test: &str) -> bool {
    let (folder, test) = match test.split_once(": ") {
        Some((of, test)) => (format!("../crates/{of}/tests/it"), test),
        None => ("tests/it".to_owned(), test),
    };
    let (module, name) = test.split_once("::").unwrap();
    let file = Path::new(&folder).join(format!("{module}.rs"));
    let texts = files(&file.with_extension("")).into_iter().chain([file]);
    // The tests of scripts are made by a macro.
    let forms = [format!("fn {name}("), format!("\n    {name}: ")];
    texts
        .filter_map(|file| fs::read_to_string(file).ok())
        .any(|text| forms.iter().any(|form| text.contains(form)))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn each_promise_has_its_tests_and_names_their_modules() {
    let promises = promises();
    assert!(promises.len() > 50, "{}", promises.len());
    for (text, named) in &promises {
        let of_it: Vec<_> = PROMISES.iter().filter(|(start, _)| text.starts_with(start)).collect();
        let [(_, tests)] = of_it[..] else { panic!("{} promises of these: {text}", of_it.len()) };
        for test in *tests {
            assert!(is_there(test), "{test}: {text}");
            let module = test.split_once("::").unwrap().0;
            assert!(named.is_empty() || named.contains(&module), "{module}: {text}");
        }
        for module in named {
            let is_named = tests.iter().any(|test| test.split_once("::").unwrap().0 == *module);
            assert!(is_named, "{module}: {text}");
        }
    }
    for (start, _) in PROMISES {
        assert!(promises.iter().any(|(text, _)| text.starts_with(start)), "{start}");
    }
}

#[test]
fn each_promise_in_the_prose_has_its_tests() {
    for (text, tests) in IN_PROSE {
        assert!(PAGE.contains(text), "{text}");
        for test in *tests {
            assert!(is_there(test), "{test}: {text}");
        }
    }
}
