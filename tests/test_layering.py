"""Who may import whom: the data's way, from source formats to the browser, and never back."""

from __future__ import annotations

import ast
import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S

PACKAGE = "tensorboard_plugin_dlprof"
ROOT = Path(__file__).resolve().parent.parent / PACKAGE

EVERYWHERE = frozenset({"columns", "errors", "expressions", "metadata", "units"})
"""Constants and pure functions that anyone may use."""

PIPELINE_PARTS = {"aggregation", "database", "efficiency", "events", "importers", "profile"}

MAY_IMPORT: dict[str, set[str]] = {
    "columns": {"opening"},
    "errors": set(),
    "expressions": set(),
    "metadata": set(),
    "units": set(),
    "opening": set(),
    "storage": {"opening"},
    "classify": set(),
    "importers": {"events", "memory", "opening", "classify"},
    "memory": {"aggregation", "classify", "diagnosis", "events", "opening", "profile"},
    "throughput": {"events", "profile"},
    "diagnosis": {"classify", "events", "profile"},
    "events": {"classify", "diagnosis", "profile"},
    "profile": {"classify", "diagnosis", "events"},
    "aggregation": {"classify", "diagnosis", "events", "profile"},
    "efficiency": {"aggregation", "classify", "events", "profile"},
    "analysis": {"aggregation", "classify", "diagnosis", "efficiency", "events", "memory", "profile"},
    "counters": {"classify", "events", "opening", "profile"},
    "timeline": {"classify", "diagnosis", "events", "profile"},
    "database": {
        *(
            "aggregation",
            "analysis",
            "classify",
            "diagnosis",
            "efficiency",
            "events",
            "memory",
            "opening",
            "profile",
            "timeline",
        ),
    },
    "queries": {"classify", "diagnosis", "events", "memory", "timeline"},
    "ranks": {"aggregation", "classify", "database", "diagnosis", "events", "opening", "profile", "queries"},
    "comparing": {"classify", "diagnosis", "opening", "queries"},
    "pipeline": PIPELINE_PARTS
    | {"analysis", "classify", "counters", "diagnosis", "memory", "opening", "ranks", "throughput", "timeline"},
    "run_metadata": {"database", "opening", "queries"},
    "reports": {"diagnosis", "exports", "opening", "queries"},
    "running": {"opening"},
    "exports": {"diagnosis", "queries", "timeline"},
    "samples": {"opening"},
    "checking": {"database", "importers", "opening", "pipeline", "queries"},
    "imports": {"classify", "database", "opening", "pipeline", "ranks", "storage"},
    "runs": {"database", "importers", "opening", "queries", "run_metadata", "storage"},
    "routes": {
        *(
            "classify",
            "comparing",
            "database",
            "exports",
            "imports",
            "opening",
            "queries",
            "reports",
            "runs",
            "storage",
        ),
    },
    "viewer": {"opening", "routes", "runs"},
    "loader": {"classify", "routes"},
    "cli": {
        *(
            "checking",
            "classify",
            "comparing",
            "database",
            "ranks",
            "exports",
            "importers",
            "imports",
            "opening",
            "pipeline",
            "queries",
            "reports",
        ),
        "diagnosis",
        "run_metadata",
        "running",
        "samples",
        *("routes", "runs", "storage"),
    },
    "__main__": {"cli", "opening"},
    "api": {
        *("classify", "comparing", "database", "diagnosis", "importers", "imports", "opening"),
        *("pipeline", "queries", "reports", "ranks", "storage"),
    },
    "__init__": {"api"},
}
"""The only imports between the parts of the package, besides ``EVERYWHERE``. Nobody imports the loader or cli."""

TABLES = {"kinds", "memory_tables", "strings", "tables"}
"""Modules that only say what tables hold."""

ONLY_TABLES = {
    ("events", "profile"),
    ("profile", "events"),
    ("importers", "events"),
    ("counters", "events"),
    ("counters", "profile"),
    ("database", "efficiency"),
    ("database", "analysis"),
    ("diagnosis", "events"),
}
"""Parts that know no more of the other than its tables: what it does is none of their business."""


def modules() -> Iterator[tuple[str, Path]]:
    """Every module that is written by hand, with the part that it belongs to."""
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        if not path.name.endswith("_pb2.py"):
            yield (inside.parts[0] if len(inside.parts) > 1 else path.stem), path


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Modules of the package that a module imports anywhere in it, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: write the whole name of the module"
            if node.module == PACKAGE:
                yield from ((node.lineno, f"{PACKAGE}.{alias.name}") for alias in node.names)
            elif node.module and node.module.startswith(f"{PACKAGE}."):
                yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(PACKAGE):
                    yield node.lineno, alias.name


def test_every_part_imports_only_what_comes_before_it_on_the_datas_way() -> None:
    """A new import between two parts is a decision: it is made here."""
    wrong = []
    for part, path in modules():
        assert part in MAY_IMPORT, f"{path}: say in MAY_IMPORT what the new part may import"
        for line, module in imports(path):
            other = module.split(".")[1]
            if other != part and other not in EVERYWHERE and other not in MAY_IMPORT[part]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {part} must not import {other}")
            elif (part, other) in ONLY_TABLES and module.split(".")[2] not in TABLES:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {part} may import only the tables of {other}")
    assert not wrong, "\n".join(wrong)


