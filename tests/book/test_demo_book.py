"""The demo book is built by the command that a reader uses, holds the contract's files and opens in a browser."""

import gzip
import html
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.support.ui import WebDriverWait

from lib.book.site import MOVED
from lib.files import ROOT
from lib.method_sets import measured
from lib.methods import METHODS
from lib.profile import load_profile
from lib.show import charts
from tests.browser import axe_faults, open_page

OUTPUTS = ROOT / "artifacts" / "demo" / "default"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # the whole book may be built, weights fetched


def run(*command: str) -> str:
    """What a command over the demo prints, which computes everything but what a language model wrote."""
    command = (sys.executable, "-m", "lib", *command, "--dataset", "demo", "--results", "texts")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def book() -> Path:
    """The demo book's folder, built now."""
    run("book")
    return ROOT / "book" / "_build" / "demo" / "html"


@pytest.fixture(scope="module")
def pages(book) -> list[Path]:
    """The book's pages, but those of moved chapters."""
    found = (path for folder in ("book", "notebooks", "pages") for path in (book / folder).glob("*.html"))
    return sorted(path for path in found if path.stem not in MOVED)


def test_a_second_build_has_nothing_to_do_and_a_chapter_runs_without_methods_that_it_compares_with(book):
    written = book / "_static" / "explorer" / "sets.js"  # by every build
    before = written.stat().st_mtime_ns
    run("book")
    assert written.stat().st_mtime_ns == before
    for name, parameter, value in (("07_ahead", "baselines", "[bm25]"), ("02_oracles", "methods", "[ahead]")):
        printed = run("notebook", name, "-p", parameter, value)
        paths = re.findall(r"^(?:executed notebook|its tables, as CSV): (.+)$", printed, flags=re.M)
        assert [Path(path).exists() for path in paths] == [True, True]
    for name in ("01_data", "a3_judge"):
        (OUTPUTS / "notebooks" / f"{name}.ipynb").unlink()
    again = re.findall(r"chapter (\S+) took", run("book"))
    assert sorted(again) == ["01_data", "a3_judge"]  # tables of chapters that do not run again stay
    assert written.stat().st_mtime_ns > before


def test_every_chapter_is_there_and_says_that_it_is_the_demo_and_nothing_names_this_machine(book):
    listed = [*re.findall(r"file: (\S+)", (ROOT / "_toc.yml").read_text()), "index"]
    assert [page for page in listed if not (book / f"{page}.html").is_file()] == []
    for old, new in MOVED.items():
        assert f"url={new}.html" in (book / f"notebooks/{old}.html").read_text()
    assert {*MOVED.values()} <= {page.removeprefix("notebooks/") for page in listed}
    assert "Synthetic demo" in (book / "notebooks" / "03_baselines.html").read_text()
    assert [path.name for path in (OUTPUTS / "notebooks").glob("*.ipynb") if str(ROOT) in path.read_text()] == []


def test_what_was_published_is_shown_and_tables_have_their_data(book, pages):
    published = ROOT / "book" / "results" / "demo" / "default" / "shown"
    text = "".join(path.read_text() for path in pages)
    wanted = {f"{'tab' if path.parent.name == 'tables' else 'fig'}-{path.stem}" for path in published.glob("*/*.csv")}
    assert {name for name in wanted if f'id="{name}"' not in text} == set()
    links = re.findall(r'href="\.\./(_downloads/[^"]+\.csv)"', text)
    assert links
    assert [link for link in links if not (book / link).is_file()] == []


def test_no_page_loads_a_script_or_a_picture_from_elsewhere(pages):  # as MathJax, where two dollars made a formula
    assert [path.stem for path in pages if 'src="http' in path.read_text()] == []


def test_the_manifest_lists_the_runs_and_they_have_the_form_that_others_read(book):
    questions = pd.read_parquet(OUTPUTS / "questions.parquet")
    stated = json.loads((OUTPUTS / "manifest.json").read_text())
    measured_runs = measured(load_profile("default").for_sets("demo"))
    assert set(stated["runs"]) == {f"{condition}/{name}" for name, condition in measured_runs}
    columns = {"question_id": str, "q0": str, "chunk_id": str, "rank": int, "score": np.float32, "tag": str}
    for name, condition in measured_runs:
        chunking = METHODS[name].chunking
        chunks = pd.read_parquet(OUTPUTS / (f"chunkings/{chunking}.parquet" if chunking else "chunks.parquet"))
        path = OUTPUTS / "runs" / condition / f"{name}.trec.gz"
        run = pd.read_csv(path, sep=" ", names=[*columns], dtype=columns)
        assert set(run["question_id"]) == set(questions["question_id"]), name
        assert set(run["chunk_id"]) <= set(chunks["chunk_id"]), name
        assert not (run.groupby("question_id")["score"].diff() >= 0).any(), name


