"""The efficiency of ops of NVIDIA's databases: worked out when they are imported, at the first request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.routes.serving import Server
from tests.shared_data import shared_data

NAME = "dlprof_dldb.sqlite"


class Golden:
    """NVIDIA's own database, and what is asked about it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "logs" / NAME
        self.file.parent.mkdir()
        self.file.write_bytes((shared_data() / "dlprof-golden" / NAME).read_bytes())
        self.server = Server(folder / "logs", folder / "cache")
        self.profile = self.server.profile(NAME)["id"]

    def get(self, path: str) -> Any:
        """The JSON of an answer."""
        return self.server.get(f"{path}{'&' if '?' in path else '?'}profile={self.profile}").json


@pytest.fixture
def golden(tmp_path: Path) -> Iterator[Golden]:
    """Seven ops launch kernels, three of them products with known shapes."""
    result = Golden(tmp_path)
    yield result
    result.server.app.close()


def test_all_that_the_data_can_give(golden: Golden) -> None:
    """By hand: 2 x (400 x 120 + 120 x 84 + 84 x 10) operations; all kernels are FP32; convolutions lack strides."""
    rates = golden.get("/efficiency")
    assert rates["product_flops"] == 117_840
    assert rates["precisions"] == [{"precision": "fp32", "matrix_unit": "no", "kernel_ns": 308_960, "kernels": 51}]
    assert rates["other_types"] == ["conv2d", "max_pool2d"]
    # Without im2col, an elementwise kernel, offsets, pointers and a flipped filter, which multiply nothing.
    first = 129_598 - 6_304 - 3_200 - 2_176 - 2_144 - 2_048
    second = 163_010 - 17_984 - 3_264 - 1_952 - 1_888 - 1_984
    assert [(each["label"], each["ops"], each["kernel_ns"]) for each in rates["causes"]] == [
        ("FP32 tensors", 2, first + second),
        ("Too small", 3, 4_032 + 3_200 + 3_072),
    ]
    limits = {each["limit"]: each["kernel_ns"] for each in rates["limits"]}
    assert limits.pop("fp32_type") == first + second
    assert limits.pop("too_small") == 4_032 + 3_200 + 3_072
    assert sum(limits.values()) == 308_960 - first - second - 4_032 - 3_200 - 3_072, "all of it, each part once"
    assert {peak["product"] for peak in rates["peaks"]} == {"RTX 2070 SUPER"}
    assert [(peak["unit"], peak["precision"]) for peak in rates["peaks"] if peak["used"]] == [("vector", "fp32")]
    assert 0 < rates["mfu_fraction"] < 1e-6
    assert rates["network"]["occupancy_fraction"] is None
    said = " ".join(f"{each['what']} {each['hint']}" for each in rates["missing"])
    assert "record_shapes=True" in said
    assert "Nsight Systems export" in said
    rows = golden.get("/table?table=efficiency")["rows"]
    gains = [row["gain_ns"] for row in rows]
    assert {row["op_id"]: row["flops"] for row in rows}["LINEAR_1"] == 96_000
    assert [gain for gain in gains if gain is not None] == sorted(filter(None, gains), reverse=True)
    assert gains[-2:] == [None, None], "nobody can tell it of the convolutions"


def test_causes_are_told_from_the_first_request(golden: Golden) -> None:
    """In the tree and in tables."""
    answer = golden.get("/groups")
    nodes, causes = answer["nodes"], answer["causes"]
    assert {each["label"]: each["ops"][nodes["name"].index("/")] for each in causes} == {
        "FP32 tensors": 2,
        "Too small": 3,
    }
    gains, ids = nodes["gain_ns"], nodes["op_id"]
    assert gains[ids.index("CONV2D_1")] is None, "measured, but how fast it could be is not known"
    assert gains[ids.index("LINEAR_1")] > 0
    of_unknown_gain = [
        time for op, gain, time in zip(ids, gains, nodes["kernel_time_ns"], strict=True) if op and gain is None
    ]
    assert nodes["unrated_time_ns"][nodes["name"].index("/")] == sum(of_unknown_gain) > 0
    for table in ("ops", "op_paths", "op_names", "op_types", "efficiency"):
        totals = golden.get(f"/table?table={table}&limit=1")["totals"]
        assert totals["unrated_time_ns"] == sum(of_unknown_gain), "as in the tree"
        assert totals["kernel_ns" if table in ("ops", "efficiency") else "kernel_time_ns"] == 308_960
    ops = {row["op_id"]: row["cause"] for row in golden.get("/table?table=ops&limit=100")["rows"]}
    assert (ops["CONV2D_1"], ops["LINEAR_1"], ops["MAX_POOL2D_1"]) == ("FP32 tensors", "Too small", None)
    root = next(row for row in golden.get("/table?table=groups&limit=100")["rows"] if row["path"] == "/")
    assert (root["limited_ns"], root["cause"]) == (259_968, "FP32 tensors")


def test_the_table_can_be_exported(golden: Golden) -> None:
    """Without a look at the page before."""
    answer = golden.server.get(f"/export?profile={golden.profile}&table=efficiency&format=json")
    assert {row["op_id"] for row in answer.json["rows"]} >= {"CONV2D_1", "LINEAR_3"}


def test_the_database_stays_as_it_is(golden: Golden) -> None:
    """What was worked out lies in the cache, for the next server too."""
    before = golden.file.read_bytes()
    golden.get("/efficiency")
    assert golden.file.read_bytes() == before
    assert [path.name for path in golden.file.parent.iterdir()] == [NAME]
    other = Server(golden.file.parent, golden.server.services.imports.cache.folder)
    try:
        other.profile(NAME)
        causes = other.get(f"/groups?profile={golden.profile}").json["causes"]
    finally:
        other.app.close()
    assert len(causes) == 2


def test_what_cannot_be_imported_is_read_as_it_is(golden: Golden) -> None:
    """What DLProf stored is told, nobody waits for the rest twice, and it is unknown."""
    golden.server.app._questions.advisor.seconds = (0.0, 0.0)
    assert golden.get("/dashboard")["performance"]["wall_clock_ns"] == 2_864_091_540
    golden.server.app._questions.advisor.seconds = (60.0, 60.0)
    rates = golden.get("/efficiency")
    assert (rates["product_flops"], rates["precisions"], rates["missing"]) == (None, [], [])
    assert golden.get("/table?table=efficiency")["rows"] == []
    assert len(golden.get("/table?table=ops&limit=100")["rows"]) == 32
