"""The bundled samples are what the script makes, and the importer finds in them what was put in."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.samples.answers import union_ns
from scripts.samples.generate import ANSWERS, generate
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.errors import OutputExists
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.samples import DATA, RUNS, install

ANSWERED: dict[str, dict[str, Any]] = json.loads((DATA / ANSWERS).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Profile]:
    """Every installed sample, read by the importer: file name in ``samples/data`` -> profile."""
    folder = tmp_path_factory.mktemp("logs")
    names = [name for run in RUNS.values() for name in run]
    read = {}
    for name, path in zip(names, install(folder), strict=True):
        capture = find_importer(path).read(path, ReadOptions(), lambda _doing, _fraction: None)
        read[name] = build_profile(capture)
    return read


def _content(path: Path, scratch: Path) -> object:
    """What a file says, whatever the versions of zlib and SQLite that wrote it."""
    packed = path.read_bytes()
    if path.suffix != ".gz":
        return packed
    content = gzip.decompress(packed)
    if not path.name.endswith(".sqlite.gz"):
        return content
    scratch.write_bytes(content)
    with closing(sqlite3.connect(scratch)) as connection:
        return list(connection.iterdump())


def test_script_makes_the_bundled_files_again(tmp_path: Path) -> None:
    """Whoever runs the script gets what the package ships."""
    folder = tmp_path / "made"
    generate(folder)
    made = sorted(path.name for path in folder.iterdir())
    assert made == sorted([*ANSWERED, ANSWERS])
    for name in made:
        assert _content(folder / name, tmp_path / "ours") == _content(DATA / name, tmp_path / "shipped"), name


def test_every_bundled_profile_belongs_to_a_run_and_is_small() -> None:
    """No file is shipped that ``install`` does not lay out; each stays under a megabyte."""
    shipped = {path.name for path in DATA.iterdir()} - {ANSWERS}
    assert shipped == {name for names in RUNS.values() for name in names}
    assert all((DATA / name).stat().st_size < 1_000_000 for name in shipped)


def test_a_profile_that_was_not_recorded_says_so_in_its_name() -> None:
    """A generated profile cannot be mistaken for a measurement."""
    assert all(name.startswith("generated-") for name in ANSWERED)
    assert {name for names in RUNS.values() for name in names} - set(ANSWERED) == {
        "recorded-resnet-block-cpu.pt.trace.json.gz"
    }


@pytest.mark.parametrize("name", ANSWERED)
def test_importer_finds_the_device_work_that_was_put_in(name: str, profiles: dict[str, Profile]) -> None:
    """Kernels, their time, its union, Tensor Core use, copies and sets are those of ``answers.json``."""
    facts, profile = ANSWERED[name], profiles[name]
    kernels = profile.kernels
    durations = kernels.end_ns - kernels.start_ns
    uses = kernels.matrix_unit == MatrixUnit.YES
    assert len(kernels.op) == facts["kernels"]
    assert durations.sum() == facts["kernel_time_ns"]
    intervals = zip(kernels.start_ns.tolist(), kernels.end_ns.tolist(), strict=True)
    assert union_ns(intervals) == facts["kernel_union_ns"]
    assert int(uses.sum()) == facts["tensor_core_kernels"]
    assert durations[uses].sum() == facts["tensor_core_time_ns"]
    assert not (kernels.matrix_unit == MatrixUnit.UNKNOWN).any()
    assert len(profile.memcpys.op) == facts["copies"]
    assert profile.memcpys.num_bytes.sum() == facts["copied_bytes"]
    assert len(profile.memsets.op) == facts["sets"]
    assert len(profile.graphs.op) == facts.get("graph_launches", 0)
    assert (profile.graphs.end_ns - profile.graphs.start_ns).sum() == facts.get("graph_time_ns", 0)
    assert [device.name for device in profile.devices if device.name][:1] == [facts["gpu"]]
    assert profile.info.rank == facts["rank"]


@pytest.mark.parametrize("name", ANSWERED)
def test_importer_finds_the_iterations_that_were_put_in(name: str, profiles: dict[str, Profile]) -> None:
    """Numbers, durations (to the profiler's first nanoseconds) and kernels launched in each iteration."""
    facts, profile = ANSWERED[name]["iterations"], profiles[name]
    best = profile.iterations[0]
    assert best.values.tolist() == [iteration["value"] for iteration in facts]
    durations = [iteration["duration_ns"] for iteration in facts]
    np.testing.assert_array_equal(best.stop_ns - best.start_ns, durations)
    launched = profile.kernels.api_start_ns
    within = [
        int(((launched >= start) & (launched < stop)).sum())
        for start, stop in zip(best.start_ns, best.stop_ns, strict=True)
    ]
    assert within == [iteration["kernels_launched"] for iteration in facts]


@pytest.mark.parametrize("name", ANSWERED)
def test_database_of_a_sample_holds_what_was_put_in(name: str, tmp_path: Path) -> None:
    """The whole way, to SQLite: kernels, those on Tensor Cores, copies and iterations."""
    facts = ANSWERED[name]
    names = [file_name for run in RUNS.values() for file_name in run]
    source = install(tmp_path)[names.index(name)]
    result = import_source(source, tmp_path / "sample.sqlite", ImportOptions(), lambda _doing, _fraction: None)
    with closing(sqlite3.connect(result.database)) as connection:

        def rows(query: str) -> list[tuple[Any, ...]]:
            return connection.execute(query).fetchall()

        assert rows("SELECT count(*), sum(uses_tc) FROM read_only_kernels") == [
            (facts["kernels"], facts["tensor_core_kernels"])
        ]
        assert rows("SELECT count(*) FROM read_only_memcpys") == [(facts["copies"],)]
        ((first, *_),) = rows("SELECT iter_value FROM view_iterations_all ORDER BY iter_value LIMIT 1")
        assert first == facts["iterations"][0]["value"]
        assert rows("SELECT count(*) FROM view_iterations_all") == [(len(facts["iterations"]),)]
        above = rows("SELECT * FROM ext_kernel_efficiency WHERE achieved_fraction > occupancy_fraction + 1e-9")
        assert above == [], "no kernel achieves more than its launch allows"


def test_two_ranks_finish_each_collective_together(profiles: dict[str, Profile]) -> None:
    """The ranks share a clock: an all-reduce ends at once on both, and rank 0 waits for the straggler."""
    ends, waits = [], []
    for rank in range(2):
        profile = profiles[f"generated-transformer-bf16-rank{rank}.pt.trace.json.gz"]
        names = np.array(profile.strings.texts())[profile.kernels.long_name]
        selected = np.char.startswith(names, "ncclDevKernel")
        ends.append(np.sort(profile.kernels.end_ns[selected]) + profile.info.base_time_ns)
        waits.append(int((profile.kernels.end_ns - profile.kernels.start_ns)[selected].sum()))
    np.testing.assert_array_equal(ends[0], ends[1])
    assert waits[0] > 2 * waits[1]


def test_mixed_precision_sample_is_faster_and_uses_tensor_cores() -> None:
    """The pair tells the story that it was made for."""
    fp32 = ANSWERED["generated-resnet50-fp32.pt.trace.json.gz"]
    amp = ANSWERED["generated-resnet50-amp.pt.trace.json.gz"]
    assert fp32["tensor_core_kernels"] == 0 < amp["tensor_core_kernels"]
    assert amp["kernel_time_ns"] < fp32["kernel_time_ns"] / 2


def test_recorded_sample_is_a_whole_profile_without_kernels(profiles: dict[str, Profile]) -> None:
    """The CPU recording holds four steps, modules, shapes and memory, and no device work."""
    profile = profiles["recorded-resnet-block-cpu.pt.trace.json.gz"]
    assert len(profile.kernels.op) == 0
    assert len(profile.iterations[0].values) == 4
    assert {"shapes", "modules", "memory"} <= profile.info.recorded
    assert any(op.name.endswith("/linear") for op in profile.ops)


def test_install_again_changes_nothing_and_spares_other_files(tmp_path: Path) -> None:
    """A second demo reuses the first; a user's file of the same name is not replaced."""
    first = install(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first}
    assert install(tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in first} == before
    first[0].write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists, match="is not the sample of that name"):
        install(tmp_path)
    assert first[0].read_text(encoding="utf-8") == "mine"
