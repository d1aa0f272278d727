"""What a user sees who calls the server by a name that it does not answer to."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserType, expect

from tests.browser.serving import running
from tests.imports.traces import write_trace


def test_the_page_says_why_it_shows_nothing(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any], tmp_path: Path
) -> None:
    """The name leads to this machine, as an attacker's would; the page names the flag, and no profile."""
    write_trace(tmp_path / "logs" / "a.pt.trace.json")
    with running(tmp_path / "logs", tmp_path / "cache") as board:
        resolving = [*browser_type_launch_args.get("args", []), "--host-resolver-rules=MAP rebound.example 127.0.0.1"]
        browser = browser_type.launch(**{**browser_type_launch_args, "args": resolving})
        try:
            page = browser.new_page()
            port = urlsplit(board.address).port
            page.goto(f"http://rebound.example:{port}/data/plugin_entry.html?name=dlprof#dlprof")
            refusal = page.get_by_role("alert")
            expect(refusal).to_contain_text("not under the name rebound.example")
            expect(refusal).to_contain_text("--dlprof_allowed_hosts")
            assert "a.pt.trace" not in page.content()
        finally:
            browser.close()
