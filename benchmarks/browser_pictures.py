"""The pictures of docs/browser.md: every page of `foldwise serve` in a real browser, after some use.

    python benchmarks/browser_pictures.py STRATEGY [-o DIR] [--all]

By default the pictures of the documentation are redrawn; with --all, every page at 1280 and at 360 pixels into DIR.
The cards come from fixed seeds, so two runs with one strategy give the same hands.
"""

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from foldwise.cli.main import main as foldwise

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
_SIZES = {"desktop": (1280, 860), "phone": (360, 740)}
_IN_DOCS = {
    "play-desktop": "browser-play",
    "play-phone": "browser-phone",
    "explore-desktop": "browser-explore",
    "review-desktop": "browser-review",
    "watch-desktop": "browser-watch",
    "train-desktop": "browser-train",
}
_COLOURS = 256


@contextlib.contextmanager
def serving(strategy: Path, folder: Path) -> Iterator[str]:
    """A running server with two matches to watch."""
    runs = folder / "runs"
    for name, opponent, hands in (("against-rules", "bot:strength", 1000), ("against-caller", "bot:call", 400)):
        words = [
            "match",
            f"{strategy.name}=strategy:{strategy}",
            opponent,
            "--hands",
            str(hands),
            "-o",
            str(runs / name),
        ]
        if foldwise(words):
            sys.exit("the match could not be played")
    words = [
        "serve",
        str(strategy),
        "--port",
        "0",
        "--no-open",
        "--json",
        "-o",
        str(folder / "s"),
        "--matches",
        str(runs),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "foldwise.cli.main", *words], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()


def sit_down(page: Page) -> None:
    page.wait_for_selector("#sit")
    page.select_option("#speed", "wait")
    page.fill("#seed", "21")
    page.click("#sit")
    page.wait_for_selector("#call, #next")


def step(page: Page, selector: str) -> None:
    """Click, and wait until the table has changed and accepts the next click."""
    before = page.inner_text(".story"), page.inner_text("#hands")
    page.click(selector)
    page.wait_for_function(
        "([story, hands]) => (document.querySelector('.story').innerText !== story ||"
        " document.getElementById('hands').innerText !== hands) && document.querySelector('#call, #next')",
        arg=list(before),
    )


def play(page: Page) -> None:
    """Two dozen hands, then one as far as the turn."""
    sit_down(page)
    while int(page.inner_text("#hands")) < 24 or not (
        page.query_selector("#call") and len(page.query_selector_all(".board .cardface:not(.slot)")) >= 4
    ):
        step(page, "#next" if page.query_selector("#next") else "#call")
    page.wait_for_selector(".graph")


def explore(page: Page) -> None:
    page.wait_for_selector(".grid169")
    for text in ("button", None):
        page.wait_for_selector(f"text={text} to act" if text else "text=big blind to act")
        page.click("[data-action^=r]" if text else "[data-action=c]")
    page.wait_for_selector("text=Choose 3 cards")
    page.fill("#board", "AsKd7c2h")
    page.press("#board", "Enter")
    page.wait_for_selector("text=flop: big blind to act")
    page.click("[data-action=c]")
    page.wait_for_selector("text=flop: button to act")
    page.click("[data-action=c]")
    page.wait_for_selector("text=turn: big blind to act")
    page.fill("#solve-seconds", "8")
    page.click("#solve")
    page.wait_for_selector("text=Done: ")
    page.hover("[data-hand=A9s]")
    page.evaluate("scrollTo(0, 0)")


def review(page: Page) -> None:
    page.click("#review")
    page.wait_for_selector("#given-up")


def watch(page: Page) -> None:
    page.wait_for_selector("#watched-mean")
    page.click("details summary")


def train(page: Page) -> None:
    page.wait_for_selector("[data-drill]")
    page.select_option("#drill-kind", "turn")
    page.wait_for_selector("text=turn, pot")
    page.click("[data-drill=c]")
    page.wait_for_selector("#verdict")
    page.evaluate("scrollTo(0, 0)")


def shoot(page: Page, output: Path) -> None:
    page.wait_for_function("() => document.getAnimations().every((one) => one.playState === 'finished')")
    page.screenshot(path=output)
    Image.open(output).convert("RGB").quantize(_COLOURS).save(output, optimize=True)
    print(f"{output.name}: {output.stat().st_size // 1000} kB", flush=True)


def all_pages(browser: Any, url: str, folder: Path) -> None:
    for size, (width, height) in _SIZES.items():
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        page.set_default_timeout(300_000)
        page.goto(url)
        page.wait_for_selector("#sit")
        shoot(page, folder / f"sit-{size}.png")
        for name, visit in (
            ("play", play),
            ("explore", explore),
            ("review", review),
            ("watch", watch),
            ("train", train),
        ):
            if name != "play":
                session = json.loads(page.evaluate("localStorage.getItem('session')"))
                page.goto(f"{url}#{name}" + (f"?session={session}" if name == "review" else ""))
            visit(page)
            shoot(page, folder / f"{name}-{size}.png")
        page.context.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("strategy", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=PICTURES)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("no chromium found: install one to have its pictures")
    given.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="foldwise-pictures-") as name, sync_playwright() as driver:
        folder = Path(name)
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS)
        with serving(given.strategy.resolve(), folder) as url:
            all_pages(browser, url, given.output if given.all else folder)
        browser.close()
        for shot, picture in ({} if given.all else _IN_DOCS).items():
            shutil.move(folder / f"{shot}.png", given.output / f"{picture}.png")


if __name__ == "__main__":
    main()
