"""Reads damaged copies and says what became of each: ``python -m tests.fuzz.run_batch FORMAT FIRST COUNT FOLDER``.

A process of its own: a crash or a hang ends it, and the last line that it wrote names the copy. Each line is JSON.
"""

from __future__ import annotations

import gzip
import json
import resource
import shutil
import signal
import sys
import traceback
import urllib.parse
import warnings
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.api.job import open_job
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.tables import TABLES
from tests.fuzz.mutations import damage
from tests.fuzz.seeds import SEEDS
from tests.routes.serving import Server

SECONDS = 20
"""Of the processor, for one copy; they take a tenth of a second."""

HANG_SECONDS = 600
"""By the clock: who waits for ever takes no processor time. A busy machine is no hang."""

MEMORY_BYTES = 2 << 30
LONGEST_MESSAGE = 600


class Wrong(Exception):
    """A promise was not kept."""


def main(kind: str, first: int, count: int, folder: Path) -> None:
    """Damages and reads ``count`` copies."""
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    for ending in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(ending, signal.SIG_DFL)
    signal.alarm(HANG_SECONDS)
    (folder / "seeds").mkdir()
    seeds = SEEDS[kind](folder / "seeds")
    for seed in range(first, first + count):
        original = seeds[seed % len(seeds)]
        signal.alarm(HANG_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        print(json.dumps({"seed": seed, "of": original.name}), flush=True)
        outcome = _one(kind, original, seed, folder / "logs")
        print(json.dumps({"seed": seed, "of": original.name, **outcome}), flush=True)
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _one(kind: str, original: Path, seed: int, logs: Path) -> dict[str, Any]:
    logs.mkdir()
    path = logs / original.name
    for each in original.parent.iterdir() if kind == "job" else [original]:
        shutil.copy(each, logs)
    how = damage(path, kind, seed)
    try:
        return {"how": how, "end": _open(kind, path)}
    except Wrong as wrong:
        return {"how": how, "wrong": str(wrong)}
    except Exception as error:  # noqa: BLE001  reported with its seed
        return {"how": how, "wrong": f"{type(error).__name__}: {error}"[:500], "trace": traceback.format_exc()[-1_000:]}
    finally:
        shutil.rmtree(logs)


def _open(kind: str, path: Path) -> str:
    if kind == "job":
        return "refused" if "refused" in list(_serve_job(path)) else "served"
    database = path
    if kind != "dlprof":
        database = path.with_name("result.dlprof_dldb.sqlite")
        try:
            import_source(path, database, ImportOptions(), lambda _stage, _fraction: None)
        except ProfileError as error:
            check_message(str(error), path)
            if database.exists() or list(path.parent.glob("*.tmp-*")):
                raise Wrong("something was left of an import that failed") from None
            return "refused"
        path.unlink()
    ends = list(_serve(database))
    if kind != "dlprof" and "refused" in ends:
        raise Wrong(f"a database of our own is {ends}")
    return "refused" if "refused" in ends else "served"


def check_message(message: str, path: Path) -> None:
    """One readable sentence about the file."""
    if path.name not in message:
        raise Wrong(f"the message does not name the file: {message}")
    if "Traceback" in message or "\n" in message or len(message) > LONGEST_MESSAGE or "Error" in message:
        raise Wrong(f"the message is no sentence for users: {message}")


def _serve(database: Path) -> Iterable[str]:
    """Every page of the database, and the reports."""
    server = Server(database.parent, database.parent.parent / "cache")
    try:
        profile = server.profiles()[0]
        query = f"profile={profile['id']}"
        rows = strict(server.get(f"/table?{query}&table=ops&limit=1").text).get("rows") or [{}]
        window = "from=0&to=1000000000&device=0&at=1000&id=1&time=1000"
        addresses = [f"{route}?{query}&{window}" for route in server.app.routes() if "*" not in route]
        for name, table in TABLES.items():
            for link in (rows[0].get("op_id"), 1):
                links = urllib.parse.urlencode(dict.fromkeys(table.links, link))
                addresses.append(f"/table?{query}&table={name}&limit=1000&{links}")
        for address in addresses:
            yield _page(server, address, database)
        _report(database)
    finally:
        thread = server.services.catalog._thread
        if thread is not None:
            thread.join()
        server.app.close()


def _serve_job(job: Path) -> Iterable[str]:
    """What the pages of a rank ask of its job."""
    server = Server(job.parent, job.parent.parent / "cache")
    try:
        profile = server.profiles()[0]["id"]
        for route in ("job", "job_rank", "job_cells", "job_collectives", "job_collective"):
            yield _page(server, f"/{route}?profile={profile}&id=1", job)
        try:
            open_job(job).ranks()
        except ProfileError as error:
            check_message(str(error), job)
            yield "refused"
    finally:
        server.app.close()


def _page(server: Server, address: str, database: Path) -> str:
    answer = server.get(address)
    content = gzip.decompress(answer.data) if answer.headers.get("Content-Encoding") == "gzip" else answer.data
    text = content.decode("utf-8", "replace")
    body = strict(text) if answer.mimetype == "application/json" else {}
    if str(database.parent) in text:
        raise Wrong(f"the place of the file is told: {text[:300]}")
    if answer.status_code == 200:
        return "served"
    if answer.status_code == 422:
        check_message(body["error"]["message"], database)
        return "refused"
    if answer.status_code not in (400, 404, 405):
        raise Wrong(f"{address.partition('?')[0]}: status {answer.status_code}: {text[:300]}")
    return "not asked for like this"


def strict(text: str) -> Any:
    """JSON as browsers take it."""

    def refuse(constant: str) -> None:
        raise Wrong(f"{constant} in JSON")

    return json.loads(text, parse_constant=refuse)


def _report(database: Path) -> None:
    """The summary for people and for scripts, or the sentence."""
    import io

    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.opening.sqlite_file import reading
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.reports.as_json import write_json
    from tensorboard_plugin_dlprof.reports.as_text import write_text
    from tensorboard_plugin_dlprof.reports.catalog import REPORTS

    try:
        with closing(open_database(database)) as connection, reading(database.name):
            for report in REPORTS.values():
                for write in (write_json, write_text):
                    out = io.StringIO()
                    write(report.blocks(connection, find_scope(connection)), out)
                    if write is write_json:
                        strict(out.getvalue())
    except ProfileError as error:
        if "Traceback" in str(error):
            raise Wrong(str(error)) from None


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
