"""Twenty-eight damaged copies of each format, always the same: each is read, or refused with a sentence.

``DLPROF_FUZZ_COPIES`` makes it more of each, ``DLPROF_FUZZ_FIRST`` others; ``make fuzz`` does both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.mutations import damage
from tests.fuzz.seeds import SEEDS

REPOSITORY = Path(__file__).resolve().parents[2]
COPIES = int(os.environ.get("DLPROF_FUZZ_COPIES", "28"))
FIRST = int(os.environ.get("DLPROF_FUZZ_FIRST", "0"))

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of memory and time are POSIX's")


@pytest.mark.parametrize("kind", SEEDS)
def test_damaged_copies_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    """No crash, no hang, no traceback; messages name the file and not its place; every answer is valid JSON."""
    command = [sys.executable, "-m", "tests.fuzz.run_batch", kind, str(FIRST), str(COPIES)]
    done = subprocess.run([*command, str(tmp_path)], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]} ended the process ({done.returncode}): {done.stderr[-2_000:]}"
    outcomes = [line for line in lines if "how" in line]
    assert [line for line in outcomes if "wrong" in line] == []
    assert len(outcomes) == COPIES
    assert {line["end"] for line in outcomes} == {"served", "refused"}, "the damage is neither none nor total"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["gzip_trace", "xplane", "snapshot", "nsight"])
def test_the_same_seed_does_the_same_damage(kind: str, tmp_path: Path) -> None:
    """Else a failure could not be repeated. Several seeds damage, whatever their luck. The other kinds are damaged like
    these."""
    original = SEEDS[kind](tmp_path)[0]
    before = original.read_bytes()
    results = []
    for _ in range(2):
        for seed in range(8):
            original.write_bytes(before)
            damage(original, kind, seed)
            results.append(original.read_bytes())
    assert results[:8] == results[8:]
    assert sum(result != before for result in results[:8]) >= 4
