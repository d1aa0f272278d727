"""What names of ranges say: the number at their end, steps."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.names import split_number

_NUMBER = re.compile(
    r"(?P<base>.*?\S?)(?P<gap>[\s_#:=\-.]*)(?P<number>\d+)(?P<close>[\])]?)\Z", re.DOTALL
)  # what a number at the end of a name is, as one expression


@given(st.text("a1 0_#[])(:=-.\t\n\x1c5é٣", max_size=8))
def test_number_at_the_end(text: str) -> None:
    """Base and number are those of the expression, whatever stands between and around them."""
    match = _NUMBER.match(text)
    expected = (text, -1) if match is None else (match["base"].rstrip(" _#:=-.[("), int(match["number"]))
    assert split_number(text) == expected


@given(st.text("stepbachir nuo_#/ABS", max_size=10) | st.sampled_from(["ſteps", "trainIter", "epochs", "layer_it"]))
def test_endings_of_steps(base: str) -> None:
    """No name that counts steps is left out for its ending."""
    counted = (names._STEP_WORD.match(base) or names._STEP_CAMEL.match(base)) and not names._holds(
        base, names.PART_WORDS
    )
    assert names.counts_steps(base) == bool(counted)
