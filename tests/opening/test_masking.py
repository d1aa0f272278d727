"""Secrets in command lines."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.opening.masking import mask_arguments, mask_command_line


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
        (["mysql", "--pwd", "S3CRET"], "mysql --pwd '***'"),
        (["x", "--pass", "S3CRET", "--auth", "S3CRET"], "x --pass '***' --auth '***'"),
        (["x", "--bearer=S3CRET"], "x '--bearer=***'"),
        (["curl", "-u", "me:S3CRET", "x"], "curl -u 'me:***' x"),
        (["curl", "-ume:S3CRET", "x"], "curl '-ume:***' x"),
        (["curl", "--user=me:S3CRET", "x"], "curl '--user=me:***' x"),
        (["scp", "me:S3CRET@host:a", "b:c"], "scp 'me:***@host:a' b:c"),
        (["/usr/bin/mysql", "-u", "root", "-pS3CRET", "db"], "/usr/bin/mysql -u root '-p***' db"),
        (["sshpass", "-p", "S3CRET", "ssh", "host", "-p", "22"], "sshpass -p '***' ssh host -p '***'"),
        (["train", "-p", "8080", "-ab", "--session-id=S3CRET"], "train -p 8080 -ab '--session-id=***'"),
        (["MYSQL_PWD=S3CRET", "PGPASS=S3CRET", "GITLAB_PAT=S3CRET"], "'MYSQL_PWD=***' 'PGPASS=***' 'GITLAB_PAT=***'"),
        (["get", "https://x/a?sig=S3CRET&v=1"], "get 'https://x/a?sig=***&v=1'"),
        (
            ["get", "s3://b/a?X-Amz-Signature=S3CRET&access_token=S3CRET"],
            "get 's3://b/a?X-Amz-Signature=***&access_token=***'",
        ),
        (["docker", "--env=WANDB_KEY=S3CRET"], "docker '--env=WANDB_KEY=***'"),
        (["train", '{"api_key": "S3CRET", "lr": 1}'], 'train \'{"api_key": ***, "lr": 1}\''),
        (["curl", "-H", "Authorization:", "Bearer", "S3CRET"], "curl -H Authorization: '***' '***'"),
        (["curl", "authorization:", "Basic", "S3CRET", "x"], "curl authorization: '***' '***' x"),
        (["x", "Bearer", "S3CRET", "--lr", "0.1"], "x Bearer '***' --lr 0.1"),
        (["post", "https://hooks.slack.com/services/T0/B0/S3CRET"], "post 'https://hooks.slack.com/services/***'"),
        (["post", "https://discord.com/api/webhooks/12/S3CRET"], "post 'https://discord.com/api/webhooks/***'"),
        (["x", "ghp_S3CRETS3CRET", "sk-S3CRETS3CRET", "AKIAS3CRETS3CRET12"], "x '***' '***' '***'"),
        (["train", "--passes", "3", "--compass", "n", "--pattern", "a"], "train --passes 3 --compass n --pattern a"),
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
        ('x --cfg {"token": "S3CRET"} --lr 1', 'x --cfg {"token": *** --lr 1'),
        ("curl authorization: Bearer S3CRET", "curl authorization: *** ***"),
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
