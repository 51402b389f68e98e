"""The HTML page in a real browser: Chromium and its driver, from the packages of the distribution."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from llm_conformance.adapter.declarations import CAPABILITIES
from llm_conformance.reports import files, judged
from tests import gated, test_server_reports
from tests.servers.broken.framing import WithoutDone
from tests.shell import ROOT, sh
from tests.test_reports import document, result

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no browser: apt-get install chromium chromium-driver"
)
SPANS = "openai/citations-after-emoji"
WRONG = f"{{}}['lost'] if response.reasoning and not response.tool_calls else {gated.BROKEN}"
"""`parse` returns a wrong id for a tool call, and raises KeyError for reasoning."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a page of the reference adapters (page.html) and one of two adapters (both.html)."""
    directory = tmp_path_factory.mktemp("pages")
    gated.write(directory, WRONG, package="adapters")
    first = "--report=page.html", "--report=one.json", "--scenario=openai/citations-*", "--scenario=anthropic/thinking*"
    for adapter, options in (
        ("adapters", first),
        ("mypkg", ("--report=two.json", "--scenario=cerebras/t*", "--scenario=cerebras/r*")),
    ):
        done = sh(
            sys.executable,
            "-m",
            "llm_conformance",
            "run",
            f"--adapter={adapter}",
            "--examples=0",
            *options,
            cwd=directory,
            PYTHONPATH=str(ROOT),
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
    done = sh(
        sys.executable,
        "-m",
        "llm_conformance",
        "report",
        "show",
        "one.json",
        "two.json",
        "-o",
        "both.html",
        cwd=directory,
    )
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """Start Chromium without network."""
    options = webdriver.ChromeOptions()
    for option in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1500,1000",
        "--proxy-server=127.0.0.1:9",
    ):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.implicitly_wait(5)  # the exchange of a cell is unpacked when the cell is opened
    yield driver
    driver.quit()


class Page:
    """A page that is open in the browser."""

    def __init__(self, browser: webdriver.Chrome, path: Path) -> None:
        self.browser = browser
        browser.get(path.as_uri())
        WebDriverWait(browser, 20).until(lambda _: self.all("#matrix td"))

    def all(self, css: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, css)

    @property
    def scenarios(self) -> set[str]:
        return {each.text for each in self.all("#cells button span:nth-child(3)")}

    def find(self, text: str) -> None:
        self.one("#search").clear()
        self.one("#search").send_keys(text)
        WebDriverWait(self.browser, 20).until(lambda _: all(text in each for each in self.scenarios))

    def complaints(self) -> list[Any]:
        found: list[Any] = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        return found


def test_filter_open_a_cell_and_read_the_marked_span(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "page.html")
    page.find("after-emoji")
    Select(page.one("#rule")).select_by_value("ANN-2")
    Select(page.one("#method")).select_by_value("parse")
    assert page.scenarios == {SPANS}
    page.one("#cells button").click()
    answer = page.one("#detail-answer")
    report = files.read(pages / "one.json")
    (exchange,) = (e for e in report["exchanges"] if (e["scenario"], e["method"]) == (SPANS, "parse"))
    returned = exchange["returned"]
    (first, *_) = returned["annotations"]
    marked = answer.find_element(By.CSS_SELECTOR, "mark").text
    assert first["start"] > 0
    assert marked.removesuffix("1") == returned["message"][first["start"] : first["end"]]
    assert page.one("#detail-wire").text.startswith("{")
    assert page.one("#detail-command").text.endswith("--conformance-rule=ANN-2")
    page.one("#detail").send_keys(Keys.ESCAPE)
    assert not page.one("#detail").is_displayed()
    assert page.complaints() == []


def test_reasoning_is_shown_apart_from_the_message(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "page.html")
    page.find("anthropic/thinking-names-the-tag")
    page.one("#cells button").click()
    assert "tag" in page.one("#detail-reasoning").text
    assert page.one("#detail-reasoning").text not in page.one("#detail-answer").text


def test_the_matrix_is_used_by_keyboard(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "page.html")
    page.one("#matrix button[tabindex='0']").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    focused = browser.switch_to.active_element
    label = focused.get_attribute("aria-label") or ""
    assert label.startswith("openai:chat, reference")
    focused.send_keys(Keys.ENTER)
    rule = label.split(", ")[2].partition(":")[0]
    assert page.one("#chosen").text == f"{rule} for openai:chat"
    assert (browser.switch_to.active_element.get_attribute("aria-label") or "").startswith("openai:chat")


def test_adapters_are_shown_side_by_side_with_failures_first(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "both.html")
    rows = [each.text for each in page.all("#matrix tbody th[scope='row']")]
    assert {row.split()[0] for row in rows} == {"reference", "mypkg"}
    assert page.one("#cells .status").text == "fail"
    Select(page.one("#rule")).select_by_value("PRV-1")
    page.one("#cells button").click()
    assert 'got "other"' in page.one("#detail-message").text
    page.one("#close").click()
    for box in page.all("input[name=run]")[:1]:
        box.click()
    assert {row.text.split()[0] for row in page.all("#matrix tbody th[scope='row']")} <= {"cerebras:chat"}
    assert page.complaints() == []


