"""The request for a page of a table, from the address or the command line to SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

MAX_LIMIT = 1_000
"""Most rows of a page."""
FARTHEST = 10**17
"""Limit of times in ns (three years) and of numbers of iterations, so that SQLite's additions do not overflow."""
LARGEST_ID = 2**31

Farthest: TypeAlias = Annotated[int, Meta(ge=-FARTHEST, le=FARTHEST)]
Id: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST_ID)]
Per: TypeAlias = Literal["aggregation", "iteration"]


class PageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows of which table."""

    table: Annotated[str, Meta(min_length=1)] = ""
    """Name of the table."""
    aggregation: Id | None = None
    """By default the first."""
    domain: str = ""
    """NVTX domain; by default the first."""
    offset: Annotated[int, Meta(ge=0, le=10**12)] = 0
    """Rows to skip."""
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = 25
    """Rows of the page."""
    sort: str = ""
    """Key of a column, with ``-`` before it for descending order; by default the table's order."""
    search: str = ""
    """Only rows of which a searchable column contains it."""
    per: Per = "aggregation"
    """``iteration``: what grows with the number of aggregated iterations is a mean of one, in filters too."""
    where: Mapping[str, str] = msgspec.field(default_factory=dict)
    """``where.COLUMN=FILTER``: only rows whose column passes."""
    op: str | None = None
    """Op, whose rows are wanted."""
    group: str | None = None
    """Path of a group, whose rows are wanted."""
    nodes: Annotated[str, Meta(pattern=r"^([0-9]{1,10},)*[0-9]{1,10}$", max_length=8_000)] | None = None
    """Ids of nodes of the tree, separated by commas, whose rows are wanted together; ``group`` then only names them."""
    iteration: Farthest | None = None
    """Number of an iteration, whose rows are wanted."""
    row: str | None = None
    """Key of the row of ``op_paths``, ``op_names``, ``op_types`` or ``compare_groups``, whose ops or kernels are
    wanted, or of ``memory_block_groups``, whose blocks are; of ``ops_of_kernel`` the name of the kernel."""
    device: Id | None = None
    """GPU, whose memory or gaps are wanted."""
    start_ns: Farthest | None = msgspec.field(default=None, name="from")
    """Start of the window, whose gaps are wanted."""
    stop_ns: Farthest | None = msgspec.field(default=None, name="to")
    """End of the window."""

    @property
    def links(self) -> dict[str, str | int]:
        """What the rows belong to, as far as it is given: by the names of ``Table.links``."""
        named = {
            **{"op": self.op, "group": self.group, "iteration": self.iteration, "row": self.row},
            **{"device": self.device, "from": self.start_ns, "to": self.stop_ns},
            "nodes": self.nodes and f",{self.nodes},",
        }
        return {name: value for name, value in named.items() if value is not None}
