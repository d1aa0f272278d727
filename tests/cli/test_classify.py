"""``dlprof classify``, as a user runs it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main

Captured = pytest.CaptureFixture[str]


def test_names_are_answered_in_their_order(capsys: Captured) -> None:
    """All that a name tells; what it does not is null, and the unit "unknown"."""
    names = ["volta_h884gemm_128x128_nn", "Kernel2", "void at::native::vectorized_elementwise_kernel<4, int>(int)"]
    assert main(["classify", "--format", "json", *names]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0] == {
        "name": "volta_h884gemm_128x128_nn",
        "matrix_unit": "yes",
        "family": "gemm",
        "precision": "fp16",
        "library": "cublas",
        "architecture": "sm_70",
        "rule": "mma",
    }
    assert [(result["name"], result["matrix_unit"]) for result in json.loads(captured.out)] == [
        (names[0], "yes"),
        (names[1], "unknown"),
        (names[2], "no"),
    ]
    assert json.loads(captured.out)[1]["precision"] is None
    assert captured.err == ""


def test_names_are_read_from_standard_input() -> None:
    """One a line, whatever their bytes are; empty lines name nothing."""
    lines = b"volta_sgemm_128x64_nn\r\n\n  Kernel2  \nnot\xffutf8\n"
    command = [sys.executable, "-m", "tensorboard_plugin_dlprof", "classify", "--format", "json", "-"]
    done = subprocess.run(command, input=lines, capture_output=True, check=True)
    answers = json.loads(done.stdout)
    assert [result["name"] for result in answers] == [
        "volta_sgemm_128x64_nn",
        "Kernel2",
        "not\N{REPLACEMENT CHARACTER}utf8",
    ]
    assert done.stderr == b""


def test_no_names_are_no_answers(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """A pipe without lines gives an empty list."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["classify", "-", "--format", "json"]) == 0
    assert capsys.readouterr().out == "[]\n"


def test_people_read_the_reason(capsys: Captured) -> None:
    """The rule and its note."""
    assert main(["classify", "void cublasLt::epilogue::impl::globalKernel<8>()", "my_kernel"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  matrix unit: no; elementwise, cublas; rule cublas-epilogue"
    assert lines[3] == "  matrix unit: unknown; other; rule no-rule: no rule knows this name"


def test_rules_of_a_user_decide(tmp_path: Path, capsys: Captured) -> None:
    """As in an import."""
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": [{"name": "ours", "function": "^acme", "matrix_unit": "yes", "family": "gemm"}]}')
    assert main(["classify", "acme_product", "--kernel-rules", str(rules)]) == 0
    assert "matrix unit: yes; gemm, custom; rule user:ours" in capsys.readouterr().out
    assert main(["classify", "acme_product", "--kernel-rules", str(tmp_path / "none.json")]) == 1
    assert "none.json" in capsys.readouterr().err
