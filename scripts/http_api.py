"""Writes what is said of the HTTP API elsewhere: ``python -m scripts.http_api``.

Each request is declared once, in ``routes/parameters.py``. Each response is declared once: as a ``TypedDict`` beside
what answers it, or in ``cli/answers`` where a command prints it too. Each column is declared with its table. The
frontend's types (``frontend/src/api/responses.ts``) and the tables of ``routes/http_api.md`` are made of these
declarations, and a test compares them.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import NODEFAULT, Struct, UnsetType
from msgspec import inspect as inspection
from msgspec.structs import fields

from tensorboard_plugin_dlprof.cli.answers import comparison, diagnosis, job, memory
from tensorboard_plugin_dlprof.comparing import page as compare_page
from tensorboard_plugin_dlprof.queries import (
    coverage,
    efficiency,
    findings,
    group_tree,
    headline,
    iteration_bars,
    limited,
    memory_answers,
    ops,
    page_answer,
    scope,
    summary,
    system,
    throughput,
)
from tensorboard_plugin_dlprof.queries.iteration_tables import iterations as iterations_table
from tensorboard_plugin_dlprof.queries.page_request import FARTHEST, LARGEST_ID
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.tables import TABLES
from tensorboard_plugin_dlprof.routes import (
    aggregations,
    baselines,
    comparisons,
    dashboard,
    jobs,
    profiles,
    timeline_answers,
)
from tensorboard_plugin_dlprof.routes.parameters import CHANGES, READS
from tensorboard_plugin_dlprof.routes.requests import fields_of, meaning

_ROOT: Final = Path(__file__).resolve().parent.parent
TYPES: Final = _ROOT / "frontend" / "src" / "api" / "responses.ts"
DOCUMENT: Final = _ROOT / "tensorboard_plugin_dlprof" / "routes" / "http_api.md"

RESPONSES: Final[dict[str, Any]] = {
    "ProfilesResponse": profiles.ProfilesAndModes,
    "Headline": headline.Headline,
    "DashboardResponse": dashboard.Dashboard,
    "Aggregation": scope.Aggregation,
    "ModelSummary": summary.ModelSummary,
    "GpuUtilization": summary.GpuUtilization,
    "ResourceShare": summary.ResourceShare,
    "TensorCoreEfficiency": summary.TensorCoreEfficiency,
    "Performance": summary.Performance,
    "Recommendation": summary.Recommendation,
    "SystemFact": system.SystemFact,
    "CoverageNote": coverage.Note,
    "IterationSource": iteration_bars.IterationSource,
    "IterationProposal": iteration_bars.Proposal,
    "IterationRow": iteration_bars.IterationRow,
    "IterationBar": iteration_bars.Bar,
    "IterationsResponse": iteration_bars.Bars,
    "KernelTime": summary.KernelClassTime,
    "TopOp": ops.TopOp,
    "Throughput": throughput.Throughput,
    "Column": page_answer.ColumnDescription,
    "TableResponse": page_answer.TablePage,
    "GroupNodes": group_tree.Nodes,
    "CauseColumns": limited.CauseColumns,
    "GroupsResponse": group_tree.GroupTree,
    "FindingsResponse": findings.Findings,
    "NetworkRates": efficiency.Network,
    "EfficiencyResponse": efficiency.EfficiencySummary,
    "Diagnosis": diagnosis.Diagnosis,
    "DiagnosedDevice": diagnosis.DeviceTimes,
    "DiagnosedGpu": diagnosis.Device,
    "Comparison": comparison.Comparison,
    "CompareResponse": compare_page.ComparePage,
    "CompareSamples": compare_page.Samples,
    "CompareRowResponse": compare_page.RowDetail,
    "CompareRowSide": compare_page.RowSide,
    "SeriesResponse": comparisons.ComparedSeries,
    "BaselinesResponse": baselines.LikelyBaselines,
    "JobAnswer": job.Job,
    "JobCollectiveStats": job.Collective,
    "JobCollective": job.Operation,
    "JobCollectiveDetail": jobs.CollectiveMembers,
    "RankJob": jobs.JobPage,
    "JobOffer": jobs.JobOffer,
    "RankSummary": jobs.RankSummary,
    "JobCells": jobs.JobCells,
    "Job": aggregations.AggregationJob,
    "MemoryResponse": memory.Memory,
    "MemoryDevice": memory.MemoryDevice,
    "MemoryAt": memory.MemoryAt,
    "MemoryHeld": memory.HeldBy,
    "MemoryOwner": memory.HeldByOwner,
    "MemoryModule": memory.HeldByModule,
    "MemoryCurveResponse": memory_answers.MemoryCurve,
    "MemorySegments": memory_answers.MemorySegments,
    "SegmentBlocks": memory_answers.SegmentBlocks,
    "TimelineOverview": timeline_answers.TimelineOverview,
    "TimelineWindow": timeline_answers.TimelineWindow,
    "TimelineItem": timeline_answers.TimelineItem,
    "TimelineGap": timeline_answers.TimelineGap,
    "LaunchStatistics": timeline_answers.LaunchStatistics,
    "LargestWork": timeline_answers.LargestWork,
    "TimelineHits": timeline_answers.TimelineHits,
}
"""Declarations by their names in the frontend; what they contain keeps its own name, after its module's word."""

