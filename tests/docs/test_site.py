"""The site: it builds without a warning, has everything that is public, and fetches nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quota_constructs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as ``make docs`` does, where a warning is an error."""
    directory = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(directory)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return directory


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_site_is_built_with_all_its_pages(site: Path) -> None:
    pages = {page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")}

    assert pages <= {page.relative_to(site) for page in site.rglob("*.html")}


def test_every_page_can_be_reached_from_the_navigation(site: Path) -> None:
    home = text_of(site / "index.html")
    pages = [str(page.relative_to(DOCS).with_suffix(".html")) for page in DOCS.rglob("*.md")]

    assert [page for page in pages if f'href="{page}"' not in home and page != "index.html"] == []


@pytest.mark.parametrize("name", quota_constructs.__all__)
def test_the_reference_has_whatever_is_exported(site: Path, name: str) -> None:
    assert f'id="quota_constructs.{name}"' in text_of(site / "reference/constructs.html")


def test_the_reference_has_nothing_private(site: Path) -> None:
    ids = re.findall(r'id="(quota_(?:constructs|model)[^"]*)"', text_of(site / "reference/constructs.html"))

    assert [each for each in ids if any(part.startswith("_") for part in each.split("."))] == []


def test_a_page_fetches_nothing_from_elsewhere(site: Path) -> None:
    fetched = re.compile(
        r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?(?:https?:)?//|<link[^>]*\shref=\"?(?:https?:)?//"
    )

    assert [page.name for page in site.rglob("*.html") if fetched.search(text_of(page))] == []


def test_no_text_shows_the_markup_of_another_language(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not re.search(r":(?:class|meth|func|mod):`", text_of(page)), page
