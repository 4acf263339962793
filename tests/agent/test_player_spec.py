"""Players' names: every form read into its parts, printed so that it reads back, and shown to people one way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.agent.mappings.translation import MAPPINGS, Translation
from foldwise.agent.player_spec import PlayerKind, PlayerSpec, as_player, parse_player
from foldwise.agent.strategy_player import parse_postprocess
from foldwise.game.errors import DefinitionError
from foldwise.matches.plan import MatchPlan
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.pipeline import Pipeline

FOLDERS = st.text(st.characters(exclude_characters="|", exclude_categories=("Cs",)), min_size=1).filter(str.strip)
STEPS = st.sampled_from(
    ("none", "purify", "new(0.2)", "threshold(0.15)", "search(fast, turn=off)", "classes(fold=0.1)")
)
TRANSLATIONS = st.builds(Translation, st.sampled_from(list(MAPPINGS)), st.booleans())
ALIASES = st.just("") | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}", fullmatch=True)
STRATEGIES = st.builds(
    PlayerSpec,
    st.just(PlayerKind.STRATEGY),
    FOLDERS,
    st.lists(STEPS).map("|".join),
    st.none() | TRANSLATIONS,
    ALIASES,
)
OTHERS = st.one_of(
    st.builds(PlayerSpec, st.just(PlayerKind.BOT), st.sampled_from(("call", "random")), alias=ALIASES),
    st.builds(PlayerSpec, st.just(PlayerKind.PYTHON), FOLDERS.map("{}.py:Player".format), alias=ALIASES),
    st.builds(PlayerSpec, st.just(PlayerKind.PROGRAM), st.sampled_from(("./a b", "'x y' -f 'a|b'")), alias=ALIASES),
)


@given(STRATEGIES | OTHERS)
def test_what_is_printed_reads_back(spec):
    assert parse_player(str(spec)) == spec
    assert as_player(spec) is spec


@given(STRATEGIES | OTHERS)
def test_the_short_name_is_the_alias_or_tells_nothing_of_the_machine(spec):
    if spec.alias:
        assert spec.short() == spec.alias
    elif spec.kind == PlayerKind.STRATEGY:
        assert "/" not in spec.short().partition("|")[0]
        assert spec.postprocess in spec.short()


@given(STRATEGIES | OTHERS)
def test_a_plan_keeps_its_players(spec):
    """As text in match.json, and as specs for the reader."""
    plan = MatchPlan(players=(spec, "bot:call"), game="leduc", definition="", hands=1, seed=1, repeat=1, over="memory")
    read = MatchPlan.model_validate_json(plan.model_dump_json())
    assert read == plan and read.players == (spec, PlayerSpec(PlayerKind.BOT, "call"))
    assert not any(mark in name for name in plan.names() for mark in ":|/\n ") or not spec.alias


def test_the_last_part_is_a_translation_only_if_it_reads_as_one():
    assert parse_player("strategy:runs/a") == PlayerSpec(PlayerKind.STRATEGY, "runs/a")
    two_steps = parse_player("strategy:runs/a|threshold(0.1)|purify")
    assert (two_steps.postprocess, two_steps.translation) == ("threshold(0.1)|purify", None)
    assert parse_postprocess(two_steps) == parse_pipeline("threshold(0.1) | purify")
    all_parts = parse_player("strategy:runs/a|threshold(0.1)|purify|arithmetic deterministic")
    assert (all_parts.postprocess, all_parts.translation) == (
        "threshold(0.1)|purify",
        Translation("arithmetic", False),
    )
    for text in ("strategy:runs/a|geometric", "strategy:runs/a||geometric", "strategy:runs/a| |geometric"):
        spec = parse_player(text)
        assert (spec.postprocess, spec.translation) == ("", Translation("geometric"))
        assert parse_postprocess(spec) == Pipeline()
        assert str(spec) == "strategy:runs/a||geometric"
    with pytest.raises(DefinitionError, match="translation 'harmonic': expected pseudo-harmonic"):
        parse_player("strategy:runs/a|none|harmonic")


@pytest.mark.parametrize(
    "text, short",
    [
        ("strategy:/a/b/c|new(0.2)", "strategy:c|new(0.2)"),
        ("strategy:/a/b/c/", "strategy:c"),
        ("strategy:/a/c|purify|pseudo-harmonic", "strategy:c|purify"),
        ("strategy:/a/c||geometric", "strategy:c|geometric"),
        ("cmd:/x/y/run.sh", "cmd:run.sh"),
        ("cmd:/x/run.sh -c /home/me/settings", "cmd:run.sh -c settings"),
        ("python:/x/my_bot.py:Nit", "python:my_bot.py:Nit"),
        ("bot:call", "bot:call"),
        ("big=strategy:/a/b/c|new(0.2)", "big"),
    ],
)
def test_short_names(text, short):
    assert parse_player(text).short() == short


@pytest.mark.parametrize(
    "text", ["", "call", "strategy", "bot:", "strategy:|purify", "cmd: ", "cmd:'x", "robot:call", "a=b", "=bot:call"]
)
def test_what_is_no_player_is_refused_in_one_line(text):
    with pytest.raises(DefinitionError, match="expected") as caught:
        parse_player(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("alias", ["a b", "a/b", "a=b", "a|b", "ä", "x" * 41])
def test_names_that_could_not_stand_in_a_log_are_refused(alias):
    with pytest.raises(DefinitionError, match="expected up to 40 of a to z"):
        parse_player(f"{alias}=bot:call")


def test_paths_are_made_absolute_and_programs_must_be_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run me.sh").touch(mode=0o755)
    (tmp_path / "mine.py").touch()
    for text, resolved in (
        ("a=strategy:runs/x|purify", f"a=strategy:{tmp_path}/runs/x|purify"),
        ("strategy:x|python:mine.py:rule|purify", f"strategy:{tmp_path}/x|python:{tmp_path}/mine.py:rule|purify"),
        ("python:mine.py:Nit", f"python:{tmp_path}/mine.py:Nit"),
        ("cmd:'run me.sh' -v", f"cmd:'{tmp_path}/run me.sh' -v"),
        ("bot:call", "bot:call"),
    ):
        assert str(parse_player(text).resolved()) == resolved
    with pytest.raises(DefinitionError, match="expected cmd: and a program"):
        parse_player("cmd:./missing").resolved()
    for missing in ("python:none.py:Nit", "strategy:x|python:none.py:rule"):
        with pytest.raises(DefinitionError, match="a file that exists"):
            parse_player(missing).resolved()