def test_only_what_opens_and_writes_databases_connects_to_sqlite() -> None:
    """A database of unknown origin is opened in one place, hardened. The samples write an export of their own."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for part, path in modules()
        if part not in {"opening", "database", "samples"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr == "connect"
        and isinstance(node.value, ast.Name)
        and node.value.id == "sqlite3"
    ]
    assert not wrong, "\n".join(wrong)


def loaded_by(statement: str) -> set[str]:
    """Names of the modules in memory after a statement in a fresh process."""
    code = f"import sys; {statement}; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    return set(answer.stdout.split())


HEAVY = {"numpy", "pandas", "msgspec", "sqlite3", "google.protobuf", "werkzeug", "tensorboard.program"}


@pytest.mark.parametrize(
    "statement", [f"import {PACKAGE}", f"import {PACKAGE}.cli.main; {PACKAGE}.cli.main.parser().format_help()"]
)
def test_help_is_instant_because_nothing_heavy_is_imported(statement: str) -> None:
    """A command imports what it needs when it runs."""
    assert not loaded_by(statement) & (HEAVY | {"tensorboard"})


def test_records_are_structs() -> None:
    """To make a dataclass takes half a millisecond, of which an import would wait for a hundred."""
    wrong = [
        path.relative_to(ROOT).as_posix()
        for part, path in modules()
        if part not in {"api", "samples"} and "dataclasses" in path.read_text(encoding="utf-8")
    ]
    assert not wrong, f"use msgspec.Struct, or a NamedTuple where help must not wait for msgspec: {wrong}"


def test_a_command_loads_no_other_command() -> None:
    """The help of all needs all of them."""
    loaded = loaded_by(f"import {PACKAGE}.cli.main; {PACKAGE}.cli.main.parser(['import']).format_help()")
    assert f"{PACKAGE}.cli.import_profiles" in loaded
    assert not loaded & {f"{PACKAGE}.cli.{name}" for name in ("aggregate", "compatible", "doctor", "demo", "run")}


def test_an_import_loads_no_module_for_nothing(tmp_path: Path) -> None:
    """NumPy loads its masked arrays for ``np.unique`` without options, ``np.isin`` of nothing, or a median."""
    trace = max((ROOT / "samples").rglob("*.pt.trace.json.gz"), key=lambda path: path.stat().st_size)
    words = ["import", str(trace), "-o", str(tmp_path), "--force"]
    loaded = loaded_by(f"import {PACKAGE}.cli.main; assert not {PACKAGE}.cli.main.main({words})")
    assert list(tmp_path.glob("*.sqlite"))
    assert not loaded & {"numpy.ma", "numpy.random", "numpy.fft", "numpy.polynomial", "pandas", "ctypes.util"}


def test_a_plain_trace_loads_no_archives(tmp_path: Path) -> None:
    """Gzip, what only other profiles need: together a twentieth of the start."""
    packed = max((ROOT / "samples").rglob("*.pt.trace.json.gz"), key=lambda path: path.stat().st_size)
    trace = tmp_path / "plain.pt.trace.json"
    trace.write_bytes(gzip.decompress(packed.read_bytes()))
    words = ["import", str(trace), "-o", str(tmp_path), "--force"]
    loaded = loaded_by(f"import {PACKAGE}.cli.main; assert not {PACKAGE}.cli.main.main({words})")
    assert list(tmp_path.glob("*.sqlite"))
    ours = {f"{PACKAGE}.{name}" for name in ("cli.renewing", "importers.wrong_file_hints")}
    ours |= {f"{PACKAGE}.{name}" for name in ("queries.iteration_shares")}
    unneeded = {"gzip", "secrets", "logging"}
    assert not loaded & (ours | unneeded)


def test_an_import_compiles_few_regular_expressions(tmp_path: Path) -> None:
    """Each takes 0.1 ms. Of 600 most are for kernels of other libraries, or for names that no trace here holds."""
    trace = max((ROOT / "samples").rglob("*.pt.trace.json.gz"), key=lambda path: path.stat().st_size)
    words = ["import", str(trace), "-o", str(tmp_path), "--force"]
    statement = (
        "import re; compile_ = re.compile; made = []; "
        "re.compile = lambda *given, **named: made.append(given) or compile_(*given, **named); "
        f"import {PACKAGE}.cli.main; assert not {PACKAGE}.cli.main.main({words}); sys.modules[str(len(made))] = re"
    )
    (compiled,) = (int(name) for name in loaded_by(statement) if name.isdecimal())
    assert compiled < 300


def test_the_entry_point_imports_nothing_that_could_stop_tensorboard_from_starting() -> None:
    """An exception while an entry point is imported stops TensorBoard; what load() imports can fail alone."""
    before = loaded_by("import tensorboard.plugins.base_plugin")
    ours = loaded_by(f"import {PACKAGE}.loader") - before
    ours = {name for name in ours if name.split(".")[0] not in sys.stdlib_module_names}
    assert ours <= {PACKAGE, f"{PACKAGE}.metadata", f"{PACKAGE}.loader"}
