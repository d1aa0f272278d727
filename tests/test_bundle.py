"""What a browser has to load before the tab shows anything, from the files that are committed."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

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


def test_the_entry_is_small() -> None:
    """80 kB of gzip at most, all that it imports included."""
    modules = loaded_at_once(STATIC / "index.js")
    num_bytes = sum(len(gzip.compress(module.read_bytes(), mtime=0)) for module in modules)
    assert num_bytes <= MOST_BYTES, {module.name: module.stat().st_size for module in modules}


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
