"""A real browser, where there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@contextmanager
def open_browser(shown: str) -> Iterator[Any]:
    """Chromium, without a screen; skips the test where it is missing, and with it a look at what is shown."""
    if _CHROMIUM is None:
        pytest.skip(f"no chromium found: {shown} is not looked at in a real browser")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason=f"playwright is not installed: {shown} is not looked at in a real browser"
    )
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=_CHROMIUM, args=[*_FLAGS, "--disable-component-update"])
        yield opened
        opened.close()
