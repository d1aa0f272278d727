"""Finds the kernel rules that a user chose, and passes them to other processes.

Most users have none. Then neither the parser of such files nor the rules of this package are loaded: a server needs
them only once it imports a profile, and a TensorBoard without GPU profiles never does.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.metadata import KERNEL_RULES_VARIABLE

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.classify.rules.rule import Rule


def load_rules(option: str, environment: Mapping[str, str] | None = None) -> tuple[Rule, ...]:
    """The rules in the file named by an option, else by ``DLPROF_KERNEL_RULES``; empty if neither is set.

    Args:
        option: Path of the file, or empty.
        environment: The environment variables; by default those of this process.

    Raises:
        NotFound, BadRequest: As for ``user_rules.load_user_rules``.
    """
    named = option or (os.environ if environment is None else environment).get(KERNEL_RULES_VARIABLE, "")
    if not named:
        return ()
    from tensorboard_plugin_dlprof.classify.user_rules import load_user_rules

    return load_user_rules(Path(named))


def content_of(rules: Sequence[Rule]) -> str:
    """The content of a rules file with these rules, for a process that should use them; empty for no rules."""
    return json.dumps({"rules": [_entry(rule) for rule in rules]}) if rules else ""


def _entry(rule: Rule) -> dict[str, str]:
    return {
        "name": rule.name.removeprefix("user:"),
        "function": rule.head,
        "full_name": rule.text,
        "matrix_unit": rule.matrix_unit.name.lower(),
        "family": rule.family,
        "library": rule.library,
        "precision": rule.precision,
        "note": rule.note,
    }


def digest_of(rules: Sequence[Rule]) -> str:
    """A key that identifies a set of rules, 16 hexadecimal digits; empty for no rules."""
    return hashlib.sha256(repr(tuple(rules)).encode()).hexdigest()[:16] if rules else ""