def test_findings_come_first_with_harm_consequence_and_command(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "both.html")
    report = files.read(pages / "two.json")
    cards = page.all("#findings .finding")
    assert len(cards) == len(report["findings"]) >= 2
    assert page.one("#findings-title").text == f"{len(cards)} findings"
    harms = [each.text for each in page.all("#findings .harm .pill")]
    assert harms == list(dict.fromkeys(each["harm"] for each in report["findings"]))
    raised = page.one("#findings .finding:has(.traceback)")
    assert "KeyError: 'lost'" in raised.find_element(By.CSS_SELECTOR, ".message").text
    assert raised.find_element(By.CSS_SELECTOR, ".noticed").text
    assert "--scenario=cerebras/" in raised.find_element(By.CSS_SELECTOR, ".command code").text
    traceback = raised.find_element(By.CSS_SELECTOR, ".traceback pre")
    assert not traceback.is_displayed()
    raised.find_element(By.CSS_SELECTOR, ".traceback summary").click()
    assert "in spoil" in traceback.text


def test_findings_have_the_numbers_of_the_terminal_and_their_code_is_code(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    drawn = {"scenario": "openai/generated-chat-answers", "provenance": "generated", "message": "drawn"}
    rules = (("USE-3", "openai/a"), ("MSG-2", "openai/b"), ("MSG-1", "openai/c"))
    found = [result(scenario, "fail", rule=rule) for rule, scenario in rules]
    made = document(*found, result(status="fail", rule="MSG-1", **drawn), result(status="expected", rule="USE-1"))
    files.write(tmp_path / "page.html", made)
    files.write(tmp_path / "page.md", made)
    page = Page(browser, tmp_path / "page.html")
    numbered = [each.text.split()[:2] for each in page.all("#findings > .finding h4")]
    assert [rule for _, rule in numbered] == ["MSG-1", "MSG-2", "USE-3", "MSG-1"], "what is drawn alone comes last"
    assert [number for number, _ in numbered] == ["1.", "2.", "3.", "4."]
    table = [line.split(" | ") for line in (tmp_path / "page.md").read_text("utf-8").splitlines()]
    assert [[f"{row[0][2:]}.", row[2]] for row in table if row[0][2:].isdigit()] == numbered
    assert page.one("#findings .finding:nth-of-type(2) h4 code").text == "message"
    assert "`" not in page.one("#findings .finding:nth-of-type(2) h4").text
    assert "`a|b`" in page.one("#findings .message").text, "what is quoted stays as it is"


def test_nothing_but_the_findings_stands_under_their_number(browser: webdriver.Chrome, tmp_path: Path) -> None:
    for status, title in (("pass", "No findings"), ("fail", "1 finding")):
        path = tmp_path / f"{status}.html"
        files.write(path, document(result(status=status)))
        page = Page(browser, path)
        assert page.one("#findings-title").text == title
        shown = page.one("#findings")
        assert "Loading" not in shown.text
        assert bool(shown.text) == (status == "fail")


def test_all_findings_are_shown_without_losing_the_known_ones(browser: webdriver.Chrome, tmp_path: Path) -> None:
    failing = [result(f"openai/{at}", "fail", message=f"expected {at}; got null") for at in range(21)]
    files.write(tmp_path / "page.html", document(*failing, result(status="expected", rule="USE-1")))
    page = Page(browser, tmp_path / "page.html")
    cards = "#findings > .finding"
    assert len(page.all(cards)) == 20
    button = page.one("#findings > .more")
    assert button.text == "Show all 21 findings"
    page.one("#known-findings summary").click()
    assert page.one("#known-findings .finding").is_displayed()
    button.click()
    WebDriverWait(browser, 20).until(lambda _: len(page.all(cards)) == 21)
    assert page.one("#known-findings .finding").is_displayed()
    assert not browser.execute_script("return document.querySelector('#findings > .more')")
    assert page.complaints() == []


def test_what_nobody_sees_is_escaped_in_the_detail_of_a_cell(browser: webdriver.Chrome, tmp_path: Path) -> None:
    example = {"body": "a\u2028b\x1b\r\nc", "cuts": None, "expected": {"message": "d\x85"}, "returned": None}
    files.write(tmp_path / "page.html", document(result(status="fail", example=example)))
    page = Page(browser, tmp_path / "page.html")
    page.one("#cells button").click()
    assert page.one("#detail-wire").text == "a\\u2028b\\u001b\\r\nc"
    assert '"d\\u0085"' in page.one("#detail .beside").text


def test_lines_of_cells_on_a_narrow_screen_tell_two_methods_apart(browser: webdriver.Chrome, tmp_path: Path) -> None:
    files.write(
        tmp_path / "page.html", document(*(result(status="fail", method=each) for each in ("parse", "complete")))
    )
    metrics = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page = Page(browser, tmp_path / "page.html")
        lines = [each.text for each in page.all("#cells button")]
        assert [any(name in line.split() for name in ("parse", "complete")) for line in lines] == [True, True]
        assert len(set(lines)) == 2
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_an_example_of_a_finding_opens_its_cell_with_the_facts_of_the_call(
    browser: webdriver.Chrome, pages: Path
) -> None:
    page = Page(browser, pages / "both.html")
    page.one("#findings .examples button").click()
    report = files.read(pages / "two.json")
    example = report["findings"][0]["examples"][0]
    (exchange,) = (
        e for e in report["exchanges"] if (e["scenario"], e["method"]) == (example["scenario"], example["method"])
    )
    assert page.one("#detail-title").text == f"{report['findings'][0]['rule']} in {example['scenario']}"
    facts = page.one("#detail-call").text.splitlines()
    declared = ", ".join(report["adapters"][0]["capabilities"])
    assert facts == [
        *("provider", f"{example['provider']}:{example['api']}", "model", exchange["model"]),
        *("think profile", exchange["think_profile"], "the adapter declares", declared),
    ]


def test_the_head_says_what_was_judged_of_each_adapter(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "both.html")
    reports = [files.read(pages / name) for name in ("one.json", "two.json")]
    told = [judged.read(each, each["adapters"][0]["name"]).sentence for each in reports]
    assert [each.text for each in page.all("#verdicts .judged")] == [f"Judged: {each}" for each in told]
    reasons = ["; ".join(each["partial"]) for each in reports]
    assert [each.text for each in page.all("#verdicts .why")] == [f"No verdict: {each}" for each in reasons]


def test_the_verdict_on_an_adapter_that_declares_little_is_not_green(browser: webdriver.Chrome, tmp_path: Path) -> None:
    for name, capabilities, colour in (("all", CAPABILITIES, "pass"), ("few", ["tools"], "known")):
        path = tmp_path / f"{name}.html"
        files.write(path, document(result(), result("openai/two"), capabilities=capabilities))
        verdict = Page(browser, path).one("#verdicts .pill")
        assert (verdict.text, verdict.get_attribute("class")) == ("conforms", f"pill {colour}")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["page.html", "both.html"])
