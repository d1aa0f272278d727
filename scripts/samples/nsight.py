"""A small convolutional network under Nsight Systems, with PyTorch's ``emit_nvtx`` ranges and one CUDA graph."""

from __future__ import annotations

import gzip
import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scripts.samples.gpus import A100
from scripts.samples.nsight_layers import LAYERS, SGD, Run
from scripts.samples.nsight_schema import SCHEMA
from scripts.samples.nsight_target import EXPORT, TARGET_GPU, VM_ID
from scripts.samples.records import DeviceRecord

ITERATIONS: Final = 3
_BATCH: Final = 256
_PID: Final = 6100
_GLOBAL_PID: Final = VM_ID + _PID * 0x1000000
_MAIN: Final = _GLOBAL_PID + _PID
_AUTOGRAD: Final = _GLOBAL_PID + _PID + 57

_PUSH_POP: Final = 59


@dataclass(slots=True)
class Export:
    """The rows of an export, and the clocks of the process that is recorded."""

    now: int = 40_000_000
    thread: int = _MAIN
    device: list[DeviceRecord] = field(default_factory=list)
    graphs: list[tuple[int, int]] = field(default_factory=list)
    iterations: list[tuple[int, int, int]] = field(default_factory=list)
    _iteration: int = 0
    _free: int = 0
    _correlation: int = 100
    _op: int = 0
    _sequence: int = 0
    _strings: dict[str, int] = field(default_factory=dict)
    _rows: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)
    _random: random.Random = field(default_factory=lambda: random.Random(90))

    def run(self) -> None:
        """Three training iterations, then one replay of the network as a CUDA graph."""
        for number in range(ITERATIONS):
            self._iteration = number
            start = self.now
            with self._range(f"iteration {number}"):
                self._train(slow=number == 0)
            self.iterations.append((number, start, self.now))
        self._iteration = -1
        with self._range("inference"):
            self._replay()

    def write(self, path: Path) -> None:
        """Writes the export, gzip-compressed; its content is the same every time."""
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "export.sqlite"
            with closing(sqlite3.connect(database)) as connection:
                connection.executescript(SCHEMA)
                self._insert(connection)
                connection.commit()
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                packed.write(database.read_bytes())

    def _train(self, *, slow: bool) -> None:
        self._copy(_BATCH * 28 * 28 * 4)
        recorded = []
        with self._range("forward"):
            for layer in LAYERS:
                if slow:
                    self._spend(2_400_000)
                self._op += 1
                recorded.append((layer, self._sequence))
                with self._range(f"{layer.op}, seq = {self._sequence}, op_id = {self._op}, sizes = {layer.sizes}"):
                    for kernel in layer.forward:
                        self._launch(kernel)
                self._sequence += 1
        with self._range("backward"):
            self._spend(30_000)
            self.thread = _AUTOGRAD
            for layer, sequence in reversed(recorded):
                self._op += 1
                label = f"{layer.node}, seq = {sequence}, op_id = {self._op}"
                with self._range(f"autograd::engine::evaluate_function: {label}"), self._range(label):
                    for kernel in layer.backward:
                        self._launch(kernel)
            self.thread = _MAIN
            self._spend(30_000)
        with self._range("Optimizer.step#SGD.step"):
            self._op += 1
            with self._range(f"aten::_foreach_add_, op_id = {self._op}, sizes = [[], [], []]"):
                self._launch(SGD)
        self._synchronise()

    def _replay(self) -> None:
        correlation, ready = self._call("cudaGraphLaunch_v10000", 21_000)
        start = max(self._free, ready)
        end = start + sum(kernel.duration_ns for layer in LAYERS for kernel in layer.forward)
        self._add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start, end, 0, 1, None, 7, correlation, _GLOBAL_PID, 4, 5)
        self.graphs.append((start, end))
        self._free = end
        self._synchronise()

    def _spend(self, nanoseconds: float) -> None:
        self.now += round(nanoseconds * (0.9 + 0.2 * self._random.random()))

    @contextmanager
    def _range(self, text: str) -> Iterator[None]:
        start, thread = self.now, self.thread
        self._spend(1_400)
        yield
        self._spend(900)
        self._add("NVTX_EVENTS", start, self.now, _PUSH_POP, *[None] * 3, text, thread, *[None] * 2, 0, *[None] * 9)

    def _call(self, name: str, duration: int) -> tuple[int, int]:
        self._correlation += 1
        start = self.now
        self._spend(duration)
        self._add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start,
            self.now,
            0,
            self.thread,
            self._correlation,
            self._string(name),
            0,
            None,
        )
        self._spend(600)
        return self._correlation, start + 5_000

    def _launch(self, kernel: Run) -> None:
        correlation, ready = self._call("cudaLaunchKernel_v7000", 4_200)
        start = max(self._free, ready)
        end = start + round(kernel.duration_ns * (0.97 + 0.06 * self._random.random()))
        qualified = re.split(r"<(?!unnamed)|\(", kernel.name.removeprefix("void "), maxsplit=1)[0]
        short = qualified.rsplit("::", 1)[-1]
        self._add(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            start,
            end,
            0,
            1,
            None,
            7,
            correlation,
            _GLOBAL_PID,
            self._string(kernel.name),
            self._string(short),
            None,
            1,
            1,
            128,
            432,
            1,
            1,
            256,
            1,
            1,
            0,
            49_152,
            0,
            0,
            correlation,
            65_536,
            None,
            0,
        )
        self.device.append(DeviceRecord("kernel", kernel.name, 7, start, end, self._iteration, kernel.tensor_core))
        self._free = end + 800

    def _copy(self, num_bytes: int) -> None:
        correlation, ready = self._call("cudaMemcpyAsync_v3020", 9_000)
        start = max(self._free, ready)
        end = start + round(num_bytes / 22e9 * 1e9)
        self._add(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            start,
            end,
            0,
            1,
            None,
            7,
            correlation,
            _GLOBAL_PID,
            num_bytes,
            1,
            None,
            1,
            2,
            *[None] * 7,
            1,
        )
        self.device.append(DeviceRecord("memcpy", "HtoD", 7, start, end, self._iteration, num_bytes=num_bytes))
        self._free = end + 800

    def _synchronise(self) -> None:
        self._correlation += 1
        start = self.now
        self.now = max(start + 2_000, self._free + 4_000)
        name = self._string("cudaStreamSynchronize_v3020")
        self._add("CUPTI_ACTIVITY_KIND_RUNTIME", start, self.now, 0, self.thread, self._correlation, name, 0, None)
        self._add(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            start + 500,
            self.now - 500,
            0,
            1,
            None,
            7,
            self._correlation,
            _GLOBAL_PID,
            3,
            0,
            None,
        )
        self._spend(20_000)

    def _string(self, value: str) -> int:
        return self._strings.setdefault(value, len(self._strings) + 1)

    def _add(self, table: str, *values: object) -> None:
        self._rows.setdefault(table, []).append(values)

    def _insert(self, connection: sqlite3.Connection) -> None:
        def insert(table: str, rows: Sequence[tuple[object, ...]]) -> None:
            if rows:
                connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

        for thread, name in ((_MAIN, "python"), (_AUTOGRAD, "pt_autograd_0")):
            self._add("ThreadNames", self._string(name), 20, thread)
        insert("StringIds", [(0, "[Unknown]"), *((number, value) for value, number in self._strings.items())])
        for table in sorted(self._rows):
            insert(table, sorted(self._rows[table], key=lambda row: (str(type(row[0])), row[0])))
        insert("TARGET_INFO_GPU", [tuple(TARGET_GPU.values())])
        insert("TARGET_INFO_CUDA_DEVICE", [(0, 0, _PID, None, A100.sm_count)])
        insert(
            "TARGET_INFO_SESSION_START_TIME",
            [(1_767_225_600_000_000_000, "2026-01-01T00:00:00", "2026-01-01T00:00:00", 0)],
        )
        insert("PROCESSES", [(_GLOBAL_PID, _PID, "python")])
        insert("META_DATA_CAPTURE", [("GENERATED", "made by scripts.samples.generate, not recorded")])
        insert("META_DATA_EXPORT", EXPORT)


def mnist_export() -> Export:
    """The rows of a finished run."""
    export = Export()
    export.run()
    return export
