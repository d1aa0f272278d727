"""Numbers with their units."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

Ns: TypeAlias = Annotated[int, Meta(description="nanoseconds")]
Bytes: TypeAlias = Annotated[int, Meta(description="bytes")]
BytesPerSecond: TypeAlias = Annotated[float, Meta(description="bytes a second")]
Fraction: TypeAlias = Annotated[float, Meta(description="share, from 0 to 1")]
Ratio: TypeAlias = Annotated[float, Meta(description="B by A")]
Interval: TypeAlias = Annotated[tuple[float, float], Meta(description="95 % bounds of the ratio of B to A")]
Text: TypeAlias = Annotated[str, Meta(description="empty if unknown")]
Cell: TypeAlias = str | int | float | bool | None