_PRINTED_ONLY = {
    comparison.Comparison: {"groups", "rows", "kernels_replaced", "rules"},
    job.Job: {"iteration", "ranks", "longest_waits"},
    memory.Memory: {"source", "clock"},
}
"""What commands print and the pages ask for in another form."""

_EXTENDED = {
    compare_page.ComparePage: comparison.Comparison,
    compare_page.RowDetail: comparison.ChangedRow,
    jobs.JobPage: job.Job,
    jobs.CollectiveMembers: job.Operation,
    iteration_bars.Bar: iteration_bars.IterationRow,
}
"""What pages ask for with more than commands print, or than another page."""

_PREFIXES = {diagnosis: "Diagnosed", comparison: "Compare", job: "Job", memory: "Memory"}

_SIMPLE = {int: "number", float: "number", str: "string", bool: "boolean", NoneType: "null"}


def typescript() -> str:
    """The whole file."""
    names: dict[Any, str] = {kind: name for name, kind in RESPONSES.items()}
    texts: dict[str, str] = {}
    waiting = list(RESPONSES.values())
    while waiting:
        kind = waiting.pop(0)
        if _name(kind, names) not in texts:
            texts[names[kind]] = _interface(names[kind], kind, names, waiting)
    head = "/** What the server sends. Made by `python -m scripts.http_api`; change the declarations there. */\n"
    return head + "".join(f"\n{texts[name]}" for name in sorted(texts))


def _name(kind: Any, names: dict[Any, str]) -> str:
    prefix = _PREFIXES.get(sys.modules[kind.__module__], "")
    return names.setdefault(kind, prefix + kind.__name__.removeprefix(prefix))


def _interface(name: str, kind: Any, names: dict[Any, str], waiting: list[Any]) -> str:
    base = f" extends {_type(_EXTENDED[kind], names, waiting)}" if kind in _EXTENDED else ""
    lines = [*_comment(_said_of(kind), ""), f"export interface {name}{base} {{"]
    meanings = _meanings(kind)
    sent = {field.name: field.encode_name for field in fields(kind)} if issubclass(kind, Struct) else {}
    for field, hint in get_type_hints(kind).items():
        if field in _PRINTED_ONLY.get(kind, ()) or field in _inherited(kind):
            continue
        key = sent.get(field, field) + ("?" if UnsetType in get_args(hint) else "")
        lines += [*_comment(meanings.get(field, ""), "  "), f"  {key}: {_type(hint, names, waiting)};"]
    return "\n".join([*lines, "}", ""])


def _inherited(kind: Any) -> dict[str, Any]:
    base = _EXTENDED.get(kind)
    return get_type_hints(base) if is_typeddict(kind) and is_typeddict(base) else {}


def _type(hint: Any, names: dict[Any, str], waiting: list[Any]) -> str:
    def nested(each: Any) -> str:
        return _type(each, names, waiting)

    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, Struct)):
        waiting.append(hint)
        return _name(hint, names)
    if origin is Literal:
        return " | ".join(map(json.dumps, arguments))
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(nested(each) for each in arguments if each is not UnsetType))
    if origin is list:
        inner = nested(arguments[0])
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(nested, arguments))}]"
    if hint is Any:
        return "unknown"
    if origin is dict:
        key = nested(arguments[0]) if get_origin(arguments[0]) is Literal else "string"
        return f"Record<{key}, {nested(arguments[1])}>"
    raise TypeError(f"No type of TypeScript for {hint}.")


