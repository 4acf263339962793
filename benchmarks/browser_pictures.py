"""The pictures of docs/browser.md: every page of `foldwise serve` in a real browser, after some use.

    python benchmarks/browser_pictures.py STRATEGY [-o DIR]

Every page at 1280 and at 360 pixels into DIR; by default the pictures of the documentation are redrawn. A match runs
meanwhile, to be watched. The cards at the table come from a fixed seed: two runs with one strategy show the same hand.
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

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from foldwise.cli.main import main as foldwise
from foldwise.cli.support.strategies import typed_folder

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
_SIZES = {"desktop": (1280, 860), "phone": (360, 740)}
_ENDINGS = {"desktop": "", "phone": "-phone"}
_COLOURS = 256
_LEAST_WATCHED = 300  # hands of the running match
_DRILLS = 5


@contextlib.contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A command of ours as a process, until the block is left."""
    command = [sys.executable, "-m", "foldwise.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextlib.contextmanager
def serving(strategy: Path, folder: Path) -> Iterator[str]:
    """A running server with two matches to watch: one that is over, and one that is being played."""
    runs = folder / "runs"
    player = f"{strategy.name}=strategy:{strategy}"
    if foldwise(["match", player, "bot:call", "--hands", "400", "-o", str(runs / "against-caller")]):
        sys.exit("the match could not be played")
    words = ["match", player, "bot:strength", "--hands", "100000", "--over", "tcp", "-o", str(runs / "against-rules")]
    told = ["--port", "0", "--no-open", "--json", "-o", str(folder / "s"), "--matches", str(runs)]
    with running(*words), running("serve", str(strategy), *told) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]


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
    page.click("[data-match]:has(.live)")
    page.wait_for_function(
        "least => Number((document.getElementById('watched-hands') || {textContent: '0'}).textContent.replaceAll(',', ''))"
        " >= least && document.querySelector('.graph')",
        arg=_LEAST_WATCHED,
    )
    page.click(".last-hands summary")


def train(page: Page) -> None:
    page.wait_for_selector("[data-drill]")
    page.select_option("#drill-street", "turn")
    page.wait_for_selector("text=turn, pot")
    page.select_option("#drill-situation", "bet")
    for _ in range(_DRILLS):
        page.wait_for_selector("[data-drill=f]")
        page.click("[data-drill=c]")
        page.wait_for_selector("#verdict")
        page.click("#next-drill")
    page.wait_for_selector("[data-drill=f]")
    page.click("[data-drill=c]")
    page.wait_for_selector("#verdict")
    page.evaluate("scrollTo(0, 0)")


def shoot(page: Page, output: Path) -> None:
    page.wait_for_function("() => document.getAnimations().every((one) => one.playState === 'finished')")
    page.screenshot(path=output)
    picture = Image.open(output).convert("RGB")
    # An octree keeps small areas of a colour of their own, such as the ring around who is to act.
    picture.quantize(_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(output, optimize=True)
    print(f"{output.name}: {output.stat().st_size // 1000} kB", flush=True)


def all_pages(browser: Browser, url: str, folder: Path) -> None:
    visits = {"play": play, "explore": explore, "review": review, "watch": watch, "train": train}
    for size, (width, height) in _SIZES.items():
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        page.set_default_timeout(600_000)
        page.goto(url)
        for name, visit in visits.items():
            if name != "play":
                session = json.loads(page.evaluate("localStorage.getItem('session')"))
                page.goto(f"{url}#{name}" + (f"?session={session}" if name == "review" else ""))
            visit(page)
            shoot(page, folder / f"browser-{name}{_ENDINGS[size]}.png")
        page.context.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("strategy", type=typed_folder)
    parser.add_argument("-o", "--output", type=Path, default=PICTURES)
    given = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("no chromium found: install one to have its pictures")
    given.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="foldwise-pictures-") as name, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS)
        with serving(given.strategy.resolve(), Path(name)) as url:
            all_pages(browser, url, given.output)
        browser.close()


if __name__ == "__main__":
    main()
