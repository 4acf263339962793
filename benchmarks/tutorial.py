"""docs/tutorial.md followed to the letter in a fresh clone: set-up, every block, hold'em too. Prints the time of each."""

import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```sh([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    blocks = _BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="foldwise-tutorial-") as name:
        clone = Path(name) / "foldwise"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        steps = [("set-up", "make .venv/.ready"), *((words.strip() or "block", text) for words, text in blocks)]
        past = ["set -e"]  # each step in a shell of its own, after the steps that only set it up
        for title, text in steps:
            start = time.monotonic()
            script = "\n".join([*past, text])
            subprocess.run(["sh", "-c", script], cwd=clone, check=True)
            print(f"{time.monotonic() - start:7.1f} s  {title}: {text.strip().splitlines()[-1]}", flush=True)
            if title == "setup":
                past.append(text)


if __name__ == "__main__":
    main()
