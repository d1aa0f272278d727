"""Rules that a user adds by a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.classify import kernels
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.classify.kernels import Classifier, classify
from tensorboard_plugin_dlprof.classify.load_rules import content_of, digest_of, load_rules
from tensorboard_plugin_dlprof.classify.user_rules import load_user_rules, parse_user_rules
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound

GOOD = {"name": "ours", "function": "^acme::", "matrix_unit": "yes", "family": "gemm", "precision": "bf16"}


def _content(*rules: Any) -> bytes:
    return json.dumps({"rules": rules}).encode()


def test_user_rules_come_first_and_in_order(tmp_path: Path) -> None:
    """A user's rule decides before ours; the first of two decides; other kernels are told as ever."""
    path = tmp_path / "rules.json"
    second = {"name": "late", "full_name": "sgemm", "matrix_unit": "unknown", "family": "gemm", "library": "acme"}
    path.write_bytes(_content(GOOD, second))
    classifier = Classifier(load_user_rules(path))
    kind = classifier.classify("void acme::sgemm_sm90<float>(float*)")
    assert (kind.matrix_unit, kind.family, kind.library, kind.precision) == (
        MatrixUnit.YES,
        "gemm",
        "custom",
        "bf16",
    )
    assert (kind.rule, kind.architecture) == ("user:ours", "sm_90")
    assert classifier.classify("volta_sgemm_128x64_nn").rule == "user:late"
    assert classifier.classify("volta_dgemm_64x64_nn") == classify("volta_dgemm_64x64_nn")


def test_user_may_say_no_of_a_product() -> None:
    """Who wrote the kernel knows better than the words of its name."""
    rule = {"name": "slow", "function": "my_gemm_relu", "matrix_unit": "no", "family": "elementwise", "note": "FMA"}
    classifier = Classifier(parse_user_rules(_content(rule), "r"))
    assert classify("my_gemm_relu(float*)").matrix_unit == MatrixUnit.UNKNOWN
    assert classifier.classify("my_gemm_relu(float*)").matrix_unit == MatrixUnit.NO
    assert classifier.explanation("user:slow") == "FMA"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "r: the kernel rules are not UTF-8 text; save the file as UTF-8."),
        (b"{\n\n!", "r: the kernel rules are not valid JSON in line 3; "),
        (b"[" * 100_000, "r: the kernel rules are not valid JSON"),
        (b"9" * 100_000, "r: the kernel rules are not valid JSON"),
        (b"[]", 'r: the kernel rules need a list called "rules"; '),
        (_content(GOOD, 7), "r: kernel rule 2 is not an object; "),
        (_content({**GOOD, "head": "x"}), 'r: kernel rule 1 has an unknown key "head" (there are name, function, '),
        (_content({**GOOD, "note": 1}), 'r: kernel rule 1 has a "note" that is not a text; '),
        (_content({**GOOD, "name": ""}), "r: kernel rule 1 has no name; "),
        (_content({**GOOD, "function": ""}), 'r: kernel rule 1 has neither "function" nor "full_name"; '),
        (
            _content({**GOOD, "function": "("}),
            'r: kernel rule 1 has a "function" that is not a valid regular expression: ',
        ),
        (_content({**GOOD, "matrix_unit": "true"}), 'the matrix_unit "true"; it must be one of no, yes, unknown; '),
        (_content({**GOOD, "family": "conv"}), 'r: kernel rule 1 has the family "conv"; it must be one of gemm, '),
        (_content({**GOOD, "precision": "half"}), 'has the precision "half"; it must be one of fp64, fp32, '),
        (_content(GOOD, GOOD), 'r: kernel rule 2 is the second one called "ours"; give each its own name.'),
    ],
)
def test_bad_file_gets_one_clear_sentence(content: bytes, sentence: str) -> None:
    """The sentence names the file, the rule and what is wrong with it."""
    with pytest.raises(BadRequest) as caught:
        parse_user_rules(content, "r")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_huge_files_are_refused(tmp_path: Path) -> None:
    """A file that is not there, a folder, a pipe and a profile given by mistake are not read."""
    with pytest.raises(NotFound, match="there is no such file of kernel rules"):
        load_user_rules(tmp_path / "none.json")
    with pytest.raises(NotFound, match="is a folder; name the file of kernel rules in it"):
        load_user_rules(tmp_path)
    with pytest.raises(NotFound, match="is not a regular file; name a file of kernel rules"):
        load_user_rules(Path(os.devnull))
    big = tmp_path / "trace.json"
    big.write_bytes(b" " * (1 << 20) + b"{}")
    with pytest.raises(BadRequest, match="larger than 1 MB"):
        load_user_rules(big)


def test_option_goes_before_the_environment(tmp_path: Path) -> None:
    """The option names the file, else the variable does, else there is none."""
    named, of_environment = tmp_path / "a.json", tmp_path / "b.json"
    named.write_bytes(_content(GOOD))
    of_environment.write_bytes(_content({**GOOD, "name": "other"}))
    environment = {"DLPROF_KERNEL_RULES": str(of_environment)}
    assert [rule.name for rule in load_rules(str(named), environment)] == ["user:ours"]
    assert [rule.name for rule in load_rules("", environment)] == ["user:other"]
    assert load_rules("", {}) == ()


def test_rules_survive_the_way_to_another_process() -> None:
    """What the server sends to the process that imports are the rules that it read."""
    rules = parse_user_rules(_content(GOOD, {**GOOD, "name": "b", "full_name": "x", "note": "why"}), "r")
    assert parse_user_rules(content_of(rules).encode(), "r") == rules
    assert content_of(()) == ""


def test_digest_tells_rules_apart() -> None:
    """The same rules have one digest whatever the file's layout; others have another; none has an empty one."""
    rules = parse_user_rules(_content(GOOD), "r")
    assert digest_of(rules) == digest_of(parse_user_rules(b" " + _content(GOOD), "other"))
    assert digest_of(rules) != digest_of(parse_user_rules(_content({**GOOD, "matrix_unit": "no"}), "r"))
    assert digest_of(()) == ""


def test_an_expression_without_an_end_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take longer than anyone waits."""
    monkeypatch.setattr(kernels, "_RULES_SECONDS", 0.2)
    rule = {**GOOD, "full_name": "(a+)+$"}
    del rule["function"]
    with pytest.raises(BadRequest, match="simplify their regular expressions"):
        Classifier(parse_user_rules(_content(rule), "r")).classify("a" * 60 + "!")
