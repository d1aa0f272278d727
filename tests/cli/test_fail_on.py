"""Limits as users write them after ``--fail-on``, and the exit codes that they lead to."""

from __future__ import annotations

import argparse

import pytest

from tensorboard_plugin_dlprof.cli.fail_on import add_fail_on, add_fail_on_values, exit_code, exit_code_of_values

MEASURES = ("iteration_time", "memory_peak", "op:")


def parsed(*words: str) -> argparse.Namespace:
    """The arguments of a command that has the option."""
    parser = argparse.ArgumentParser()
    add_fail_on(parser, MEASURES)
    parser.format_help()
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iteration_time>+3%", ("iteration_time", ">+", 0.03, "fraction")),
        ("iteration_time > 250ms", ("iteration_time", ">", 250e6, "ns")),
        ("memory_peak>+1.5GB", ("memory_peak", ">+", 1.5e9, "bytes")),
        ("memory_peak<7", ("memory_peak", "<", 7, "number")),
        ("op:/model/a>b>-0.5%", ("op:/model/a>b", ">-", 0.005, "fraction")),
    ],
)
def test_a_limit_has_a_measure_an_operator_and_a_number_with_a_unit(text: str, expected: tuple[object, ...]) -> None:
    """Percent become fractions, times nanoseconds, sizes bytes; the names of ops may contain the operators."""
    (limit,) = parsed("--fail-on", text).fail_on
    assert limit == (text, *expected)


@pytest.mark.parametrize(
    "text", ["", "iteration_time", "iteration_time>", "iteration_time>x%", "speed>3%", "op:>3%", "memory_peak>3 apples"]
)
def test_what_is_no_limit_is_wrong_usage(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what a limit looks like, or which measures there are."""
    with pytest.raises(SystemExit) as ended:
        parsed("--fail-on", text)
    assert ended.value.code == 2
    assert "iteration_time" in capsys.readouterr().err


def test_a_broken_limit_outweighs_an_undecided_one() -> None:
    """4 broken, 5 undecided unless that is ok, else 0."""
    assert exit_code([False, None, True], "fail") == 4
    assert exit_code([False, None], "fail") == 5
    assert exit_code([False, None], "ok") == 0
    assert exit_code([], "fail") == 0


def test_limits_on_values_have_the_units_of_their_measure(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but a change has a sign; what is unknown is not decided, and told."""
    parser = argparse.ArgumentParser()
    add_fail_on_values(parser, {"idle": ("fraction", "ns")}, "idle>20%")
    assert "idle>20%" in parser.format_help()
    for wrong in ("idle>+3%", "idle>3MB"):
        with pytest.raises(SystemExit):
            parser.parse_args(["--fail-on", wrong])
    assert "a percentage or a time" in capsys.readouterr().err
    arguments = parser.parse_args(["--fail-on", "idle>20%", "--fail-on", "idle<1ms"])
    assert exit_code_of_values(arguments, [{"idle": {"fraction": 0.2, "ns": 1e6}}]) == 0
    assert exit_code_of_values(arguments, [{"idle": {"fraction": 0.3, "ns": 1e6}}]) == 4
    assert exit_code_of_values(arguments, [{"idle": {"fraction": 0.2, "ns": 1e5}}]) == 4
    assert exit_code_of_values(arguments, [{"idle": {"fraction": None, "ns": 1e6}}]) == 5
    assert "idle>20%: cannot be decided" in capsys.readouterr().err
