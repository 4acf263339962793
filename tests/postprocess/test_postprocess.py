"""Post-processing: paper numbers, a slow oracle for tables and kernels, properties, and the language."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from foldwise.agent.postprocessing.postprocess_kernels import postprocess_row
from foldwise.postprocess import transforms
from foldwise.postprocess.language import PipelineError, expand_sweep, parse_pipeline, parse_variants, split_variants
from foldwise.postprocess.pipeline import ClassStep, Pipeline, RowStep
from foldwise.postprocess.transforms import ABSENT, ALL_IN, BET, CALL, FOLD, NUM_CLASSES, ONE_BET_CLASS, PURIFY, Actions

# Brown, Ganzfried and Sandholm (AAMAS 2015), section 4: fold, call, 0.5, 0.75, 1, 1.5, 2, 5 pot, all-in.
PAPER_ACTIONS = Actions(
    kinds=np.array([FOLD, CALL, BET, BET, BET, BET, BET, BET, ALL_IN], dtype=np.int8),
    sizes_pot=np.array([0.0, 0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 5.0, 100.0]),
)
PAPER_ROW = np.array([0.1, 0.25, 0.15, 0.15, 0.2, 0.15, 0.0, 0.0, 0.0])


def one_at(index, size=9):
    return np.eye(size)[index]


# --- the oracle: plain Python, one row, no numpy -------------------------------------------------------------------


def naive_rule(values, floor):
    if floor == 0:
        return list(values)
    survivors = [i for i, value in enumerate(values) if value > 0 and value >= floor - 1e-6]
    if survivors:
        total = sum(values[i] for i in survivors)
        return [values[i] / total if i in survivors else 0.0 for i in range(len(values))]
    best = max(values)
    ties = [i for i, value in enumerate(values) if value > 0 and value >= best - 1e-6]
    return [1 / len(ties) if i in ties else 0.0 for i in range(len(values))]


def naive_class(kind, size, split):
    if kind in (FOLD, CALL):
        return {FOLD: "fold", CALL: "call"}[kind]
    return "large" if split != ONE_BET_CLASS and (kind == ALL_IN or size > split) else "bet"


def naive_step(row, kinds, sizes, step):
    if isinstance(step, RowStep):
        return naive_rule(row, step.floor)
    names = ["fold", "call", "bet", "large"]
    members = {
        name: [
            a for a in range(len(row)) if kinds[a] != ABSENT and naive_class(kinds[a], sizes[a], step.split_pot) == name
        ]
        for name in names
    }
    mass = {name: sum(row[a] for a in members[name]) for name in names}
    if mass["fold"] > step.fold_over + 1e-6:
        return [float(kind == FOLD) for kind in kinds]
    chosen = dict(zip(names, naive_rule([mass[name] for name in names], step.between)))
    out = [0.0] * len(row)
    for name in names:
        if mass[name] > 0:
            inside = naive_rule([row[a] / mass[name] for a in members[name]], step.within)
            for a, probability in zip(members[name], inside):
                out[a] = chosen[name] * probability
    return out


def naive_apply(pipeline, row, kinds, sizes, street, first):
    if street in pipeline.exempt_streets or (first and pipeline.exempt_first):
        return list(row)
    for step in pipeline.steps:
        row = naive_step(row, kinds, sizes, step)
    return list(row)


# --- generators ----------------------------------------------------------------------------------------------------


@st.composite
def situations(draw, max_rows=4):
    """Actions of a node and some rows on them; small integer weights, so that ties and zeros are common."""
    num_bets = draw(st.integers(0, 5))
    sizes = sorted(
        draw(st.lists(st.sampled_from([0.25, 0.5, 0.75, 1.0, 2.0, 4.0]), min_size=num_bets, max_size=num_bets))
    )
    kinds = [FOLD] * draw(st.integers(0, 1)) + [CALL] + [BET] * num_bets + [ALL_IN] * draw(st.integers(0, 1))
    before = kinds.index(CALL) + 1
    sizes_pot = [0.0] * before + sizes + [8.0] * (len(kinds) - before - num_bets)
    absent = draw(st.integers(0, 2))
    num_actions = len(kinds)
    weights = st.lists(st.integers(0, 6), min_size=num_actions, max_size=num_actions).filter(any)
    rows = np.array(draw(st.lists(weights, min_size=1, max_size=max_rows)), dtype=np.float64)
    rows = np.pad(rows / rows.sum(axis=1, keepdims=True), ((0, 0), (0, absent)))
    actions = Actions(
        np.array(kinds + [ABSENT] * absent, dtype=np.int8), np.array(sizes_pot + [0.0] * absent, dtype=np.float64)
    )
    return actions, rows


probabilities = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0))
floors = st.one_of(st.just(0.0), st.just(PURIFY), probabilities)
class_steps = st.builds(ClassStep, probabilities, st.sampled_from([ONE_BET_CLASS, 0.5, 1.0, 3.0]), floors, floors)
steps = st.one_of(st.builds(RowStep, floors.filter(lambda floor: floor > 0.0)), class_steps)
pipelines = st.builds(
    lambda steps, first, streets: Pipeline(tuple(steps), first, streets) if steps else Pipeline(),
    st.lists(steps, max_size=3),
    st.booleans(),
    st.frozensets(st.integers(0, 3)),
)


# --- paper numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, chosen", [("purify", 1), ("new(0.2)", 4), ("new(0.05)", 0), ("classes()", 4)])
def test_paper_example(text, chosen):
    """Purification calls though 0.65 lies on bets; new(0.2) bets one pot; a fold threshold below 0.1 folds."""
    assert parse_pipeline(text).apply(PAPER_ROW, PAPER_ACTIONS) == pytest.approx(one_at(chosen), abs=0)


def test_paper_example_as_float32_table():
    table = np.tile(PAPER_ROW.astype(np.float32), (3, 1))
    result = parse_pipeline("new(0.2)").apply(table, PAPER_ACTIONS)
    assert result.dtype == np.float32
    assert np.array_equal(result, np.tile(one_at(4), (3, 1)))


def test_threshold_on_the_paper_example():
    """0.15 keeps what reaches it (fold falls), 0.2 leaves call and one pot, 0.3 drops all and keeps the largest."""
    assert transforms.threshold(PAPER_ROW, 0.15) == pytest.approx(PAPER_ROW * (PAPER_ROW > 0.1) / 0.9)
    assert transforms.threshold(PAPER_ROW, 0.2) == pytest.approx((0.25 * one_at(1) + 0.2 * one_at(4)) / 0.45)
    assert transforms.threshold(PAPER_ROW, 0.3) == pytest.approx(one_at(1))


def test_split_bets_on_the_paper_example():
    """Small bets (up to one pot) weigh 0.5 and win with one pot; cut at 0.6 they weigh 0.15 and the large win."""
    assert parse_pipeline("classes(bets=split(1))").apply(PAPER_ROW, PAPER_ACTIONS) == pytest.approx(one_at(4))
    assert parse_pipeline("classes(bets=split(0.6))").apply(PAPER_ROW, PAPER_ACTIONS) == pytest.approx(one_at(4))
    tied = np.array([0.0, 0.3, 0.2, 0.1, 0.1, 0.1, 0.0, 0.0, 0.2])
    assert parse_pipeline("classes(bets=split(1))").apply(tied, PAPER_ACTIONS) == pytest.approx(one_at(2))
    assert parse_pipeline("classes(bets=split(0.5))").apply(tied, PAPER_ACTIONS) == pytest.approx(one_at(8))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("classes(fold=0.2, within=none)", [0, 0, 15 / 65, 15 / 65, 20 / 65, 15 / 65, 0, 0, 0]),
        ("classes(bets=split(0.75), fold=0.2)", one_at(4)),
        ("classes(between=threshold(0.2), within=purify)", (0.25 * one_at(1) + 0.65 * one_at(4)) / 0.9),
        ("classes(fold=0.2, between=none, within=none)", PAPER_ROW),
        ("classes(fold=0.05, between=none, within=none)", one_at(0)),
        ("threshold(0.2) | purify", one_at(1)),
    ],
)
def test_documented_sentences(text, expected):
    """The examples of docs/postprocessing.md."""
    assert parse_pipeline(text).apply(PAPER_ROW, PAPER_ACTIONS) == pytest.approx(np.array(expected))


def test_all_in_belongs_to_the_bets_and_to_the_large_ones():
    row = np.array([0.0, 0.4, 0.25, 0.35])
    actions = Actions(np.array([FOLD, CALL, BET, ALL_IN], dtype=np.int8), np.array([0.0, 0.0, 0.5, 0.6]))
    assert transforms.new(row, actions, 0.2) == pytest.approx(one_at(3, 4))
    assert transforms.by_classes(row, actions, split_pot=1.0) == pytest.approx(one_at(1, 4))


def test_thresholds_are_met_by_equality():
    """P(fold) must exceed the fold threshold, and a probability at the threshold stays, in float32 too."""
    row = np.array([0.2, 0.5, 0.3], dtype=np.float32)
    actions = Actions(np.array([FOLD, CALL, BET], dtype=np.int8), np.array([0.0, 0.0, 1.0]))
    assert parse_pipeline("new(0.2)").apply(row, actions) == pytest.approx(one_at(1, 3))
    assert parse_pipeline("new(0.19)").apply(row, actions) == pytest.approx(one_at(0, 3))
    assert parse_pipeline("threshold(0.3)").apply(row, actions) == pytest.approx([0, 0.625, 0.375])


def test_ties_share_though_sums_carry_rounding():
    """0.1 + 0.1 + 0.1 is not 0.3 in floating point, but the classes tie."""
    assert 0.1 + 0.1 + 0.1 != 0.3
    actions = Actions(np.array([FOLD, CALL, BET, BET, BET], dtype=np.int8), np.array([0.0, 0.0, 0.5, 1.0, 2.0]))
    result = transforms.new(np.array([0.0, 0.3, 0.1, 0.1, 0.1]), actions, 0.2)
    assert result == pytest.approx([0.0, 1 / 2, 1 / 6, 1 / 6, 1 / 6])


# --- oracle --------------------------------------------------------------------------------------------------------


@given(situations(), pipelines, st.integers(0, 3), st.booleans())
def test_tables_and_kernel_agree_with_the_oracle(situation, pipeline, street, first):
    actions, rows = situation
    expected = [
        naive_apply(pipeline, row, actions.kinds.tolist(), actions.sizes_pot.tolist(), street, first)
        for row in rows.tolist()
    ]
    assert pipeline.apply(rows, actions, street=street, first=first) == pytest.approx(np.array(expected), abs=1e-9)
    inside, masses = np.empty(rows.shape[1]), np.empty((2, NUM_CLASSES))
    for row, wanted in zip(rows, expected):
        in_place = row.copy()
        postprocess_row(in_place, *actions, pipeline.program(), street, first, inside, masses)
        assert in_place == pytest.approx(np.array(wanted), abs=1e-9)
        assert pipeline.apply(row, actions, street=street, first=first) == pytest.approx(np.array(wanted), abs=1e-9)


@given(situations(max_rows=6), pipelines, st.data())
def test_rows_with_their_own_actions_and_context(situation, pipeline, data):
    """A table whose rows differ in actions, street and first decision equals its rows one by one."""
    actions, rows = situation
    shuffles = [data.draw(st.permutations(range(rows.shape[1]))) for _ in rows]
    street = np.array([data.draw(st.integers(0, 3)) for _ in rows])
    first = np.array([data.draw(st.booleans()) for _ in rows])
    own = Actions(np.array([actions.kinds[s] for s in shuffles]), np.array([actions.sizes_pot[s] for s in shuffles]))
    table = np.array([row[s] for row, s in zip(rows, shuffles)])
    result = pipeline.apply(table, own, street=street, first=first)
    for i, row in enumerate(table):
        alone = pipeline.apply(
            row, Actions(own.kinds[i], own.sizes_pot[i]), street=int(street[i]), first=bool(first[i])
        )
        assert result[i] == pytest.approx(alone, abs=1e-12)


# --- properties ----------------------------------------------------------------------------------------------------


@given(situations(), pipelines)
def test_sums_to_one_never_revives_a_zero_and_leaves_its_input(situation, pipeline):
    actions, rows = situation
    before = rows.copy()
    result = pipeline.apply(rows, actions)
    assert result.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    assert (result >= 0).all()
    assert not result[rows == 0.0].any()
    assert np.array_equal(rows, before)
    assert result is not rows


@given(situations(), floors)
def test_one_rule_is_idempotent(situation, floor):
    actions, rows = situation
    pipeline = Pipeline((RowStep(floor),))
    once = pipeline.apply(rows, actions)
    assert pipeline.apply(once, actions) == pytest.approx(once, abs=1e-12)


@given(situations(), probabilities, st.sampled_from([ONE_BET_CLASS, 1.0]))
@example((PAPER_ACTIONS, PAPER_ROW[None]), 0.2, ONE_BET_CLASS)
def test_purified_classes_are_idempotent_unless_fold_ties(situation, fold_over, split_pot):
    """A row that is pure stays; one that ties fold with another class is a coin toss whose fold side may then fold."""
    actions, rows = situation
    pipeline = Pipeline((ClassStep(fold_over=fold_over, split_pot=split_pot),))
    once = pipeline.apply(rows, actions)
    fold = once[:, actions.kinds == FOLD].sum(axis=1)
    assume(not ((fold > 1e-9) & (fold < 1 - 1e-9)).any())
    assert pipeline.apply(once, actions) == pytest.approx(once, abs=1e-12)


@given(situations())
def test_one_bet_class_with_one_bet_is_purification(situation):
    """With at most one bet, classes are actions: new(1) is purify."""
    actions, rows = situation
    assume(np.isin(actions.kinds, (BET, ALL_IN)).sum() <= 1)
    assert parse_pipeline("new(1)").apply(rows, actions) == pytest.approx(parse_pipeline("purify").apply(rows, actions))


def test_padding_rows_of_zeros_stay_zeros():
    table = np.stack([PAPER_ROW, np.zeros(9)])
    for text in ("none", "purify", "threshold(0.15)", "new(0.2)", "classes(within=threshold(0.3))"):
        assert not parse_pipeline(text).apply(table, PAPER_ACTIONS)[1].any()


def test_exemptions():
    pipeline = parse_pipeline("purify except first+turn")
    raw, pure = PAPER_ROW, one_at(1)
    assert pipeline.apply(raw, PAPER_ACTIONS, street=0, first=True) == pytest.approx(raw)
    assert pipeline.apply(raw, PAPER_ACTIONS, street=2) == pytest.approx(raw)
    assert pipeline.apply(raw, PAPER_ACTIONS, street=0) == pytest.approx(pure)
    assert pipeline.apply(raw, PAPER_ACTIONS, street=3) == pytest.approx(pure)
    assert parse_pipeline("purify").apply(raw, PAPER_ACTIONS, first=True) == pytest.approx(pure)
    assert pipeline.program().exempt_first
    assert pipeline.program().exempt_streets == 0b0100


# --- language ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("none", "none"),
        ("threshold(0.15)", "threshold(0.15)"),
        ("threshold(0)", "none"),
        (" Purify ", "purify"),
        ("new(.20)", "new(0.2)"),
        ("new(1e-05)", "new(1e-05)"),
        ("classes(fold=0.2)", "new(0.2)"),
        ("classes(fold=0.2,bets=together,between=purify,within=purify)", "new(0.2)"),
        ("classes()", "new(1)"),
        ("classes( within = threshold(0.1), bets=split(1.0) )", "classes(bets=split(1), within=threshold(0.1))"),
        ("threshold(0.15)|none|purify", "threshold(0.15) | purify"),
        ("purify except river+first+preflop", "purify except first+preflop+river"),
        ("none except first", "none"),
        ("purify|python:my rules.py:cap|new(0.2)", "purify | python:my rules.py:cap | new(0.2)"),
    ],
)
def test_canonical_text(text, canonical):
    pipeline = parse_pipeline(text)
    assert str(pipeline) == canonical
    assert parse_pipeline(canonical) == pipeline


@given(pipelines)
def test_canonical_text_reads_back(pipeline):
    assert parse_pipeline(str(pipeline)) == pipeline


@pytest.mark.parametrize(
    "text, position, complaint",
    [
        ("", 0, "expected none, purify, threshold, new or classes, got the end"),
        ("thresold(0.15)", 0, "did you mean threshold?"),
        ("threshold", 9, "expected '(' after threshold, got the end"),
        ("threshold(1.5)", 10, "a number from 0 to 1, got 1.5"),
        ("threshold(x)", 10, "a number from 0 to 1, got 'x'"),
        ("threshold(0.15", 14, "expected ')' after the number of threshold, got the end"),
        ("new(-0.2)", 4, "got '-'"),
        ("new(0.2) purify", 9, "expected '|', 'except' or the end, got 'purify'"),
        ("purify | ", 8, "got the end"),
        ("classes(fold=0.2 within=none)", 17, "expected ','"),
        ("classes(fold=0.2, fold=0.3)", 18, "got 'fold' again"),
        ("classes(folds=0.2)", 8, "did you mean fold?"),
        ("classes(bets=split(0))", 19, "above 0, got 0"),
        ("classes(bets=split(1e999))", 19, "above 0"),
        ("classes(between=new(0.2))", 16, "expected none, purify or threshold"),
        ("classes(fold=0.2", 16, "expected ','"),
        ("purify except flip", 14, "did you mean flop?"),
        ("purify except", 13, "got the end"),
        ("new(0:0.5:0.05)", 4, "got the sweep '0:0.5:0.05'"),
        ("new(0.2)  ;", 10, "got ';'"),
    ],
)
def test_bad_text_points_at_the_character(text, position, complaint):
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    message = str(caught.value)
    assert caught.value.position == position
    assert complaint in message
    assert f"character {position + 1}:" in message
    assert message.endswith(f"here: {text[:position]}^{text[position:]}")
    assert "\n" not in message


@given(st.text(alphabet="nonepurifythresholdnewclasses(),|=+:.0123456789 except\n", max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        pipeline = parse_pipeline(text)
    except PipelineError as error:
        assert 0 <= error.position <= len(text)
        assert "\n" not in str(error)
    else:
        assert parse_pipeline(str(pipeline)) == pipeline


def test_variants_split_outside_parentheses():
    assert split_variants("none,threshold(0.15),purify,new(0.2)") == ["none", "threshold(0.15)", "purify", "new(0.2)"]
    assert split_variants(" classes(fold=0.2, within=none) , none ") == ["classes(fold=0.2, within=none)", "none"]
    assert [str(p) for p in parse_variants("none, new(0:0.2:0.1)")] == ["none", "new(0)", "new(0.1)", "new(0.2)"]


@pytest.mark.parametrize(
    "text, position", [("none,,purify", 5), ("", 0), ("none,", 5), ("new(0.2,none", 3), ("new)0.2(", 3), ("a(b))", 4)]
)
def test_bad_lists_point_at_the_character(text, position):
    with pytest.raises(PipelineError) as caught:
        split_variants(text)
    assert caught.value.position == position


def test_sweeps():
    values = ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5"]
    assert expand_sweep("new(0:0.5:0.05)") == [f"new({text})" for text in values]
    assert expand_sweep("purify") == ["purify"]
    assert expand_sweep("new(0.1:0.35:0.1)") == ["new(0.1)", "new(0.2)", "new(0.3)"]
    assert expand_sweep("threshold(0:0.1:0.1) | new(0.2:0.3:0.1)") == [
        "threshold(0) | new(0.2)",
        "threshold(0) | new(0.3)",
        "threshold(0.1) | new(0.2)",
        "threshold(0.1) | new(0.3)",
    ]
    assert [str(parse_pipeline(text)) for text in expand_sweep("classes(bets=split(1:10:9))")] == [
        "classes(bets=split(1))",
        "classes(bets=split(10))",
    ]


@pytest.mark.parametrize("text", ["new(0.5:0:0.05)", "new(0:0.5:0)", "new(0:1:0.0001)", "new(0:1:0.01)|new(0:1:0.01)"])
def test_bad_sweeps(text):
    with pytest.raises(PipelineError):
        expand_sweep(text)
