"""What the expert system says: findings with their numbers, evidence and gain, and rules that could not decide."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from tensorboard_plugin_dlprof.analysis.wording import Number, filled


class Feedback(NamedTuple):
    """A row of ``expert_systems_feedback``, DLProf's table of findings."""

    detector: str
    problem: str
    recommendation: str
    javascript_function: str = ""
    """Action of DLProf's viewer."""
    javascript_args: str = ""


class Severity(enum.IntEnum):
    """How much a finding matters; its gain decides the order among findings that have one."""

    INFO = 0
    ADVICE = 1
    WARNING = 2


class Confidence(enum.IntEnum):
    """How sure the estimate is: measured, modelled from measurements, or inferred from a symptom."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


class Evidence(msgspec.Struct, frozen=True):
    """One row behind a finding, which a page can open."""

    kind: str
    """``op`` (``key`` is its op id), ``kernel`` (short name), ``line`` (frame of a stack trace that an op has),
    ``function`` (frame that no op need have), ``call`` (API call), ``iteration`` (its number), ``device`` (its id)."""
    key: str
    time_ns: int | None = None
    """In all aggregated iterations."""
    count: int | None = None
    detail: str = ""
    fraction: float | None = None
    """Of the time that the finding is about."""


class Pool(enum.Enum):
    """What a gain is taken from: parts of the wall time that exclude one another (``gaps.py``), kernels by kind."""

    DATA_LOADER = "data_loader"
    IO = "io"
    SETUP = "setup"
    SYNC = "sync"
    LAUNCH = "launch"
    HOST = "host"
    UNRECORDED = "unrecorded"
    COPIES = "copies"
    COMMUNICATION = "communication"
    PRODUCTS = "products"
    LAYOUT = "layout"
    OTHER_KERNELS = "other_kernels"


class Claim(msgspec.Struct, frozen=True):
    """What a finding takes from one pool, per iteration."""

    pool: Pool
    low_ns: int
    high_ns: int


class Gain(msgspec.Struct, frozen=True):
    """What an iteration would become shorter by."""

    low_ns: int
    high_ns: int
    """Per iteration."""
    reasoning: str
    """How the range was found, one or two sentences."""
    claims: tuple[Claim, ...] = ()
    """Where it comes from; they add up to it."""


class Finding(msgspec.Struct, frozen=True):
    """One piece of advice. The texts have placeholders for ``numbers`` (``wording.filled``)."""

    detector: str
    severity: Severity
    confidence: Confidence
    area: str
    """Findings of one area are different ways to the same gain: of these the largest counts."""
    problem: str
    recommendation: str
    numbers: Mapping[str, Number]
    evidence: tuple[Evidence, ...] = ()
    gain: Gain | None = None
    """None where no time can be named."""
    link: str = ""
    action: str = ""
    """DLProf's viewer: the name of the view that lists the ops."""

    def problem_text(self) -> str:
        """The problem, with its numbers."""
        return filled(self.problem, self.numbers)

    def recommendation_text(self) -> str:
        """The recommendation, with its numbers."""
        return filled(self.recommendation, self.numbers)


class Lacks(msgspec.Struct, frozen=True):
    """A rule could not decide, for want of data."""

    missing: str
    """What the profile has not, as part of a sentence: ``the shapes of the ops``."""
    hint: str
    """The recording option that would bring it."""


class Undecided(msgspec.Struct, frozen=True):
    """A rule that lacks data."""

    detector: str
    missing: str
    hint: str


class Verdict(msgspec.Struct):
    """Everything that the expert system says about an aggregation."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    """By gain, most first; those without one after them, by severity."""
    undecided: list[Undecided] = msgspec.field(default_factory=list)
    iteration_ns: int = 0
    """Mean length of the aggregated iterations: what gains are a share of."""
    total_low_ns: int = 0
    total_high_ns: int = 0
    """Per iteration, overlapping gains not added (``gains.together``); never more than the iteration."""
    marked: bool = True
    """False where no iterations are marked: the one iteration is the whole capture."""
