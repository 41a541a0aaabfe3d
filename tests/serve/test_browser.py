"""The page in a browser: ask, compare, move the budget, filter, open, look; by keyboard and on a phone."""

from __future__ import annotations

import re
import shutil
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

import clew
from clew.serve import ServedIndex, ServedOptions
from clew.serve.access import AccessRules
from clew.serve.app import create_app
from clew.serve.service import Service
from tests.serve.serving import TEXTS, documents
from tests.serve.test_hostile import HOSTILE

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: clew[browser]")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="needs axe: clew[browser]"
)

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
FERRIES = {
    f"pier-{n}.md": f"# Pier {n}\n\nFerries of line {n} sail from Corfu to the pier {n} at {n} o'clock in summer, "
    "and an hour later in winter, when the sea is rough and few people travel."
    for n in range(12)
}
QUESTION = "When do ferries sail from Corfu?"


class StreamingModel:
    """Gives its answer in pieces."""

    model_name = "a streaming model"

    def invoke(self, prompt):
        raise AssertionError("it can stream")

    def stream(self, prompt):
        for piece in ("At nine", " [1]", ". <b>Bold</b> [2]."):
            yield type("Chunk", (), {"content": piece})()


@contextmanager
def serving(index=None, token=None, **options):
    index = index or clew.Index.from_documents(
        [*documents({**TEXTS, **FERRIES}), HOSTILE],
        splitter=clew.Splitter(),
        extractor=clew.Names(),
        untrusted=True,
    )
    service = Service.of(ServedIndex(index, ServedOptions(**options)), 2)
    app = create_app(service, AccessRules(token=token))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def address():
    with serving() as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page on which nothing fails, nothing is loaded from elsewhere, and no script of a document runs."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(30_000)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.on(
        "request",
        lambda one: (
            None
            if "//127.0.0.1:" in one.url or one.url.startswith("data:")
            else wrong.append(one.url)
        ),
    )
    page.expected = ["401 (Unauthorized)"]
    yield page
    page.close()
    assert [line for line in wrong if not any(one in line for one in page.expected)] == []


def ask(page, address, question=QUESTION):
    page.goto(address)
    page.wait_for_selector("#recipe-0 option", state="attached")
    page.fill("#question", question)
    page.keyboard.press("Enter")
    settled(page)


def settled(page):
    until(
        page,
        "document.querySelectorAll('.column').length && !document.querySelector('.column[aria-busy]')",
    )


def until(page, expression):
    """Wait until an expression is true; the page's policy forbids the driver's own loop to."""
    end = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        time.sleep(0.05)


def ids(page, column=0):
    return page.eval_on_selector_all(
        f"#column-{column} .items > li", "rows => rows.map(row => row.dataset.id)"
    )


def has_no_violations(page):
    results = axe.Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_a_quote_leads_to_its_item(page, address):
    ask(page, address)
    answer = page.inner_text("#column-0 .answer")
    assert "sail from Corfu" in answer
    link = page.locator("#column-0 .answer a").first
    number = int(link.inner_text())
    link.click()
    chosen = page.locator(".items > li.chosen")
    assert chosen.get_attribute("id") == f"item-0-{number}"
    assert page.evaluate("document.activeElement.id") == f"item-0-{number}"
    sentence = re.sub(r" \[\d+\]$", "", answer.splitlines()[0])
    assert sentence in chosen.locator(".text").inner_text()


def test_the_budget_by_keyboard_marks_what_enters_and_leaves(page, address):
    ask(page, address)
    before = ids(page)
    page.focus("#budget")
    page.keyboard.press("Home")
    page.wait_for_selector(".left")
    settled(page)
    few = ids(page)
    assert set(few) < set(before)
    assert page.locator(".left li").count() == len(set(before) - set(few))
    assert page.inner_text("#tokens") == "100"
    page.keyboard.press("End")
    page.wait_for_selector("li.entered")
    settled(page)
    entered = page.eval_on_selector_all("li.entered", "rows => rows.map(row => row.dataset.id)")
    assert set(entered) == set(ids(page)) - set(few)
    assert f"Entered: {len(entered)}" in page.inner_text("#column-0 .facts")


def test_recipes_are_switched_and_stand_side_by_side(page, address):
    ask(page, address)
    page.select_option("#recipe-0", "bm25")
    until(page, "document.querySelector('#title-0').textContent === 'bm25'")
    page.check("#compare")
    page.select_option("#recipe-1", "kurisu")
    until(page, "document.querySelector('#title-1')?.textContent === 'kurisu'")
    settled(page)
    first, second = (page.locator(f"#column-{n}").bounding_box() for n in (0, 1))
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]
    page.uncheck("#compare")
    assert page.locator("#column-1").is_hidden()


def test_a_filter_is_added_and_taken_away(page, address):
    ask(page, address)
    page.click("#filter-box summary")
    page.select_option("#key", "place")
    page.fill("#value", "1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#filters button")
    settled(page)
    odd = {id for n, id in enumerate({**TEXTS, **FERRIES}) if n % 2}
    assert ids(page)
    assert {id.split("#")[0] for id in ids(page) if not id.startswith("fact:")} <= odd
    page.click("#filters button")
    settled(page)
    assert not {id.split("#")[0] for id in ids(page) if not id.startswith("fact:")} <= odd


