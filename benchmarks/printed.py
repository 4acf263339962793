"""What a foldwise command prints with `--json`, run as a process of its own."""

import json
import subprocess
import sys
from typing import Any


def printed(*words: str) -> dict[str, Any]:
    """The JSON object; a command that fails ends the script with its own words."""
    command = [sys.executable, "-P", "-m", "foldwise.cli.main", *words, "--json"]
    found = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if found.returncode:
        sys.exit(f"foldwise {' '.join(words)}: exit code {found.returncode}")
    result: dict[str, Any] = json.loads(found.stdout)
    return result
