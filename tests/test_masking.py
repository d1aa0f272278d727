"""Secrets in command lines."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.masking import mask_arguments, mask_command_line


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        (["python", "train.py", "--api-key", "S3CRET", "--lr", "0.1"], "python train.py --api-key '***' --lr 0.1"),
        (["train", "--token=S3CRET"], "train '--token=***'"),
        (["env", "HF_TOKEN=S3CRET", "python"], "env 'HF_TOKEN=***' python"),
        (["curl", "-H", "Authorization: Bearer S3CRET"], "curl -H 'Authorization: ***'"),
        (["sh", "-c", "train --password S3CRET 'x y'"], "sh -c 'train --password *** '\"'\"'x y'\"'\"''"),
        (["git", "clone", "https://me:S3CRET@example.com/x"], "git clone 'https://***@example.com/x'"),
        (["dlprof", "import", "--key-op", "step"], "dlprof import --key-op step"),
        (["dlprof", "--key_op=step"], "dlprof --key_op=step"),
        (["train", "--cache-keys", "--epochs", "3"], "train --cache-keys --epochs 3"),
    ],
)
def test_values_of_options_that_name_a_secret_are_hidden(arguments: list[str], masked: str) -> None:
    """The rest of the command line stays, so that it can still be repeated."""
    assert mask_arguments(arguments) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("python train.py --api-key S3CRET  --lr 0.1", "python train.py --api-key ***  --lr 0.1"),
        ("A_SECRET='S3 CRET' python x.py", "A_SECRET=*** python x.py"),
        ('run "--token=S3 CRET" now', 'run "--token=***" now'),
        ("sh -c 'x --password \"S3 CRET\" y'", "sh -c 'x --password *** y'"),
        ('an "unfinished --token S3CRET', 'an "unfinished --token ***'),
        ("", ""),
    ],
)
def test_a_command_line_that_is_known_as_text_only_keeps_its_spaces(text: str, masked: str) -> None:
    """Sources store a command line as one text."""
    assert mask_command_line(text) == masked


def test_command_lines_within_command_lines_without_end() -> None:
    """A hostile file may nest quotes as it likes; what lies too deep to look at is hidden."""
    text = "token=1"
    for number in range(3_000):
        quote = "\"'"[number % 2]
        text = f"{quote} {text} {quote}"
    assert "token=1" not in mask_command_line(text)
