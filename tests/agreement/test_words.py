"""One thing has one name on the pages, in reports and on the command line."""

from __future__ import annotations

import re
from pathlib import Path

from tensorboard_plugin_dlprof.diagnosis.parts import NAMES
from tensorboard_plugin_dlprof.queries.kinds_of_work import NO_KERNELS

MODEL = Path(__file__).resolve().parents[2] / "frontend" / "src" / "model"


def test_the_parts_of_the_time() -> None:
    """Those of a step, as the Dashboard's bar and ``dlprof diagnose`` call them."""
    kinds = (MODEL / "parts.ts").read_text()
    named = dict(re.findall(r'\bkind\(\s*"(\w+)",\s*["`]([^"`]+)["`]', kinds))
    assert {key: label.replace("${unit}", "{unit}") for key, label in named.items()} == NAMES


def test_ops_without_kernels() -> None:
    """What they did instead."""
    assert f'"{NO_KERNELS}"' in (MODEL / "families.ts").read_text()
