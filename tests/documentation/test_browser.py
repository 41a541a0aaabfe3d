"""The site in a browser, from a folder and without a network: search, links, and what a reader needs.

Chromium is Debian's (`apt-get install chromium`); `pip install 'clew[browser]'` brings what drives it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from clew.cli import main

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: clew[browser]")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs clew[browser]")
pytest.importorskip("griffe")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


def test_the_site_is_searched_and_read_from_its_folder(tmp_path):
    site = tmp_path / "site"
    source = str(Path(json.__file__).parent)
    assert main(["document", source, "-o", str(site), "--format", "html"]) == 0
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 800})
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((site / "search.html").as_uri() + "?q=JSONDeco")
        titles = page.locator("#results a").all_inner_texts()
        assert "json.decoder.JSONDecoder" in titles[:2]
        page.fill("#query", "raw decode")
        assert (
            page.locator("#results a").first.inner_text() == "json.decoder.JSONDecoder.raw_decode"
        )
        page.fill("#query", "<img src=x onerror=alert(1)> nothing")
        assert page.locator("#results a").count() == 0
        page.fill("#query", "raw_decode")
        page.locator("#results a").first.click()
        assert page.url.endswith("api-json.decoder.html#json.decoder.JSONDecoder.raw_decode")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "on a phone"
        for name in ("index", "api-json.decoder", "search", "names", "topics"):
            page.goto((site / f"{name}.html").as_uri())
            found = axe.Axe().run(page)
            assert not found.response["violations"], (name, found.generate_report())
        assert not wrong
        assert all(url.startswith("file:") for url in asked)
        browser.close()
