"""Every table that can be asked for by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.kernels import kernels_of_op
from tensorboard_plugin_dlprof.queries.ops import OPS
from tensorboard_plugin_dlprof.queries.table import Table

TABLES: Mapping[str, Callable[[bool], Table]] = MappingProxyType(
    {"ops": lambda _extended: OPS, "kernels_of_op": kernels_of_op}
)
"""Name -> the table, given whether the database has our own tables."""


def find_table(name: str, extended: bool) -> Table:
    """The table of this name.

    Raises:
        NotFound: there is none.
    """
    make = TABLES.get(name)
    if make is None:
        raise NotFound(f"There is no table {name[:40]!r}; there are {', '.join(TABLES)}.")
    return make(extended)
