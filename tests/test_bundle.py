"""What a browser has to load before the tab shows anything, from the files that are committed."""

from __future__ import annotations

import re
from pathlib import Path

from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.routes.static_files import serve

STATIC = Path(__file__).parent.parent / "tensorboard_plugin_dlprof" / "static"
MOST_BYTES = 80_000

STATIC_IMPORT = re.compile(r"""(?:^|[;}\s])(?:import|export)\s*(?:[\w$*{][^;"'`]*?from\s*)?["'](\.{1,2}/[^"']+)["']""")
DYNAMIC_IMPORT = re.compile(r"""import\(\s*["'`](\.{1,2}/[^"'`]+)["'`]\s*\)""")


def loaded_at_once(entry: Path) -> set[Path]:
    """A module and what it imports when it is loaded, which is what a browser waits for."""
    result: set[Path] = set()
    waiting = [entry]
    while waiting:
        module = waiting.pop()
        if module not in result:
            result.add(module)
            waiting += [(module.parent / name).resolve() for name in STATIC_IMPORT.findall(module.read_text())]
    return result


def sent(module: Path) -> int:
    """The bytes that the server sends of a module."""
    path = f"/static/{module.relative_to(STATIC)}"
    response = serve(Request.from_values(path, headers={"Accept-Encoding": "gzip"}))
    assert response.headers["Content-Encoding"] == "gzip"
    return len(response.get_data())


def test_the_entry_is_small() -> None:
    """80 kB at most are sent, all that it imports included."""
    sizes = {module.name: sent(module) for module in loaded_at_once(STATIC / "index.js")}
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def test_the_entry_is_one_request_more() -> None:
    """What the Dashboard needs is one file: browsers ask for six at once, and then wait for what these import."""
    assert {module.name.split("-")[0] for module in loaded_at_once(STATIC / "index.js")} == {"index.js", "frame"}


def test_views_with_charts_come_on_demand() -> None:
    """The first view needs none of the graph, the roofline and the iterations' bars."""
    modules = loaded_at_once(STATIC / "index.js")
    at_once = {module.name.split("-")[0] for module in modules}
    imports = [name for module in modules for name in DYNAMIC_IMPORT.findall(module.read_text())]
    on_demand = {Path(name).name.split("-")[0] for name in imports}
    assert {"efficiency", "modules", "iterations"} <= on_demand
    assert at_once.isdisjoint({"efficiency", "modules", "recommendations"})


def test_every_import_is_there() -> None:
    """A chunk that was renamed without its importers leaves a view empty."""
    modules = list(STATIC.rglob("*.js"))
    assert len(modules) > 1
    for module in modules:
        text = module.read_text()
        for name in STATIC_IMPORT.findall(text) + DYNAMIC_IMPORT.findall(text):
            assert (module.parent / name).is_file(), f"{module.name} imports {name}"
