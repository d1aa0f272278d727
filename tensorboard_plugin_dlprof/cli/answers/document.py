"""The document of all answers: a JSON schema, generated from their declarations."""

from __future__ import annotations

from typing import Any

import msgspec

from tensorboard_plugin_dlprof.cli.answers.comparison import Comparison, Comparisons
from tensorboard_plugin_dlprof.cli.answers.diagnosis import Diagnosis
from tensorboard_plugin_dlprof.cli.answers.job import Job, Jobs, MadeJobs
from tensorboard_plugin_dlprof.cli.answers.memory import Memory
from tensorboard_plugin_dlprof.cli.answers.others import CacheUsage, Checked, Kernel, Machine, Report, Summary
from tensorboard_plugin_dlprof.queries.page_answer import TablePage
from tensorboard_plugin_dlprof.routes.profiles import ListedProfiles

SCHEMA_VERSION = 1
"""Raised when a key is removed or changes its meaning."""

ANSWERS: dict[str, tuple[Any, ...]] = {
    "list": (ListedProfiles,),
    "diagnose": (Diagnosis,),
    "summary": (Summary,),
    "table": (TablePage,),
    "compare": (Comparison, Comparisons),
    "distributed": (Job, Jobs),
    "job": (MadeJobs,),
    "memory": (Memory,),
    "check": (list[Checked],),
    "classify": (list[Kernel],),
    "doctor": (Machine,),
    "cache": (CacheUsage,),
}
"""What each command prints with ``--format json``: one of these types."""


FILES: dict[str, tuple[Any, ...]] = {"reports --formats json": (Report,)}
"""What files of JSON hold that commands write."""


def document() -> dict[str, Any]:
    """The schema of every answer by command, as JSON Schema 2020-12."""
    said = {f"{name} --format json": kinds for name, kinds in ANSWERS.items()} | FILES
    kinds = [kind for each in said.values() for kind in each]
    schemas, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    of_kind = iter(schemas)
    commands = {}
    for words, each in said.items():
        result = [next(of_kind) for _ in each]
        commands[f"dlprof {words}"] = result[0] if len(result) == 1 else {"anyOf": result}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dlprof:answers:{SCHEMA_VERSION}",
        "title": "What the commands of dlprof print as JSON",
        "description": "Times are nanoseconds (*_ns), shares 0 to 1 (*_fraction), sizes bytes (*_bytes); null is "
        "unknown. Keys may be added; none is removed or changed without a new version.",
        "version": SCHEMA_VERSION,
        "commands": commands,
        "$defs": definitions,
    }
