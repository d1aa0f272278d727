"""What DLProf 1.8's command line prints, in its order (command line reference, section 7)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence

from tensorboard_plugin_dlprof.cli.compatible_options import VERBOSITIES
from tensorboard_plugin_dlprof.queries.scope import Scope

MINIMAL, NORMAL, DETAILED, DIAGNOSTIC = 1, 2, 3, 4


class Console:
    """Prints the steps of a run, with the time of day, as far as the verbosity allows."""

    def __init__(self, verbosity: str) -> None:
        self.level = VERBOSITIES.index(verbosity)
        self._stage = ""

    def step(self, text: str, level: int = NORMAL) -> None:
        """Print a line with the time of day."""
        self.line(f"[DLProf-{time.strftime('%H:%M:%S')}] {text}", level)

    def line(self, text: str, level: int = NORMAL) -> None:
        """Print a line without the time."""
        if self.level >= level:
            print(text, flush=True)

    def reading(self, stage: str, _fraction: float) -> None:
        """Print a line when an import begins a new stage; suits as its progress callback."""
        if stage != self._stage:
            self._stage = stage
            self.step(f"{stage[:1].upper()}{stage[1:]}")

    def iterations(self, connection: sqlite3.Connection, scope: Scope, key_op: str) -> None:
        """Print how many iterations there are, where they end, and which are aggregated."""
        ends = connection.execute(
            "SELECT iter_value, start_time, stop_time FROM view_iterations_all WHERE aggr_id = ? ORDER BY iter_value",
            (scope.aggregation,),
        ).fetchall()
        selected = connection.execute(
            "SELECT iter_start, iter_stop FROM model_summary WHERE aggr_id = ? AND domain_id = ?",
            (scope.aggregation, scope.domain),
        ).fetchone()
        self.step(f'Found {_counted(len(ends), "iteration")} using key_op "{key_op}"')
        self.line(f"Iterations: [{', '.join(str(row[2]) for row in ends)}]")
        if selected is None:
            return
        rows = [row for row in ends if selected[0] <= row[0] <= selected[1]]
        if rows:
            first, last = rows[0], rows[-1]
            self.line(
                f"Aggregating data over {_counted(len(rows), 'iteration')}: iteration {first[0]} start "
                f"({first[1]} ns) to iteration {last[0]} end ({last[2]} ns)"
            )

    def expert_systems(self, connection: sqlite3.Connection, scope: Scope) -> None:
        """Print what the detectors found and what they recommend."""
        rows = connection.execute(
            "SELECT problem, recommendation FROM expert_systems_feedback WHERE aggr_id = ? ORDER BY id",
            (scope.aggregation,),
        ).fetchall()
        self.step("Writing expert_systems report to (stdout)")
        self.line(
            f"\nExpert Systems Feedback: {_counted(len(rows), 'issue')} found. These findings are experimental.\n",
            MINIMAL,
        )
        for problem, recommendation in rows:
            self._part("Problem detected:", problem)
            self._part("Recommended change:", recommendation)
            self.line("", MINIMAL)

    def _part(self, heading: str, text: object) -> None:
        self.line(heading, MINIMAL)
        for line in _lines(text):
            self.line(f"  {line}", MINIMAL)


def _lines(text: object) -> Sequence[str]:
    """The lines of a text from the profile, without control characters, which a terminal might obey."""
    return ["".join(letter for letter in line if letter.isprintable()) for line in str(text).splitlines()] or [""]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
