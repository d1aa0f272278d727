"""The rules between the numbers: kept by every aggregation, and each of them can be broken."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import Aggregation, Selection, aggregate
from tensorboard_plugin_dlprof.aggregation.invariants import broken_rules
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, aggregate_database, import_source, judgement
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.queries.coverage import Note, coverage_notes
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of
from tests.aggregation.test_oracle import profiles
from tests.cli.traces import write_trace


@settings(max_examples=100)
@given(profiles(), st.data())
def test_no_profile_breaks_a_rule(profile: Profile, data: st.DataObject) -> None:
    """Whatever part of its iterations is aggregated."""
    values = profile.iterations[0].values.tolist()
    first = data.draw(st.sampled_from(values))
    assert broken_rules(profile, aggregate(profile, Selection(iter_start=first))) == []


def made() -> tuple[Profile, Aggregation]:
    """Two ops in two iterations, with a kernel on Tensor Cores, one elsewhere, and a copy."""
    fast = Work("kernel", (5, 15), (1, 2), unit=MatrixUnit.YES)
    slow = Work("kernel", (60, 80), (51, 52), "add")
    ops = [
        DraftOp("LINEAR_1", "/net/linear", [Call(0, 20, [fast]), Call(40, 45)], Eligibility.ELIGIBLE, "float16"),
        DraftOp("ADD_1", "/net/block/add", [Call(50, 70, [slow, Work("memcpy", (80, 85), (53, 54))])]),
    ]
    profile = profile_of(ops, iterations=[(0, 50), (50, 100)])
    return profile, aggregate(profile)


def _shift(array: np.ndarray) -> None:  # type: ignore[type-arg]
    array.reshape(-1)[0] += 1


BREAKS: dict[str, tuple[Callable[[Aggregation], object], str]] = {
    "a part": (lambda a: _shift(a.iterations.parts_ns), "the parts of each iteration add up to it"),
    "a negative part": (lambda a: a.parts_ns.__setitem__(0, -1), "no part of the wall time is negative"),
    "a part of a GPU": (lambda a: _shift(a.devices.parts_ns), "the parts of each GPU add up to the wall time"),
    "the wall time": (lambda a: _shift(a.parts_ns), "the iterations add up to the wall time"),
    "a kernel too many": (lambda a: _shift(a.iterations.kernels), "the kernels of all iterations are all kernels"),
    "a kernel's time": (
        lambda a: _shift(a.kernel_summaries.gpu.sum),
        "the times of the kernels add up along every way",
    ),
    "a GPU's kernels": (lambda a: _shift(a.devices.kernels), "the kernels of all GPUs are all kernels"),
    "Tensor Core kernels": (
        lambda a: _shift(a.iterations.tc_kernels),
        "the Tensor Core kernels are a part of the kernels",
    ),
    "a call of a type": (lambda a: _shift(a.op_types.num_calls), "the op types add up to the ops"),
    "a call of an iteration": (lambda a: _shift(a.iteration_ops.instances), "the ops of all iterations are all calls"),
    "a group": (lambda a: _shift(a.group_ops.times.gpu.sum), "each group adds up from its children"),
    "a time": (lambda a: a.op_nodes.times.gpu_idle.min.__setitem__(0, -1), "no time of an op is negative"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_every_rule_can_be_broken(what: str) -> None:
    """A wrong number is noticed under the name of its rule."""
    profile, aggregation = made()
    assert broken_rules(profile, aggregation) == []
    spoil, rule = BREAKS[what]
    spoil(aggregation)
    assert rule in broken_rules(profile, aggregation)


def test_rules_about_kinds_and_lost_kernels_can_be_broken() -> None:
    """Those whose numbers cannot be changed in place."""
    profile, aggregation = made()
    more = msgspec.structs.replace(aggregation.categories.every_op, count=7, gpu_time_ns=1)
    kinds = msgspec.structs.replace(aggregation.categories, every_op=more, every_kernel=more)
    spoilt = msgspec.structs.replace(
        aggregation,
        categories=kinds,
        launches=msgspec.structs.replace(aggregation.launches, kernels=1),
        efficiency=msgspec.structs.replace(aggregation.efficiency, tensor_core_ns=1_000),
    )
    assert {
        "the kinds of ops add up to all ops",
        "the kinds of kernels add up to all kernels",
        "every kernel is in one iteration or outside of all",
        "the Tensor Core utilization is from 0 to 100 %",
    } <= set(broken_rules(profile, spoilt))


NEGATIVE = "no time of an op is negative"


def _notes(database: Path) -> list[Note]:
    with closing(open_database(database)) as connection:
        return coverage_notes(connection, find_scope(connection))


def test_a_broken_rule_of_an_import_is_kept_in_the_database_and_shown(tmp_path: Path) -> None:
    """Calls that end before they begin, which no importer gives: the profile is written, with a warning."""
    profile, _ = made()
    profile.instances.end_ns = profile.instances.start_ns - 5
    source = write_trace(tmp_path / "a.json")
    database = tmp_path / "a.dlprof_dldb.sqlite"
    said = write_database(
        database, source, profile, lambda: aggregate(profile), lambda result: judgement(profile, result, "source")
    )
    assert any(f"it is not true that {NEGATIVE}" in warning for warning in said)
    first = _notes(database)[0]
    assert first["severity"] == "warning"
    assert NEGATIVE in first["message"]


def test_a_broken_rule_of_an_added_aggregation_is_kept_and_shown(tmp_path: Path) -> None:
    """Of a database in which calls end before they begin; the import of its source broke none."""
    database = tmp_path / "a.dlprof_dldb.sqlite"
    source = write_trace(tmp_path / "a.json")
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    assert not any("do not agree" in note["message"] for note in _notes(database))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_calls SET duration_ns = -5")
    aggregate_database(database, database, Selection(None, 1, 2), lambda _what, _fraction: None)
    first = _notes(database)[0]
    assert first["severity"] == "warning"
    assert NEGATIVE in first["message"]
