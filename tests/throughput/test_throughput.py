"""What shapes tell about batches, and the rates that follow, on every way to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.throughput import Given, throughput
from tensorboard_plugin_dlprof.run_metadata.describe import iteration_scalars
from tensorboard_plugin_dlprof.throughput.find import find_batches
from tests.shared_data import shared_data
from tests.timeline import draw

CONV = "aten::conv2d ; shapes=[[64,3,224,224],[64,3,7,7]]"
EMBEDDING = "aten::embedding ; shapes=[[30522,512],[8,128]]"
ATTENTION = "aten::scaled_dot_product_attention ; shapes=[[{0},12,{1},64],[{0},12,{1},64],[{0},12,{1},64]]"
MM = "main op 10-20 aten::mm ; shapes=[[{},64],[64,64]]"
SCORES = "aten::bmm ; shapes=[[{0},{1},64],[{0},64,{1}]]"
BACKWARD = "autograd op {0}-{1} ConvolutionBackward0 ; seq=7 ; fwd=1"


def batches_of(*ops: str) -> list[tuple[int, int]]:
    """Samples and tokens of each batch, -1 where they are unknown, in one marked step with these ops."""
    lines = ["main iteration 0-1000 ProfilerStep#1", "main iteration 1000-2000 ProfilerStep#2"]
    batches = find_batches(build_profile(draw("\n".join([*lines, *ops]))))
    return list(zip(batches.samples.tolist(), batches.tokens.tolist(), strict=True))


@pytest.mark.parametrize(
    ("ops", "batches"),
    [
        ([f"main op 10-20 {CONV}"], [(64, -1)]),
        (["main op 10-20 aten::conv2d ; shapes=[[3,224,224],[64,3,7,7]]"], []),  # one sample without a batch
        (["main op 10-20 aten::linear ; shapes=[[32,784],[10,784],[10]]"], [(32, -1)]),
        (["main op 10-20 aten::addmm ; shapes=[[10],[32,784],[784,10],[],[]]"], [(32, -1)]),
        ([f"main op 10-20 {EMBEDDING}"], [(8, 1024)]),
        (["main op 10-20 aten::relu ; shapes=[[32,784]]"], []),  # may be anything
        (["main op 10-20 aten::conv2d"], []),  # no shapes were recorded
        # Rows of a product in front of attention are its tokens, its sequences, or neither.
        (
            ["main op 10-20 aten::mm ; shapes=[[512,64],[64,64]]", f"main op 30-40 {ATTENTION.format(4, 128)}"],
            [(4, 512)],
        ),
        ([MM.format(500), f"main op 30-40 {ATTENTION.format(4, 128)}"], []),
        (
            ["main op 10-20 aten::linear ; shapes=[[128,4,64],[64,64]]", f"main op 30-40 {ATTENTION.format(4, 128)}"],
            [(4, 512)],
        ),
        # A text of 77 tokens for a picture: most work is on other tokens.
        (
            [
                "main op 10-20 aten::embedding ; shapes=[[49408,768],[1,77]]",
                *(f"main op {at}-{at + 5} {ATTENTION.format(1, length)}" for at, length in ((30, 77), (40, 4096))),
            ],
            [(1, -1)],
        ),
        # Accumulated gradients: each batch has a backward pass.
        (
            [
                *(f"main op {10 + at}-{20 + at} {CONV}" for at in (0, 100)),
                *(BACKWARD.format(50 + at, 60 + at) for at in (0, 100)),
            ],
            [(64, -1), (64, -1)],
        ),
        # Two towers share a layer: one batch. Without a backward pass that cannot be told from a loop.
        ([*(f"main op {10 + at}-{20 + at} {CONV}" for at in (0, 20)), BACKWARD.format(50, 60)], [(64, -1)]),
        ([f"main op {10 + at}-{20 + at} {CONV}" for at in (0, 20)], []),
        # What a backward pass computes again is no batch.
        (
            [
                f"main op 10-20 {CONV}",
                "autograd op 50-90 CheckpointFunctionBackward ; seq=7 ; fwd=1",
                f"autograd op 60-70 {CONV}",
            ],
            [(64, -1)],
        ),
        # Networks that train each other: one gets real samples and those of the other, which are no batches.
        (
            [
                *(f"main op {10 + at}-{20 + at} {CONV}" for at in (0, 100, 200)),
                "main op 70-80 aten::conv2d ; shapes=[[64,512,4,4],[256,512,4,4]]",
                *(BACKWARD.format(50 + at, 60 + at) for at in (0, 100, 200)),
            ],
            [],
        ),
        # The pictures of films: attention goes through the places in them.
        ([f"main op 10-20 {CONV}", "main op 30-40 aten::linear ; shapes=[[196,8,768],[768,768]]"], []),
        ([f"main op 10-20 {CONV}", "main op 30-40 aten::linear ; shapes=[[64,197,768],[768,768]]"], [(64, -1)]),
        # What follows the backward pass may be products of the optimizer.
        (
            [f"main op 10-20 {CONV}", BACKWARD.format(50, 60), "main op 70-80 aten::mm ; shapes=[[100,64],[64,64]]"],
            [(64, -1)],
        ),
        # Positions come first, one for each token; sequences that come second.
        (["main op 10-20 aten::embedding ; shapes=[[512,64],[128]]", f"main op 30-40 {SCORES.format(96, 128)}"], []),
        (
            ["main op 10-20 aten::embedding ; shapes=[[9999,64],[128,8]]", f"main op 30-40 {SCORES.format(96, 128)}"],
            [(8, 1024)],
        ),
        ([f"main op 10-20 {EMBEDDING}", f"main op 30-40 {SCORES.format(96, 128)}"], [(8, 1024)]),
        ([MM.format(1024), f"main op 30-40 {SCORES.format(96, 128)}"], []),
        ([MM.format(96), f"main op 30-40 {SCORES.format(96, 27)}"], [(96, -1)]),  # how features go with features
        # A thread for each GPU.
        ([f"{thread} op 10-20 {CONV}" for thread in ("one", "two")] + [BACKWARD.format(50, 60)], [(64, -1)] * 2),
    ],
)
def test_the_first_layer_tells_the_batch(ops: list[str], batches: list[tuple[int, int]]) -> None:
    """Where it cannot be told, there is none."""
    assert batches_of(*ops) == batches


def test_without_marked_iterations_nothing_is_known() -> None:
    """The capture may hold any number of batches."""
    assert len(find_batches(build_profile(draw(f"main op 10-20 {CONV}"))).time_ns) == 0


def test_every_way_tells_the_same_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Summary, Python, scalars, Compare; what the user says comes before shapes."""
    source = shared_data() / "torch" / "t4_fp32" / "fp32.pt.trace.json"
    assert main(["import", str(source), "-o", str(tmp_path)]) == 0
    (database,) = tmp_path.glob("*.sqlite")
    capsys.readouterr()
    with dlprof.open(database) as profile, opened_database(database) as connection:
        scope = find_scope(connection)
        rows = profile.throughput()
        rate = rows.samples.sum() / rows.duration_ns.sum() * 1e9
        assert set(rows.samples) == {512}
        assert rows.tokens.isna().all()
        assert profile.summary.samples_per_s == pytest.approx(rate)
        assert profile.summary.throughput_from.startswith("batch 512 taken from shapes (flatten [[512,1,28,28]]")
        (points,) = (each.points for each in iteration_scalars(connection) if each.tag == "dlprof/samples_per_s")
        assert [value for _, value in points] == rows.samples_per_s.tolist()
        given = throughput(connection, scope, Given(tokens_per_iteration=1_000))
        assert given["tokens_per_s"] == pytest.approx(rate / 512 * 1_000)
        assert given["basis"].startswith("batch 512 taken from shapes; tokens 1,000 given")
        assert dlprof.compare(database, database).data["measures"]["samples_per_s"]["a"] == pytest.approx(rate)
    assert main(["summary", str(database), "--format", "json", "--samples-per-iteration", "1024"]) == 0
    data = json.loads(capsys.readouterr().out)["Iterations"]
    assert (data["Samples Per Second"], data["Throughput From"]) == (pytest.approx(2 * rate), "batch 1,024 given")
    assert main(["import", str(source), "-o", str(tmp_path), "--force", "--samples-per-iteration=256"]) == 0
    with dlprof.open(database) as profile:
        assert profile.summary.samples_per_s == pytest.approx(rate / 2)
        assert profile.summary.throughput_from == "batch 256 given"
