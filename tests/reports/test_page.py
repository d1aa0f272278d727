"""The HTML file: complete in itself, harmless, and cut where it would be too long."""

from __future__ import annotations

import html.parser
import io
import json
import pickle
import re
import sqlite3
from contextlib import closing
from html import escape
from pathlib import Path

import pytest

from scripts.samples.xplane_file import Plane, space
from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnosis_or_none, import_dlprof_database, import_source
from tensorboard_plugin_dlprof.queries.graph_launch import graph_launch_fraction
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import collectives, kernel_time, performance, resource_breakdown
from tensorboard_plugin_dlprof.reports.answer import exposed_communication, longest_shown
from tensorboard_plugin_dlprof.reports.as_html import write_html
from tensorboard_plugin_dlprof.reports.markup import CODE, answer, path, typeset, with_code
from tensorboard_plugin_dlprof.reports.proof import MOST_ROWS, proof
from tensorboard_plugin_dlprof.units import short_duration
from tests.cli.traces import write_trace
from tests.reports.writing import golden, page_of, plain
from tests.shared_data import shared_data


class Page(html.parser.HTMLParser):
    """Tags and attributes of a page; every element that is opened is closed."""

    VOID = frozenset({"meta", "br", "wbr", "input", "rect", "polygon", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects."""
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects."""
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        """Closes."""
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_needs_nothing_else() -> None:
    """No script, no style sheet, no picture from elsewhere; its own policy forbids them. Links lead within it."""
    text = page_of(golden("dlprof_dldb_1.sqlite"))
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not [value for name, value in page.attributes if name in ("src", "srcset", "style")]
    targets = [value for name, value in page.attributes if name == "href"]
    assert targets
    anchors = [value for name, value in page.attributes if name == "id"]
    assert targets == [f"#{anchor}" for anchor in anchors], "the line of contents"
    assert len(set(anchors)) == len(anchors)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "default-src 'none'" in text
    assert "@media screen and (prefers-color-scheme: dark)" in text


def test_every_report_and_chart_is_on_the_page() -> None:
    """The dashboard first."""
    text = page_of(golden("dlprof_dldb_1.sqlite"))
    titles = ["Where GPU time goes", "Resource usage", "Kernel time", "DLProf's tables"]
    tables = ["System Config", "All Iterations", "Iteration Report", "Kernel Report", "Tensor Core Report"]
    tables += ["Op Type Summary Report", "Group Op Report"]
    places = [text.index(f">{escape(title)}</h2>") for title in titles]
    places += [text.index(f"<h3>{table}</h3>") for table in tables]
    assert places == sorted(places)
    groups = text[text.index("<table class=groups>") :].partition("</table>")[0]
    assert text.count('<svg role="img"') == 2 + groups.count("<svg"), "its iteration is the bar of the wall time"


def test_the_page_opens_with_the_answer(made: Path) -> None:
    """The sentence and its bar, what to change with its gain, the groups, the iterations; what is left out is told."""
    result = diagnosis_or_none(made, None)
    assert result is not None
    gain = {"low_ns": 1, "high_ns": 2_000, "share_low": 0.1, "share_high": 0.2, "cannot_tell": None}
    finding = {"heading": "what", "title": "<b>", "action": "do", "gain": gain, "evidence": [], "confidence": "low"}
    finding["missing_work"] = None
    result["findings"] = [finding]
    stream = io.StringIO()
    with closing(open_database(made)) as connection:
        write_html(connection, find_scope(connection), [], stream, result)
    text = plain(stream.getvalue())
    Page(text)
    places = [
        text.index(each)
        for each in ("class=answer", "&lt;b&gt;", ">Where GPU time goes</h2>", "Duration of the iterations")
    ]
    assert places == sorted(places)
    assert "<span class='faint sure'>confidence low</span><strong>what</strong>" in text
    assert f"<p class=answer>{plain(answer(result['headline']))}</p>" in text
    assert "0.0010 to 2.00 µs<div class=faint>10.0 to 20.0 %</div>" in text
    assert "Times are means of " in text
    assert text.count(f" in {result['mean']['iterations']} iterations") == 2, "what is a sum says so"
    left_out = set(re.findall(r"<title>([^<]*), left out of the means: ", text))
    assert left_out == {each["label"] for each in result["iterations"] if not each["typical"]}
    legend = text[text.index("Duration of the iterations") :].partition("<ul class=keys>")[2].partition("</ul>")[0]
    assert "Queued" in legend, "colours have names"
    bar = text.partition("<ul class=keys>")[2].partition("</ul>")[0]
    named = re.compile(r"</svg>([^<]+) <b>")
    assert set(named.findall(bar)) - {"Rest"} <= set(named.findall(legend)), "what the bar at the top shows, these show"
    wall, (mean,) = result["mean"]["wall_ns"], result["mean"]["devices"].values()
    assert f"<dt>Iteration time</dt><dd>{short_duration(wall)}</dd>" in text
    computing = sum(mean["parts"][part] for part in ("compute_tensor", "compute_other", "compute_unknown"))
    assert f"<dt>Computing</dt><dd>at least {100 * computing / wall:.1f} %</dd>" in text


def test_how_a_finding_is_known_is_folded_below_it() -> None:
    """How its gain is estimated, and its evidence, folded further after some; what happens once is no iteration's."""
    row = {"path": "/a/<b>", "call": "cudaMalloc", "kind": "op", "count": 2, "time_ns": 1_500_000, "detail": "4 bytes"}
    finding = {"gain": {"how": "Half of it."}, "evidence": [row] * (MOST_ROWS + 2), "per": "iteration"}
    text = plain(proof(finding, marked=True))
    Page(text)
    assert text.startswith("<details class=proof><summary>How the gain is estimated, and evidence: 10 rows</summary>")
    assert "<div class=faint>Half of it.</div>" in text
    assert ">Count per iteration</th>" in text
    assert ">Time (ms) per iteration</th>" in text
    cells = "<td>cudaMalloc</td><td class=n>2</td><td class=n>1.50</td>"
    assert text.count(f"/<wbr>&lt;b&gt;<div class=faint>4 bytes</div></td>{cells}") == MOST_ROWS + 2
    (folded,) = re.findall(r"<summary>2 more</summary>(.*)</details></details>", text)
    assert folded.count("4 bytes") == 2
    once = proof({"gain": None, "evidence": [{**row, "count": None, "call": None}], "per": "once"}, marked=True)
    assert "<summary>Evidence: 1 row</summary>" in once
    assert re.findall(r"<th scope=col[^>]*>([^<]*)", once) == ["Where", "Time (ms)"]
    assert proof({"gain": None, "evidence": []}, marked=True) == ""


def test_findings_stand_in_the_parts_of_recommendations(tmp_path: Path) -> None:
    """What changes results, too, is told from what only gains time, and notes come last."""
    source = next(samples.DATA.rglob("generated-transformer-bf16-rank0.pt.trace.json.gz"))
    database = tmp_path / "ddp.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    said = ("Hide communication", "To weigh: these change results, too", "Use FP8", "Also", "Slow start")
    places = [stream.getvalue().index(f">{each}</") for each in said]
    assert places == sorted(places)


def test_a_peak_above_an_unknown_start_says_so(tmp_path: Path) -> None:
    """As the page Memory does."""
    (source,) = (shared_data() / "torch" / "v100_resnet50_memory").glob("*.json.gz")
    database = tmp_path / "v100.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    assert "allocated on GPU 0 more than at the start of the recording." in plain(stream.getvalue())


def test_ways_to_the_same_gain_say_so(tmp_path: Path) -> None:
    """Nobody adds up what mixed precision and TF32 gain."""
    source = next(samples.DATA.rglob("generated-resnet50-fp32.pt.trace.json.gz"))
    database = tmp_path / "fp32.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    beside = "<span class=faint>overlaps “Use mixed precision”: their gains do not add up</span>"
    assert f"<strong>Allow TF32</strong> {beside}" in stream.getvalue()


def test_where_a_graph_launch_holds_most_time_the_kernels_are_listed(tmp_path: Path) -> None:
    """As on the Dashboard; not where the graph was recorded as a whole, of which no kernel is known."""
    by_node = shared_data() / "torch" / "mi300x_flux_large" / "profile_trace_rank_0.json.gz"
    (whole,) = (shared_data() / "nsight" / "a100_cuda_graphs").glob("*.sqlite")
    for source, share, head in ((by_node, 0.849, "Kernel"), (whole, None, "Group")):
        database = tmp_path / f"{head}.dlprof_dldb.sqlite"
        import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
        with closing(open_database(database)) as connection:
            told = graph_launch_fraction(connection, find_scope(connection))
        assert told == (share if share is None else pytest.approx(share, abs=0.001))
        text = page_of(database)
        assert f"<table class=groups><thead><tr><th scope=col>{head}</th>" in text
        assert share is None or ">Cijk_Alik_Bljk_BBS ‹MI16x16x1 MT128x192x64›</code>" in text
        assert share is None or "×1<" not in text, "that each row is one op says nothing"
        assert ("By kernel, because a graph launch holds 84.9 % of the GPU time." in text) == (share is not None)


def test_which_iterations_count_is_no_change_to_make(made: Path) -> None:
    """It stands below the sentence, also where nothing else was found."""
    result = diagnosis_or_none(made, None)
    assert result is not None
    result["findings"] = [{"rule": "iteration_range_detector", "missing_work": None}]
    stream = io.StringIO()
    with closing(open_database(made)) as connection:
        write_html(connection, find_scope(connection), [], stream, result)
    assert ">Recommendations</h2>" not in stream.getvalue()


def test_the_answer_is_about_a_gpu_that_the_program_works_with(tmp_path: Path) -> None:
    """Of three GPUs of which one only gets a copy, the sentence and the numbers below it tell the same of another."""
    planes = [Plane(f"/device:GPU:{index}", {"device_vendor": "Nvidia"}) for index in range(3)]
    for plane, kernel_ns in zip(planes, (0, 600_000, 400_000), strict=True):
        stream = plane.line(7, "Stream #7(Kernel)")
        plane.event(stream, "MemcpyH2D", 0, 1_000, memcpy_details="kind_src:pinned kind_dst:device size:64")
        plane.event(stream, "k", 2_000, max(kernel_ns, 1), **({} if kernel_ns else {"Memset_details": "num_bytes:64"}))
        plane.event(stream, "MemcpyD2H", 999_000, 1_000, memcpy_details="kind_src:device kind_dst:pinned size:64")
    source = tmp_path / "host.xplane.pb"
    source.write_bytes(space(planes, ["host"]))
    database = tmp_path / "host.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda what, fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    text = plain(stream.getvalue())
    assert "Computing 40.0 % of the 1.00 ms from first to last GPU work on GPU 2, which computes least of" in re.sub(
        "</?strong>", "", text
    )
    assert "<dt>Computing</dt><dd>40.0 %</dd>" in text


def test_a_recording_without_gpu_work_says_so_and_has_no_empty_panels(tmp_path: Path) -> None:
    """In place of shares of nothing, where the CPU's time goes."""
    source = tmp_path / "a.json"
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 10, "dur": 5, "pid": 1, "tid": 1, "args": {}}
    source.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [op]}))
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    text = plain(stream.getvalue())
    assert "<p class=answer>This recording holds no GPU work. <code>/mm</code> takes most of the CPU time" in text
    assert text.count("no GPU work") == 1
    assert '<rect class="cpu"' in text.partition("<section>")[2].partition("</section>")[0], "the bar of its time"
    assert "The bar is 5.00 µs." in text, "the sentence names no whole"
    assert ">Where CPU time goes</h2>" in text
    assert "record with <code>ProfilerActivity.CUDA</code>" in text
    assert "Kernel time" not in text
    assert "unknown" not in text.split("</style>")[1]


