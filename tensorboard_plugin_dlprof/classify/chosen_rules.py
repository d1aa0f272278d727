"""The rules for kernels that a user chose, for those who hand them on.

Most users have none: then neither what reads such a file nor the rules of this package are loaded, which a server does
without until it imports a profile, and TensorBoard for good where nobody opens one.
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


def chosen_rules(option: str, environment: Mapping[str, str] | None = None) -> tuple[Rule, ...]:
    """The rules of the file that an option names, else of the one that the environment variable names, else none.

    Raises:
        ProfileError: see ``user_rules.load_user_rules``.
    """
    named = option or (os.environ if environment is None else environment).get(KERNEL_RULES_VARIABLE, "")
    if not named:
        return ()
    from tensorboard_plugin_dlprof.classify.user_rules import load_user_rules

    return load_user_rules(Path(named))


def content_of(rules: Sequence[Rule]) -> str:
    """The content of a file with these rules, for a process that shall use them."""
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
    """What tells one set of rules from another, in sixteen letters; empty for none."""
    return hashlib.sha256(repr(tuple(rules)).encode()).hexdigest()[:16] if rules else ""
