"""The recipes of CONTRIBUTING: in a copy of the sources, each new thing is one file and one line in one table."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.support.places import ROOT

ROOMS = ("game", "abstraction", "solver", "postprocess", "agent", "search", "matches", "web", "cli")
# A new file, its text, the file that holds the table, the table's first line, the new line (and an import where needed).
RECIPES = {
    "sampler": (
        "solver/full_width/quadratic.py",
        "import numpy as np\nfrom foldwise.solver.full_width.schedules import Steps\n\n"
        "def quadratic(t):\n    one = np.ones_like(t)\n    return Steps(one, one, one, t * t, np.zeros_like(t))\n",
        "solver/samplers.py",
        "SAMPLERS: Final[dict[str, Sampler]] = {\n",
        '    "quadratic": Sampler(Needs.COUNTED_DEALS, _FULL_WIDTH, "full_width.quadratic:quadratic"),\n',
    ),
    "post-processing rule": (
        "postprocess/uniform.py",
        "import numpy as np\n\ndef uniform(rows, actions):\n"
        "    allowed = rows > 0\n    return allowed / allowed.sum(axis=1, keepdims=True)\n",
        "postprocess/language.py",
        "WORDS: Final[dict[str, RowStep | PythonStep]] = {",
        '"uniform": PythonStep("uniform", uniform), ',
    ),
    "bucket kind": (
        "abstraction/cards/pairs.py",
        "import numpy as np\nfrom foldwise.abstraction.cards.card_abstraction import StreetAbstraction\n"
        "from foldwise.game.hands.hand_index import hand_index\n\n"
        "def pair_buckets(builder, street, cards):\n"
        "    hands = hand_index((2,)).unindex_hands(np.arange(169))\n"
        "    table = (hands[:, 0] // 4 == hands[:, 1] // 4).astype(np.uint16)\n"
        '    return StreetAbstraction("table", 2, (2,), table=table)\n',
        "abstraction/cards/bucket_kinds.py",
        "BUCKET_KINDS: Final[dict[str, BucketKind]] = {\n",
        '    "pairs": BucketKind("foldwise.abstraction.cards.pairs:pair_buckets", (0,), "percentile"),\n',
    ),
    "translation": (
        "agent/mappings/nearest_kernels.py",
        "from foldwise.game.compiled import kernel\n\n"
        "@kernel\ndef nearest(x, a, b):\n    return 1.0 if x - a <= b - x else 0.0\n",
        "agent/mappings/translation.py",
        "MAPPINGS: Final[dict[str, str]] = {\n",
        '    "nearest": "foldwise.agent.mappings.nearest_kernels:nearest",\n',
    ),
    "score": (
        "matches/scoring/doubled.py",
        "from foldwise.matches.scoring.scorers import chips_scorer\n\n"
        "def make_doubled_scorer(plan, definition, threads, listen):\n"
        "    return lambda run, line, first: [2 * value for value in chips_scorer(run, line, first)]\n",
        "matches/scores.py",
        "SCORES: Final[dict[str, ScoreMethod]] = {\n",
        '    "doubled": ScoreMethod("twice the chips", 0, log_scorer="scoring.doubled:make_doubled_scorer"),\n',
    ),
}
USED = {
    "sampler": """
import numpy as np
from foldwise.solver.config import SolverConfig
from foldwise.solver.samplers import SAMPLERS, load_rule, samplers_by_needs
name = SolverConfig(sampler="quadratic").sampler
known = any(name in names for names in samplers_by_needs().values())
print(json.dumps([known, load_rule(name)(np.array([3.0])).sum_weight.tolist(), SAMPLERS[name].maker]))
""",
    "post-processing rule": """
import numpy as np
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.transforms import BET, CALL, FOLD, Actions
actions = Actions(np.array([FOLD, CALL, BET], dtype=np.int8), np.array([0.0, 0.0, 1.0]))
rows = parse_pipeline("threshold(0.2)|uniform").apply(np.array([[0.1, 0.3, 0.6]]), actions)
print(json.dumps(rows.tolist()))
""",
    "bucket kind": """
from foldwise.abstraction.cards.card_building import build_cards
from foldwise.abstraction.cards.card_config import CardConfig
from foldwise.game.cards import parse_cards
cards = build_cards(CardConfig(streets=[{"method": "pairs", "buckets": 2}]))
print(json.dumps([int(cards.bucket(parse_cards(hand), [])) for hand in ("AsAd", "AsKs")]))
""",
    "translation": """
import numpy as np
from foldwise.agent.mappings.translation import parse_translation
from foldwise.agent.mappings.translation_kernels import read_bet
chosen = parse_translation("nearest")
print(json.dumps([read_bet(chosen.number, True, x, np.array([0.5, 1.0]), True) for x in (0.7, 0.8)]))
""",
    "score": """
arguments = ["match", "bot:random", "bot:raise", "--game", "kuhn", "--hands", "20", "--over", "memory", "--json"]
for score in ("chips", "doubled"):
    main([*arguments, "--score", score, "-o", score])
""",
}
EXPECTED = {
    "sampler": lambda printed: printed == [[True, [9.0], "full_width.batch_cfr:make_full_width"]],
    "post-processing rule": lambda printed: printed == [[[0.0, 0.5, 0.5]]],
    "bucket kind": lambda printed: printed == [[1, 0]],
    "translation": lambda printed: printed == [[[0, 1, 1.0], [0, 1, 0.0]]],
    "score": lambda printed: printed[1]["mean_mbb"] == 2 * printed[0]["mean_mbb"] != 0,
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the sources with all five additions."""
    root = tmp_path_factory.mktemp("copy") / "foldwise"
    root.mkdir()
    shutil.copy(ROOT / "src" / "foldwise" / "__init__.py", root)
    for room in (*ROOMS, "configs"):
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (file, text, table, first_line, line) in RECIPES.items():
        (root / file).write_text(text)
        before = (root / table).read_text(encoding="utf-8")
        assert before.count(first_line) == 1
        after = before.replace(first_line, first_line + line)
        if name == "post-processing rule":  # its table holds functions, so the line comes with an import
            after = after.replace("MAX_SWEEP", "from foldwise.postprocess.uniform import uniform\nMAX_SWEEP", 1)
        (root / table).write_text(after, encoding="utf-8")
    return root.parent


@pytest.mark.parametrize("name", RECIPES)
def test_one_file_and_one_line(name, sources, tmp_path):
    """Kernels run as plain Python: what is compiled here would be compiled for this test alone."""
    script = f"import json\nfrom foldwise.cli.main import main\n{USED[name]}"
    environment = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert EXPECTED[name]([json.loads(line) for line in done.stdout.splitlines()])


def test_every_recipe_is_tried_and_names_its_table():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name, (file, _, table, first_line, _) in RECIPES.items():
        recipe = text.partition(f"## Adding a {name}\n")[2].partition("\n## ")[0]
        assert len([line for line in recipe.splitlines() if line[:2] in ("1.", "2.", "3.", "4.", "5.")]) == 5
        assert f"`{first_line.partition(':')[0]}` of `{table}`" in recipe
        assert f"`{file.rpartition('/')[0]}/NAME" in recipe
