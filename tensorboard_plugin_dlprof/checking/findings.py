"""The results of checks."""

from __future__ import annotations

from enum import Enum

import msgspec


class Verdict(Enum):
    """The result of one check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """The check does not apply, or there is nothing to compare with."""


class Finding(msgspec.Struct, frozen=True):
    """One check and its result; ``message`` is the problem, or why the check was skipped."""

    check: str
    verdict: Verdict
    message: str = ""


class Report(msgspec.Struct):
    """The results of all checks of one file."""

    file: str
    kind: str = "unknown"
    """``database``, ``source``, ``job`` or ``unknown``."""
    findings: list[Finding] = msgspec.field(default_factory=list)
    holds: dict[str, int | str] = msgspec.field(default_factory=dict)
    """Facts about the contents, and numbers of rows, by the name that is shown."""
    missing: list[str] = msgspec.field(default_factory=list)
    """What is missing from the profile: one sentence each."""

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(finding.verdict is not Verdict.FAILED for finding in self.findings)

    def note(self, check: str, problem: str | None = None, *, skipped: str = "") -> None:
        """Add a check: failed if there is a problem, skipped if a reason is given, else passed."""
        verdict = Verdict.FAILED if problem else Verdict.SKIPPED if skipped else Verdict.PASSED
        self.findings.append(Finding(check, verdict, problem or skipped))
