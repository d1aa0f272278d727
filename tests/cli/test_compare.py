"""``dlprof compare``, as a user and as CI run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.cli.fail_on import OF_PROFILE
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.comparing import limits
from tests.cli.traces import write_trace

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    """A trace, and the same with kernels that take 3 % longer and hostile names."""
    a = write_trace(tmp_path / "a.json")
    trace = json.loads(a.read_text())
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel":
            event["dur"] *= 1.03
        if event["cat"] in ("cpu_op", "kernel"):
            event["name"] += "|<script>alert(1)</script>`"
    b = tmp_path / "b.json"
    b.write_text(json.dumps(trace))
    return [str(a), str(b)]


def test_json_has_all_fields_and_adds_up(pair: list[str], capsys: Captured) -> None:
    """The Python interface gives the same object."""
    assert main(["compare", *pair, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "cannot_tell"
    assert data["per"] == "iteration"
    assert data["a"]["iterations"] == 3
    assert sum(row["change_ns"] for row in data["rows"]) == data["change_ns"]
    assert {"sentence", "interval", "kernels_replaced", "comparability", "rules"} <= data.keys()
    result = dlprof.compare(*pair)
    assert json.loads(json.dumps(result.data)) == data
    assert int(result.rows()["change_ns"].sum()) == result.change_ns
    groups = result.groups()
    assert groups["name"].tolist() == [group["name"] for group in data["groups"]]
    assert int(groups["change_ns"].sum()) == result.change_ns
    assert len(result.iterations()) == 6
    assert result.kernels_replaced().empty


@pytest.mark.parametrize("format_", ["text", "md", "html"])
def test_names_cannot_break_out_of_a_report(pair: list[str], format_: str, capsys: Captured) -> None:
    """Pipes and markup are escaped; text is at most about a hundred columns wide."""
    assert main(["compare", *pair, "--format", format_]) == 0
    text = capsys.readouterr().out
    if format_ == "text":
        assert max(map(len, text.splitlines())) <= 110
    else:
        assert "<script>" not in text
    if format_ == "md":
        assert "|<" not in text.replace(" | ", "")
        assert "\\|&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("kernels>5", 0),
        ("kernels<5", 4),
        ("iteration_time>1ms", 0),
        ("kernel_time>+1%", 5),
        ("iteration_time>1GB", 2),
        ("iteration_time<3%", 2),
    ],
)
def test_limits_end_with_their_exit_code(pair: list[str], limit: str, code: int, capsys: Captured) -> None:
    """Two kernels an iteration; three iterations are too few to tell a change."""
    assert main(["compare", *pair, "--fail-on", limit]) == code
    assert limit in capsys.readouterr().out or code == 2
    if code == 5:
        assert main(["compare", *pair, "--fail-on", limit, "--undecided", "ok"]) == 0


def test_several_recordings_decide_where_one_cannot(pair: list[str], capsys: Captured) -> None:
    """Four of each; ``--`` stands between them."""
    a, b = pair
    limit = ["--format", "json", "--fail-on", "kernel_time>+2%"]
    assert main(["compare", a, a, a, a, "--", b, b, b, b, *limit]) == 4
    data = json.loads(capsys.readouterr().out)
    assert data["rules"][0]["broken"] is True
    assert data["measures"]["kernel_time"]["interval"] == pytest.approx([1.03, 1.03])
    assert main(["compare", b, b, b, b, "--against", a, a, a, a, *limit]) == 0


def test_a_stored_baseline_stands_for_its_profile(pair: list[str], tmp_path: Path, capsys: Captured) -> None:
    """It holds no path, and a damaged one is an error in a sentence."""
    stored = tmp_path / "baseline.json"
    assert main(["compare", pair[0], "--save-baseline", str(stored)]) == 0
    assert str(tmp_path) not in stored.read_text()
    capsys.readouterr()
    assert main(["compare", *pair, "--format", "json"]) == 0
    expected = capsys.readouterr().out
    assert main(["compare", "--baseline", str(stored), pair[1], "--format", "json"]) == 0
    assert capsys.readouterr().out == expected
    stored.write_text(stored.read_text()[:-200])
    assert main(["compare", "--baseline", str(stored), pair[1]]) == 1
    assert "damaged" in capsys.readouterr().err
    stored.write_text("[]")
    assert main(["compare", "--baseline", str(stored), pair[1]]) == 1
    assert "is not a baseline" in capsys.readouterr().err


def test_more_than_two_are_compared_with_the_first(pair: list[str], tmp_path: Path, capsys: Captured) -> None:
    """One that cannot be read is told and left out."""
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    assert main(["compare", *pair, str(broken), pair[0], "--format", "json"]) == 3
    out = capsys.readouterr()
    assert "broken.json" in out.err
    assert [one["b"]["name"] for one in json.loads(out.out)["comparisons"]] == ["b.json", "a.json"]


@pytest.mark.parametrize("words", [[], ["a.json"], ["--", "b.json"], ["a.json", "b.json", "--floor", "-3"]])
def test_wrong_command_lines(words: list[str], capsys: Captured) -> None:
    """Exit code 2, whatever the files contain."""
    try:
        code = main(["compare", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert capsys.readouterr().err


def test_every_measure_can_be_limited(pair: list[str]) -> None:
    """Also what is known only where samples are told."""
    assert OF_PROFILE == limits.MEASURES
    assert main(["compare", *pair, "--fail-on", "samples_per_s<3"]) == 5
