"""The class ``Profile``: one aggregation of a database, as tables."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.api.findings import evidence_rows, finding_rows
from tensorboard_plugin_dlprof.api.frames import described, frame, plain_frame
from tensorboard_plugin_dlprof.api.kernels import kernel_launches
from tensorboard_plugin_dlprof.api.notebook import notebook_html
from tensorboard_plugin_dlprof.api.short_tables import (
    AGGREGATIONS,
    EVIDENCE,
    FINDINGS,
    MEMORY,
    MEMORY_BLOCKS,
    MEMORY_CURVE,
    NOTES,
    SHORT_TABLES,
    THROUGHPUT,
)
from tensorboard_plugin_dlprof.api.summary import Summary, summary
from tensorboard_plugin_dlprof.comparing.reading import read_recording
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.job_places import find_job
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, UnfitDatabase
from tensorboard_plugin_dlprof.opening.option_values import words
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, reading
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.diagnosed import diagnosed_positions, stored_diagnosis
from tensorboard_plugin_dlprof.queries.findings import findings
from tensorboard_plugin_dlprof.queries.memory import block_rows, histories_of, memory, memory_curve
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.scope import Scope, aggregations, find_scope
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.queries.throughput import Given, throughput
from tensorboard_plugin_dlprof.ranks.of_profile import as_its_job_tells, place_of
from tensorboard_plugin_dlprof.reports.catalog import selected_reports
from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, Target, selected_formats, write_reports

if TYPE_CHECKING:
    import pandas as pd

    from tensorboard_plugin_dlprof.comparing.recording import Recording

_TABLES = ("ops", "op_types", "groups", "iterations", "gpus", "efficiency")


class Profile:
    """One aggregation of a profile, from ``dlprof.open``. Use it in a ``with`` statement, or ``close`` it.

    Every table is a pandas DataFrame with nullable types: times are integer nanoseconds (``*_ns``), their averages
    floats, fractions are from 0 to 1 (``*_fraction``), sizes are bytes (``*_bytes``), and unknown values are ``<NA>``.
    ``columns_of`` describes the columns of a table. The rows are the same as on the pages of TensorBoard's tab.

    NVIDIA's databases contain neither causes and efficiency nor our findings. For these databases, ``ops``, ``groups``,
    ``efficiency`` and ``findings`` compute them on the first call and keep them until the profile is closed; for a
    million kernels that takes some ten seconds. The files are never changed.
    """

    def __init__(
        self,
        database: Path,
        aggregation: int | None = None,
        cleanup: ExitStack | None = None,
        source: Path | None = None,
    ) -> None:
        """Open a database; users call ``dlprof.open`` instead.

        Args:
            database: The database.
            aggregation: Id of the aggregation; by default the first one.
            cleanup: Closed with the profile, to delete temporary files.
            source: What the user named, beside which its job is; by default the database.

        Raises:
            UnfitDatabase: The database cannot be read.
            NotFound: There is no such aggregation.
        """
        self._database, self._source = database, source or database
        self._name = self._source.name
        self._cleanup = cleanup or ExitStack()
        self._closed = False
        self._diagnosis: dict[str, Any] | None = None
        # In notebooks, profiles are often not closed; this avoids the resource warning of the garbage collector.
        weakref.finalize(self, self._cleanup.close)
        try:
            self._connection: UntrustedConnection = open_database(database)
            self._cleanup.callback(self._connection.close)
            with self._asking() as connection:
                self._scope: Scope = find_scope(connection, aggregation)
        except BaseException:
            self._cleanup.close()
            raise

    @property
    def database(self) -> Path:
        """Path of the database."""
        return self._database

    @property
    def aggregation(self) -> int:
        """Id of the aggregation."""
        return self._scope.aggregation

    @property
    def summary(self) -> Summary:
        """Utilisation, wall time and its parts, iterations, ops by Tensor Core use, and the system."""
        with self._asking() as connection:
            return summary(connection, self._scope)

    def ops(self) -> pd.DataFrame:
        """One row per op, most GPU time first.

        Columns: ``gpu_time_ns`` (time with work of the op on a GPU, overlap counted once), ``gpu_time_fraction`` of all
        ops, ``cpu_time_ns`` (``<NA>`` if no call that launched the op's work was recorded), ``name`` (path in the
        model), ``op_id``, ``direction``, ``op_type``, ``calls``, ``eligible``, ``using_tensor_cores``,
        ``kernel_calls``, ``family`` (what it mostly is: gemm, collective, ...), ``tensor_core_fraction`` of the time of
        its kernels, ``bound`` (what limits it: compute, memory, ...), ``data_type``, ``input_shapes`` (JSON),
        ``stack_trace``, ``eligibility`` (including what is unknown), ``cause`` of not using Tensor Cores, or of using
        them badly, ``kept_off_ns`` (kernel time that could be on Tensor Cores and is not), ``dimension`` that does not
        fit the data type, ``padded_shape``, ``gain_ns`` (kernel time beyond that at the GPU's published rates),
        ``kernel_ns`` (time of its kernels), ``unrated_time_ns`` (that of which no gain is known). The last eight are
        missing if they cannot be computed, because the database is damaged or was made by another version of this
        package.
        """
        return self._table("ops")

    def kernels(self, op: str | None = None, iteration: int | None = None) -> pd.DataFrame:
        """One row per kernel launch, by time of the launch.

        Args:
            op: Id or name of an op; by default all ops.
            iteration: Number of an iteration; by default all iterations.

        Columns: ``iteration``, ``op`` and ``op_id``, ``name`` and ``long_name`` of the kernel, ``device_id``,
        ``timestamp_ns`` (start of the launch call), ``gpu_start_ns``, ``gpu_time_ns``, ``using_tensor_cores``,
        ``grid``, ``block``, ``kernel_id``. If the database is ours, also ``stream``, ``accumulator`` and
        ``architecture`` (by the name of the kernel), ``rule`` that classified it, ``achieved_occupancy_fraction`` and
        ``dram_bytes`` if counters measured them. Copies and sets are not kernels: an op that only copies has no rows.

        Raises:
            NotFound: There is no such op or iteration in this aggregation.
        """
        if op is not None:
            self._require("SELECT 1 FROM read_only_ops WHERE op_id = ? OR op_name = ?", (op, op), f"op {op!r}")
        if iteration is not None:
            self._require(
                "SELECT 1 FROM iteration_aggregation_list WHERE aggr_id = ? AND iter_value = ?",
                (self.aggregation, iteration),
                f"iteration {iteration}",
            )
        with self._asking() as connection:
            table = kernel_launches(op is not None, iteration is not None)
            return frame(connection, table, self._scope, PageRequest(op=op, iteration=iteration))

    def groups(self) -> pd.DataFrame:
        """One row per group of ops by path: ``path``, ``name``, ``level``, ``parent``, ``calls``, ``eligible_ops``,
        ``using_ops``, ``using_fraction``, and sums over the ops below: ``cpu_time_ns``, ``gpu_time_ns``,
        ``cpu_overhead_ns``, ``gpu_idle_ns``, ``limited_ns`` (kernel time of eligible ops that is
        not on Tensor Cores) and its main ``cause``. The last two are missing where ``ops`` has no causes.
        """
        return self._table("groups")

    def op_types(self) -> pd.DataFrame:
        """One row per op type, most GPU time first: ``op_type``, ``ops``, ``calls``, and total, average, minimum and
        maximum of CPU time, GPU time, CPU overhead and GPU idle (``gpu_time_ns``, ``gpu_time_average_ns``, ...).
        """
        return self._table("op_types")

    def iterations(self) -> pd.DataFrame:
        """One row per aggregated iteration: ``iteration``, ``start_ns``, ``duration_ns``, ``kernels``,
        ``tensor_core_kernels``, ``gpu_time_ns`` (time with a kernel running), ``gpu_time_fraction``, its exclusive
        parts (``tensor_core_time_ns``, ``other_kernel_ns``, ``memory_ns``, ``data_loader_ns``, ``io_ns``, ``cpu_ns``,
        ``other_ns``), and plain sums over kernels. Where the Tensor Core use of some kernels is unknown, or CUDA graphs
        were recorded as a whole, there are also ``unknown_kernel_ns``, ``unknown_kernels`` and
        ``unknown_kernel_time_ns``, and the columns about Tensor Cores are lower bounds, ``<NA>`` instead of 0.
        """
        return self._table("iterations")

    def gpus(self) -> pd.DataFrame:
        """One row per GPU: ``device_id``, ``cuda_ordinal`` (where the recording has it beside the physical number),
        ``name``, ``compute_capability``, ``sm_count``, ``memory_bytes``, ``in_use``, ``utilization_fraction``,
        ``busy_ns``, ``kernels``, ``tensor_core_fraction``, ``unknown_fraction`` (with kernels whose Tensor Core use is
        unknown, or CUDA graphs recorded as a whole).
        """
        return self._table("gpus")

    def memory(self) -> pd.DataFrame:
        """What each GPU's memory holds at its peak, by category: ``device_id``, ``category``, ``size_bytes``,
        ``blocks`` (unknown for what was held before the recording). The rows of a GPU add up to its peak.

        Empty if no memory was recorded (``profile_memory=True``, or a memory snapshot).
        """
        with self._asking() as connection:
            devices = memory(connection)["devices"]
        rows = [
            {"device_id": int(device), "category": row["category"], "size_bytes": row["bytes"], "blocks": row["blocks"]}
            for device, result in devices.items()
            for row in result["at_peak"]
        ]
        return plain_frame(rows, MEMORY)

    def memory_blocks(self) -> pd.DataFrame:
        """The blocks that were allocated: ``device_id``, ``size_bytes``, ``category``, ``owner`` (path of the op, or
        place in the program), ``stack`` (lines of the program, innermost first), ``allocated_event``, ``freed_event``,
        ``allocated_ns``, ``freed_ns``."""
        with self._asking() as connection:
            rows = [row for history in histories_of(connection).values() for row in block_rows(history)]
        return plain_frame(rows, MEMORY_BLOCKS)

    def memory_curve(self, device: int = 0, bins: int = 1_000) -> pd.DataFrame:
        """Memory over time in bins of equal length: ``begin`` (ns, or the number of an event), ``in_use_min_bytes``,
        ``in_use_max_bytes``, ``reserved_max_bytes``.

        Raises:
            NotFound: No memory was recorded of this GPU.
        """
        with self._asking() as connection:
            curve = memory_curve(connection, device, None, None, bins)
        width = (curve["to"] - curve["from"]) / bins
        reserved: Sequence[int | None] = curve["reserved_max_bytes"] or [None] * bins
        columns = zip(curve["in_use_min_bytes"], curve["in_use_max_bytes"], reserved, strict=True)
        rows = [
            {
                "begin": round(curve["from"] + number * width),
                "in_use_min_bytes": low,
                "in_use_max_bytes": high,
                "reserved_max_bytes": held,
            }
            for number, (low, high, held) in enumerate(columns)
        ]
        return plain_frame(rows, MEMORY_CURVE)

    def throughput(
        self, *, samples_per_iteration: int | None = None, tokens_per_iteration: int | None = None
    ) -> pd.DataFrame:
        """Samples and tokens a second of each aggregated iteration, of all GPUs: ``iteration``, ``duration_ns``,
        ``samples``, ``tokens``, ``samples_per_s``, ``tokens_per_s``; ``<NA>`` where it cannot be told.

        Args:
            samples_per_iteration: What an iteration works on, where the shapes of its first layer do not tell.
            tokens_per_iteration: The same in tokens.
        """
        with self._asking() as connection:
            result = throughput(connection, self._scope, Given(samples_per_iteration, tokens_per_iteration))
        return plain_frame([{**row, "iteration": row["number"]} for row in result["iterations"]], THROUGHPUT)

    def efficiency(self) -> pd.DataFrame:
        """One row per op with kernels, largest possible gain first. ``columns_of`` describes the columns.

        Raises:
            ProfileError: The efficiency of a database of NVIDIA's cannot be computed.
        """
        return self._table("efficiency")

    def findings(self) -> pd.DataFrame:
        """One row per finding, most promising first: ``detector``, ``severity``, ``confidence``, ``area``, ``problem``,
        ``recommendation``, ``gain_low_ns`` and ``gain_high_ns`` of an iteration, ``link``, ``evidence``.

        For a database of NVIDIA's, these are the findings of our rules, followed by those that only its own detectors
        have.
        """
        with self._asking() as connection:
            result = findings(connection, self._scope)["findings"]
        diagnosis = self._diagnosed() if find_job(self._source) else None
        return plain_frame(finding_rows(result, diagnosis["findings"] if diagnosis else ()), FINDINGS)

    def evidence(self) -> pd.DataFrame:
        """One row per place behind a finding, those of the first finding first: ``detector``, ``path``, ``call``,
        ``kind``, ``op_id``, ``device_id``, ``count`` and ``time_ns`` of a typical iteration, ``iteration``, ``from_ns``
        and ``to_ns`` of its longest stretch, ``detail``."""
        diagnosis = self.diagnosis()
        with reading(self._database.name, UnfitDatabase):  # what an import stored may be damaged
            return plain_frame(evidence_rows(diagnosis["findings"]), EVIDENCE)

    def diagnosis(self) -> dict[str, Any]:
        """Where the time of a typical iteration goes, and why: what ``dlprof diagnose --format json`` prints.

        Raises:
            UnfitDatabase: It cannot be worked out.
        """
        result = self._diagnosed()
        if result is None:
            raise UnfitDatabase(f"{self._database.name}: the diagnosis cannot be worked out; import its source again.")
        return result

    def notes(self) -> pd.DataFrame:
        """What is missing from the profile or uncertain, one row each: ``severity``, ``message``, ``hint``."""
        with self._asking() as connection:
            return plain_frame(coverage_notes(connection, self._scope), NOTES)

    def aggregations(self) -> pd.DataFrame:
        """One row per aggregation of the database: ``id``, ``iter_start``, ``iter_stop``, ``iterations``, ``key_node``,
        ``label``."""
        with self._asking() as connection:
            return plain_frame(aggregations(connection), AGGREGATIONS)

    def columns_of(self, table: str) -> pd.DataFrame:
        """The ``column``, ``unit`` and ``description`` of each column of a table, named by its method (``"ops"``).

        Raises:
            BadRequest: There is no such table.
        """
        if table == "kernels":
            return described(kernel_launches(of_op=False, of_iteration=False).columns)
        if table in SHORT_TABLES:
            return described(SHORT_TABLES[table])
        if table not in _TABLES:
            raise BadRequest(f"There is no table {table!r}; there are kernels, {', '.join((*_TABLES, *SHORT_TABLES))}.")
        return described(self._definition(table).columns)

    def recording(self) -> Recording:
        """What ``dlprof.compare`` compares of this aggregation."""
        with self._asking() as connection:
            return read_recording(connection, self._name, self.aggregation)

    def reaggregate(
        self, *, iter_start: int | None = None, iter_stop: int | None = None, key_op: str | None = None
    ) -> Profile:
        """The same profile aggregated over other iterations. This profile and its file are not changed.

        Args:
            iter_start: First iteration; by default the first one of the capture.
            iter_stop: Last iteration, inclusive; by default the last one of the capture.
            key_op: Name or id of the op that ends each iteration.

        Raises:
            BadRequest: The choice does not fit the profile.
        """
        from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database

        self._require_open()
        with ExitStack() as cleanup:
            folder = cleanup.enter_context(temporary_folder())
            target = Path(folder, "dlprof_dldb.sqlite")
            selection = Selection(key_op, iter_start, iter_stop)
            made = aggregate_database(self._database, target, selection, lambda _stage, _fraction: None)
            return Profile(target if made.is_new else self._database, made.aggregation, cleanup.pop_all(), self._source)

    def write_reports(
        self,
        folder: str | Path = ".",
        *,
        reports: str | Sequence[str] = "all",
        formats: str | Sequence[str] = "csv",
        profile_name: str = "",
        force: bool = False,
        safe_csv: bool = False,
    ) -> list[Path]:
        """Write DLProf's reports, as ``dlprof reports`` does, and return the paths of the files.

        Args:
            folder: Where the files go; created if it does not exist.
            reports: Names of reports, or ``all``; a list, or a text with commas between names.
            formats: ``csv``, ``json``, ``xlsx``, ``md``, ``html``; likewise.
            profile_name: Prefix of the file names; by default ``dlprof``.
            force: Whether to replace existing files; otherwise new files are numbered.
            safe_csv: Whether to put an apostrophe before texts that spreadsheet programs would take for formulas.

        Raises:
            BadRequest: There is no such report or format.
            OutputNotWritable: The folder cannot be written to.
        """
        wanted = selected_reports(words(reports) if isinstance(reports, str) else reports)
        kinds = selected_formats(words(formats) if isinstance(formats, str) else formats)
        target = Target(Path(folder), profile_name or DEFAULT_PREFIX, force, safe_csv)
        paths = []
        with self._asking() as connection:
            for path in write_reports(
                connection, self._scope, wanted, kinds, target, self._diagnosed, place_of(self._source)
            ):
                paths.append(path)
                connection.authorizer_calls = 0
        return paths

    def close(self) -> None:
        """Close the database, and delete temporary files. May be called several times."""
        self._closed = True
        self._cleanup.close()

    def __enter__(self) -> Profile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Profile {self._name!r}, aggregation {self.aggregation}{', closed' if self._closed else ''}>"

    def _repr_html_(self) -> str | None:
        """The HTML that notebooks show; None if the profile is closed, so that they show ``repr``."""
        if self._closed:
            return None
        with self._asking() as connection:
            return notebook_html(connection, self._scope, self._name)

    def _table(self, name: str) -> pd.DataFrame:
        definition = self._definition(name)
        with self._asking() as connection:
            return frame(connection, definition, self._scope)

    def _definition(self, name: str) -> Table:
        with self._asking() as connection:
            return table_of(connection, name)

    def _diagnosed(self) -> dict[str, Any] | None:
        """The diagnosis, stored or worked out now; None if that fails."""
        from tensorboard_plugin_dlprof.pipeline import diagnosis_or_none

        if self._diagnosis is None:
            with self._asking() as connection:
                selected = diagnosed_positions(connection, self._scope)
                self._diagnosis = stored_diagnosis(connection, selected, self._database.name)
            if self._diagnosis is None:
                self._diagnosis = diagnosis_or_none(self._database, selected)
            if self._diagnosis is not None:
                self._diagnosis = as_its_job_tells(self._diagnosis, self._source)
        return self._diagnosis

    def _require(self, sql: str, values: tuple[str | int, ...], what: str) -> None:
        with self._asking() as connection:
            if connection.execute(sql, values).fetchone() is None:
                raise NotFound(f"There is no {what} in this profile; see ops() and iterations().")

    def _require_open(self) -> None:
        if self._closed:
            raise BadRequest("This profile is closed; open it again.")

    @contextmanager
    def _asking(self) -> Iterator[UntrustedConnection]:
        """The connection for the queries of the block. Errors of a damaged file become an ``UnfitDatabase``."""
        self._require_open()
        self._connection.authorizer_calls = self._connection.packed = 0
        with reading(self._connection.shown_name, UnfitDatabase):
            yield self._connection