def test_names_of_a_profile_are_text(made: Path) -> None:
    """Markup in a name is shown, not obeyed."""
    text = page_of(made)
    assert not {"script", "img"} & set(Page(text).tags)
    assert "&lt;script&gt;" in text


def test_a_damaged_number_is_shown_as_it_is(made: Path) -> None:
    """Beyond what is rounded by its decimals."""
    with closing(sqlite3.connect(made)) as con, con:
        con.execute("UPDATE op_pattern_sums SET gain_ns = 1e300")
    assert "Could gain</span> (<span class=line>µs of kernels)" in page_of(made)


def test_what_kernels_could_gain_is_not_what_an_iteration_gains(made: Path) -> None:
    """The GPU idles for most of the time, so that shorter kernels may only let it wait for longer."""
    sentence = "of the {}, which may gain less."
    assert sentence.format("wall clock time") not in plain(page_of(made))
    with closing(sqlite3.connect(made)) as con, con:
        con.execute("UPDATE op_pattern_sums SET gain_ns = 1000")
    assert sentence.format("wall clock time") in plain(page_of(made))
    result, stream = diagnosis_or_none(made, None), io.StringIO()
    assert result is not None
    with closing(open_database(made)) as connection:
        write_html(connection, find_scope(connection), [], stream, result)
    whole = f"{short_duration(result['mean']['wall_ns'])} of an iteration"
    assert sentence.format(whole) in plain(stream.getvalue()), "as the sentence at the top"


