"""Recommendations show what the analysis found: gains, evidence that opens, and what could not be decided."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import REAL
from tests.browser.serving import TensorBoard
from tests.browser.test_accessibility import check


def diagnosis_of(tensorboard: TensorBoard, run: str) -> dict[str, Any]:
    """What the server answers for the only profile of a run."""
    return dict(tensorboard.get("diagnosis", profile=tensorboard.profile(run)["id"]))


def findings_of(tensorboard: TensorBoard, run: str) -> list[dict[str, Any]]:
    """The findings in the order of the page: of the answer, but for what is told for information, in a line each."""
    findings = list(diagnosis_of(tensorboard, run)["findings"])
    return [each for each in findings if not is_note(each)] + [each for each in findings if is_note(each)]


def is_note(finding: dict[str, Any]) -> bool:
    """Whether it gains nothing and is no fault."""
    return finding["severity"] == "info" and finding["gain"] is None


SOME_ROWS = 8
"""Rows of evidence that are shown before one asks for all."""


def card(page: Page, place: int) -> Locator:
    """The finding at a place, from 0: those that ask for a change, then the others."""
    return page.locator("article.finding, .finding-notes > li").nth(place)


def check_findings(page: Page, tensorboard: TensorBoard, run: str) -> None:
    """Every finding of the answer is there, in its order, with its sentences and its evidence."""
    findings = findings_of(tensorboard, run)
    notes = sum(map(is_note, findings))
    counts = (len(findings) - notes, "change"), (notes, "note")
    said = ", ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in counts if count)
    expect(page.locator(".headline h2")).to_contain_text(said or "No finding")
    expect(page.get_by_role("article")).to_have_count(len(findings) - notes)
    expect(page.locator(".finding-notes > li")).to_have_count(notes)
    for i, finding in enumerate(findings):
        expect(card(page, i)).to_contain_text(finding["title"])
        expect(card(page, i)).to_contain_text(finding["action"])
        # What can be pasted can be copied: a call, a setting, an option.
        code = card(page, i).locator(".finding-action code").all_inner_texts()
        pasted = any(re.search(r"^--?[a-z]|=|\)$", each) and ".py" not in each for each in code)
        expect(card(page, i).get_by_role("button", name="Copy what to do")).to_have_count(int(pasted))
        if not is_note(finding):
            expect(card(page, i)).to_contain_text(f"confidence {finding['confidence']}")
        rows, count = card(page, i).locator("tbody tr"), len(finding["evidence"])
        more = card(page, i).get_by_text(f"Show all {count} rows")
        expect(rows).to_have_count(count if count <= SOME_ROWS + 1 else SOME_ROWS)
        if more.is_visible():
            more.click()
            expect(rows).to_have_count(count)
        gain = finding["gain"]
        # A time in question is drawn, too; nothing is drawn of what has none.
        is_drawn = (gain is not None and gain["low_ns"] is not None) or bool(finding["share"])
        expect(card(page, i).locator(".whisker-bar")).to_have_count(int(is_drawn and not is_note(finding)))
    undecided = tensorboard.get("findings", profile=tensorboard.profile(run)["id"])["undecided"]
    for each in undecided:
        expect(page.get_by_role("region", name="Not Decided")).to_contain_text(each["missing"])
        expect(page.get_by_role("region", name="Not Decided")).to_contain_text(each["hint"])


def test_a_finding_shows_its_longest_moment(page: Page, tensorboard: TensorBoard) -> None:
    """Beside its words, once it is in sight; a narrow window shows it with the evidence. Each place stands there once,
    on the GPU that waits."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp", view="recommendations"))
    findings = [each for each in findings_of(tensorboard, "amp") if not is_note(each)]
    told = [i for i, each in enumerate(findings) if any(row["from_ns"] is not None for row in each["evidence"])]
    assert len(told) > 2
    for i in told:
        card(page, i).scroll_into_view_if_needed()
        words, picture = card(page, i).locator(".finding-action"), card(page, i).locator(".timeline-strip canvas")
        expect(picture).to_be_visible()
        of_words, of_picture = words.bounding_box(), picture.bounding_box()
        assert of_words is not None
        assert of_picture is not None
        assert of_picture["x"] > of_words["x"] + of_words["width"] - 1
        places = {(row["path"], row["device"]) for row in findings[i]["evidence"] if row["from_ns"] is not None}
        links = card(page, i).get_by_role("list", name="On the timeline").get_by_role("link")
        expect(links).to_have_count(min(len(places), 3))
        names = card(page, i).locator(".moment-name").all_inner_texts()
        assert len(set(names)) == len(names)
    page.set_viewport_size({"width": 900, "height": 800})
    page.reload()
    expect(card(page, told[0]).get_by_role("list", name="On the timeline")).to_be_visible()
    expect(page.locator(".finding .timeline-strip")).to_have_count(0)
    card(page, told[0]).locator("summary").click()
    expect(page.locator(".finding .timeline-strip canvas")).to_have_count(1)


