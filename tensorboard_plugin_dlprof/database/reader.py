"""Reads the raw tables of a DLProf database back into a profile, so that it can be aggregated again.

Of NVIDIA's databases, what only our tables hold reads as not recorded, and the stored iterations are the only
candidate.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility, KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.database.connection import refuse_other_extensions
from tensorboard_plugin_dlprof.database.lookups import Texts, integers, texts_of
from tensorboard_plugin_dlprof.database.sub_op_rows import read_sub_ops
from tensorboard_plugin_dlprof.database.work_reader import WorkReader
from tensorboard_plugin_dlprof.diagnosis.stored import read_activity
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.events.tables import CaptureInfo, Device, MemoryEvents, Strings
from tensorboard_plugin_dlprof.memory.stored import read_memory
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, reading
from tensorboard_plugin_dlprof.profile.tables import (
    Coverage,
    IdleFrames,
    IterationCandidate,
    ModelConfig,
    Op,
    Profile,
    TimeSpans,
)


def read_profile(con: UntrustedConnection) -> Profile:
    """The profile in a database.

    Raises:
        UnfitDatabase: rows refer to missing rows, a column of numbers contains something else, or another version of
            this package made the database.
    """
    refuse_other_extensions(con)
    with reading(con.shown_name, UnfitDatabase):
        return _Reader(con).profile()


class _Reader:
    def __init__(self, con: UntrustedConnection) -> None:
        self._con = con
        self._strings = Strings()
        self._texts = Texts(con, self._strings)
        stored = texts_of(con, "SELECT key, value FROM ext_info")
        self._stored: dict[str, str] = {key: value for key, value in stored}  # noqa: C416 (dict() loses the types)

    def profile(self) -> Profile:
        """The whole profile."""
        work = WorkReader(self._con, self._texts)
        kernels, memcpys, memsets, graphs = work.kernels(), work.memcpys(), work.memsets(), work.graphs()
        used = {
            int(device) for table in (kernels, memcpys, memsets, graphs) for device in distinct_values(table.device)
        }
        info = self._info()
        if "end_ns" not in self._stored:
            info.end_ns = max(int(each.end_ns.max(initial=0)) for each in (work.instances, kernels, memcpys, memsets))
        return Profile(
            info=info,
            strings=self._strings,
            ops=self._ops(),
            instances=work.instances,
            kernels=kernels,
            kernel_classes=self._kernel_classes(),
            memcpys=memcpys,
            memsets=memsets,
            syncs=work.syncs(),
            calls=work.calls(),
            graphs=graphs,
            devices=self._devices(used),
            data_loader=self._spans("data_loader"),
            io=self._spans("io"),
            memory=empty(MemoryEvents),
            iterations=self._iterations(info.end_ns),
            model_config=self._model_config(),
            gpu_memory_bytes=self._gpu_memory(),
            coverage=self._coverage(),
            dlprof_markers=self._stored.get("dlprof_markers", "1") == "1",
            idle_frames=self._idle_frames(),
            memory_histories=read_memory(self._con),
            activity=read_activity(self._con),
            sub_ops=read_sub_ops(self._con, self._strings),
        )

    def _ops(self) -> list[Op]:
        rows = texts_of(
            self._con,
            "SELECT ops.op_id, ops.op_name, types.string, directions.string, data_types.string, data_formats.string, "
            "output_formats.string, parameter_formats.string, ops.tc_support_status, ops.stack_trace "
            "FROM read_only_ops AS ops "
            "LEFT JOIN dictionary AS types ON types.id = ops.op_type_id "
            "LEFT JOIN dictionary AS directions ON directions.id = ops.direction_id "
            "LEFT JOIN dictionary AS data_types ON data_types.id = ops.data_type_id "
            "LEFT JOIN dictionary AS data_formats ON data_formats.id = ops.data_format_id "
            "LEFT JOIN dictionary AS output_formats ON output_formats.id = ops.output_format_id "
            "LEFT JOIN dictionary AS parameter_formats ON parameter_formats.id = ops.parameters_format_id "
            "ORDER BY ops.id",
        )
        return [
            Op(op_id, name, op_type, direction, data_type, data, output, parameters, _eligibility(status), stack)
            for op_id, name, op_type, direction, data_type, data, output, parameters, status, stack in rows
        ]

    def _kernel_classes(self) -> dict[int, KernelClass]:
        classes = {}
        rows = texts_of(
            self._con,
            "SELECT name_id, matrix_unit, family, library, precision, rule, accumulator, architecture "
            "FROM ext_kernel_names",
        )
        for name, unit, *words in rows:
            text = int(self._texts.of(np.array([int(name)], np.int64))[0])
            classes[text] = KernelClass(MatrixUnit(int(unit)), *words)
        return classes

    def _spans(self, kind: str) -> TimeSpans:
        start, stop = integers(
            self._con, f"SELECT start_ns, stop_ns FROM ext_time_spans WHERE kind = '{kind}' ORDER BY id", 2
        )
        return TimeSpans(start, stop)

    def _idle_frames(self) -> IdleFrames:
        start, stop, function, innermost = integers(
            self._con, "SELECT start_ns, stop_ns, function_id, innermost_id FROM ext_idle_frames ORDER BY id", 4
        )
        return IdleFrames(start, stop, self._texts.of(function), self._texts.of(innermost))

    def _devices(self, used: set[int]) -> list[Device]:
        number, memory_bytes, ordinal = integers(
            self._con, "SELECT device_id, memory_bytes, ifnull(cuda_ordinal, -1) FROM ext_devices", 3
        )
        memory = dict(zip(number.tolist(), memory_bytes.tolist(), strict=True))
        ordinals = dict(zip(number.tolist(), ordinal.tolist(), strict=True))
        known = [
            Device(
                int(device),
                name,
                int(major),
                int(minor),
                int(sms),
                int(memory.get(int(device), 0)),
                int(ordinals.get(int(device), -1)),
            )
            for device, name, major, minor, sms in texts_of(
                self._con,
                "SELECT device_id, gpu_name, compute_capability_major, compute_capability_minor, sm_count "
                "FROM read_only_gpu_infos ORDER BY id",
            )
        ]
        missing = used.difference(device.device_id for device in known)
        return known + [Device(device) for device in sorted(missing)]

    def _iterations(self, end_ns: int) -> list[IterationCandidate]:
        position, value, start, stop = integers(
            self._con,
            "SELECT position, iter_value, start_ns, stop_ns FROM ext_iterations ORDER BY position, iter_value",
            4,
        )
        result = []
        for number, source, label in texts_of(
            self._con, "SELECT position, source, label FROM ext_iteration_candidates ORDER BY position"
        ):
            rows = position == int(number)
            result.append(IterationCandidate(source, label, value[rows], start[rows], stop[rows]))
        if result:
            return result
        value, start, stop = integers(
            self._con,
            "SELECT iter_value, start_time, stop_time FROM iteration_list "
            "WHERE aggr_id = (SELECT min(aggr_id) FROM model_summary) ORDER BY iter_value",
            3,
        )
        if not len(value):
            whole = np.array([0, end_ns], np.int64)
            return [IterationCandidate("whole_capture", "", np.zeros(1, np.int64), whole[:1], whole[1:])]
        key = next((row[0] for row in texts_of(self._con, "SELECT key_op FROM view_key_op_name ORDER BY aggr_id")), "")
        source = "key_op" if key else "data_loader" if len(value) > 1 else "whole_capture"
        return [IterationCandidate(source, key, value, start, stop)]

    def _info(self) -> CaptureInfo:
        """The facts in ``ext_info``, and those that DLProf stores too."""
        stored = self._stored
        own: dict[str, Any] = {
            each.name: type(each.default)(stored[each.name])
            for each in msgspec.structs.fields(CaptureInfo)
            if each.name in stored and each.name != "recorded"
        }
        system = texts_of(self._con, f"SELECT {', '.join(_SYSTEM)} FROM read_only_system_config")
        own |= zip(_SYSTEM, next(system, ("",) * len(_SYSTEM)), strict=True)
        own["source_format"] = stored.get("format", "dlprof")
        own["recorded"] = frozenset(filter(None, stored.get("recorded", "ops,shapes,stacks").split(",")))
        return CaptureInfo(**own)

    def _model_config(self) -> ModelConfig:
        columns = ModelConfig.__struct_fields__
        values = integers(self._con, f"SELECT {', '.join(columns)} FROM read_only_model_config LIMIT 1", len(columns))
        return ModelConfig(*(int(value[0]) for value in values)) if len(values[0]) else ModelConfig()

    def _gpu_memory(self) -> tuple[int, int]:
        total, used = integers(self._con, "SELECT total, used FROM gpu_memories ORDER BY id LIMIT 1", 2)
        return (int(total[0]), int(used[0])) if len(total) else (0, 0)

    def _coverage(self) -> Coverage:
        coverage = Coverage()
        for key, value, _ in texts_of(self._con, "SELECT key, value, message FROM ext_coverage"):
            if key.startswith("skipped: "):
                coverage.skipped[key.removeprefix("skipped: ")] = int(value)
            elif key.startswith("broken: "):
                coverage.broken_rules.append(key.removeprefix("broken: "))
            elif key in Coverage.__struct_fields__:
                setattr(coverage, key, int(value))
        return coverage


_SYSTEM = ("framework", "cuda_version", "driver_version", "cudnn_version", "nsys_version", "cpu_model", "profile_name")
"""Fields of ``CaptureInfo`` that DLProf stores too."""


def _eligibility(status: str) -> Eligibility:
    """The stored eligibility of an op. DLProf's documentation does not explain 1, and no known file contains it; it
    reads as not eligible."""
    with suppress(ValueError):
        return Eligibility(int(status))
    return Eligibility.NOT_ELIGIBLE
