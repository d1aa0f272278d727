"""Every promise about hostile input, faults and load, with the tests that prove it.

A new promise is a new row. The tests are named by file and function; this module fails when one of them is gone.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent

SQLITE = {
    "empty, text, first 100 bytes, folder, no permission": (
        "opening/test_sqlite_contents.py::test_refuses_with_a_sentence_that_names_the_file",
        "opening/test_sqlite_paths.py::test_refuses_what_is_no_file",
        "faults/test_storage.py::test_a_source_that_may_not_be_read",
    ),
    "last page cut, page count too large, still growing": (
        "opening/test_sqlite_contents.py::test_refuses_with_a_sentence_that_names_the_file",
        "faults/test_storage.py::test_a_source_that_is_still_growing",
    ),
    "pages that share children, a page that is its own child": (
        "opening/test_sqlite_trees.py::test_pages_that_share_a_child_are_refused_before_any_row_is_read",
        "opening/test_sqlite_trees.py::test_a_page_that_is_its_own_child_is_refused",
    ),
    "packed columns of a few bytes that are millions of rows": (
        "robustness/test_inputs.py::test_packed_rows_without_end",
    ),
    "journal or write-ahead log beside it": (
        "opening/test_sqlite_contents.py::test_refuses_with_a_sentence_that_names_the_file",
        "opening/test_sqlite_paths.py::test_a_link_inside_the_folder_works_and_its_targets_journal_counts",
    ),
    "FIFO, links out, loops, links inside": (
        "opening/test_regular_file.py::test_refuses_a_fifo_without_waiting_for_its_writer",
        "opening/test_regular_file.py::test_refuses_a_loop_of_links",
        "runs/test_scan.py::test_links_out_of_the_log_directory_are_refused_and_listed",
        "routes/test_hostile.py::test_a_link_that_takes_the_place_of_a_file_is_not_followed",
    ),
    "names with ?, #, %20, newline, script, bytes": (
        "opening/test_sqlite_paths.py::test_any_file_name_opens_for_reading_only",
        "routes/test_hostile.py::test_odd_files_and_names",
    ),
    "needed table is a view, virtual, missing, lacks a column, has generated columns": (
        "opening/test_sqlite_contents.py::test_refuses_with_a_sentence_that_names_the_file",
        "database/test_connection.py::test_only_plain_tables_are_read",
        "routes/test_hostile.py::test_unfit_databases_are_refused",
    ),
    "hostile views": (
        "opening/test_sqlite_sealed.py::test_a_view_of_the_file_is_never_used_where_ours_has_its_name",
        "opening/test_sqlite_sealed.py::test_a_fan_out_of_nested_views_is_denied",
        "database/test_connection.py::test_the_views_of_the_file_are_never_run",
    ),
    "triggers": ("opening/test_sqlite_sealed.py::test_a_sealed_connection_only_selects",),
    "200,000 views; 1,990 columns": ("opening/test_sqlite_contents.py::test_limits_refuse_what_no_profile_has",),
    "bad UTF-8, blobs, texts in number columns, NULL, infinity, 10 MB names, odd durations": (
        "opening/test_sqlite_contents.py::test_text_that_is_not_utf8_is_replaced",
        "routes/test_hostile.py::test_odd_content_opens",
        "robustness/test_inputs.py::test_a_hostile_database_is_shown_within_bounds",
        "fuzz/test_damaged_copies.py::test_damaged_copies_are_read_or_refused",
    ),
    "cyclic or dangling ids, zero iterations, zero GPUs": (
        "routes/test_hostile.py::test_odd_content_opens",
        "database/test_connection.py::test_rows_that_lead_nowhere_are_refused",
        "robustness/test_inputs.py::test_a_hostile_database_is_shown_within_bounds",
    ),
    "random damage": (
        "opening/test_sqlite_contents.py::test_damaged_copies_end_in_rows_or_a_sentence",
        "fuzz/test_damaged_copies.py::test_damaged_copies_are_read_or_refused",
        "database/test_digest.py::test_one_changed_bit_is_seen",
    ),
    "newer and older versions": ("database/test_connection.py::test_other_versions_are_refused_with_what_to_do",),
    "replaced or deleted while open": (
        "routes/test_api.py::test_a_database_replaced_or_deleted_while_open",
        "opening/test_sqlite_paths.py::test_a_file_that_is_swapped_while_it_is_opened",
        "opening/test_sqlite_paths.py::test_no_link_is_followed_where_the_path_was_resolved_before",
    ),
}

TRACES = {
    "gzip: cut, garbage, checksum, plain named .gz, empty, padding, several members": (
        "opening/test_byte_stream.py::test_damaged_gzip_is_told_in_a_sentence",
        "opening/test_byte_stream.py::test_content_decides_whether_a_file_is_expanded",
    ),
    "bombs": (
        "opening/test_byte_stream.py::test_a_bomb_is_refused_before_it_fills_memory",
        "robustness/test_inputs.py::test_a_hostile_source_is_refused_within_bounds",
    ),
    "no list of events, twice, other roots": (
        "importers/kineto/test_bad_input.py::test_what_is_no_trace_is_told_in_a_sentence",
    ),
    "depth, digits, NaN, surrogates, control characters, encodings, types": (
        "importers/kineto/test_layout.py::test_a_bad_event_costs_only_itself",
        "importers/kineto/test_layout.py::test_odd_types_that_make_sense_are_read",
    ),
    "metadata after the events": (
        "importers/kineto/test_layout.py::test_metadata_may_stand_on_either_side_of_the_events",
    ),
    "numbers of a billion digits, depth, thousands of threads": (
        "robustness/test_inputs.py::test_a_hostile_source_is_read_within_bounds",
    ),
    "names of megabytes that expressions look through": (
        "robustness/test_inputs.py::test_long_names_take_time_by_their_length",
    ),
    "a sparse file of a terabyte": ("robustness/test_inputs.py::test_a_file_of_a_terabyte_that_is_not_there",),
    "an event of more than 8 MB; millions of empty ones": (
        "importers/kineto/test_bad_input.py::test_an_event_of_more_than_8_mb_is_refused",
        "robustness/test_inputs.py::test_a_hostile_source_is_refused_within_bounds",
    ),
    "no GPU, no steps": ("importers/kineto/test_bad_input.py::test_a_trace_without_gpu_events_is_valid",),
    "Nsight exports: no kernels, missing tables and columns": (
        "importers/nsight/test_tables.py::test_an_export_without_any_event_is_a_capture_without_events",
        "importers/nsight/test_bad_input.py::test_a_column_without_which_nothing_can_be_told_is_named",
        "importers/nsight/test_bad_input.py::test_a_view_in_place_of_a_table_is_refused",
    ),
    "random damage": (
        "importers/kineto/test_bad_input.py::test_damaged_bytes_never_crash",
        "fuzz/test_damaged_copies.py::test_damaged_copies_are_read_or_refused",
    ),
    "XPlane profiles and memory snapshots: random damage, odd numbers and lengths, parts of themselves": (
        "fuzz/test_damaged_copies.py::test_damaged_copies_are_read_or_refused",
    ),
    "files of other kinds, XPlane among them": ("importers/test_find_importer.py",),
}

SECRETS = {
    "environment and command lines reach nothing that is written": (
        "robustness/test_secrets.py::test_no_secret_reaches_what_the_commands_write",
        "robustness/test_secrets.py::test_no_secret_reaches_the_browser_or_the_log",
        "robustness/test_secrets.py::test_no_secret_of_a_real_export_is_kept",
        "importers/nsight/test_machine.py::test_no_secret_of_the_environment_is_kept",
        "cli/test_doctor.py::test_no_secret_of_the_environment_is_told",
    ),
    "command lines are masked": (
        "robustness/test_secrets.py::test_the_command_line_that_is_stored_is_masked",
        "opening/test_masking.py::test_command_lines_within_command_lines_without_end",
    ),
    "messages name files as the user does": (
        "routes/test_hostile.py::test_unfit_databases_are_refused",
        "imports/test_manager.py::test_a_source_that_cannot_be_read_says_why",
    ),
    "remote log directories are told": (
        "cli/test_import.py::test_remote_storage_is_named_as_such",
        "test_plugin.py::test_addresses_are_searched_as_often_as_tensorboard_reloads",
        "storage/test_s3.py::test_what_goes_wrong_is_one_sentence_and_costs_only_its_profile",
        "storage/test_places.py::test_without_a_package_one_sentence_says_what_to_install",
    ),
    "no file outside of the roots is opened, no connection is made": (
        "robustness/test_what_is_opened.py::test_only_allowed_files_are_opened_and_nothing_is_called_up",
        "robustness/test_audit.py::test_commands_open_what_they_are_told_and_call_up_nobody",
    ),
}

SERVER = {
    "paths in place of ids, huge and wrong parameters": ("routes/test_api.py::test_wrong_parameters",),
    "foreign hosts": (
        "routes/test_hosts.py::test_a_tensorboard_of_this_machine_refuses_foreign_names",
        "routes/test_hosts.py::test_which_names_are_answered",
        "viewer/test_viewer.py::test_a_foreign_host_is_refused",
        "browser/test_foreign_host.py::test_the_page_says_why_it_shows_nothing",
    ),
    "wrong methods": ("routes/test_api.py::test_what_reads_takes_no_other_method",),
    "changes from other sites": ("routes/test_api.py::test_what_changes_takes_only_our_own_posts",),
    "wrong bodies": ("routes/test_api.py::test_wrong_bodies",),
    "heavy requests at once": (
        "routes/test_api.py::test_heavy_requests_do_not_pile_up",
        "load/test_load.py::test_heavy_requests_do_not_pile_up",
        "imports/test_advising.py::test_jobs_do_not_pile_up",
    ),
    "a path prefix; a read-only log directory": (
        "test_plugin.py::test_in_a_real_tensorboard",
        "routes/test_api.py::test_a_read_only_log_directory_is_enough",
    ),
    "names of runs": ("routes/test_hostile.py::test_names_of_runs_are_text",),
    "load": (
        "load/test_load.py::test_thirty_two_clients",
        "load/test_many_profiles.py::test_ten_thousand_runs_and_a_thousand_profiles",
    ),
}

FAULTS = {
    "kill -9 during an import": (
        "faults/test_killed.py::test_an_import_that_is_killed",
        "imports/test_manager.py::test_a_process_that_is_killed_has_failed",
        "imports/test_cache.py::test_what_a_killed_server_left_is_swept_at_once",
    ),
    "a folder that another process locks": ("opening/test_locking.py::test_who_only_holds_a_lock_hangs_nobody",),
    "kill -9 during a re-aggregation": ("faults/test_killed.py::test_a_new_aggregation_that_is_killed",),
    "told to end by a batch system, the end of a terminal, or Ctrl-C": (
        "faults/test_killed.py::test_an_import_that_is_told_to_end",
        "cli/test_main.py::test_ctrl_c_while_a_command_is_loaded_causes_no_traceback",
        "database/test_writer.py::test_being_told_to_end_while_the_file_is_made_leaves_nothing",
    ),
    "disk full": (
        "faults/test_storage.py::test_a_full_disk",
        "faults/test_storage.py::test_a_disk_that_is_really_full",
        "faults/test_storage.py::test_a_disk_that_is_full_when_iterations_are_aggregated",
    ),
    "read-only folder, no permission": (
        "faults/test_storage.py::test_a_folder_that_may_not_be_written_to",
        "faults/test_storage.py::test_a_source_that_may_not_be_read",
    ),
    "source replaced, deleted or growing while it is read": (
        "faults/test_storage.py::test_a_source_that_is_still_growing",
        "faults/test_storage.py::test_a_source_that_is_replaced_or_deleted_while_it_is_read",
        "faults/test_storage.py::test_a_source_that_goes_before_its_import_on_demand_starts",
    ),
    "two imports of one source at once": (
        "faults/test_storage.py::test_two_imports_of_one_source_at_once",
        "faults/test_storage.py::test_two_servers_with_one_cache_at_once",
    ),
    "a clock that goes backwards": (
        "faults/test_storage.py::test_files_from_the_past_and_the_future",
        "faults/test_storage.py::test_a_clock_that_goes_backwards_while_it_runs",
    ),
    "work without end": (
        "test_allowance.py::test_imports_checks_and_aggregations_end",
        "test_allowance.py::test_a_statement_is_interrupted_in_any_thread",
        "test_allowance.py::test_rows_and_bytes_are_limited",
    ),
    "no memory left for the import": (
        "imports/test_manager.py::test_an_import_may_not_use_more_memory_than_its_limit",
    ),
    "our own files are whole": (
        "cli/test_check.py::test_a_database_of_ours_is_well",
        "cli/test_check.py::test_each_rule_can_fail",
        "database/test_writer.py::test_nothing_but_the_database_is_left",
    ),
    "the cache": (
        "imports/test_cache.py::test_the_longest_unused_databases_go_first",
        "imports/test_cache.py::test_the_folder_is_nobody_elses",
        "cli/test_doctor.py::test_eviction_leaves_foreign_files_alone",
    ),
}

RANKS = {
    "same rank twice, rank beyond the job's, holes, mixed jobs": (
        "cli/test_ranks.py::test_what_does_not_fit_together",
        "cli/test_ranks.py::test_ranks_of_two_jobs_and_formats",
    ),
    "one truncated file of many": ("cli/test_ranks.py::test_one_cut_file_of_many",),
}

PROMISES = {
    f"{part}: {promise}": tests
    for part, promises in (
        ("SQLite", SQLITE),
        ("traces", TRACES),
        ("secrets and paths", SECRETS),
        ("server", SERVER),
        ("faults", FAULTS),
        ("ranks", RANKS),
    )
    for promise, tests in promises.items()
}


@pytest.mark.parametrize("promise", PROMISES)
def test_every_promise_has_its_tests(promise: str) -> None:
    """They are there, by these names."""
    assert PROMISES[promise]
    for test in PROMISES[promise]:
        name, _, function = test.partition("::")
        tree = ast.parse((TESTS / name).read_text(encoding="utf-8"))
        result = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert any(known.startswith("test_") for known in result)
        assert not function or function in result, test