@pytest.mark.parametrize("run", ["amp", "ddp/rank0"])
def test_findings_of_the_samples(page: Page, tensorboard: TensorBoard, run: str) -> None:
    """What the page shows of a sample is what the server answers."""
    page.goto(tensorboard.page(run=run, view="recommendations"))
    check_findings(page, tensorboard, run)


@pytest.mark.parametrize("real_run", [*REAL, "dlprof"], indirect=True)
def test_findings_of_real_profiles(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """What the page shows of a real profile is what the server answers, NVIDIA's databases included."""
    page.goto(tensorboard.page(run=real_run, view="recommendations"))
    check_findings(page, tensorboard, real_run)
    marked = real_run in ("h100", "mi300x")
    whole = "in an iteration of" if marked else "from first to last GPU work."
    expect(page.locator(".headline h2")).to_contain_text(whole)


def test_nothing_found(page: Page, tensorboard: TensorBoard) -> None:
    """Without GPU work nothing is judged, rather than well: a card says so, what the host's time tells, and what to
    record; what is not decided follows, but for the missing GPU work itself."""
    page.goto(tensorboard.page(run="cpu", view="recommendations"))
    expect(page.get_by_role("heading", name="No GPU work to judge")).to_be_visible()
    headline = diagnosis_of(tensorboard, "cpu")["headline"]
    expect(page.locator(".findings .message")).to_contain_text(headline.replace("`", ""))
    rules = tensorboard.get("findings", profile=tensorboard.profile("cpu")["id"])["undecided"]
    expect(page.locator(".undecided li")).to_have_text([re.compile(each["heading"]) for each in rules[:-1]])
    assert [each["detector"] for each in rules[-1:]] == ["coverage_detector"]
    expect(page.locator(".findings")).to_contain_text("record with ProfilerActivity.CUDA")


def test_evidence_tells_times_in_one_unit_and_several_ops_as_such(page: Page, tensorboard: TensorBoard) -> None:
    """The head names the unit; a row of several ops has no op's id beside its path, but one as an example."""
    page.goto(tensorboard.page(run="amp", view="recommendations"))
    several = 0
    for place, finding in enumerate(findings_of(tensorboard, "amp")):
        times = [row["time_ns"] for row in finding["evidence"] if row["time_ns"]]
        if not times:
            continue
        card(page, place).locator("summary").click()
        (unit,) = re.findall(r"Time \((\S+)\)", card(page, place).locator("thead").inner_text())
        digits = {"µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
        for row, shown in zip(finding["evidence"], card(page, place).locator("tbody tr").all(), strict=False):
            if row["time_ns"]:
                text = shown.locator("td").last.inner_text()
                assert float(text.replace(",", "")) == pytest.approx(row["time_ns"] / digits, rel=0.01, abs=0.001)
            if " ops, e.g. " in (row["detail"] or ""):
                several += 1
                expect(shown.locator(".whole-id")).to_have_count(0)
                expect(shown).to_contain_text(f"ops, e.g. {row['op']}")
            elif row["op"]:
                expect(shown.locator(".whole-id")).to_have_text(row["op"])
    assert several


def test_evidence_opens(page: Page, tensorboard: TensorBoard) -> None:
    """A kernel opens the kernels of an iteration, narrowed to it; an op opens op by op, selected; Back returns."""
    page.goto(tensorboard.page(run="amp", view="recommendations"))
    result = findings_of(tensorboard, "amp")
    for kind in ("kernel", "op"):
        places = [i for i, each in enumerate(result) if any(row["kind"] == kind for row in each["evidence"])]
        if not places:
            continue
        place = places[0]
        card(page, place).locator("summary").click()
        row = next(row for row in result[place]["evidence"] if row["kind"] == kind)
        card(page, place).locator("tbody tr").filter(has_text=row["path"].rpartition("/")[2]).get_by_role(
            "link"
        ).first.click()
        expect(page.get_by_role("link", name="Ops" if kind == "op" else "Iterations", exact=True)).to_have_attribute(
            "aria-current", "page"
        )
        page.go_back()
        expect(card(page, place)).to_be_visible()


def test_open_evidence_stays_in_the_url(page: Page, tensorboard: TensorBoard) -> None:
    """Evidence that was opened is open in a link; at first all is folded, so that the next finding is in sight."""
    page.goto(tensorboard.page(run="amp", view="recommendations"))
    expect(card(page, 0).locator("details")).not_to_have_attribute("open", "")
    card(page, 1).locator("summary").press("Enter")
    expect(card(page, 1).locator("tbody tr").first).to_be_visible()
    page.reload()
    expect(card(page, 1).locator("tbody tr").first).to_be_visible()
    expect(card(page, 0).locator("tbody tr").first).not_to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["amp", "cpu"])
def test_accessible(page: Page, tensorboard: TensorBoard, run: str, scheme: Literal["light", "dark"]) -> None:
    """axe finds no serious fault."""
    page.emulate_media(color_scheme=scheme)
    page.goto(tensorboard.page(run=run, view="recommendations"))
    expect(page.locator("main h2").first).to_be_visible()
    check(page)
