"""Masks secrets in command lines before they are stored or shown.

Values are masked if their name suggests a secret (``--api-key abc``, ``--token=abc``, ``HF_TOKEN=abc python train.py``,
``-H "Authorization: Bearer abc"``), and so are credentials in URLs. The rest of the command stays readable.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from tensorboard_plugin_dlprof.expressions import Expression

MASK = "***"

_DEEPEST = 8
"""Levels of command lines within command lines; text nested deeper is masked."""

_SECRET_NAME = Expression(
    r"key|token|secret|passw|passphrase|credential|authorization|bearer|signature|cookie|private|session[_-]?id"
    r"|(?:^|[_\W])(?:(?:pg|db|my|user)?(?:pwd|pass|pw)|auth|pat|sig|sas)(?:$|[_\W])",
    re.IGNORECASE,
)
"""Parts of names of secrets, and whole words in names. When in doubt, a value is masked."""

_HARMLESS_NAMES = frozenset({"key-op", "key_op", "key-node", "key_node", "--key_op", "--key-op"})
"""Options of our own whose names look like those of secrets."""

_ASSIGNMENT = Expression(r"""(?P<name>["']?-{0,2}[\w.-]+)(?P<sign>=|:\s*)(?P<value>.+)""", re.DOTALL, frozenset("=:"))
_NAME = re.compile(r"""(?<![\w.-])([\w.-]+)["']?\s*[=:](?!//)\s*""")
_VALUE = re.compile(r"""(["'])(?:\\.|(?!\1)[^\\])*\1|[^\s&;,"'}\]]+""")
"""A name and its value anywhere in a word: parameters of an address, ``--env=NAME=...``, members of a JSON object."""
_OPTION = Expression(r"-{1,2}[\w.-]+", words=frozenset("-"))
_USER_OPTIONS = frozenset({"-u", "--user", "--proxy-user"})
"""Options whose value may be ``user:password``."""
_SCHEMES = frozenset({"bearer", "basic"})
"""In ``Authorization: Bearer abc``: the secret is the word behind."""
_PASSWORD_AT_HOST = re.compile(r"(?<=\w:)[^@/\s:]+(?=@)")
"""In ``name:password@host``."""
_PASSWORD_OPTIONS = dict.fromkeys(("sshpass", "mysql", "mysqldump", "mongo", "mongosh"), "-p") | {"redis-cli": "-a"}
"""Programs whose option of one letter is a password: alone, or with the password behind it."""
_URL_CREDENTIALS = Expression(r"(?<=://)[^/@\s]+@", words=frozenset(("://",)))
_KNOWN_TOKEN = re.compile(
    r"\b(?:gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|sk-[\w-]{8,}|hf_\w{8,}|xox[abeprs]-[\w-]{8,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ya29\.[\w.-]{8,}|npm_\w{20,}|pypi-[\w-]{20,}|wandb_\w{8,}"
    r"|(?<=hooks\.slack\.com/services/)[\w/-]+|(?<=/api/webhooks/)[\w/-]+"
    r"|eyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]*)"
)
"""Shapes of tokens of known issuers, wherever they stand."""
_WORD = Expression(r"""\s+|(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\]|["'\\])+""", re.DOTALL)


def mask_arguments(arguments: Sequence[str]) -> str:
    """The command line of a process, quoted for a shell, with secrets masked."""
    return shlex.join(_masked(list(arguments)))


def mask_command_line(text: str) -> str:
    """A command line that is known only as text, with secrets masked; spaces and quotes stay as they are."""
    return _mask_text(text, 0)


def _mask_text(text: str, depth: int) -> str:
    if depth > _DEEPEST:
        return MASK
    parts = _WORD.findall(text)
    words = iter(_masked([part for part in parts if not part.isspace()], depth))
    return "".join(part if part.isspace() else next(words) for part in parts)


def _masked(words: list[str], depth: int = 0) -> list[str]:
    masked: list[str] = []
    option = password_option = ""
    for word in words:
        if option and (option == password_option or _names_secret(option)) and not word.startswith(("-", MASK)):
            masked.append(MASK)
            if word.lower() in _SCHEMES:
                continue
        elif ":" in word and (option in _USER_OPTIONS or word.startswith(("-u", "--user=", "--proxy-user="))):
            masked.append(word.partition(":")[0] + f":{MASK}")
        elif password_option and word.startswith(password_option) and word != password_option:
            masked.append(password_option + MASK)
        else:
            masked.append(_masked_word(word, depth))
        password_option = _PASSWORD_OPTIONS.get(word.rpartition("/")[2], password_option)
        is_name = _OPTION.fullmatch(word) is not None or word.endswith(":") or word.lower() == "bearer"
        option = word if is_name else ""
    return masked


def _masked_word(word: str, depth: int) -> str:
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment and _names_secret(assignment["name"]):
        quote = assignment["name"][0] if assignment["name"][0] in "\"'" else ""
        return f"{assignment['name']}{assignment['sign']}{MASK}{quote}"
    inner = word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word
    if any(letter.isspace() for letter in inner):
        # A command line within the command line: sh -c "...".
        inner_masked = _mask_text(_masked_parts(inner), depth + 1)
        return word.replace(inner, inner_masked)
    return _masked_parts(word)


def _masked_parts(word: str) -> str:
    """A word without the secrets that stand inside it."""
    word = _URL_CREDENTIALS.sub(f"{MASK}@", word)
    word = _PASSWORD_AT_HOST.sub(MASK, word)
    parts, at = [], 0
    for name in _NAME.finditer(word):
        value = _VALUE.match(word, name.end()) if name.start() >= at and _names_secret(name[1]) else None
        if value is not None:
            parts += [word[at : value.start()], MASK]
            at = value.end()
    return _KNOWN_TOKEN.sub(MASK, "".join(parts) + word[at:])


def _names_secret(name: str) -> bool:
    bare = name.strip("\"'-=: ").lower()
    return bare not in _HARMLESS_NAMES and _SECRET_NAME.search(bare) is not None
