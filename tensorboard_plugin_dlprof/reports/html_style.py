"""The style of HTML reports: light and dark as the reader's system is."""

from __future__ import annotations

COLOURS = {
    "tensor_core": ("#1c4e20", "#9feda0"),
    "unknown_kernel": ("#a3bca3", "#72817b"),
    "other_kernel": ("#38a754", "#45934d"),
    "memory": ("#407ada", "#47b1fb"),
    "data_loader": ("#695ba2", "#b262d9"),
    "io": ("#8a4e42", "#ba7206"),
    "cpu": ("#e4741c", "#f0ae4e"),
    "communication": ("#cb3872", "#ef73cc"),
    "by_memory": ("#3c7981", "#6edae7"),
    "other": ("#c6c9d0", "#5d6068"),
    "outside": ("#939393", "#929192"),
    "parameter": ("#204ac5", "#677bf5"),
    "optimizer": ("#81328e", "#eca4fe"),
    "gradient": ("#b52f2d", "#e8562a"),
    "activation": ("#129ecb", "#0cc3c2"),
    "output": ("#21485a", "#d2ebf8"),
    "input": ("#ae8037", "#b6b530"),
}
"""Class of a mark -> its colour on light and on dark panels; those of the tab (``frontend/src/model/resources.ts``)."""

_MORE_COLOURS = {
    "blocked": ("#a8430a", "#d9772e"),
    "launching": ("#f4b183", "#f7cf9c"),
    "host_code": ("#ab8f68", "#a58a6a"),
    "queued": ("#93a3c4", "#7385ab"),
    "missing": ("#93a3c4", "#7385ab"),
    "launch_unknown": ("#b7aed0", "#7a6f96"),
    "optimizer-temporary": ("#ba8ec1", "#9b73a5"),
    "backward-temporary": ("#d68d8c", "#994830"),
    "forward-temporary": ("#7dcae2", "#208484"),
    "unknown-memory": ("#c4c4c4", "#6a6969"),
    "scale": ("#f1f3f4", "#444444"),
    "gain-low": ("#263248", "#dbe7ef"),
    "gain-high": ("#9db4c0", "#7d909d"),
    "timeline-op": ("#8fb6dd", "#5a87b5"),
    "break": ("#ffffff", "#383838"),
}
"""Parts of a step in which the CPU kept the GPU waiting, as ``frame.css`` has them; what memory holds for a
short time or from unknown ops, as ``memory_categories.ts`` makes paler; gains, as ``resources.ts`` has them; and ops
of the host, as the style sheet of the timeline has them."""

PALER = ("cpu", "cpu-60", "cpu-36", "cpu-22", "cpu-13")
"""The class of the colour of what keeps kernels off matrix units, and of further causes: each has three fifths of the
one before, as ``limits.ts`` has them, so that the legend tells them apart."""


def _with_white(colour: str, share: float) -> str:
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"#{''.join(f'{round(255 + (part - 255) * share):02x}' for part in parts)}"


_ALL = {
    **COLOURS,
    **_MORE_COLOURS,
    **{
        name: (_with_white(COLOURS["cpu"][0], 0.6**place), _with_white(COLOURS["cpu"][1], 0.6**place))
        for place, name in enumerate(PALER)
    },
}

_LIGHT = "--text: #202124; --faint: #5f6368; --line: #dadce0; --ground: #f1f3f4; --panel: #ffffff; --link: #a84300;"
_DARK = "--text: #f1f3f4; --faint: #bdc1c6; --line: #5f6368; --ground: #202124; --panel: #383838; --link: #ffb26b;"

