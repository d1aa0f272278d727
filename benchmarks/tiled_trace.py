"""A large PyTorch trace from a small one: its events, one copy after the other on the time axis.

The text of an event is kept as the profiler wrote it; only timestamps, the numbers that link events, and the
numbers of steps move from copy to copy. Only the first copy has the metadata and trace-wide spans.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

LINKS = {
    "correlation": "operator",  # older traces number both with one counter
    "External id": "operator",
    "Ev Idx": "event",
    "Record function id": "record",
    "Sequence number": "sequence",
    "Python id": "frame",
    "Python parent id": "frame",
}
"""Fields that link events -> the numbering that they share."""

_MOVING = re.compile(
    r'(?<!\\)"(?P<field>ts|id|' + "|".join(LINKS) + r')"\s*:\s*"?(?P<number>\d+(?:\.\d+)?)(?=\s*["},])'
    r"|ProfilerStep#(?P<step>\d+)"
)
_EVENTS = re.compile(r'"traceEvents"\s*:\s*\[\s*')
_GAP = re.compile(r"[\s,]*")


@dataclass(slots=True)
class _Event:
    """One event: text with a hole for each number that moves."""

    template: str
    numbers: list[tuple[str, int, int]]
    """Numbering, value in its last decimal, decimals."""
    once: bool


def tile_trace(source: Path, target: Path, size_bytes: int) -> int:
    """Write copies of ``source`` to ``target`` (compressed where its name ends in ``.gz``) up to about a size.

    Returns:
        How many copies.
    """
    with _opened(source, "r") as stream:
        text = stream.read()
    begin, events, end = _events(text)
    strides = _strides(events)
    # The events without the few that stand once weigh about as much as one copy.
    copies = max(1, round(size_bytes / len(text)))
    with _opened(target, "w") as out:
        out.write(text[:begin])
        for number in range(copies):
            rows = (event for event in events if not (event.once and number))
            out.write((",\n  " if number else "") + ",\n  ".join(_written(rows, number, strides)))
        out.write(text[end:])
    return copies


def _opened(path: Path, mode: str) -> IO[str]:
    if path.suffix == ".gz":
        return cast("IO[str]", gzip.open(path, f"{mode}t", encoding="utf-8"))
    return path.open(mode, encoding="utf-8")


def _events(text: str) -> tuple[int, list[_Event], int]:
    """Where the list of events begins, its events, and where it ends."""
    opening = _EVENTS.search(text)
    position = begin = opening.end() if opening else text.index("[") + 1
    decode = json.JSONDecoder().raw_decode
    events: list[_Event] = []
    end = begin
    while True:
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        if text[position] == "]":
            return begin, events, end
        fields, end = decode(text, position)
        events.append(_event(text[position:end], fields))
        position = end


def _event(text: str, fields: dict[str, object]) -> _Event:
    parts: list[str] = []
    numbers: list[tuple[str, int, int]] = []
    position = 0
    for match in _MOVING.finditer(text):
        group = "step" if match["step"] else "number"
        numbering = "step" if match["step"] else match["field"]
        whole, _, decimals = match[group].partition(".")
        if numbering == "id":
            if fields.get("ph") not in ("s", "t", "f") or decimals:
                continue
            # Arrows from launches to kernels are numbered by correlation.
            numbering = "operator" if fields.get("cat") in ("ac2g", "async_cpu_to_gpu") else f"arrow {fields['cat']}"
        elif numbering not in ("ts", "step"):
            numbering = LINKS[numbering]
        parts.append(text[position : match.start(group)].replace("%", "%%"))
        numbers.append((numbering, int(whole + decimals), len(decimals)))
        position = match.end(group)
    parts.append(text[position:].replace("%", "%%"))
    instant = fields.get("ph") in ("i", "I") and fields.get("s") == "g"
    once = fields.get("ph") == "M" or fields.get("cat") == "Trace" or instant
    return _Event("%s".join(parts), numbers, once)


def _strides(events: list[_Event]) -> dict[str, int]:
    """How far the numbers of each numbering move from copy to copy; timestamps in microseconds."""
    lows: dict[str, int] = {}
    highs: dict[str, int] = {}
    for event in events:
        if event.once:
            continue
        for numbering, value, decimals in event.numbers:
            number = value // 10**decimals
            lows[numbering] = min(lows.get(numbering, number), number)
            highs[numbering] = max(highs.get(numbering, number), number)
    strides = {numbering: highs[numbering] - low + 1 for numbering, low in lows.items()}
    strides["ts"] = strides.get("ts", 0) + 1_000
    return strides


def _written(events: Iterator[_Event], copy: int, strides: dict[str, int]) -> Iterator[str]:
    for event in events:
        texts: list[str] = []
        for numbering, value, decimals in event.numbers:
            moved = str(value + copy * strides.get(numbering, 0) * 10**decimals).zfill(decimals + 1)
            texts.append(f"{moved[:-decimals]}.{moved[-decimals:]}" if decimals else moved)
        yield event.template % tuple(texts)