def test_a_source_opens_at_its_place_and_closes_by_keyboard(page, address):
    ask(page, address)
    opener = page.locator("#item-0-1 button", has_text="Open source")
    text = page.inner_text("#item-0-1 .text")
    opener.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#source[open]")
    assert page.inner_text("#source mark") == text
    assert len(page.inner_text("#source-text")) > len(text)
    has_no_violations(page)
    page.keyboard.press("Escape")
    page.wait_for_selector("#source", state="hidden")
    assert opener.evaluate("one => document.activeElement === one")


def test_neighbours_fold_out_and_open(page, address):
    ask(page, address)
    button = page.locator("#item-0-1 button", has_text="Neighbours")
    button.click()
    page.wait_for_selector("#item-0-1 .neighbours li")
    assert button.get_attribute("aria-expanded") == "true"
    page.locator("#item-0-1 .neighbours button").first.click()
    page.wait_for_selector("#source[open] mark")
    page.click("#close-source")
    button.click()
    assert page.locator("#item-0-1 .neighbours").count() == 0


def test_the_picture_is_shut_in_and_tells_what_was_selected(page, address):
    ask(page, address)
    page.check("#picture")
    page.wait_for_selector("iframe.picture")
    frame = page.locator("iframe.picture").element_handle().content_frame()
    until(frame, "document.body.textContent.includes('When do ferries sail')")
    assert frame.evaluate("origin") == "null"
    page.expected += ["violates the following Content Security Policy", "Fetch API cannot load"]
    assert (
        frame.evaluate("fetch('/api/status').then(() => 'reached', () => 'refused')") == "refused"
    )
    with pytest.raises(playwright.Error):
        frame.evaluate("parent.document.title")
    wanted = ids(page)[1]
    frame.evaluate("id => parent.postMessage({clew: 'selected', id}, '*')", wanted)
    page.wait_for_selector("#item-0-2.chosen")
    frame.evaluate("parent.postMessage({clew: 'height', value: 444}, '*')")
    until(page, "document.querySelector('iframe.picture').style.height === '444px'")
    frame.evaluate("parent.postMessage({clew: 'height', value: 1e9}, '*')")
    until(page, "document.querySelector('iframe.picture').style.height === '720px'")


