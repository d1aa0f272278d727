"""What ``dlprof memory`` answers, as a page that can be sent by mail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.reports import markup
from tensorboard_plugin_dlprof.reports.as_html import DOCUMENT_END, document_head
from tensorboard_plugin_dlprof.reports.held import held, shares_of
from tensorboard_plugin_dlprof.units import size

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
        yield held(device, each) + "\n"
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


def _by(device: str, each: dict[str, Any], rows: list[dict[str, Any]], key: str, heading: str) -> str:
    percentages = shares_of(each[f"by_{key}"], each["in_use_bytes"])
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
