"""What clustering is said to take before it starts: beside what it took, and growing with what makes it longer."""

import json

import pytest

from foldwise.abstraction.cards.card_config import CardConfig, PublicClusters
from foldwise.abstraction.clustering_costs import clustering_seconds
from foldwise.abstraction.config import read_config
from foldwise.abstraction.shipped_configs import find_config
from foldwise.cli.main import main
from foldwise.solver.config import RunConfig


def on_the_flop(method: str, **values: int) -> float:
    config = {"streets": [{"method": "lossless"}, {"method": method, **values}]}
    found = clustering_seconds(CardConfig.model_validate(config))
    assert found is not None
    return found


def test_it_is_about_what_it_took():
    """CPU-seconds taken on one machine (exact strength left out), to a third: 85 for hunl-hour, 713 for hunl-large."""
    for name, taken in (("hunl-hour", 85.0), ("hunl-large", 713.0)):
        cards = read_config(find_config(name), RunConfig, {}).cards
        assert clustering_seconds(cards) == pytest.approx(taken, rel=1 / 3)


def test_only_clustering_costs():
    assert on_the_flop("percentile", buckets=200) == 0.0
    assert on_the_flop("kmeans-emd", buckets=200, sample=100_000) > 0.0


@pytest.mark.parametrize("method", ["kmeans-emd", "kmeans-potential"])
@pytest.mark.parametrize("key, less, more", [("buckets", 200, 1000), ("sample", 50_000, 400_000)])
def test_more_of_it_takes_longer(method, key, less, more):
    usual = {"buckets": 500, "sample": 100_000}
    assert on_the_flop(method, **{**usual, key: less}) < on_the_flop(method, **{**usual, key: more})


def test_potential_aware_means_cost_most():
    usual = {"buckets": 1000, "sample": 100_000}
    assert on_the_flop("kmeans-potential", **usual) > 5 * on_the_flop("kmeans-emd", **usual)


def test_nothing_is_said_within_public_clusters():
    config = CardConfig.model_validate({"streets": [{"method": "lossless"}, {"method": "kmeans-emd", "buckets": 5}]})
    assert clustering_seconds(config.model_copy(update={"public": PublicClusters()})) is None


def test_an_estimate_says_it_first(capsys):
    words = ["abstract", "hunl-hour", "--estimate"]
    assert main(words) == 0
    assert "CPU-minutes of clustering cards before it, unless they are kept" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clustering_seconds"] > 60.0
    assert main(["abstract", "hunl-20bb", "--estimate"]) == 0
    assert "clustering" not in capsys.readouterr().out
    assert main(["abstract", "leduc", "--estimate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clustering_seconds"] is None
