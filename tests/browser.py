"""A headless Chromium, and what is wrong with the pages of a site that it opens under a strict content policy."""

import base64
import hashlib
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

from lib.schema import StudyError

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
FLAGS = "headless no-sandbox disable-gpu disable-quic no-first-run disable-sync disable-component-update"
INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
PAGE_NAME = re.compile(r"DOCUMENTATION_OPTIONS\.pagename = '[\w/]+';")
ICON = "/favicon.ico"  # that the browser asks for by itself
PRINT = "window.print()"  # of the theme's button
OF_THEME = ("search.html", "genindex.html")  # pages without a word of a dataset
REST = "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; object-src 'none'"
#: What the campaign's scripts would leave behind, had they run: a name, a title, an attribute, an element.
TRACES = """
    const bad = [];
    if (window.hacked !== undefined) bad.push("a script ran");
    const leads = value => {  // a place on this page, named by a question, leads nowhere
        if (!URL.canParse(value, location.href)) return value.includes("hacked");
        const url = new URL(value, location.href);
        return (url.protocol + url.host + url.pathname).includes("hacked");
    };
    for (const e of document.querySelectorAll("*"))
        for (const a of e.attributes)
            if (a.name.startsWith("on") ? a.value.includes("hacked") : a.name === "srcdoc" ||
                ["href", "src"].includes(a.name) && leads(a.value))
                bad.push(`<${e.tagName.toLowerCase()} ${a.name}=${a.value.slice(0, 80)}>`);
    for (const i of document.images) if (i.complete && !i.naturalWidth) bad.push(`picture ${i.src} is broken`);
    return bad;
"""


@contextmanager
def chromium(profile: Path) -> Iterator:
    """A headless Chromium with a user folder of its own.

    Raises:
        StudyError: there is none on this machine, no driver for it, or it does not start.
    """
    driver = shutil.which("chromedriver")
    if not (BROWSER and driver):
        raise StudyError("no Chromium, or no driver for it, on this machine")
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    options.page_load_strategy = "none"  # the driver, which may miss that a page is loaded, then never answers again
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in [*FLAGS.split(), "disable-background-networking", f"user-data-dir={profile}"]:
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService(executable_path=driver, env=os.environ.copy())
    try:
        found = webdriver.Chrome(options=options, service=service)
    except WebDriverException as error:
        raise StudyError(f"Chromium does not start here: {error.msg.splitlines()[0]}") from None
    try:
        yield found
    finally:
        found.quit()


def leave_page(browser) -> None:
    """Leave the page that is open."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get("about:blank")
    WebDriverWait(browser, 20).until(lambda _: browser.execute_script("return location.protocol === 'about:'"))


def open_page(browser, address: str) -> None:
    """Open a page and wait until its files are loaded and its scripts for a loaded page have run."""
    from selenium.webdriver.support.ui import WebDriverWait

    is_there = "return document.readyState === 'complete' && location.protocol === new URL(arguments[0]).protocol"
    is_there += " && !document.querySelector('.search-summary:empty')"  # of a search that goes on
    leave_page(browser)
    browser.get(address)
    WebDriverWait(browser, 20).until(lambda _: browser.execute_script(is_there, address))


def policy_of(page: Path, site: Path) -> str:
    """A content policy that lets a page run files of the site, and inline no scripts but the theme's."""
    known = {code for name in OF_THEME for code in INLINE.findall((site / name).read_text())}
    ours = [code for code in INLINE.findall(page.read_text()) if code in known or PAGE_NAME.fullmatch(code)]
    ours.append(PRINT)
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in ours]
    listed = " ".join(f"'sha256-{one}'" for one in dict.fromkeys(hashes))
    return f"default-src 'self'; script-src 'self' 'unsafe-hashes' {listed}; {REST}"


class _Handler(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix == ".html" and path.is_file():
            self.send_header("Content-Security-Policy", policy_of(path, Path(self.directory)))
        super().end_headers()

    def log_message(self, *given: object) -> None:
        self.server.asked.append(self.path)


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # a page asks for dozens of files at once, and a busy machine accepts them late


@contextmanager
def served(site: Path) -> Iterator[ThreadingHTTPServer]:
    """A folder served on this machine under :func:`policy_of`; ``asked`` of the server lists what was asked for."""
    server = _Server(("127.0.0.1", 0), partial(_Handler, directory=str(site)))
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def problems_of(site: Path, browser, pages: list[Path]) -> list[str]:
    """What is wrong with pages: scripts that ran or were stopped, links and handlers of the campaign, broken pictures,
    and errors in the browser's log."""
    found = []
    with served(site) as server:
        for page in pages:
            name = page.relative_to(site).as_posix()
            leave_page(browser)  # what the page before still says is not this one's
            browser.get_log("browser")
            open_page(browser, f"http://127.0.0.1:{server.server_port}/{name}")
            entries = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
            said = [message for message in entries if ICON not in message]
            found += [f"{name}: {what}" for what in [*browser.execute_script(TRACES), *said]]
        found += [f"asked for {path}" for path in server.asked if "hacked" in path]
    return found


def axe_faults(browser) -> list:
    """What axe-core finds wrong with the page that is open: rule and element."""
    browser.execute_script(Path(find_spec("axe_playwright_python").origin).with_name("axe.min.js").read_text())
    code = "axe.run().then(found => arguments[0](found.violations.map(one => [one.id, one.nodes[0].html])))"
    return browser.execute_async_script(code)
