"""On a touch screen nothing hovers: a tap tells what a pointer would be told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.serving import TensorBoard


@pytest.fixture
def touch(browser: Browser) -> Iterator[Page]:
    """A page of a device with a touch screen."""
    with browser.new_context(has_touch=True, viewport={"width": 820, "height": 1180}) as context:
        yield context.new_page()


def test_a_tap_on_an_info_mark_shows_its_text_and_the_next_hides_it(touch: Page, tensorboard: TensorBoard) -> None:
    """Also where the finger misses the small circle by a few pixels, and when something else is tapped."""
    touch.goto(tensorboard.page(run="amp", view="dashboard"))
    info, tip = touch.get_by_role("button", name="About Iteration Summary"), touch.get_by_role("tooltip")
    expect(touch.locator(".changes > li, .dlprof-panels .panel").first).to_be_visible()
    text = info.get_attribute("data-tip")
    assert text
    info.tap()
    expect(tip).to_have_text(text)
    info.tap()
    expect(tip).to_have_count(0)
    box = info.bounding_box()
    assert box is not None
    touch.touchscreen.tap(box["x"] + box["width"] / 2 + 11.5, box["y"] + box["height"] / 2 - 11.5)
    expect(tip).to_have_text(text)
    touch.locator(".headline h2").tap(position={"x": 2, "y": 2})
    expect(tip).to_have_count(0)


def test_a_segment_says_what_it_is_before_it_leads_elsewhere(touch: Page, tensorboard: TensorBoard) -> None:
    """The first tap shows its text, the second follows its link; another segment begins anew."""
    touch.goto(tensorboard.page(run="amp", view="dashboard"))
    tip = touch.get_by_role("tooltip")
    first, second = (touch.locator(".stacked-bar a.segment").nth(place) for place in (0, 1))
    for segment in (first, second, first):
        segment.tap()
        expect(tip).to_have_text(segment.get_attribute("data-tip") or "")
    page = touch.locator(".view-menu [aria-current]")
    expect(page).to_have_text("Dashboard")
    first.tap()
    expect(page).to_have_text("Ops")
