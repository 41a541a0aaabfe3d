"""The page in a browser: what a click, a key and a search do, on a phone and by night, and what it never does.

Chromium is Debian's (`apt-get install chromium`); `pip install 'clew[browser]'` brings what drives it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import clew
from clew.context import Context
from clew.items import ContextEdge, Dropped, Hop, Item, Step

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: clew[browser]")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs clew[browser]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE, DESKTOP = {"width": 390, "height": 800}, {"width": 1280, "height": 900}


def rich_context() -> Context:
    """Every role; a path over two names; a long word; texts from right to left; many items left out."""
    named = "entity:journal of psychotherapy"
    to_name = Hop("question", "fact", named, "The journal is published by the association", 0.8)
    over_name = Hop(named, "mentions", "b", forward=False)
    passage = ("passage", 20)
    items = (
        Item("f", "The journal is published by the association", 0.9, "fact", "fact", 9, why=(Hop("question", "fact", "The journal is published by the association", weight=0.8),)),
        Item("a", "The ferry leaves at ten. It is red.", 0.8, "seed", *passage, why=(Hop("question", "touches", "a", weight=0.7),), metadata={"url": "https://sea.org/ferry"}, relevance=0.9),
        Item("b", "A word: " + "x" * 300, 0.4, "expansion", *passage, why=(to_name, over_name)),
        Item("c", "مرحبا بكم في الميناء", 0.1, "bridge", *passage, why=(to_name, over_name, Hop("b", "similar", "c", weight=0.2))),
        Item("d", "def f():\n    return 1", 0.1, "report", "report", 200),
        Item("e", "Filler.", 0.0, "fill", *passage, heading="A very long heading > " * 9),
    )  # fmt: skip
    edges = (ContextEdge("a", "c", "similar", 0.3), ContextEdge("b", "entity:sea", "mentions", 1.0))
    return Context(
        items, "the text", 300, 500, "When does the ferry leave?", "Method(" + "y" * 400 + ")", edges,
        (Step("Dense(k=3)", 0.002, {"touched": 3}),), missing=(("a", "q"),),
        dropped=tuple(Dropped(f"d{i}", "too long for the budget") for i in range(30)),
    )  # fmt: skip


def large_context() -> Context:
    documents = [
        clew.Document(f"d{i}", f"Anna {i} met Ben {i % 7} in Corfu. They sailed to Rome {i % 5}.")
        for i in range(40)
    ]
    index = clew.Index.from_documents(documents, extractor=clew.Names())
    return index.ask("Where did Anna meet Ben?", limit=30, budget=None)


CONTEXTS = {
    "rich": rich_context,
    "large": large_context,
    "empty": lambda: Context((), "", 0, 100, "Who?", "m", nothing_found="no passage was read"),
}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens the page of a context; whatever the page complains of fails the test."""
    complaints, contexts = [], []

    def open_page(name: str = "rich", viewport=DESKTOP, **settings):
        file: Path = tmp_path / f"{name}.html"
        CONTEXTS[name]().to_html(file)
        context = browser.new_context(viewport=viewport, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url))
        page.goto(file.as_uri())
        assert complaints == [file.as_uri()]  # the page itself, and nothing that it would load
        complaints.clear()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def lit(page) -> list[str]:
    """The first words of the boxes that are lit."""
    return page.eval_on_selector_all(
        ".drawing .node.lit", "nodes => nodes.map(node => node.querySelector('text').textContent)"
    )


def test_a_click_lights_the_path_of_an_item_and_escape_ends_it(opened):
    page = opened()
    page.click("svg.drawing a[data-rank='4']")
    assert sorted(lit(page)) == ["3 · b", "4 · c", "When does the", "journal of"]
    lines = page.eval_on_selector_all("path.lit", "all => all.map(one => one.dataset.paths)")
    assert sorted(lines) == ["3 4", "3 4", "4"]
    assert page.get_attribute("#item-4 button.light", "aria-pressed") == "true"
    assert page.locator("article.chosen").get_attribute("id") == "item-4"
    page.keyboard.press("Escape")
    assert not lit(page)
    assert page.locator("article.chosen").count() == 0
    page.click("#item-2 button.light")
    assert sorted(lit(page)) == ["2 · a", "When does the"]
    page.click("#item-2 button.light")
    assert not lit(page)
    page.click("svg.bar [data-rank='5']")
    assert page.locator("article.chosen").get_attribute("id") == "item-5"