def test_a_hostile_document_stays_text(page, address):
    ask(page, address, "Ferries alert now javascript")
    page.check("#picture")
    page.wait_for_selector("iframe.picture")
    page.locator("iframe.picture").element_handle().content_frame().wait_for_selector("svg")
    hostile = page.locator(".items > li", has_text="alert(1)")
    assert hostile.count()
    hostile.first.locator("button", has_text="Open source").click()
    page.wait_for_selector("#source[open] mark")
    assert "<script>alert(1)</script>" in page.inner_text("#source-text")
    page.click("#close-source")
    hostile.first.locator("button", has_text="Neighbours").click()
    time.sleep(0.5)
    for inside in (page, page.frames[1]):
        scripts = inside.eval_on_selector_all("script", "all => all.map(one => one.textContent)")
        assert not [text for text in scripts if text.startswith("alert(")]
        assert (
            inside.eval_on_selector_all(
                "img, [onerror], [onload], a[href^='javascript']", "all => all.length"
            )
            == 0
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows_and_axe_finds_nothing(browser, address, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    ask(page, address)
    page.check("#compare")
    page.wait_for_selector("#column-1 .items > li")
    page.click("#filter-box summary")
    page.fill("#value", "note")
    page.click("#add-filter")
    page.focus("#budget")
    page.keyboard.press("Home")
    until(
        page,
        "[...document.querySelectorAll('.facts')].every(one => one.textContent.includes('of 100 tokens'))",
    )
    settled(page)
    assert page.locator(".left").count()
    page.locator("#item-0-1 button", has_text="Neighbours").click()
    page.wait_for_selector(".neighbours li")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    has_no_violations(page)
    page.goto(f"{address}/docs")
    page.wait_for_selector("h2")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    has_no_violations(page)
    page.close()


def test_the_page_asks_for_the_token_and_keeps_it(page):
    with serving(token="right") as address:
        page.goto(address)
        page.wait_for_selector("#token-box[open]")
        has_no_violations(page)
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        until(page, "document.querySelector('#token').value === ''")
        page.wait_for_selector("#token-box[open]")
        page.fill("#token", "right")
        page.keyboard.press("Enter")
        page.wait_for_selector("#recipe-0 option", state="attached")
        page.reload()
        page.wait_for_selector("#recipe-0 option", state="attached")
        assert page.locator("#token-box[open]").count() == 0
        assert page.evaluate("localStorage.length") == 0
        page.goto("about:blank")


def test_a_token_in_the_address_is_taken_out_of_it(page):
    with serving(token="right") as address:
        page.goto(f"{address}/#token=right")
        page.wait_for_selector("#recipe-0 option", state="attached")
        assert "right" not in page.url
        page.goto("about:blank")


def test_the_text_of_a_model_comes_in_pieces_as_text(page):
    with serving(model=clew.Model.of(StreamingModel())) as address:
        ask(page, address)
        until(page, "document.querySelector('.answer')?.textContent.includes('Bold')")
        settled(page)
        assert "At nine [1]. <b>Bold</b> [2]." in page.inner_text(".answer")
        assert page.locator(".answer a").count() == 2
        assert "a streaming model" in page.inner_text(".answer .by")
        page.goto("about:blank")


def test_an_error_is_said_and_the_next_question_is_answered(page, address):
    ask(page, address)
    page.expected += ["net::ERR_FAILED"]
    page.route("**/api/ask", lambda route: route.abort())
    page.press("#question", "Enter")
    page.wait_for_selector("#state.error")
    assert "cannot be reached" in page.inner_text("#state")
    page.unroute("**/api/ask")
    page.click("button.main")
    page.wait_for_selector("#state:not(.error)")
    settled(page)
    assert ids(page)


def said(page, text):
    until(page, f"document.querySelector('#state').textContent.includes({text!r})")


def test_documents_are_added_replaced_and_deleted_on_the_page(page, tmp_path):
    index = clew.Index.from_documents(documents(), splitter=clew.Splitter(), untrusted=True)
    index.save(tmp_path / "saved")
    owls = tmp_path / "owls.md"
    owls.write_text("# Owls\n\nOwls hunt mice at night.", encoding="utf-8")
    with serving(index, writable=True, saved_to=tmp_path / "saved") as address:
        ask(page, address, "What do owls hunt at night?")
        page.click("#change-box summary")
        page.set_input_files("#new-files", owls)
        page.fill("#new-name", "buoy.md")
        page.fill("#new-text", "The <b>buoy</b> is red.")
        page.click("#add-form button")
        said(page, "2 added. 6 documents now.")
        settled(page)
        assert page.inner_text("#about").startswith("6 documents")
        assert ids(page)[0].startswith("owls.md"), "the question is asked again"
        assert page.input_value("#new-name") == ""

        page.set_input_files("#new-files", owls)
        page.click("#add-form button")
        page.wait_for_selector("#state.error")
        assert "already" in page.inner_text("#state")
        page.expected += ["409 (Conflict)"]
        owls.write_text("# Owls\n\nOwls hunt voles at night.", encoding="utf-8")
        page.set_input_files("#new-files", owls)
        page.check("#new-replaces")
        page.click("#add-form button")
        said(page, "1 replaced. 6 documents now.")
        settled(page)
        assert "voles" in page.inner_text("#column-0 .answer")

        page.locator("#item-0-1 button", has_text="Delete the document").click()
        page.wait_for_selector("#sure[open]")
        assert "“owls.md” goes from the index, also on the disk" in page.inner_text("#sure-what")
        has_no_violations(page)
        page.keyboard.press("Enter")  # the focus is on what changes nothing
        page.wait_for_selector("#sure", state="hidden")
        assert "owls.md" in clew.Index.load(tmp_path / "saved").document_of
        page.fill("#delete-name", "owls.md")
        page.keyboard.press("Enter")
        page.click("#sure-delete")
        said(page, "1 deleted. 5 documents now.")
        assert set(clew.Index.load(tmp_path / "saved").document_of) == {*TEXTS, "buoy.md"}
        assert page.locator("#sync-row").is_hidden(), "there is no folder"
        page.goto("about:blank")


def test_what_is_no_text_is_not_sent(page, tmp_path):
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\0\xff")
    with serving(writable=True) as address:
        page.goto(address)
        page.wait_for_selector("#recipe-0 option", state="attached")
        sent = []
        page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
        page.click("#change-box summary")
        page.set_input_files("#new-files", tmp_path / "logo.png")
        page.click("#add-form button")
        said(page, "logo.png is no text")
        page.set_input_files("#new-files", [])
        page.fill("#new-text", "A text without a name.")
        page.click("#add-form button")
        said(page, "A text has a name")
        assert sent == []
        page.goto("about:blank")


def test_the_folder_is_read_again_from_the_page(page, tmp_path):
    (tmp_path / "ferry.md").write_text("Ferries sail at nine.", encoding="utf-8")
    index = clew.Index.from_documents(tmp_path, untrusted=True)
    with serving(index, writable=True, read_again=lambda before: before.sync(tmp_path)) as address:
        page.goto(address)
        page.click("#change-box summary")
        (tmp_path / "moon.md").write_text("The moon pulls the sea.", encoding="utf-8")
        page.click("#sync")
        said(page, "1 added. 2 documents now.")
        page.goto("about:blank")


def test_a_server_that_only_answers_shows_nothing_to_change(page, address):
    ask(page, address)
    assert page.locator("#change-box").is_hidden()
    assert page.locator("button:visible", has_text="Delete").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_controls_of_changes_fit_a_phone_and_axe_finds_nothing(browser, scheme):
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    with serving(writable=True, read_again=lambda before: before) as address:
        ask(page, address)
        page.click("#change-box summary")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        has_no_violations(page)
        page.close()
