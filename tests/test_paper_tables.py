"""Scripts that reproduce a paper's table, run on small games: the whole way from strategies to table, CSV and picture."""

import csv
import sys
from importlib.util import module_from_spec, spec_from_file_location

from foldwise.cli.main import main
from tests.support.places import CONFIGS, ROOT


def test_table_2_of_2015(tmp_path, monkeypatch, capfd):
    """The paper's variants stand beside its figures; a strategy and a bot make two columns, scored each in its way."""
    path = ROOT / "benchmarks" / "papers" / "brown_2015_table_2.py"
    monkeypatch.syspath_prepend(str(path.parent))
    spec = spec_from_file_location("brown_2015_table_2", path)
    script = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, script)
    spec.loader.exec_module(script)
    for name, iterations in (("good", 200), ("poor", 3)):
        words = ["solve", str(CONFIGS / "leduc.toml"), "-o", str(tmp_path / name), "--sampler", "cfr+"]
        assert main([*words, "--iterations", str(iterations)]) == 0
    words = ["--strategy", tmp_path / "good", "--opponent", tmp_path / "poor", "--opponent", "bot:call"]
    numbers = ["--boards", 4, "--hands", 200, "--lbr-hands", 20]
    monkeypatch.setattr(sys, "argv", ["table_2", *map(str, [*words, *numbers, "-o", tmp_path / "out"])])
    capfd.readouterr()
    script.main()
    printed = capfd.readouterr().out
    with (tmp_path / "out" / "brown_2015_table_2.csv").open(encoding="utf-8") as file:
        headings, *rows = csv.reader(file)
    assert headings[1:3] == ["poor", "bot:call"]
    assert [row[0] for row in rows] == [*script.VARIANTS, *script.FAMILY]
    assert rows[0][-4:] == ["+30 ± 32", "+10 ± 27", "+20", "+10"]
    assert rows[3][-4:] == ["+39 ± 26", "+103 ± 21", "+71", "+39"]
    assert rows[4][-4:] == [""] * 4
    first = [float(cell.split(" ± ")[0]) for cell in rows[0][1:3]]
    assert abs(float(rows[0][3]) - sum(first) / 2) <= 1  # each is rounded
    assert all(" ± " in row[5] for row in rows)
    assert "purify except first" in printed
    assert (tmp_path / "out" / "brown_2015_table_2.png").stat().st_size > 10_000
    assert {variant: paper[2] for variant, paper in script.PAPER.items()} == {
        variant: (paper[0][0] + paper[1][0]) / 2 for variant, paper in script.PAPER.items()
    }
