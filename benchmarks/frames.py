"""Measures the Timeline in a browser without GPU: when the whole capture is first drawn, and how long frames take.

``python -m benchmarks.frames DATABASE`` zooms with the wheel, once with all kernels in sight, and once from all of the
capture to a ten-thousandth of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import compile_modules
from benchmarks.server import serving
from benchmarks.tab import opened

FRAMES = 180

_WATCH = """
(() => {
  const drawn = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...what) {
    if (window.firstDrawn === undefined && this.canvas.closest(".timeline-canvas") !== null)
      requestAnimationFrame(() => { window.firstDrawn ??= performance.now(); });
    return drawn.apply(this, what);
  };
})();
"""
"""Script that runs first in every frame; reports when the tracks first showed levels of detail."""

_ZOOM = """
([frames, inwards, alternates]) => new Promise((resolve) => {
  const canvas = document.querySelector(".timeline-canvas canvas");
  const box = canvas.getBoundingClientRect();
  const times = [];
  const step = (now) => {
    times.push(now);
    if (times.length > frames) { resolve(times); return; }
    const deltaY = alternates && times.length % 2 === 0 ? inwards : -inwards;
    const place = { clientX: box.left + box.width * 0.4, clientY: box.top + 60 };
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, ctrlKey: true, ...place, cancelable: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""


def measure(database: Path) -> dict[str, Any]:
    """Seconds to the first picture of the whole capture, and milliseconds of frames while zooming."""
    with (
        serving(database) as server,
        opened(f"http://{server.host}:{server.port}/", _WATCH) as open_tab,
    ):
        overview = server.ask(server.path("timeline", profile=server.profile()))
        window = f"&p.dlprof.timeline.from={overview['start']}&p.dlprof.timeline.to={overview['stop']}"
        tab = open_tab(f"&p.dlprof.view=timeline{window}")
        tab.page.frame_locator("iframe").locator(".timeline-canvas canvas").first.wait_for()
        tab.rest()
        results: dict[str, Any] = {"first_s": round(tab.frame.evaluate("firstDrawn") / 1e3, 2)}
        for name, inwards, alternates in (("all_in_view", 1.0, True), ("zooming", 300 * np.log(1e4) / FRAMES, False)):
            times = np.diff(tab.frame.evaluate(_ZOOM, [FRAMES, inwards, alternates]))
            results[name] = {
                "frame_ms_p50": round(float(np.median(times)), 1),
                "frame_ms_p95": round(float(np.percentile(times, 95)), 1),
            }
        return results


def main(argv: list[str] | None = None) -> int:
    """Print the results as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.frames", description=__doc__)
    parser.add_argument("database", type=Path, metavar="DATABASE")
    compile_modules()
    print(json.dumps(measure(parser.parse_args(argv).database), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
