"""Compute again how much memory the shipped configs need, and write it to configs/memory.json.

Run it when a config or the size of the solver's tables changes: python benchmarks/config_memory.py
"""

import json

from foldwise.abstraction.shipped_configs import configs_folder
from foldwise.solver.config_costs import measured_memory

if __name__ == "__main__":
    text = json.dumps(measured_memory(), indent=1) + "\n"
    (configs_folder() / "memory.json").write_text(text, encoding="utf-8")
    print(text, end="")