def test_all_is_reached_and_done_with_the_keyboard(opened):
    page = opened()
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # behind the last one
        reached.append(page.evaluate("""() => {
            const at = document.activeElement, style = getComputedStyle(at);
            const shape = at.querySelector(':scope > .node > rect, :scope > rect');
            const seen = style.outlineStyle !== 'none' || (shape && getComputedStyle(shape).strokeWidth === '4px');
            return [at.tagName.toLowerCase() + '.' + (at.dataset.rank || at.id || at.getAttribute('class') || ''), Boolean(seen)];
        }"""))  # fmt: skip
    names = [name for name, _ in reached]
    for wanted in ["input.search", "summary.", "a.open", *(f"a.{rank}" for rank in range(1, 7))]:
        assert wanted in names
    assert names.count("button.light") == 6
    assert "g.node connector" in names
    assert all(visible for _, visible in reached)
    page.focus("svg.drawing a[data-rank='3']")
    page.keyboard.press("Enter")
    assert "3 · b" in lit(page)
    page.keyboard.press("Escape")
    page.focus("g.node.connector")
    page.keyboard.press("Enter")
    assert {"3 · b", "4 · c"} <= set(lit(page))


def test_a_search_hides_what_has_not_all_of_its_words(opened):
    page = opened()
    page.fill("#search", "FERRY ten")
    assert page.locator("article:visible").evaluate_all("all => all.map(one => one.id)") == [
        "item-2"
    ]
    assert page.inner_text("#found") == "1 of 6 items"
    assert page.locator(".drawing .node.hit").count() == 1
    page.fill("#search", "")
    assert page.locator("article:visible").count() == 6
    assert page.inner_text("#found") == ""


def test_neighbours_fold_out_and_lead_on(opened):
    page = opened()
    near = page.locator("#item-2 details.near")
    assert not near.locator("li").first.is_visible()
    near.locator("summary").click()
    assert near.locator("li").first.is_visible()
    near.locator("a").first.click()
    assert page.locator("article.chosen").get_attribute("id") == "item-4"


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_never_scrolls_sideways_and_the_drawing_scrolls_in_its_box(opened, name, width):
    page = opened(name, {"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for fold in page.locator("details").all():
        fold.evaluate("one => { one.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if name != "empty":
        size = page.locator("svg.drawing .name").first.evaluate(
            "text => text.getBoundingClientRect().height"
        )
        assert size >= 10  # pixels: the letters stay large enough to be read


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_by_day_and_by_night(opened, name, scheme, viewport):
    page = opened(name, viewport, color_scheme=scheme, reduced_motion="reduce")
    for fold in page.locator("details").all():
        fold.evaluate("one => { one.open = true }")
    for chosen in (False, True):
        if chosen and name != "empty":
            page.click("#item-2 button.light")
        results = axe.Axe().run(page)
        assert not results.response["violations"], results.generate_report()
        assert "color-contrast" in {rule["id"] for rule in results.response["passes"]}


def test_night_is_dark_and_day_is_light(opened):
    def brightness(scheme: str) -> float:
        page = opened(color_scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.strip("rgb()").split(",")) / 3

    assert brightness("light") > 200
    assert brightness("dark") < 50


def test_letters_stay_in_their_boxes_and_labels_beside_them(opened):
    """The program only guesses how wide letters are; here they are measured."""
    for name in ("rich", "large"):
        page = opened(name)
        wide = page.evaluate("""() => {
            const out = [];
            for (const group of document.querySelectorAll('.drawing .label')) {
                const box = group.querySelector('rect').getBoundingClientRect();
                for (const text of group.querySelectorAll('text')) {
                    const own = text.getBoundingClientRect();
                    if (own.width > box.width + 24) out.push(text.textContent);
                }
            }
            return out;
        }""")
        assert not wide


def test_without_script_all_is_there_to_read(opened):
    page = opened(java_script_enabled=False)
    context = rich_context()
    for rank, item in enumerate(context, 1):
        article = page.locator(f"#item-{rank}")
        assert article.is_visible()
        assert item.text.split()[0] in article.inner_text()
    assert page.locator("svg.drawing .node").count() == 9
    assert not page.locator(".search").is_visible()
    assert page.locator("button:visible").count() == 0
    page.click("svg.drawing a[data-rank='2']")
    assert page.url.endswith("#item-2")


def test_a_frame_tells_the_page_around_it_what_is_chosen_and_how_high_it_is(browser, tmp_path):
    frame = rich_context()._repr_html_()
    file = tmp_path / "around.html"
    file.write_text(
        "<meta charset=utf-8><script>window.got = [];"
        "window.addEventListener('message', event => got.push(event.data))</script>" + frame,
        encoding="utf-8",
    )
    page = browser.new_page()
    page.goto(file.as_uri())
    inner = page.frame_locator("iframe")
    inner.locator("svg.drawing a[data-rank='2']").click()
    page.wait_for_function("got.some(message => message.clew === 'selected')")
    got = page.evaluate("got")
    assert {"clew": "selected", "id": "a"} in got
    heights = [message["value"] for message in got if message["clew"] == "height"]
    assert heights
    assert min(heights) > 500
    assert page.url == file.as_uri()
    assert inner.locator("#item-2").is_visible()  # the link led nowhere else
    page.close()
