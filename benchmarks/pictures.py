"""The pictures of the README, made by the commands a user would type: preflop grid, convergence, variants, report.

    python benchmarks/pictures.py [STRATEGY]      # by default runs/demo/strategy, which `make demo` writes

Screenshots need playwright and a chromium; without one they are skipped with a message.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from foldwise.cli.main import main as foldwise

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
_SAMPLERS = ("cfr", "cfr+", "dcfr", "external", "outcome")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


def run(*words: object) -> None:
    print("$ foldwise", *words, flush=True)
    code = foldwise([str(word) for word in words])
    if code:
        sys.exit(code)


def shrink(path: Path) -> None:
    """Reduce the colours, to keep the repository small."""
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def screenshots(report: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("no chromium found: no pictures of the report")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS)
        for name, width, height, parts in (("desktop", 900, 1180, False), ("phone", 390, 844, True)):
            page = browser.new_context(viewport={"width": width, "height": height}).new_page()
            page.goto(report.as_uri())
            if parts:  # on the phone the replayer, at a decision the strategy explains
                page.eval_on_selector("#replay", "section => section.scrollIntoView()")
                while not page.is_visible("#why") and page.input_value("#step") != page.get_attribute("#step", "max"):
                    page.click("#step-on")
                page.eval_on_selector("#replay", "section => section.scrollIntoView()")
            output = PICTURES / f"report-{name}.png"
            page.screenshot(path=output)
            shrink(output)
            print(f"{output.relative_to(ROOT)}: {output.stat().st_size // 1000} kB")
        browser.close()


def main() -> None:
    strategy = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/demo/strategy").resolve()
    with tempfile.TemporaryDirectory(prefix="foldwise-pictures-") as name:
        folder = Path(name)
        run("inspect", strategy, "--betting", "r300", "--png", PICTURES / "preflop.png")
        for sampler in _SAMPLERS:
            words = ("--sampler", sampler, "--seconds", 3, "--set", "solver.evaluate_seconds=0.01")
            run("solve", ROOT / "configs" / "leduc.toml", "-o", folder / sampler, *words)
        run("plot", *(folder / sampler for sampler in _SAMPLERS), "--x", "seconds", "-o", PICTURES / "convergence.png")
        run("compare", strategy, "--opponents", "bot:strength", "--hands", 20_000, "-o", folder / "compare")
        shutil.copy(folder / "compare" / "comparison.png", PICTURES / "comparison.png")
        words = ("--hands", 2000, "--explain", "-o", folder / "match")
        run("match", f"strategy:{strategy}|new(0.2)", "bot:strength", *words)
        run("report", folder / "match")
        screenshots(folder / "match" / "report.html")
        for picture in ("preflop", "convergence", "comparison"):
            shrink(PICTURES / f"{picture}.png")


if __name__ == "__main__":
    main()
