"""What a check found."""

from __future__ import annotations

from enum import Enum

import msgspec


class Verdict(Enum):
    """How one check ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It does not apply, or nothing is there to compare with."""


class Finding(msgspec.Struct, frozen=True):
    """One check."""

    check: str
    verdict: Verdict
    message: str = ""


class Report(msgspec.Struct):
    """All about one file."""

    file: str
    kind: str = "unknown"
    """``database``, ``source`` or ``unknown``."""
    findings: list[Finding] = msgspec.field(default_factory=list)
    holds: dict[str, int | str] = msgspec.field(default_factory=dict)
    """Facts and numbers of rows, by the name that people are shown."""
    missing: list[str] = msgspec.field(default_factory=list)
    """Sentences about what the profile cannot tell."""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.verdict is not Verdict.FAILED for finding in self.findings)

    def note(self, check: str, problem: str | None = None, *, skipped: str = "") -> None:
        """Adds a check: failed with a problem, skipped for a reason, else passed."""
        verdict = Verdict.FAILED if problem else Verdict.SKIPPED if skipped else Verdict.PASSED
        self.findings.append(Finding(check, verdict, problem or skipped))