def test_shares_of_the_finding_are_those_of_the_picture(book):
    text = re.sub(r"<[^>]+>", "", (book / "book" / "intro.html").read_text())
    sentence = re.search(r"Where it is lost\..*?not the page", text, flags=re.S)[0]
    found, missed, inside = re.findall(r"(\d+)%", sentence)
    shares = pd.read_csv(OUTPUTS / "figures" / "headline.csv")[["found", "page", "document"]]
    rows = [[f"{100 * share:.0f}" for share in row] for row in shares.to_numpy()]
    assert [found, inside, missed] in rows


def test_claims_and_methods_lead_to_their_questions_in_the_explorer(pages):
    links = {page.stem: re.findall(r'href="\.\./book/explorer\.html#([^"]+)"', page.read_text()) for page in pages}
    assert {name for name, found in links.items() if found} == {"08_claims", "methods", "siblings"}
    filters = [dict(parse_qsl(html.unescape(link), strict_parsing=True)) for found in links.values() for link in found]
    assert {name for one in filters for name in one} <= {"method", "other", "type"}
    assert {one[name] for one in filters for name in ("method", "other") if name in one} <= set(METHODS)


def test_every_page_is_light_and_described(pages):
    """A page with all that it loads, compressed as servers send it, its pictures aside, and the bundle of its charts,
    which a browser keeps for all of them."""
    bundle = pages[0].parents[1] / "_static" / charts.BUNDLE
    assert len(gzip.compress(bundle.read_bytes())) < 320_000
    for page in pages:
        text = page.read_text()
        links = re.findall(r'(?:src|href)="([^"?#:]+\.(?:js|css))["?#]', text)
        files = {page, *((page.parent / link).resolve() for link in links)}
        weight = sum(len(gzip.compress(path.read_bytes())) for path in files - {bundle.resolve()})
        assert weight < 200_000, (page.name, weight)
        assert '<meta content="Where retrieval loses' in text or 'name="description"' in text, page.name


def test_the_site_and_its_first_page_are_light(book):
    sizes = {path: path.stat().st_size for path in book.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < 40_000_000
    assert [path.name for path in sizes if path.suffix in (".map", ".zip")] == []
    intro = book / "book" / "intro.html"
    pictures = re.findall(r'(?:src|srcset)="(\.\./_images/[^"]+)"', intro.read_text())
    assert sizes[intro] + sum(sizes[(intro.parent / picture).resolve()] for picture in {*pictures}) < 300_000


STILL = "<style>* { transition: none !important; animation: none !important; }</style>"


def look(browser, width: int, height: int, is_phone: bool = False, scheme: str = "light") -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def test_pages_open_in_a_browser_and_none_is_wider_than_a_phone(pages, browser):
    for page in pages:
        look(browser, 1440, 900)
        open_page(browser, page.as_uri())
        assert browser.title
        broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert browser.execute_script(broken) == [], page.name
        assert browser.execute_script("return [...document.images].filter(i => !i.alt).length") == 0, page.name
        ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
        assert [one for one, n in Counter(ids).items() if n > 1] == [], page.name
        errors = [entry for entry in browser.get_log("browser") if entry["source"] == "javascript"]
        assert errors == [], page.name
        look(browser, 390, 844, is_phone=True)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390, page.name


def test_the_first_page_has_a_live_chart_and_a_phone_the_figure_s_narrow_layout(book, browser):
    look(browser, 1440, 1000)
    open_page(browser, (book / "book" / "intro.html").as_uri())
    WebDriverWait(browser, 20).until(lambda one: one.find_elements("css selector", ".chart.is-live svg"))
    names = "return [...document.querySelectorAll('.chart-live path[aria-label*=Method]')].map(e => e.ariaLabel)"
    assert {text.partition(";")[0] for text in browser.execute_script(names)} >= {"budget: 1", "budget: 20"}
    shown = "return document.querySelector('#fig-headline img').currentSrc"
    assert browser.execute_script(shown).endswith("/_images/headline.svg")
    look(browser, 390, 844, is_phone=True)
    open_page(browser, (book / "book" / "intro.html").as_uri())
    assert browser.execute_script(shown).endswith("/_images/narrow/headline.svg")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(pages, browser, scheme):
    look(browser, 1440, 900, scheme=scheme)
    browser.set_script_timeout(240)
    faults = {}
    for page in pages:
        open_page(browser, page.as_uri())
        browser.execute_script(f"document.head.insertAdjacentHTML('beforeend', '{STILL}')")
        if found := axe_faults(browser):
            faults[page.name] = found
    assert faults == {}
