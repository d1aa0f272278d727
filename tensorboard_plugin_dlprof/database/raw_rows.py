"""Writes the raw tables of DLProf 1.8: ``read_only_*``, ``gpu_memories`` and ``db_version``."""

from __future__ import annotations

import sqlite3

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.rows import Columns, insert_integers, insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.database.texts import Dictionary, op_text_ids
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.metadata import DEFAULT_DOMAIN, DLPROF_VERSION, PLUGIN_NAME, VERSION
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, Profile, Syncs

DOMAIN = 1
"""``read_only_domains.id`` of the only domain."""

_PYTORCH_MODE = 4
"""DLProf's ``mode_enum`` for PyTorch; the numbers of its other modes are not published."""


def write_raw_tables(
    con: sqlite3.Connection,
    profile: Profile,
    dictionary: Dictionary,
    text: Int64s,
    profile_name: str,
    original_command: str,
) -> None:
    """Store everything that does not depend on the choice of iterations, but calls of ops and kernels (``work_rows``).

    Args:
        con: an empty database with the tables of 1.8.
        dictionary: assigns ids to texts; ``texts.number_texts`` has added those of the profile.
        text: ``dictionary.id`` of each id in ``Profile.strings``.
        profile_name: given by the user, else empty.
        original_command: command line to store, with secrets masked.
    """
    _write_settings(con, profile, dictionary, profile_name, original_command)
    _write_ops(con, profile, dictionary)
    for copies, table in ((profile.memcpys, "read_only_memcpys"), (profile.memsets, "read_only_memsets")):
        _write_copies(con, copies, table, text)
    syncs, calls = profile.syncs, profile.calls
    insert_integers(
        con,
        "read_only_cuda_syncs",
        {
            **_call_columns(syncs, text),
            "gpu_start": 0,
            "gpu_stop": 0,
            "sync_type": syncs.sync_type,
            "event_id": syncs.event_id,
            "device_id": syncs.device,
        },
    )
    insert_integers(con, "read_only_cuda_calls", _call_columns(calls, text))


def _write_settings(
    con: sqlite3.Connection, profile: Profile, dictionary: Dictionary, profile_name: str, original_command: str
) -> None:
    info = profile.info
    name = storable(profile_name or info.profile_name)
    insert_row(con, "db_version", {"current_version": DLPROF_VERSION, "original_version": DLPROF_VERSION})
    insert_row(con, "read_only_domains", {"id": DOMAIN, "domain_name_id": dictionary.id(DEFAULT_DOMAIN)})
    model: dict[str, int | str] = {"domain_id": DOMAIN, "domain_name": DEFAULT_DOMAIN, "profile_name": name}
    insert_row(con, "read_only_model_info", model)
    insert_rows(
        con,
        "read_only_gpu_infos",
        ("device_id", "gpu_name", "compute_capability_major", "compute_capability_minor", "sm_count"),
        [
            (gpu.device_id, storable(gpu.name), gpu.capability_major, gpu.capability_minor, gpu.sm_count)
            for gpu in profile.devices
        ],
    )
    insert_rows(con, "gpu_memories", ("total", "used"), [profile.gpu_memory_bytes])
    mode = _mode(profile)
    system: dict[str, int | str] = {
        "is_valid": 1,
        "num_gpus": str(len(profile.devices)),
        "cpu_model": info.cpu_model,
        "driver_version": info.driver_version,
        "framework": info.framework,
        "cuda_version": info.cuda_version,
        "cudnn_version": info.cudnn_version,
        "nsys_version": info.nsys_version,
        "dlprof_version": f"v{DLPROF_VERSION} (by tensorboard-plugin-{PLUGIN_NAME} {VERSION})",
        "dlprof_build": "",
        "profile_name": name,
        "mode_enum": _PYTORCH_MODE if mode == "pytorch" else 0,
        "mode_string": mode,
        "original_command": original_command,
    }
    stored = {key: storable(value) if isinstance(value, str) else value for key, value in system.items()}
    insert_row(con, "read_only_system_config", stored)
    insert_row(con, "read_only_model_config", msgspec.structs.asdict(profile.model_config))


def _mode(profile: Profile) -> str:
    """``mode_string``: DLProf's own where its rules apply, else the format of the source."""
    if profile.one_op:
        return "simple"
    return "pytorch" if profile.dlprof_markers else profile.info.source_format


def _write_ops(con: sqlite3.Connection, profile: Profile, dictionary: Dictionary) -> None:
    columns = (
        "domain_id", "op_id_id", "op_type_id", "device_id", "data_type_id", "data_format_id", "output_format_id",
        "parameters_format_id", "direction_id", "op_id", "op_name", "tc_support_status", "stack_trace",
    )  # fmt: skip
    insert_rows(
        con,
        "read_only_ops",
        columns,
        (
            (DOMAIN, *op_text_ids(op, dictionary), storable(op.op_id), storable(op.name), int(op.eligibility),
             storable(op.stack_trace))
            for op in profile.ops
        ),
    )  # fmt: skip


def _write_copies(con: sqlite3.Connection, copies: Copies, table: str, text: Int64s) -> None:
    columns: Columns = {
        **_call_columns(copies, text),
        "gpu_start": copies.start_ns,
        "gpu_stop": copies.end_ns,
        "num_bytes": copies.num_bytes,
        "device_id": copies.device,
        **({"copy_kind": copies.copy_kind} if table == "read_only_memcpys" else {}),
    }
    insert_integers(con, table, columns)


def _call_columns(calls: Copies | Syncs | Calls, text: Int64s) -> Columns:
    """The columns that the tables of copies, sets, synchronisations and other calls have in common."""
    return {
        "read_only_ops_id": calls.op.astype(np.int64) + 1,
        "op_instance": calls.instance,
        "name_id": text[calls.name],
        "api_start": calls.api_start_ns,
        "api_stop": calls.api_end_ns,
        "process_id": calls.process_id,
        "thread_id": calls.thread_id,
    }