def test_groups_have_the_colours_of_the_dashboard(tmp_path: Path) -> None:
    """Communication and copies are no computation."""
    source = next(samples.DATA.rglob("generated-transformer-bf16-rank0.pt.trace.json.gz"))
    database = tmp_path / "ddp.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    rows = re.findall(r"<tr><th scope=row>(?:(?!<tr>).)*?</svg>", page_of(database).partition("Where GPU time goes")[2])
    (communication,) = (row for row in rows if "all_reduce" in row)
    assert set(re.findall(r'rect class="(\w+)"', communication)) == {"communication"}
    assert any('rect class="tensor_core"' in row for row in rows)
    (partly,) = (row for row in re.findall(r"<tr>.*?</tr>", page_of(database)) if "<td class=n>* " in row)
    assert "cross_entropy_loss" in partly, "of a part of its kernels it is not known what they could gain"
    assert " * Counts only the ops whose work is known." in page_of(database)


def test_what_could_be_on_tensor_cores_has_the_colour_of_ops(tmp_path: Path) -> None:
    """NVIDIA's profile in FP32: its convolutions are on none, in the colour that the legend names, as on Ops."""
    database = tmp_path / "golden.dlprof_dldb.sqlite"
    import_dlprof_database(golden("dlprof_dldb.sqlite"), database, lambda _what, _fraction: None)
    part = page_of(database).partition("Where GPU time goes</h2>")[2].partition("</section>")[0]
    convolution = next(row for row in part.split("<tr>") if "conv2d" in row and "forward" in row)
    assert 'rect class="cpu"' in convolution
    assert 'rect class="other_kernel"' not in part
    assert 'class="cpu" width="10" height="10"/></svg>Not on Tensor Cores, but could be' in part


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    """Words that begin like a unit are none; what is markup stays text."""
    assert (
        typeset("<b> 45 % of 3 ms, 4 samples") == "&lt;b&gt; 45\N{NO-BREAK SPACE}% of 3\N{NO-BREAK SPACE}ms, 4 samples"
    )


