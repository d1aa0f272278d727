"""A server that stops and starts again: the page says so, and comes back by itself."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.serving import TensorBoard, running


@pytest.fixture
def port() -> int:
    """A free port, which the server gets each time it starts."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture(autouse=True)
def refusals(complaints: list[str]) -> Iterator[None]:
    """The browser's lines about requests that nobody answered are what these tests make."""
    yield
    complaints[:] = [each for each in complaints if "ERR_CONNECTION_REFUSED" not in each and "502" not in each]


def served(logdir: Path, cache: Path, port: int) -> AbstractContextManager[TensorBoard]:
    """TensorBoard on the amp profile at a port."""
    return running(logdir / "amp", cache, "--port", str(port))


def test_the_page_comes_back_with_the_server(page: Page, logdir: Path, tmp_path: Path, port: int) -> None:
    """While the server is away the last picture stays, with a word about it; then all is there again, unasked."""
    lost = page.get_by_role("region", name="Connection")
    with served(logdir, tmp_path, port) as server:
        assert urlsplit(server.address).port == port
        page.goto(server.page(view="ops", ops__search="conv"))
        expect(page.get_by_role("grid", name="Ops", exact=True).locator("tbody tr").first).to_be_visible()
        expect(lost).to_have_count(0)
    page.get_by_role("button", name="Refresh").click()
    expect(lost).to_contain_text("tries again by itself")
    expect(page.get_by_role("grid", name="Ops", exact=True).locator("tbody tr").first).to_be_visible()
    page.get_by_role("button", name="Type", exact=True).click()
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("does not answer")
    page.get_by_role("link", name="Efficiency").click()
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("could not be loaded")
    with served(logdir, tmp_path, port):
        expect(page.get_by_role("heading", name="Roofline")).to_be_visible()
        expect(lost).to_have_count(0)
        page.get_by_role("link", name="Ops", exact=True).click()
        page.get_by_role("button", name="Type", exact=True).click()
        expect(page.get_by_role("grid", name="Op Type Summary").locator("tbody tr").first).to_be_visible()


def test_a_press_asks_at_once(page: Page, logdir: Path, tmp_path: Path, port: int) -> None:
    """Also a page that showed nothing yet, behind a proxy that answers for a server that is not there."""
    asked = re.compile(r"/(profiles|dashboard)(\?|$)")
    page.route(asked, lambda route: route.fulfill(status=502, body="<h1>Bad Gateway"))
    with served(logdir, tmp_path, port) as server:
        page.goto(server.page(view="ops", ops__by="type"))
        lost = page.get_by_role("region", name="Connection")
        expect(lost).to_be_visible()
        page.unroute_all()
        lost.get_by_role("button", name="Try now").click()
        expect(page.get_by_role("grid", name="Op Type Summary").locator("tbody tr").first).to_be_visible()
        expect(lost).to_have_count(0)


@pytest.mark.parametrize("losses", [1, 99])
def test_a_file_that_is_lost_makes_the_page_load_again_once(
    page: Page, logdir: Path, tmp_path: Path, port: int, complaints: list[str], losses: int
) -> None:
    """The server answers all the while, and browsers keep a module that failed. Not in turns where it fails again."""
    lost: list[str] = []

    def lose(route: Route) -> None:
        if len(lost) >= losses:
            route.fallback()
        else:
            lost.append(route.request.url)
            route.abort()

    page.route(re.compile(r"/efficiency[^/]*\.js"), lose)
    with served(logdir, tmp_path, port) as server:
        page.goto(server.page(view="ops", ops__by="none"))
        expect(page.get_by_role("grid", name="Ops", exact=True).locator("tbody tr").first).to_be_visible()
        with page.expect_event("load"):
            page.get_by_role("link", name="Efficiency").click()
        if losses == 1:
            expect(page.get_by_role("heading", name="Roofline")).to_be_visible()
        else:
            expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("load it yourself")
            page.get_by_role("link", name="Ops", exact=True).click()
            page.get_by_role("button", name="Type", exact=True).click()
            expect(page.get_by_role("grid", name="Op Type Summary").locator("tbody tr").first).to_be_visible()
        assert len(lost) == min(losses, 2)
    complaints[:] = [each for each in complaints if "ERR_FAILED" not in each]
