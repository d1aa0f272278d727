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
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.queries.system import profile_title
    from tensorboard_plugin_dlprof.queries.tables import table_of
    from tensorboard_plugin_dlprof.routes.comparisons import SCOPE, table_of_comparison
    from tensorboard_plugin_dlprof.routes.databases import Databases
    from tensorboard_plugin_dlprof.routes.export import SECONDS, export
    from tensorboard_plugin_dlprof.routes.parameters import ExportRequest
    from tensorboard_plugin_dlprof.routes.requests import asked_in_query
    from tensorboard_plugin_dlprof.routes.timeline import with_computed

    asked = asked_in_query(Request(create_environ(query_string=job["query"])), ExportRequest)
    source, written, name = Path(job["source"]), Path(job["database"]), job["name"]
    if job["is_comparison"]:
        with closing(opened(source)) as connection:
            export(table_of_comparison(asked.table), SCOPE, asked, name).write(connection, written)
        return {}
    with (
        closing(Databases()) as databases,
        databases.borrow(source, job["file_name"], SECONDS) as borrowed,
        with_computed(borrowed, asked) as rows,
    ):
        con = borrowed.connection
        scope = find_scope(con, asked.aggregation, asked.domain)
        export(table_of(con, asked.table), scope, asked, profile_title(con) or name).write(rows.connection, written)
    return {}


if __name__ == "__main__":
    sys.exit(run_and_end(partial(main, {"export": _export})))