def test_code_is_what_the_pages_find_to_be_code() -> None:
    """One expression in two languages."""
    source = (Path(__file__).parents[2] / "frontend/src/model/links.ts").read_text(encoding="utf-8")
    (expression,) = re.findall(r"^const CODE =\n  /(.*)/g;$", source, re.MULTILINE)
    assert expression == CODE.pattern
    assert with_code("Call profiler.step() <once>.") == "Call <code>profiler.step()</code> &lt;once&gt;."


def test_the_sentence_sets_its_place_as_code_and_its_numbers_apart() -> None:
    """Digits of a path are no numbers."""
    assert plain(answer("Computing 5 % of it. Mostly in `wait` in `/a/b 3 s/c`.")) == (
        "Computing <strong>5 %</strong> of it. Mostly in <code>wait</code> in <code>/a/<wbr>b 3 s/<wbr>c</code>."
    )
    assert path("/a::b/c") == "/a::<wbr>b/<wbr>c"
    assert path("a.__next__") == "a.__<wbr>next__", "what ends a sentence stays beside it"


def test_an_iteration_that_is_much_longer_is_cut() -> None:
    """Those that are many times as long as the next longest one; never most of them."""
    assert longest_shown([10, 11, 12, 100]) == 12
    assert longest_shown([10, 11, 12, 20]) == 20
    assert longest_shown([1, 100]) == 100
    assert longest_shown([5]) == 5
    assert longest_shown([]) == 1


def test_one_long_iteration_is_cut_without_a_diagnosis_too(tmp_path: Path) -> None:
    """As on the page Iterations, so that there is something to see of the others."""
    source = write_trace(tmp_path / "a.json", steps=4)
    trace = json.loads(source.read_text())
    last = max((each for each in trace["traceEvents"] if "ProfilerStep" in each["name"]), key=lambda each: each["ts"])
    last["dur"] *= 100
    source.write_text(json.dumps(trace))
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    bars = page_of(database).partition(">Iterations</h2>")[2].partition("</section>")[0]
    assert "The longest took 100 ms." in bars
    assert bars.count('class="break"') == 1
    # What fills them is named once below.
    assert "Not recorded <b>65.0 %</b>" in bars