_RULES = """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 16px; color: var(--text); background: var(--ground);
  font: 14px/1.5 -apple-system, "Segoe UI", Roboto, Ubuntu, Cantarell, "Noto Sans", "Liberation Sans", Arial,
  sans-serif; }
h1 { font-size: 22px; margin: 8px 0 0; overflow-wrap: anywhere; } h2 { font-size: 16px; margin: 0 0 4px; }
.source { color: var(--faint); margin: 0 0 16px; overflow-wrap: anywhere; } .reports { margin: 24px 0 8px; }
.contents { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: -8px 0 16px; font-size: 13px; }
a { color: var(--link); }
section, .figures > div, details { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: 12px 16px; margin: 0 0 16px; }
section > p, .figures .meaning { color: var(--faint); margin: 0 0 8px; }
.notes { margin: 0; padding: 0; list-style: none; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 0 16px; margin: 0; }
.figures dt { color: var(--faint); } .figures dd { margin: 0; font-size: 24px; }
.figures .meaning { font-size: 13px; overflow-wrap: anywhere; }
summary { cursor: pointer; } .reports h3 { display: inline-block; min-width: 215px; margin: 0; font-size: inherit; }
section > h3 { font-size: inherit; margin: 16px 0 4px; }
section > details, .empty { padding: 7px 0; margin: 0; border-width: 1px 0 0; border-radius: 0; }
.empty { border-top: 1px solid var(--line); padding-left: 14px; color: var(--faint); }
.cut { margin: 8px 0 0; color: var(--faint); }
details[open] > summary { margin: 0 0 8px; } .amount { float: right; color: var(--faint); }
.axis { margin: 0; color: var(--faint); font-size: 12px; }
.axis + svg { margin: 2px 0; border-top: 1px solid var(--line); }
.ends { display: flex; justify-content: space-between; }
svg .missing { fill: url(#missing); } svg .stripe { fill: rgb(255 255 255 / 45%); }
svg .faded { opacity: 0.3; }
svg .about { fill: none; stroke: #7d909d; stroke-width: 2px; vector-effect: non-scaling-stroke; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(400px, 1fr)); gap: 0 16px; }
.pair table { width: 100%; } .pair th:not(:first-child) { text-align: right; }
.keys { display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 0; padding: 0; list-style: none; }
.keys b { font-weight: 600; } .answer strong { font-weight: 650; }
svg.named text { font-size: 13px; }
svg.phases { height: 14px; margin: 8px 0 0; } .phases rect { opacity: 0.45; }
.phases text { font-size: 11px; fill: var(--text); } .phases + svg { margin-top: 0; }
svg.curve { height: 228px; } .curve text { font-size: 11px; fill: var(--faint); } .curve .end { text-anchor: end; }
.curve :is(line, .outline, .reserved) { fill: none; stroke: var(--line); vector-effect: non-scaling-stroke; }
.curve .outline { stroke: var(--faint); stroke-width: 0.5; }
.curve .reserved { stroke: var(--faint); stroke-dasharray: 5 3; } .curve .begin { stroke-dasharray: 1 3; }
.curve .mark { stroke: #cb3872; } .curve :is(.failed, .capacity) { stroke: var(--text); }
.curve .cut-out { stroke: var(--panel); stroke-width: 4; stroke-dasharray: 7 3; vector-effect: non-scaling-stroke; }
code { font: 0.92em ui-monospace, monospace; overflow-wrap: anywhere; }
svg { width: 100%; height: 28px; display: block; margin: 8px 0; } svg[viewBox$=" 180"] { height: 180px; }
svg.key { display: inline-block; width: 10px; height: 10px; margin: 0 8px 0 0; }
table { border-collapse: collapse; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); }
tbody th { font-weight: normal; } thead th, thead td { white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } .u { color: var(--faint); }
.report td:not(.n) { min-width: 60px; max-width: 420px; overflow-wrap: anywhere; white-space: pre-line; }
/* What names a row stays in sight; a name is cut, and whole in its tooltip. */
.report .names td:not(.n) { max-width: clamp(130px, 15vw, 300px); overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
.report .names td:first-child { max-width: clamp(200px, 27vw, 420px); }
.report > label { display: block; margin: 0 0 4px; color: var(--faint); }
.report:not(:has(:checked)) .more { display: none; }
.report .names thead th { white-space: normal; vertical-align: bottom; }
.report .names .path { direction: rtl; text-align: left; }
.report .names :is(td, th):first-child { position: sticky; left: 0; z-index: 1; background: var(--panel); }
.report .names thead th:first-child { z-index: 2; }
/* A shadow, and a bar that is always there, where a table goes on beyond its edge. */
.scroll { overflow: auto; max-height: 80vh; background:
  linear-gradient(var(--panel) 0 0) right / 24px 100% no-repeat local,
  linear-gradient(to left, #0003, #0000) right / 12px 100% no-repeat scroll; }
.scroll::-webkit-scrollbar { width: 10px; height: 10px; }
.scroll::-webkit-scrollbar-thumb { border-radius: 5px; background: var(--faint); }
.scroll::-webkit-scrollbar-corner { background: none; }
.scroll thead th { position: sticky; top: 0; background: var(--panel); }
section > .answer { color: var(--text); font-size: 20px; margin: 0 0 4px; } .faint { color: var(--faint); }
.sure { float: right; margin-left: 12px; }
.changes { margin: 0; padding: 0; list-style: none; }
.changes > li { display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 4px 16px; padding: 8px 0;
  border-top: 1px solid var(--line); overflow-wrap: anywhere; } .changes svg { height: 6px; margin: 6px 0; }
.changes .proof { border: 0; padding: 0; margin: 4px 0 0; background: none; } .proof td { overflow-wrap: break-word; }
.proof > summary { color: var(--faint); }
.proof table { width: 100%; margin: 8px 0 0; } .proof td:not(.n) { overflow-wrap: anywhere; }
.proof thead th { white-space: normal; vertical-align: bottom; } .proof .n { width: 96px; }
.groups { width: 100%; } .groups tbody th { overflow-wrap: anywhere; min-width: 370px; width: 55%; }
.groups th > div { display: flex; justify-content: space-between; gap: 0 8px; }
.groups div svg { flex: none; width: 120px; height: 6px; margin: 6px 0; }
thead .n { text-align: right; } .groups thead th { white-space: normal; vertical-align: bottom; }
.line { white-space: nowrap; }
.bars { width: 100%; } .bars td, .bars th { border: 0; }
.bars th, .bars .n { width: 1px; white-space: nowrap; }
.bars svg { height: 14px; margin: 3px 0; }
@media (max-width: 900px) { svg .narrow { display: none; } .report .names { font-size: 12px; }
  .report .names :is(td, th) { padding-right: 8px; } }
/* The bar of a group below its name, where there is no room beside it. */
@media print, (max-width: 900px) { .groups tbody th { min-width: 160px; width: 34%; }
  .groups :is(th, td) { padding-right: 8px; }
  .groups th > div { flex-direction: column; } .groups div svg { width: 100%; } }
/* None alone in a line of its own. */
@media (max-width: 940px) { .figures:has(> :nth-child(5)) { grid-template-columns: repeat(3, 1fr); }
  .figures:has(> :nth-child(7)) { grid-template-columns: repeat(4, 1fr); } }
@media (max-width: 600px) { .report .names td:not(.n) { max-width: 150px; } svg.named text { display: none; }
  .changes > li, .pair { grid-template-columns: 1fr; } .groups .more { display: none; } .line { white-space: normal; }
  .groups tbody th { min-width: 120px; }
  .figures:has(> :nth-child(3)) { grid-template-columns: repeat(2, 1fr); } .reports .faint { display: none; } }
section dt { font-weight: 600; } section dd { margin: 0 0 8px; }
@page { margin: 14mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 12px; } section > .answer { font-size: 17px; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .scroll { max-height: none; overflow: visible; background: none; } .contents { display: none; }
  .report .names { font-size: 10px; } .report > label { display: none; }
  .report .names :is(td, th) { padding-right: 6px; } .report .names td:not(.n) { white-space: normal; }
  .report .names td:first-child { min-width: 110px; }
  /* Browsers repeat heads on each page by themselves. */
  .scroll thead th, .report .names :is(td, th):first-child { position: static; }
  .pair { grid-template-columns: 1fr 1fr; } .figures dd { font-size: 18px; }
  .figures .meaning { font-size: 11px; } .figures > div, .changes > li, tr { break-inside: avoid; }
  h2, section > p { break-after: avoid; }
  svg, .pair, section:not(:has(.groups, .changes, .report)) { break-inside: avoid; }
  .groups { font-size: 12px; } .pair table { font-size: 11px; } .pair :is(th, td) { padding-right: 6px; }
  details:not([open]), .reports:not(:has([open])) { display: none; }
}
"""


def style() -> str:
    """The style sheet of the page."""
    return (
        f":root {{ color-scheme: light dark; {_LIGHT} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}\n{mark_colours('')}\n"
        f"{_words_on_marks()}\n{_RULES}"
    )


def _words_on_marks() -> str:
    """The colours of words on marks: black or white, whichever is told from the mark better."""
    light, dark = (
        " ".join(f"svg .on-{name} {{ fill: {_ink(colours[theme])}; }}" for name, colours in _ALL.items())
        for theme in (0, 1)
    )
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}"


def _ink(colour: str) -> str:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05
    # Contrast to white and to black, as WCAG defines it.
    return "#ffffff" if 1.05 / light > light / 0.05 else "#111111"


def mark_colours(selector: str) -> str:
    """Colours of the marks of charts below a selector; everywhere where it is empty."""
    light, dark = (
        " ".join(f"{selector} svg .{name} {{ fill: {colours[theme]}; }}".strip() for name, colours in _ALL.items())
        for theme in (0, 1)
    )
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}"
