"""Frames in which nothing happens are left out, and nothing else is."""

from __future__ import annotations

from tensorboard_plugin_dlprof.events.frames import without_empty_frames
from tensorboard_plugin_dlprof.events.tables import Capture
from tests.timeline import draw


def kept(capture: Capture) -> list[str]:
    """Names of the ranges that stay."""
    return [capture.strings[name] for name in without_empty_frames(capture).ranges.name.tolist()]


def test_frames_around_ops_and_calls_stay() -> None:
    """A frame is kept where a range or an API call of its own thread starts in it, at its edges too."""
    capture = draw(
        """
        main   frame       0-1   first
        main   frame      10-20  around op
        main   op         20-30  aten::mm
        main   frame      31-39  empty
        main   frame      40-50  around call
        main   call       40-41  cudaLaunchKernel
        main   frame      55-60  around annotation
        main   annotation 60-61  mine
        main   frame      62-63  last
        other  frame      15-70  nothing of its thread
        other  frame      71-80  never seen to return
        """
    )
    stay = ["first", "around op", "aten::mm", "around call", "around annotation", "mine", "last"]
    assert kept(capture) == [*stay, "never seen to return"]


def test_a_capture_without_frames_is_left_as_it_is() -> None:
    """Nothing is copied where nothing can be left out."""
    capture = draw("main op 0-10 aten::mm")
    assert without_empty_frames(capture) is capture


def test_modules_are_no_frames() -> None:
    """A module call that holds nothing is still a part of the model; the first event of all stays."""
    capture = draw(
        """
        main  module  0-10  nn.Module: Linear_0
        main  frame   2-3   forward
        main  frame   5-6   last
        """
    )
    assert kept(capture) == ["nn.Module: Linear_0", "last"]
