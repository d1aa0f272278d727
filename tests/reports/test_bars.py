"""The bar of an iteration with its words, and the strip that tells when, on the HTML page."""

from __future__ import annotations

import io
import re
from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnosis_or_none, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports.as_html import write_html
from tensorboard_plugin_dlprof.reports.charts import Part, named_bar
from tensorboard_plugin_dlprof.reports.html_style import style
from tests.cli.traces import write_trace
from tests.reports.test_page import Page
from tests.shared_data import shared_data


def _page_of(source: Path, database: Path) -> str:
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    return stream.getvalue()


def test_one_iteration_is_drawn_over_time(tmp_path: Path) -> None:
    """As on the Dashboard: ops, idle time by cause, and streams; of several iterations there are bars."""
    pages = []
    for steps in (1, 3):
        source = write_trace(tmp_path / f"{steps}.json", steps=steps)
        text = _page_of(source, tmp_path / f"{steps}.dlprof_dldb.sqlite")
        Page(text)
        pages.append(text.partition(">What ran when</h2>")[2].partition("</section>")[0])
    one, several = pages
    assert several == ""
    rows = re.findall(r"<th scope=row>(.*?)</th>", one)
    assert rows == ["ops", "idle by cause", "stream 7"]
    assert "<title>/mm: " in one


def test_communication_is_never_part_of_the_rest(tmp_path: Path) -> None:
    """However little it is: 0.3 % here, while smaller parts are one."""
    (source,) = shared_data().glob("torch/v100_megatron_tp2_rank0/*.json")
    text = _page_of(source, tmp_path / "dldb.sqlite")
    answer = text.partition("</section>")[0]
    assert "Communication, exposed: 164 µs, 0.3 %" in answer
    assert "Rest: " in answer
    # As in the sentence above it; what of the queued time is between kernels is told apart.
    assert "and may fill <strong>53.4 ms</strong>" in answer.replace("\N{NO-BREAK SPACE}", " ")
    assert '<rect class="missing" width="100%" height="100%"><title>Queued, GPU work missing: 53.4 ms, 85.3 %' in answer
    assert '<pattern id="missing"' in answer, "it is striped, as on the pages"
    ran = text.partition(">What ran when</h2>")[2].partition("</section>")[0]
    assert 'class="missing"' in ran, "in the colours of the bar"
    assert 'class="queued"' not in ran


def test_words_stand_on_the_parts_that_have_room_for_them() -> None:
    """Name and time, else one of them; nothing on a narrow part. The colours of words are those that can be read."""
    told = [("Tensor Cores 11.2 ms", "Tensor Cores", "11.2 ms"), ("Other 1 ms", "Other", "1.00 ms"), ("A B", "A", "B")]
    sizes = (80, 9, 1)
    parts = [(Part(size, "cpu", texts[0]), texts) for size, texts in zip(sizes, told, strict=True)]
    bar = named_bar("where", parts)
    assert re.findall(r"<text[^>]*>(.*?)</text>", bar) == ["Tensor Cores 11.2 ms", "Other 1 ms"]
    assert bar.count("<title>") == 3
    assert "svg .on-tensor_core { fill: #ffffff; }" in style()
    assert "svg .on-tensor_core { fill: #111111; }" in style()
