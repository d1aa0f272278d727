"""What a rank's job tells of its gains: the same wherever a diagnosis is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.job_places import find_job
from tensorboard_plugin_dlprof.diagnosis.known_waits import COMMUNICATION, NOT_TAKEN_OUT, SHOWS_BESIDE, without_waits
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tensorboard_plugin_dlprof.units import percentage
from tests.ranks.jobs import import_into, made_in
from tests.routes.serving import Server

RANK = "generated-job-rank0.pt.trace.json.gz"


def _finding(rule: str, low: int | None, high: int | None, **rest: Any) -> dict[str, Any]:
    shares = {"share_low": None, "share_high": None}
    if low is not None and high is not None:
        shares = {"share_low": low / 1000, "share_high": high / 1000}
    gain = {"low_ns": low, "high_ns": high, **shares, "how": "Half.", "cannot_tell": None, "none_while": None}
    cause = "communication" if rule == COMMUNICATION else "kernels"
    about = {"title": "A.", "action": "B.", "confidence": "medium", "cause": cause, "per": "iteration", "time_ns": 400}
    return {"rule": rule, **about, "gain": gain, **rest}


def _told(findings: list[dict[str, Any]], waits: float | None) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = without_waits({"findings": findings, "mean": {"wall_ns": 1000}}, waits)["findings"]
    return result


def test_no_more_is_gained_than_what_is_no_wait() -> None:
    """What then gains less comes behind what gains more; what is unknown changes nothing."""
    action = "Overlap more (no_sync); the other ranks' recordings show whether it transfers or waits for a late one."
    hide = _finding(COMMUNICATION, 150, 300, title=f"A. {NOT_TAKEN_OUT}", action=action)
    findings = [hide, _finding("fusion", 100, 200), _finding("host", None, None, gain=None)]
    assert _told(findings, None) == findings
    (few, *_) = _told(findings, 0.25)
    assert few["gain"] | {"how": ""} == hide["gain"] | {"how": ""}, "the other 300 of 400 ns can all be hidden"
    assert few["title"] == "A. Of the exposed time, 25.0 % is a wait for other ranks, which nothing hides."
    assert few["action"] == "Overlap more (no_sync)."
    told = _told(findings, 0.75)
    assert [each["rule"] for each in told] == ["fusion", COMMUNICATION, "host"]
    assert (told[1]["gain"]["low_ns"], told[1]["gain"]["high_ns"]) == (50, 100)
    assert told[1]["gain"]["share_high"] == pytest.approx(0.1)
    assert told[1]["gain"]["how"].endswith("Waits for other ranks cannot, which leaves 100 ns of the exposed time.")
    nothing = _told(findings, 0.99)[1]["gain"]
    assert (nothing["high_ns"], nothing["cannot_tell"]) == (None, "nearly all of it is a wait for other ranks")


def test_where_no_gain_is_told_the_other_ranks_are_not_asked_for() -> None:
    """They were compared."""
    little = "there is too little computing to hide it behind"
    gain = {"low_ns": None, "high_ns": None, "share_low": None, "share_high": None, "how": None, "none_while": None}
    hide = _finding(COMMUNICATION, None, None, gain={**gain, "cannot_tell": little + SHOWS_BESIDE})
    assert _told([hide], 0.5)[0]["gain"]["cannot_tell"] == little


def test_where_most_is_a_wait_the_ranks_are_to_be_evened_out_first() -> None:
    """The finding keeps the place that its time has among gains that are known: a quarter of 400 ns before 60."""
    gain = {"low_ns": None, "high_ns": None, "share_low": None, "share_high": None, "how": None, "none_while": None}
    action = "Overlap more, even out what the ranks send each other."
    hide = _finding(COMMUNICATION, None, None, gain={**gain, "cannot_tell": "little computing"}, action=action)
    (first, second) = _told([hide, _finding("fusion", 40, 90)], 0.9)
    assert (first["rule"], second["rule"]) == (COMMUNICATION, "fusion")
    assert first["action"] == "Even out what the ranks compute or send. Overlap more."
    assert first["gain"]["cannot_tell"] == "most of it is a wait for other ranks"


def test_the_job_is_found_in_three_folders_above(tmp_path: Path) -> None:
    """Not farther; a file of that name which is no job, or knows other ranks, is passed by."""
    write_job(Plan(tensor=2, data=1, straggler=1), tmp_path)
    import_into(tmp_path, sorted(tmp_path.rglob("*.gz")), tmp_path)
    database, (rank, *_) = made_in(tmp_path).database, sorted(tmp_path.rglob(RANK))
    assert find_job(rank) == (database, 0)
    (database.parent / "a.dlprof_job.sqlite").write_text("no job")
    assert find_job(rank) == (database, 0)
    assert find_job(database.parent / "other.pt.trace.json.gz") is None


def test_the_gain_is_the_same_everywhere_and_follows_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages, command, reports and Python leave waits out once the job is made, and no longer once it is gone."""
    logs = tmp_path / "logs"
    write_job(Plan(), logs / "run")
    import_into(logs / "run", sorted((logs / "run").rglob("*.gz")), logs / "run")
    rank = logs / "run" / "host0" / RANK
    server = Server(logs, tmp_path / "cache")
    profile = server.profile(RANK)["id"]

    def gains() -> list[Any]:
        assert main(["diagnose", str(rank), "--format", "json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        answered = server.get(f"/diagnosis?profile={profile}").json
        assert answered["findings"] == printed["findings"]
        hide = next(each for each in printed["findings"] if each["rule"] == COMMUNICATION)
        with dlprof.open(rank) as opened:
            assert opened.diagnosis()["findings"] == printed["findings"]
            rows = opened.findings().set_index("detector").loc[COMMUNICATION]
            (page,) = opened.write_reports(tmp_path, reports="summary", formats="html", force=True)
            assert hide["title"].rpartition(". ")[2] in page.read_text().replace("\N{NO-BREAK SPACE}", " ")
        gain = hide["gain"]
        assert (rows["gain_low_ns"], rows["gain_high_ns"]) == (gain["low_ns"], gain["high_ns"])
        assert rows["problem"] == hide["title"]
        return [gain["high_ns"], NOT_TAKEN_OUT in hide["title"]]

    unknown = gains()
    assert unknown[1]
    database = made_in(logs / "run").database
    known = gains()
    assert known[0] < 0.7 * unknown[0]
    text = (tmp_path / "dlprof_reports.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "<h1>run/host0, rank 0 of 8</h1>" in text
    assert main(["distributed", str(logs / "run"), "--format", "json"]) == 0
    job = json.loads(capsys.readouterr().out)
    told = job["findings"]
    diagnosis = server.get(f"/diagnosis?profile={profile}").json
    findings = diagnosis["findings"]
    assert [each["rule"] for each in told[:2]] == ["straggler", "exposed_communication"]
    (first,) = (each for each in findings if "whole_job" in each)
    assert (first["title"], first["action"]) == (told[0]["text"], told[0]["action"]), "each is told once"
    assert " of each iteration: " in first["title"], "shares are of the rank's own iteration"
    assert first["gain"]["low_ns"] == first["gain"]["high_ns"] == told[0]["gain_ns"]
    assert first["share"] == told[0]["gain_ns"] / diagnosis["mean"]["wall_ns"], "as those beside it"
    assert findings[0] == first, "it gains most"
    assert f"whole job, confidence medium</span><strong>{first['heading']}</strong>" in text
    transfer = percentage(job["exposed_communication_fraction"] - job["wait_fraction"])
    assert told[1]["text"].startswith(f"{transfer} of the time goes into transfers while nothing is computed; ")
    assert not known[1]
    with dlprof.open(rank) as opened:
        (table,) = opened.write_reports(tmp_path, reports="expert_systems", force=True)
        (row,) = (line for line in table.read_text().splitlines() if "Exposed communication takes" in line)
        assert "Could gain" not in row, "what an import stored knows no job"
    database.write_text("damaged")
    assert gains() == unknown
    database.unlink()
    assert gains() == unknown
    server.app.close()
