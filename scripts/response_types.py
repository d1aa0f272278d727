"""Writes the frontend's types of what the server sends: ``python -m scripts.response_types``.

Each response is declared once, in Python: as a ``TypedDict`` beside the question that it answers, or in ``cli/answers``
where a command prints it too. A test compares ``frontend/src/api/responses.ts`` with these declarations.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import Struct, UnsetType
from msgspec.structs import fields

from tensorboard_plugin_dlprof.cli.answers import comparison, diagnosis, job, memory
from tensorboard_plugin_dlprof.queries import (
    coverage,
    efficiency,
    findings,
    group_tree,
    headline,
    iterations,
    limited,
    ops,
    scope,
    summary,
    system,
)

TARGET: Final = Path(__file__).resolve().parent.parent / "frontend" / "src" / "api" / "responses.ts"

RESPONSES: Final[dict[str, Any]] = {
    "Headline": headline.Headline,
    "Aggregation": scope.Aggregation,
    "ModelSummary": summary.ModelSummary,
    "GpuUtilization": summary.GpuUtilization,
    "ResourceShare": summary.ResourceShare,
    "TensorCoreEfficiency": summary.TensorCoreEfficiency,
    "Performance": summary.Performance,
    "Recommendation": summary.Recommendation,
    "SystemFact": system.SystemFact,
    "CoverageNote": coverage.Note,
    "IterationSource": iterations.IterationSource,
    "IterationProposal": iterations.Proposal,
    "KernelTime": summary.KernelClassTime,
    "TopOp": ops.TopOp,
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
    "JobAnswer": job.Job,
    "JobCollectiveStats": job.Collective,
    "JobCollective": job.Operation,
    "MemoryDevice": memory.MemoryDevice,
    "MemoryHeld": memory.HeldBy,
    "MemoryOwner": memory.HeldByOwner,
    "MemoryModule": memory.HeldByModule,
}
"""Declarations by their names in the frontend; what they contain keeps its own name, after its module's word."""

_PRINTED_ONLY = {
    comparison.Comparison: {"rows", "kernels_replaced", "rules"},
    job.Job: {"iteration", "ranks", "longest_waits"},
}
"""What commands print and the pages ask for in another form."""

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
    head = "/** What the server sends. Made by `python -m scripts.response_types`; change the declarations there. */\n"
    return head + "".join(f"\n{texts[name]}" for name in sorted(texts))


def _name(kind: Any, names: dict[Any, str]) -> str:
    prefix = _PREFIXES.get(sys.modules[kind.__module__], "")
    return names.setdefault(kind, prefix + kind.__name__.removeprefix(prefix))


def _interface(name: str, kind: Any, names: dict[Any, str], waiting: list[Any]) -> str:
    lines = [*_comment(kind.__doc__, ""), f"export interface {name} {{"]
    meanings = _meanings(kind)
    sent = {field.name: field.encode_name for field in fields(kind)} if issubclass(kind, Struct) else {}
    for field, hint in get_type_hints(kind).items():
        if field in _PRINTED_ONLY.get(kind, ()):
            continue
        key = sent.get(field, field) + ("?" if UnsetType in get_args(hint) else "")
        lines += [*_comment(meanings.get(field, ""), "  "), f"  {key}: {_type(hint, names, waiting)};"]
    return "\n".join([*lines, "}", ""])


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
        return f"Record<string, {nested(arguments[1])}>"
    raise TypeError(f"No type of TypeScript for {hint}.")


def _meanings(kind: Any) -> dict[str, str]:
    """The text below each field of a declaration."""
    (declared,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(declared, ast.ClassDef)
    return {
        ast.unparse(field.target): str(after.value.value)
        for field, after in pairwise(declared.body)
        if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }


def _comment(text: str | None, indent: str) -> list[str]:
    if not text:
        return []
    text = text.replace("``", "`").replace("None", "`null`")
    lines = textwrap.wrap(" ".join(text.split()), 116 - len(indent))
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


if __name__ == "__main__":
    TARGET.write_text(typescript(), encoding="utf-8")
