"""What ``dlprof memory`` answers, as a page that can be sent by mail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.reports import charts, markup
from tensorboard_plugin_dlprof.reports.as_html import DOCUMENT_END, document_head
from tensorboard_plugin_dlprof.units import narrow_percentage, shares, size

_COLOURS = {
    **{"parameter": "memory", "taken from the driver": "memory", "input": "host_code"},
    **{"optimizer state": "data_loader", "optimizer temporary": "optimizer-temporary"},
    **{"gradient": "cpu", "backward temporary": "backward-temporary", "autograd detail": "backward-temporary"},
    **{"activation": "other_kernel", "activation or output": "tensor_core"},
    **{"forward temporary": "forward-temporary", "temporary": "forward-temporary", "unknown": "unknown-memory"},
}
"""Category -> class of its colour, as ``memory_categories.ts`` has them; all others are grey."""

_LISTS = (("module", "by_module", "Module or file"), ("owner", "by_owner", "Op or line"))


def memory_page(answer: dict[str, Any], top: int) -> Iterator[str]:
    """The page in pieces.

    Args:
        answer: As ``memory.answer.answer`` returns it.
        top: Rows of each list of modules and ops.
    """
    yield document_head(f"GPU memory: {answer['source']}", f"tensorboard-plugin-dlprof {VERSION}")
    yield f"<section><p class=answer>{markup.with_code(answer['headline'])}</p></section>\n"
    for device, each in answer["devices"].items():
        yield _held(device, each) + "\n"
        for key, rows, heading in _LISTS:
            if len(each[rows]) > 1:
                yield _by(device, each, each[rows][:top], key, heading) + "\n"
        if each["findings"]:
            items = "".join(
                f"<li><b>{markup.path(item['title'])}.</b> {markup.path(item['action'])}</li>"
                for item in each["findings"]
            )
            yield markup.section(f"What to change, GPU {device}", "", f"<ul class=changes>{items}</ul>") + "\n"
    yield DOCUMENT_END


def when(each: dict[str, Any]) -> str:
    """``the peak of 1.00 GiB``, or ``that moment, of 1.00 GiB``; without events only the end is known."""
    whole = each["in_use_bytes"]
    moment = "the peak of" if whole == each["peak_bytes"] else "that moment, of"
    return f"{moment if each['events'] else 'the end,'} {size(whole)}"


def _held(device: str, each: dict[str, Any]) -> str:
    whole = max(each["in_use_bytes"], 1)
    rows = [
        (_COLOURS.get(row["category"], "outside"), row["category"], size(row["bytes"]), share,
         "" if row["blocks"] is None else f"{row['blocks']:,}")
        for row, share in zip(each["at_peak"], _shares(each["at_peak"], whole), strict=True)
    ]  # fmt: skip
    parts = [
        charts.Part(min(max(row["bytes"], 0), whole), colour, f"{name}: {amount}{share and f' ({share})'}")
        for row, (colour, name, amount, share, _) in zip(each["at_peak"], rows, strict=True)
    ]
    bar = charts.stacked_bar(f"Memory of GPU {device} by category", parts, whole)
    note = " ".join(["By when it was allocated and freed; the rows add up.", each["held_before"] or ""]).strip()
    table = markup.legend(("Category", "Size", "Share", "Blocks"), rows)
    return markup.section(f"GPU {device}, {each['peak_of']} bytes at {when(each)}", note, bar + table)


def _shares(rows: list[dict[str, Any]], whole: int) -> list[str]:
    """The share of each row; empty where it cannot be told."""
    percentages = shares([row["bytes"] for row in rows], whole)
    return ["" if share is None else narrow_percentage(share) for share in percentages]


def _by(device: str, each: dict[str, Any], rows: list[dict[str, Any]], key: str, heading: str) -> str:
    percentages = _shares(each[f"by_{key}"], each["in_use_bytes"])
    body = "".join(
        f"<tr><th scope=row>{markup.path(row[key])}</th><td class=n>{size(row['bytes'])}</td>"
        f"<td class=n>{share}</td>"
        f"<td class=n>{'' if row['blocks'] is None else format(row['blocks'], ',')}</td></tr>"
        for row, share in zip(rows, percentages, strict=False)
    )
    head = "".join(f"<th scope=col>{name}</th>" for name in (heading, "Size", "Share", "Blocks"))
    left = len(each[f"by_{key}"]) - len(rows)
    note = f"The largest {len(rows)} of {len(rows) + left}." if left > 0 else ""
    return markup.section(
        f"By {heading.lower()}, GPU {device}",
        note,
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
    )
