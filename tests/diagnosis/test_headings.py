"""Every finding has a heading: one that was written for it, or the words of the name of NVIDIA's detector."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tensorboard_plugin_dlprof.analysis.rules as rules
import tensorboard_plugin_dlprof.memory.findings as memory_findings
from tensorboard_plugin_dlprof.diagnosis.headings import HEADINGS, heading_of

_NAME = re.compile(r'(?:Finding|_finding)\(\s*"(\w+)"|"(\w+_detector)"')


def test_every_rule_has_its_own() -> None:
    """Those that are run, and those that rules say under another name."""
    sources = [*Path(rules.__file__).parent.glob("*.py"), Path(memory_findings.__file__)]
    said = {name for path in sources for result in _NAME.findall(path.read_text("utf-8")) for name in result if name}
    assert len(said) > 40
    assert {name for name, _ in rules.RULES} | said <= set(HEADINGS)


def test_they_are_short() -> None:
    """They are read at a glance, and stand in one line beside a bar."""
    assert all(0 < len(heading) <= 42 and heading[0].isupper() for heading in HEADINGS.values())


@pytest.mark.parametrize(
    ("detector", "heading"),
    [
        ("underutilized_gpu_detector", "Underutilized GPU"),
        ("cudnn_something_detector", "cuDNN something"),
        ("detector", "Finding"),
        ("", "Finding"),
    ],
)
def test_of_other_detectors(detector: str, heading: str) -> None:
    """A database of NVIDIA's has detectors of its own."""
    assert heading_of(detector) == heading