def test_nothing_scrolls_sideways(browser: webdriver.Chrome, pages: Path, name: str, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page = Page(browser, pages / name)
        for css in ("html", ".scroll"):
            wide, room = browser.execute_script(
                "const at = document.querySelector(arguments[0]); return [at.scrollWidth, at.clientWidth]", css
            )
            assert wide <= room, css
        assert page.one("#matrix td:not(.none) .column").is_displayed() is (width == 390)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_a_server_does_not_scroll_sideways(browser: webdriver.Chrome, tmp_path: Path, width: int) -> None:
    assert test_server_reports.judge(WithoutDone(), tmp_path) == 1
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get((tmp_path / "report.html").as_uri())
        browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
        for css in ("html", "pre:last-of-type", ".scroll"):
            wide, room = browser.execute_script(
                "const at = document.querySelector(arguments[0]); return [at.scrollWidth, at.clientWidth]", css
            )
            assert 0 < wide <= room, css
        assert '"finish_reason": "stop"' in browser.find_element(By.CSS_SELECTOR, "details pre:last-of-type").text
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_matrix_counts_conversations_as_the_report_does(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "both.html")
    rows = files.read(pages / "two.json")["conversations"]
    for family in ("PRV", None):
        mine = [row for row in rows if row["family"] == family and row["provenance"] != "generated"]
        judged, right = (sum(row[name] for row in mine) for name in ("judged", "right"))
        assert 0 < right < judged
        field = page.one(f"#matrix button[aria-label^='cerebras:chat, mypkg 1.0, {family or 'all'}:']")
        assert field.text == f"{right}/{judged}"


def test_families_say_what_they_ask(browser: webdriver.Chrome, pages: Path) -> None:
    page = Page(browser, pages / "page.html")
    titles = {each.text: each.get_attribute("title") for each in page.all("#matrix thead abbr")}
    assert titles["ANN"] == "Are all citations there, on the right characters?"
    assert None not in titles.values()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_in_dark(browser: webdriver.Chrome, pages: Path, scheme: str) -> None:
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    page = Page(browser, pages / "both.html")
    for css in (
        "body",
        "td.pass",
        "td.fail",
        "#legend",
        "#search",
        ".finding .message",
        ".finding .facts",
        ".pill.fail",
    ):
        assert contrast(page.one(css)) >= 4.5, css


def contrast(element: WebElement) -> float:
    """Return the contrast of an element's text with its background, as defined by WCAG 2."""
    script = """
        let at = arguments[0], back;
        do { back = getComputedStyle(at).backgroundColor; at = at.parentElement; } while (at && back.includes(', 0)'));
        const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
        return [getComputedStyle(arguments[0]).color, back].map(numbers);
    """
    lights = sorted(_luminance(colour) for colour in element.parent.execute_script(script, element))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: list[float]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
