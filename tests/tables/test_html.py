"""The HTML tables and report: well-formed, escaped, self-contained, readable without colour, the same bytes twice."""

import base64
import io
import re
import shutil
import subprocess
import time
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote

import pandas as pd
import pytest
from markupsafe import Markup
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from tests.config.test_config import sections
from tests.exports.conftest import refusal
from tests.optional import needs

from favor.foundation.html import folded
from favor.foundation.registry import TABLES
from favor.paper.values import load_paper_values
from favor.report.content import DEMO_STATEMENT, Figure, ReportTable
from favor.report.page import write_html_report
from favor.report.pdf import latex_source
from favor.report.svg import inline_svg
from favor.studies.human_audit.human_2afc import NO_RESPONSES, missing_scores
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.html import html_document, html_table, page
from favor.tables.specs import Context, load_spec

VOID = {"meta", "br"}


class WellFormed(HTMLParser):
    """Fails on a tag that closes nothing or stays open, and on an id used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag, attributes) -> None:
        found = dict(attributes)
        if "id" in found:
            assert found["id"] not in self.ids, f"id {found['id']} twice"
            self.ids.add(str(found["id"]))
        for name in ("href", "xlink:href", "src"):
            if name in found:
                assert str(found[name]).startswith("#"), f"{tag} loads {found[name]}"
                self.links.add(str(found[name])[1:])
        assert not any(name.startswith("on") for name in found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text.append(data)


def parsed(text) -> WellFormed:
    parser = WellFormed()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


def written(folder, report, **changes) -> str:
    made = replace(report, experiments=[replace(report.experiments[0], **changes)])
    write_html_report(folder / "report.html", made)
    return (folder / "report.html").read_text(encoding="utf-8")


def opened(browser, folder, report, **changes) -> None:
    written(folder, report, **changes)
    browser.get((folder / "report.html").as_uri())


def unanswered() -> ReportTable:
    spec, scores = printed_spec("human_2afc_audit"), missing_scores(["ditto", "favor"], NO_RESPONSES)
    return ReportTable(spec, build_table(spec, scores, Context("demo", ("ditto", "favor"), "Demo blogs", "BlogText")))


def test_table_is_accessible(scores, context) -> None:
    spec = printed_spec("main_federated_results")
    cells = build_table(spec, scores, context, load_paper_values(spec.label))
    text = html_table(spec, cells, "Experiment demo.")
    parsed(text)
    assert '<th scope="row">FAVoR</th>' in text
    assert '<th scope="rowgroup" rowspan="7" class="stub">Demo blogs</th>' in text
    assert "(lower is better)" in text
    assert '<strong>0.400</strong><span class="hidden"> (best)</span>' in text
    assert '<u>0.320</u><span class="hidden"> (second-best)</span>' in text
    # ours 0.400 against the paper's 0.403 (favor.tex L492)
    assert '<span class="beside">paper 0.403 (−0.003)</span>' in text
    assert re.search(r'<tr class="rule control"><th scope="row">Reference: own continuations', text)
    assert text.count("<caption") == 1
    # How many texts stand behind the scores of a method, beside its name; a method that nobody counted has none.
    text = html_table(spec, cells, passed={"FAVoR": "83 of 96", "FedDPA": "3 of 4"})
    assert '<th scope="row">FAVoR <small>83 of 96</small></th>' in text
    assert '<th scope="row">FedDPA† <small>3 of 4</small></th>' in text
    assert "Beside a method: how many of its texts passed" in text
    assert text.count("<small>") == 2


def test_long_captions_are_folded() -> None:
    shown = "One two. Three &lt;four&gt; five. <details><summary>More</summary>Six</details>"
    assert folded("One two. Three <four> five. Six", words=6) == shown
    assert folded("One two. Three", words=4) == "One two. Three"
    assert folded("One two. Three", words=3) == "One two. <details><summary>More</summary>Three</details>"
    for label in TABLES.names():
        shown, _, _ = folded(load_spec(label).caption).partition(" <details>")
        assert len(shown.split()) < 40, label


def test_reasons_stand_below(scores, context, hostile) -> None:
    spec = printed_spec("phase1-main-external-verification")
    about = Context("demo", ("favor",), encoders=context.encoders, absences={"styledistance": hostile})
    cells = build_table(spec, scores, about)
    text = html_document(spec, cells)
    assert hostile in "".join(parsed(text).text)
    assert "<script" not in text
    assert "<td>–<sup>a</sup>" in text


def test_a_row_of_the_papers_values_alone_is_hidden_with_them(scores, context) -> None:
    spec = printed_spec("signature-space-main")
    cells = build_table(spec, scores, context, load_paper_values(spec.label))
    cells.loc[0, ["value", "text"]] = 0.5, "0.500"
    rows = re.findall(r'<tr(?: class="([^"]*)")?><th scope="row">([^<]+)', html_table(spec, cells))
    hidden = {name for kind, name in rows if "beside" in kind}
    empty, printed = cells["value"].isna().groupby(cells["row"]), cells["paper_value"].notna().groupby(cells["row"])
    assert "RoBERTa" not in hidden  # it has one number of ours
    assert len(hidden) > 3
    assert hidden == {row for row, alone in (empty.all() & printed.any()).items() if alone}
    assert "beside" not in html_table(spec, build_table(spec, scores, context))


def test_more_than_four_notes_are_behind_a_click(scores, context) -> None:
    spec = printed_spec("main_federated_results")
    few = build_table(spec, scores, context).assign(reason="")
    many = few.assign(reason=[f"reason {number % 5}" for number in range(len(few))])
    assert "<summary>Notes" not in html_table(spec, few)
    folds = html_table(spec, many).split("<summary>Notes")[1]
    assert [f"</sup> reason {number}.</li>" in folds for number in range(5)] == [True] * 5


def test_report_is_well_formed_and_self_contained(tmp_path, report, hostile) -> None:
    text = written(tmp_path, report)
    assert written(tmp_path, report) == text  # the same bytes twice
    page = parsed(text)
    assert page.links <= page.ids
    assert text.count("<script") == 1
    assert "<script>alert" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    words = "".join(page.text)
    assert words.count(hostile) >= 6
    assert DEMO_STATEMENT in words
    assert "no author and no document is shared" in words
    assert "duplicate post" in words
    assert "secret-author" not in text
    # targets 100, 200, 300, 400: Gini (-3*1 - 1*2 + 1*3 + 3*4) / (4*10) = 0.25, allocated 100, 200, 300, 300: 0.194
    assert "0.250" in words
    assert "0.194" in words
    assert "4, of whom 1 have less text" in words  # the last client has less text than its target
    assert "2 pairs of posts in different roles are near duplicates" in words
    # FAVoR's level is 0.40; of the collaborative baselines FedDPA's 0.32 is the best
    gain = "Author Acc. of survivors only: FAVoR minus the best collaborative baseline"
    assert f'<tr><th scope="row">{gain}</th><td>0.080 (FedDPA)' in text
    assert "further numbers have no value in this experiment" in words


def test_a_table_of_dashes_is_one_line_in_html_and_pdf(tmp_path, report) -> None:
    tables = [*report.experiments[0].tables, unanswered()]
    page = written(tmp_path, report, tables=tables)
    source, _ = latex_source(replace(report, experiments=[replace(report.experiments[0], tables=tables)]))
    assert page.count(f"<p>Nothing to show: {NO_RESPONSES}.</p>") == 1
    assert "Nothing to show: no response files yet; give annotators the pages" in source
    assert "Vote accuracy is over" not in page + source  # its caption
    assert "Main federated" in page  # tables with numbers stay


SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="90pt" height="40pt">'
HOSTILE_DRAWINGS = (
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script>parent.OWNED=1&lt;/script>"/>'
    "</foreignObject>",
    '<a href="java&#115;cript:window.OWNED=1"><text y="20" id="t">click</text></a>',
    '<a xlink:href="java&#115;cript:window.OWNED=1"><text y="20" id="t">click</text></a>',
    '<g><set attributeName="onclick" to="window.OWNED=1"/><text y="20" id="t">click</text></g>',
    '<use href="data:image/svg+xml,&lt;svg id=&quot;x&quot;/>#x"/>',
    '<image href="http://127.0.0.1:9/x"/>',
    "<style>@import url(http://127.0.0.1:9/y)</style>",
    "<style>body{display:none}</style>",
    '<rect style="fill: url(http://127.0.0.1:9/z); position: fixed"/>',
    '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>',
    '<?xml-stylesheet href="http://127.0.0.1:9/s"?><g/>',
    "<text>&lt;script>window.OWNED=1&lt;/script>&lt;img src=x onerror=window.OWNED=1></text>",
    '<g data-method="&quot;>&lt;img src=x onerror=window.OWNED=1>"/>',
    '<g id="x&quot; onclick=&quot;window.OWNED=1"/>',
    '<animate attributeName="href" values="javascript:window.OWNED=1"/>',
    '<svg><handler xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">window.OWNED=1</handler></svg>',
)
HOSTILE_FILES = (
    f"{SVG}<script>window.OWNED=1</script></svg>",
    f'{SVG}<rect onload="window.OWNED=1"/></svg>',
    f'{SVG}<image href="x"\nonerror\n="window.OWNED=1"/></svg>',
    f'{SVG}<s:script xmlns:s="http://www.w3.org/2000/svg">window.OWNED=1</s:script></svg>',
    f'{SVG}<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="window.OWNED=1"/></foreignObject></svg>',
    f'{SVG}<image href="x"/onerror="window.OWNED=1"/></svg>',
    f'{SVG}</svg><iframe srcdoc="&lt;script>parent.OWNED=1&lt;/script>"></iframe>',
    f"{SVG}<!-- --><image src=x/onerror=window.OWNED=1></svg>",
    f'<!DOCTYPE svg [<!ENTITY a "b">]>{SVG}<text>&a;</text></svg>',
    '<svg onload="x()"></svg>',
    "<html></html>",
    "not a drawing",
    f"{SVG}",
)


def test_only_what_drawings_hold_is_taken_in(tmp_path, browser) -> None:
    drawn = tmp_path / "drawn.svg"
    body = []
    for number, hostile in enumerate(HOSTILE_DRAWINGS):
        drawn.write_text(f'<?xml version="1.0"?>\n{SVG}{hostile}<path d="M 0 0" id="kept"/></svg>', encoding="utf-8")
        body.append(inline_svg(drawn, f"f{number}", "Title"))
        assert f'<path d="M 0 0" id="f{number}-kept">' in body[-1]
        assert not re.search(r"127\.0\.0\.1|<(script|a|set|iframe|foreignObject|animate)\b", body[-1])
    shown = tmp_path / "page.html"
    # Without a policy, which would hide what the parser lets through.
    whole = page("Title", Markup("<p>kept</p>{}").format(Markup("").join(body)))
    shown.write_text(re.sub(r"<meta http-equiv=.*>", "", whole), encoding="utf-8")
    browser.get(shown.as_uri())
    for element in browser.find_elements("css selector", "[id$='-t']"):
        element.click()
    assert browser.execute_script("return window.OWNED ?? null") is None
    assert browser.find_element("css selector", "p").is_displayed()
    assert browser.get_log("browser") == []
    for hostile in HOSTILE_FILES:
        drawn.write_text(hostile, encoding="utf-8")
        assert "drawn.svg: not a plain SVG drawing" in refusal(inline_svg, drawn, "figure", "Title")
    assert "none.svg: cannot be read" in refusal(inline_svg, tmp_path / "none.svg", "figure", "Title")


@pytest.mark.parametrize("title", ["FAVoR, once=2 epochs", "Adapters on k=3", "javascript: posts", "a <script> b"])
def test_what_a_drawing_says_is_never_searched(tmp_path, title) -> None:
    (tmp_path / "a.svg").write_text(f"{SVG}<text>{escape(title)}</text></svg>", encoding="utf-8")
    assert f"<text>{escape(title)}</text>" in inline_svg(tmp_path / "a.svg", "figure", title)


def test_a_page_runs_its_own_script_alone(tmp_path, browser) -> None:
    shown = tmp_path / "page.html"
    hostile = Markup('<script>window.OWNED=1</script><img src="x" onerror="window.OWNED=2"><p id="own"></p>')
    shown.write_text(page("Title", hostile, "document.getElementById('own').textContent = 'ran';"), encoding="utf-8")
    browser.get(shown.as_uri())
    assert browser.find_element("id", "own").text == "ran"
    assert browser.execute_script("return window.OWNED ?? null") is None


def test_report_in_chromium(tmp_path, report, browser, hostile) -> None:
    for width in (1200, 390):
        browser.set_window_size(width, 900)
        opened(browser, tmp_path, report)
        assert browser.title == "FAVoR Workflow"
        # Wide tables scroll inside their own frame; the page itself never scrolls sideways.
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        assert browser.execute_script("return document.querySelectorAll('svg').length") == 2
        heights = browser.execute_script("return [...document.querySelectorAll('svg')].map(s => s.clientHeight)")
        assert all(height > 100 for height in heights)
        assert hostile in browser.execute_script("return document.querySelector('h2').textContent")
        script = "return [...document.querySelectorAll('h3')].map(h => h.firstChild.textContent)"
        headings = browser.execute_script(script)
        # Of the main text the one table stands open, before the sections.
        sections = ["External verifiers", "Component ablations", "Statistical testing"]
        assert [heading for heading in headings if heading in sections] == sections
        # Outside the folded order of rows, no cell is empty, and a dash carries the letter of its reason.
        apart = ".agreement, .text"  # the order of rows against the paper's, and the configuration
        script = f"[...document.querySelectorAll('td')].filter(d => !d.closest('{apart}'))"
        cells = browser.execute_script(f"return {script}.map(d => d.textContent.trim())")
        assert len(cells) > 200
        assert all(cell and cell != "–" for cell in cells)
        # At most whether its files lie in its folder.
        assert browser.execute_script("return performance.getEntriesByType('resource').length") <= 1
    assert [entry for entry in browser.get_log("browser") if "favor_overview" not in entry["message"]] == []


def test_the_report_is_accessible(tmp_path, report, violations) -> None:
    board = pd.DataFrame({"Method": ["FAVoR", "Reference: chance"], "Author accuracy": ["0.4", "0.083"]})
    said = {"findings": ["One."], "sample": [("Prompt", "Text")], "passed": {"favor": (83, 96)}}
    written(tmp_path, report, leaderboard=board, **said)
    assert violations(tmp_path / "report.html") == []


def test_all_methods_fit_on_a_laptop(tmp_path, report, browser) -> None:
    cells = dict.fromkeys(("Voice kept", "Attributed to the author", "BERTScore"), ".312 [.281, .340]")
    cells |= {"By the methods' own encoder": ".402", "Passed the filter": "83 of 96", "Uploaded, MiB": "120.4"}
    board = pd.DataFrame(
        [{"Method": "FAVoR w/o ASCE", **cells, "Against FAVoR": "−0.30 [−0.35, −0.25], p = .004: below"}]
    )
    browser.set_window_size(1300, 900)
    opened(browser, tmp_path, report, leaderboard=board)
    frame = "document.querySelector('.scroll[aria-labelledby^=leaderboard]')"
    assert browser.execute_script(f"return {frame}.scrollWidth <= {frame}.clientWidth")


def test_the_skip_link_is_the_first_stop_and_leads_to_the_result(tmp_path, report, browser) -> None:
    opened(browser, tmp_path, report)
    hidden = browser.execute_script("return document.querySelector('.skip').getBoundingClientRect().right")
    assert hidden < 0
    browser.switch_to.active_element.send_keys(Keys.TAB)
    link = browser.switch_to.active_element
    assert link.text == "Skip to the result"
    assert link.rect["x"] >= 0
    link.send_keys(Keys.ENTER)
    assert browser.execute_script("return document.activeElement.id") == "main"


def test_a_long_finding_goes_on_behind_the_click(tmp_path, report, monkeypatch) -> None:
    def text(second) -> str:
        finding = f"First finding. {second} {'long ' * 37}end."
        monkeypatch.setattr("favor.report.page.said", lambda figure: (finding, False))
        return written(tmp_path, report)

    assert "<strong>First finding. long" in text("long")
    assert "<strong>First finding.</strong>" in text("Long")
    assert "<summary>How to read it</summary>Long long" in text("Long")


def taken(key) -> bool:
    """Return whether the configuration takes a dotted ``key`` in which NAME stands for any name."""
    section, _, last = key.replace(".NAME", "").rpartition(".")
    known = dict(sections())
    return f".{section}" in known and last in known[f".{section}"].model_fields


def test_the_configuration_takes_the_keys_that_the_page_names(tmp_path, report) -> None:
    assert not taken("studies.human_2afc.responses")
    assert not taken("experiments.NAME.studies.human_2afc.answers")
    text = written(tmp_path, report, tables=[*report.experiments[0].tables, unanswered()])
    words = "".join(parsed(text).text)
    keys = set(re.findall(r"\b(?:experiments|corpora|models|encoders|protocol)(?:\.\w+)+", words))
    assert "experiments.NAME.studies.human_2afc.responses" in keys
    assert [key for key in keys if not taken(key)] == []


def test_reading_aids(tmp_path, report, browser) -> None:
    values = {"FAVoR": "0.4", "Ditto": "0.3", "FedAvg": "–", "Reference: chance": "0.083"}
    board = pd.DataFrame(values.items(), columns=["Method", "Author accuracy"])
    browser.set_window_size(1400, 900)
    opened(browser, tmp_path, report, leaderboard=board, methods=["favor", "ditto", "fedavg"], is_demo=False)
    run = browser.execute_script
    table = "document.getElementById('leaderboard-demo').closest('table')"
    rows = f"[...{table}.querySelectorAll('tbody tr')].filter(r => !r.hidden).map(r => r.cells[0].textContent)"
    head = f"{table}.querySelectorAll('thead th')[1]"
    original = run(f"return {rows}")
    # Sort: down, up, and back; a dash stays last.
    for expected, state in (
        (["FAVoR", "Ditto", "Reference: chance", "FedAvg"], "descending"),
        (["Reference: chance", "Ditto", "FAVoR", "FedAvg"], "ascending"),
        (original, None),
    ):
        run(f"{head}.querySelector('button').click()")
        assert run(f"return {rows}") == expected
        assert run(f"return {head}.getAttribute('aria-sort')") == state
    # A table with a dataset column sorts too; the dataset stays in front of the first row, also of one that is shown.
    body = "document.querySelector('th[scope=rowgroup]').closest('tbody')"
    order = f"[...{body}.rows].filter(r => !r.hidden).map(r => r.querySelector('th[scope=row]').textContent)"
    lead = f"return [...{body}.rows].find(r => !r.hidden).cells[0].getAttribute('scope')"
    before, values = run(f"return {order}"), f"[...{body}.rows].map(r => +r.querySelector('td').dataset.value)"
    run(f"{body}.closest('table').querySelectorAll('thead th')[2].querySelector('button').click()")
    found = run(f"return {values}")
    assert found == sorted(found, reverse=True)
    assert run(f"return {order}") != before
    assert run(lead) == "rowgroup"
    # Hide a method, in every table.
    run("[...document.querySelectorAll('.choice label')].find(l => l.textContent.trim() == 'Ditto').firstChild.click()")
    assert "Ditto" not in run(f"return {rows}")
    shown = "[...document.querySelectorAll('tbody tr')].filter(r => !r.hidden).map(r => r.textContent)"
    assert not any(text.startswith("Ditto") for text in run(f"return {shown}"))
    assert run(lead) == "rowgroup"
    # The paper's values, and p as it computes them, on demand: of two methods the page has one verdict.
    run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    visible = "[...document.querySelectorAll('.beside')].filter(b => b.offsetParent).length"
    shown = "[...document.querySelectorAll('th[data-column$=p]')].filter(b => b.offsetParent).length"
    assert (run(f"return {visible}"), run(f"return {shown}")) == (0, 0)
    run("[...document.querySelectorAll('.aids > label')].find(l => l.textContent.includes('paper')).firstChild.click()")
    assert run(f"return {visible}") > 0
    assert run(f"return {shown}") == 3  # p, author-cluster p, Holm p
    # Search: the contents open and hold what fits. Figures are found, and an empty answer is said.
    box = "const box = document.querySelector('.aids input'); box.value = arguments[0];"
    search = f"{box} box.dispatchEvent(new Event('input'))"
    run(search, "external-verifier")
    found = run("return [...document.querySelectorAll('nav li')].filter(l => l.offsetParent).map(l => l.textContent)")
    assert found == ["External-verifier breakdown"]
    for word, said in (("caption", "found"), ("no such thing", "Nothing matches")):
        run(search, word)
        assert said in run("return document.querySelector('[role=status]').textContent")
    # A value says more when pointed at, and every table links to its files.
    assert run("return document.querySelector('td[data-value]').title") != ""
    files = run("return document.querySelector('.files').textContent")
    assert all(kind in files for kind in ("parquet", "tex", "html", "CSV"))
    run("document.querySelector('.files a[download]').click()")
    assert run("return document.querySelector('.files a[download]').href").startswith("data:text/csv")
    assert [entry for entry in browser.get_log("browser") if "favor_overview" not in entry["message"]] == []


def test_one_switch_fades_what_other_encoders_see(tmp_path, report, browser) -> None:
    drawn = tmp_path / "drawn.svg"
    marks = (f'<g data-encoder="{encoder}" data-method="FAVoR"><path d="M0 0"/></g>' for encoder in ("unseen", "own"))
    drawn.write_text(f'<svg width="9pt">{"".join(marks)}<g data-method="FAVoR"><path d="M0 0"/></g></svg>')
    opened(browser, tmp_path, report, figures=[Figure("Voice", "Caption", drawn, drawn)])
    seen = "return [...document.querySelectorAll('svg [data-method]')].map(mark => +getComputedStyle(mark).opacity)"
    assert browser.execute_script(seen) == [1, 1, 1]
    for chosen, opacities in (("own", [0.15, 1, 1]), ("unseen", [1, 0.15, 1]), ("", [1, 1, 1])):
        Select(browser.find_element("css selector", ".aids select")).select_by_value(chosen)
        assert browser.execute_script(seen) == opacities


def test_a_tables_csv_is_its_parquet(tmp_path, report, browser) -> None:
    opened(browser, tmp_path, report)
    for table in report.experiments[0].tables:
        link = f"document.querySelector('.files[data-name=\"{table.spec.label}\"] a[download]')"
        href = browser.execute_script(f"{link}.click(); return {link}.href")
        text = unquote(href.partition(",")[2])
        types = {"section": str, "text": str}
        read = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values={"value": ""}, dtype=types)
        keys = ["panel", "section", "row", "column", "text"]
        assert read[keys].to_numpy().tolist() == table.cells[keys].to_numpy().tolist()
        pd.testing.assert_series_equal(read["value"], table.cells["value"], check_index=False, check_exact=True)


def test_files_are_links_where_they_lie_beside_the_page(tmp_path, report, browser) -> None:
    linked = "return document.querySelectorAll('.files a[href$=parquet]').length"
    opened(browser, tmp_path, report)
    time.sleep(0.2)
    # A copy that is sent has no dead link: what is no place of this page is none.
    dead = """return [...document.querySelectorAll('a[href]:not([download])')].filter(link =>
        !link.getAttribute('href').startsWith('#') || !document.getElementById(link.hash.slice(1))).length"""
    assert browser.execute_script(dead) == 0
    (tmp_path / "figures").mkdir()
    shutil.copyfile(report.figures[0].svg, tmp_path / "figures" / "favor_overview.svg")
    browser.get((tmp_path / "report.html").as_uri())
    WebDriverWait(browser, 10).until(lambda page: page.execute_script(linked) == len(report.experiments[0].tables))


def printed_text(browser, folder, **paper) -> str:
    found = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    (folder / "printed.pdf").write_bytes(found)
    command = ["pdftotext", "-layout", folder / "printed.pdf", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs("pdftotext", "pdfinfo")
def test_what_is_folded_is_printed(tmp_path, report, browser) -> None:
    opened(browser, tmp_path, report)
    text = printed_text(browser, tmp_path)
    about = subprocess.run(["pdfinfo", tmp_path / "printed.pdf"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Tagged: +yes", about)  # for screen readers
    assert "training.learning_rate" in text  # the resolved configuration
    assert "Spearman" in text  # the order of rows against the paper's
    assert "Search tables" not in text
    # A table that goes on has its head on the next page too.
    browser.execute_script("""
        const rows = [...document.querySelectorAll('th')].find(head => head.dataset.column === 'Verif. AUC')
            .closest('table').tBodies[0];
        for (let copy = 0; copy < 100; copy++) rows.append(rows.rows[1].cloneNode(true));""")
    assert printed_text(browser, tmp_path).count("Verif.") > text.count("Verif.") + 1


def test_paper_print_and_phone(tmp_path, report, browser) -> None:
    opened(browser, tmp_path, report)
    # The paper's values wait to be asked for.
    assert browser.execute_script("return document.body.classList.contains('without-paper')")
    visible = "[...document.querySelectorAll('main details .scroll')].map(d => d.checkVisibility())"
    assert set(browser.execute_script(f"return {visible}")) == {False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert set(browser.execute_script(f"return {visible}")) == {True}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen"})
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    assert browser.execute_script("return document.querySelector('nav').offsetHeight") < 150
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
