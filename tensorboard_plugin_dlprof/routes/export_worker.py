"""The process that writes one workbook or PDF: ``python -m tensorboard_plugin_dlprof.routes.export_worker``."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.imports.worker import Progress, main
from tensorboard_plugin_dlprof.opening.one_job import run_and_end


def _export(job: dict[str, Any], _progress: Progress) -> dict[str, Any]:
    from werkzeug.test import create_environ
    from werkzeug.wrappers import Request

    from tensorboard_plugin_dlprof.database.memory import opened
    from tensorboard_plugin_dlprof.routes.comparisons import SCOPE
    from tensorboard_plugin_dlprof.routes.databases import Databases
    from tensorboard_plugin_dlprof.routes.export import SECONDS, export, export_of
    from tensorboard_plugin_dlprof.routes.requests import Parameters, asked_scope
    from tensorboard_plugin_dlprof.routes.table import asked_of_comparison
    from tensorboard_plugin_dlprof.routes.timeline import with_gaps

    parameters = Parameters(Request(create_environ(query_string=job["query"])))
    source, written, name = Path(job["source"]), Path(job["database"]), job["name"]
    if job["is_comparison"]:
        table, asked = asked_of_comparison(parameters)
        with closing(opened(source)) as connection:
            export_of(table, SCOPE, asked, parameters, name).write(connection, written)
        return {}
    with (
        closing(Databases()) as databases,
        databases.borrow(source, job["file_name"], SECONDS) as borrowed,
        with_gaps(borrowed, parameters) as rows,
    ):
        found = export(borrowed, asked_scope(borrowed.connection, parameters), parameters, name)
        found.write(rows.connection, written)
    return {}


if __name__ == "__main__":
    sys.exit(run_and_end(partial(main, {"export": _export})))