def test_the_report_names_the_time_of_dlprofs_numbers_where_the_sentence_is_about_another(tmp_path: Path) -> None:
    """Without iterations the sentence is about what is from the first to the last GPU work."""
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(golden("nsys_profile.sqlite"), database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    text = plain(stream.getvalue())
    assert "It is about all 3.05 s recorded, not from the first to the last GPU work (5.33 ms)" in text
    assert "<h1>nsys_profile.sqlite</h1>" in text


def test_collectives_stand_apart_from_kernels_that_compute(tmp_path: Path) -> None:
    """In the bars of both panels, as in the bar of the iteration; the sums stay those of DLProf."""
    source = next(samples.DATA.rglob("generated-transformer-bf16-rank0.pt.trace.json.gz"))
    database = tmp_path / "ddp.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        times, apart = kernel_time(connection, scope), collectives(connection, scope)
        others = next(
            part["time_ns"] for part in resource_breakdown(connection, scope) if part["resource"] == "other_kernel"
        )
        diagnosis = diagnosis_or_none(database, None)
        counted = performance(connection, scope)["profiled_iterations"]
        write_html(connection, scope, [], stream, diagnosis)
    assert 0 < (apart["time_ns"] or 0) < (times["other_kernel"]["time_ns"] or 0)
    exposed = exposed_communication(diagnosis, counted, others)
    assert 0 < exposed <= (apart["time_ns"] or 0)
    text = stream.getvalue()
    for panel in ("Resource usage", "Kernel time"):
        assert 'rect class="communication"' in text[text.index(f">{panel}</h2>") :].partition("</section>")[0]


def test_a_gpu_without_tensor_cores_has_no_numbers_of_them(tmp_path: Path) -> None:
    """Of before Volta: nothing to turn on."""
    source = write_trace(tmp_path / "a.json", steps=4)
    trace = json.loads(source.read_text())
    trace["deviceProperties"] = [{"id": 0, "name": "Quadro GP100", "computeMajor": 6, "computeMinor": 0}]
    source.write_text(json.dumps(trace))
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    assert "Tensor Core" not in stream.getvalue()


def test_a_memory_snapshot_is_told_by_what_holds_its_peak(tmp_path: Path) -> None:
    """Over time, with a legend of categories; no tile says the number of the sentence again."""
    events = [{"action": "alloc", "addr": 512 * number, "size": 1 << 20} for number in range(10)]
    blocks = [{"size": 1 << 20, "state": "active_allocated"}] * 10
    segments = [{"device": 0, "address": 0, "total_size": 10 << 20, "blocks": blocks}]
    source = tmp_path / "ten.pickle"
    source.write_bytes(pickle.dumps({"segments": segments, "device_traces": [events]}))
    database = tmp_path / "ten.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), [], stream, diagnosis_or_none(database, None))
    text = plain(stream.getvalue())
    assert "Peak <strong>10.0 MiB</strong>" in text
    assert "<dt>Peak memory</dt>" not in text
    assert 'aria-label="Memory in use on GPU 0 over time: at most 10.0 MiB"' in text
    assert "Not recorded" not in text, "a bar of nothing tells nothing"


def test_a_report_is_titled_by_the_folder_and_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By which people know it: as from the folder that they are in; the file, which tools name, stands below."""
    folder = tmp_path / "tp2 <run>"
    folder.mkdir()
    source = next(samples.DATA.rglob("generated-transformer-bf16-rank0.pt.trace.json.gz"))
    database = folder / "ddp.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    assert main(["reports", "--formats", "html", "--output_path", str(tmp_path), str(database)]) == 0
    text = (tmp_path / "dlprof_reports.html").read_text(encoding="utf-8")
    assert "<title>GPU profile: tp2 &lt;run&gt;, rank 0 of 2</title>" in text
    assert "<h1>tp2 &lt;run&gt;, rank 0 of 2</h1>\n<p class=source>generated-transformer-bf16-rank0.pt.trace" in text
    links = [value or "" for name, value in Page(text).attributes if name == "href"]
    assert any(link.startswith("https://pytorch.org/") for link in links), "as on Recommendations"
    assert all(link.startswith(("https://", "#")) for link in links)
    monkeypatch.chdir(tmp_path.parent)
    assert main(["reports", "--formats", "html", "--output_path", "there", str(database)]) == 0
    text = Path("there", "dlprof_reports.html").read_text(encoding="utf-8")
    assert f"<h1>{tmp_path.name}/tp2 &lt;run&gt;, rank 0 of 2</h1>" in text
