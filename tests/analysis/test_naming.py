"""How sentences name the rows of a diagnosis."""

from __future__ import annotations

from tensorboard_plugin_dlprof.analysis.rules.naming import place_of, places_of
from tensorboard_plugin_dlprof.diagnosis.answer import Row
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause

BLOCK = "/T5EncoderModel/T5Stack/T5Block[{}]/T5LayerSelfAttention/T5Attention/Projection/linear"


def row(path: str, time_ns: int = 1, call: str = "", kind: str = "op") -> Row:
    """A row of time in which launches came late."""
    return Row(Cause(Part.LAUNCHING, path=path, call=call, kind=kind), 1, time_ns, 0, (0, time_ns))


def test_a_long_path_begins_with_one_of_its_levels() -> None:
    """Not in the middle of a word; a call stands before it; a function keeps its file."""
    assert place_of(row("/model/layer/linear")) == "/model/layer/linear"
    assert (
        place_of(row(BLOCK.format(1))) == "\N{HORIZONTAL ELLIPSIS}/T5LayerSelfAttention/T5Attention/Projection/linear"
    )
    assert place_of(row(BLOCK.format(1), call="cudaFree")).startswith("cudaFree in \N{HORIZONTAL ELLIPSIS}/T5Layer")
    function = "diffusers/hooks/group_offloading.py(916): _get_top_level_group_offload_hook"
    assert place_of(row(function, kind="frame")) == function


def test_a_long_name_without_levels_keeps_its_beginning() -> None:
    """It is not cut at its left; behind levels, it keeps them out."""
    loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    assert place_of(row(loader)) == loader
    assert place_of(row(f"/train/{loader}")) == f"\N{HORIZONTAL ELLIPSIS}/{loader}"
    assert place_of(row("a" * 100)) == "a" * 80 + "\N{HORIZONTAL ELLIPSIS}"


def test_places_that_look_alike_once_cut_are_not_one() -> None:
    """Their times are told apart; rows of one place are added."""
    rows = [row(BLOCK.format(1), 5), row(BLOCK.format(2), 4), row(BLOCK.format(1), 3)]
    assert [time for _, time in places_of(rows)] == [8, 4]
