"""Whether what a command printed is as it is declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.cli.answers.document import ANSWERS


def undeclared(command: str, printed: Any) -> list[str]:
    """What of an answer is not declared, or is of another type: a sentence for each; nothing if all is."""
    problems: list[str] = []
    for kind in ANSWERS[command]:
        try:
            known = msgspec.to_builtins(msgspec.convert(printed, kind))
        except msgspec.ValidationError as error:
            problems.append(f"{command}: {error}")
            continue
        return [f"{command}: {place} is not declared in cli/answers" for place in _differences(printed, known, "$")]
    return problems


def _differences(printed: Any, known: Any, place: str) -> Iterator[str]:
    if isinstance(printed, dict):
        for key, value in printed.items():
            if key not in known:
                yield f"{place}.{key}"
            else:
                yield from _differences(value, known[key], f"{place}.{key}")
    elif isinstance(printed, list):
        for one, other in zip(printed, known, strict=True):
            yield from _differences(one, other, f"{place}[]")
    elif printed != known:
        yield place
