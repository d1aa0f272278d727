"""Literals are read as Python reads them, whichever way they take."""

from __future__ import annotations

import ast
import warnings
from itertools import product

import pytest

from tensorboard_plugin_dlprof.events import dlprof_markers
from tensorboard_plugin_dlprof.events.dlprof_markers import read_literal

_MARKER = "{'mod': 'Tensor', 'op': 'add', 'args': [{'name': '', 'shape': (64,), 'dtype': None}, {'value': -1.5e3}]}"

_TEXTS = (
    _MARKER,
    "{'funcStack': '/<module>/linear(2)[1]', 'traceMarker': ['a.py:1', 'b, {c}.py:2']}",
    '{"op": "it\'s", "args": [(1, 2)]}',
    '{"op": "add", "args": [(1, 2), (), [True, False]]}',
    "{'op': 'x', 'args': [(5), ('a'), ((1, 2),), ([1], 2)]}",
    "{'op': '\\x41\\n', 'args': []}",
    "{'op': 'é', 'args': [0x10, 1_000, 1., .5, 1E5, 1e999, -0, 99999999999999999999]}",
    "{'op': '''x''', 'args': 'a' 'b'}",
    "{'op': b'x', 'args': {1, 2}, 3: 4}",
)

_INSERTED = (
    "",
    "'",
    '"',
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ",)",
    "(,",
    "(1",
    " ",
    "\n",
    "\0",
    "\\",
    "#",
    "e",
    "-",
    "1",
)


def _as_python_reads(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError):
            return None


def _with_lists(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_with_lists(part) for part in value]
    return {key: _with_lists(part) for key, part in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("text", _TEXTS)
def test_any_change_of_a_text_is_read_as_python_reads_it(text: str) -> None:
    """Whatever is put between any two characters, or in the place of one: the value is Python's, or there is none."""
    for place, inserted, replaced in product(range(len(text) + 1), _INSERTED, (0, 1)):
        changed = text[:place] + inserted + text[place + replaced :]
        expected = _with_lists(_as_python_reads(changed))
        assert repr(_with_lists(read_literal(changed))) == repr(expected), changed


@pytest.mark.parametrize(
    "text",
    ["{'a': true}", '{"a": null}', "{'a': NaN}", "{'a': Infinity}", "{'a': f()}", "{'a': (,)}", "{'a': [1,)}"],
)
def test_what_is_no_literal_has_no_value(text: str) -> None:
    """JSON's own words are none of Python's, and brackets have to match."""
    assert read_literal(text) is None


def test_markers_of_dlprof_take_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's parser is asked for what is no JSON but for quotes, tuples and names, and for nothing else."""

    def refuse(_text: str) -> object:
        raise AssertionError("Python's parser was asked")

    monkeypatch.setattr(dlprof_markers.ast, "literal_eval", refuse)
    assert read_literal(_MARKER) == {
        "mod": "Tensor",
        "op": "add",
        "args": [{"name": "", "shape": [64], "dtype": None}, {"value": -1500.0}],
    }