def _meanings(kind: Any) -> dict[str, str]:
    """The text below each field of a declaration and of its bases; none of a call of ``TypedDict``."""
    module = sys.modules[kind.__module__]
    for declared in ast.parse(inspect.getsource(module)).body:
        if isinstance(declared, ast.ClassDef) and declared.name == kind.__name__:
            bases = [getattr(module, ast.unparse(base), None) for base in declared.bases]
            inherited = [_meanings(base) for base in bases if base not in (Struct, TypedDict, None)]
            own = {
                ast.unparse(field.target): str(after.value.value)
                for field, after in pairwise(declared.body)
                if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr)
                if isinstance(after.value, ast.Constant)
            }
            return {name: text for meanings in (*inherited, own) for name, text in meanings.items()}
    return {}


def _said_of(kind: Any) -> str | None:
    """The text of a declaration: that of the class, or below the call of ``TypedDict``."""
    for made, after in pairwise(ast.parse(inspect.getsource(sys.modules[kind.__module__])).body):
        if isinstance(made, ast.Assign) and ast.unparse(made.targets[0]) == kind.__name__:
            return (
                str(after.value.value)
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                else None
            )
    text: str | None = kind.__doc__
    return text


def _comment(text: str | None, indent: str) -> list[str]:
    if not text:
        return []
    text = text.replace("``", "`").replace("None", "`null`")
    lines = textwrap.wrap(" ".join(text.split()), 116 - len(indent))
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def document(text: str) -> str:
    """``http_api.md`` with its tables made anew: each is between two comments, which say of what it is."""

    def made(match: re.Match[str]) -> str:
        kind, name = match[1], match[2]
        lines = _parameters(name) if kind == "parameters" else _columns(name)
        return "\n".join([f"<!-- {kind} {name} -->", *lines, "<!-- end -->"])

    return re.sub(r"<!-- (parameters|columns) (\S+) -->\n.*?<!-- end -->", made, text, flags=re.DOTALL)


def _parameters(path: str) -> list[str]:
    """The parameters of a route."""
    declared = READS.get(path) or CHANGES[path]
    kinds, meanings = fields_of(declared), _meanings(declared)
    rows = []
    for field in fields(declared):
        values = _values(kinds[field.encode_name])
        default = "required" if field.required else "" if field.default in (None, "", NODEFAULT) else str(field.default)
        rows.append((f"`{field.encode_name}`", values, default, _one_line(meanings.get(field.name, ""))))
    return _table(("Parameter", "Values", "Default", "Meaning"), rows)


def _values(kind: inspection.Type) -> str:
    if isinstance(kind, inspection.StrType):
        return "id" if kind.pattern else "text"
    if isinstance(kind, inspection.IntType):
        assert kind.ge is not None
        assert kind.le is not None
        least = f", {kind.ge:,} or more" if kind.ge > -FARTHEST else ""
        return f"integer, {kind.ge:,} to {kind.le:,}" if kind.le < LARGEST_ID else f"integer{least}"
    if isinstance(kind, inspection.DictType):
        return "filters"
    if isinstance(kind, inspection.ListType) and kind.max_length is None:
        return "texts"
    return meaning(kind).partition(";")[0]


def _columns(name: str) -> list[str]:
    """The columns of a table; of the first one that has the same."""
    table = _whole(name)
    rows = _column_rows(name)
    same = next(other for other in TABLES if _column_rows(other) == rows)
    needs = " and ".join(f"`{link}`" for link in table.links)
    head = f"Rows are named by `{table.key}`{f'; needs {needs}' if needs else ''}."
    if same != name:
        return [f"{head} The columns of `{same}`."]
    return [head, "", *_table(("Column", "Label", "Type", "Meaning"), rows)]


def _column_rows(name: str) -> list[tuple[str, ...]]:
    columns = _whole(name).columns
    return [(f"`{each.key}`", each.label, each.type, _one_line(each.description)) for each in columns]


def _whole(name: str) -> Table:
    """A table with all columns that it may have."""
    return iterations_table(unknown=True) if name == "iterations" else TABLES[name]


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows)]


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    TYPES.write_text(typescript(), encoding="utf-8")
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
