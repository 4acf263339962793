"""Reports: the numbers on the page are those of the logs, the page is whole by itself, and a real browser replays hands."""

import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

from foldwise.cli.main import main
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_definition
from foldwise.matches.plan import load_plan
from foldwise.matches.report.charts import Interval, interval_chart, tick_text, ticks
from foldwise.matches.report.explanations import (
    by_position,
    explain_hand,
    explanation_path,
    read_explanations,
    run_players,
)
from foldwise.matches.report.page import report_page
from foldwise.matches.report.replay import position_names, replay_steps, street_names
from foldwise.matches.report.report import MatchReport, load_report, running_total
from foldwise.matches.statistics import estimate
from foldwise.matches.table.log import parse_state_line, read_log
from tests.support.browser import open_browser
from tests.support.places import CONFIGS


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A match with explanations, a comparison and a tournament of a rough Leduc strategy, and a no-limit match."""
    folder = tmp_path_factory.mktemp("report")
    leduc = str(folder / "leduc")
    config = str(CONFIGS / "leduc.toml")
    assert main(["solve", config, "-o", leduc, "--sampler", "cfr+", "--iterations", "50"]) == 0
    words = ["--game", "leduc", "--hands", "150", "--seed", "4"]
    assert main(["match", f"strategy:{leduc}|purify", "bot:random", *words, "--explain", "-o", str(folder / "m")]) == 0
    words = ["--variants", "none,purify", "--opponents", "bot:random", "bot:call", "--hands", "200"]
    assert main(["compare", leduc, *words, "-o", str(folder / "c")]) == 0
    assert main(["compare", leduc, *words, "-o", str(folder / "k"), "--logs"]) == 0
    assert main(["tournament", leduc, "bot:random", "bot:call", "--hands", "200", "-o", str(folder / "t")]) == 0
    assert main(["match", "bot:random", "bot:strength", "--hands", "100", "-o", str(folder / "n")]) == 0
    return folder


class Outline(HTMLParser):
    """What a page consists of."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        if "id" in found:
            assert found["id"] not in self.ids, "an id stands on the page twice"
            self.ids.add(found["id"])
        self.links += [found[key] for key in ("src", "href", "srcset", "action") if key in found]
        if tag not in ("meta", "input", "path", "circle", "polygon", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("path", "circle", "polygon", "polyline"):
            assert self.open.pop() == tag


def hands_of(page: str) -> list[dict]:
    data = re.search(r'<script type="application/json" id="hands">(.*?)</script>', page, re.DOTALL)
    return json.loads(data[1])


def test_numbers_are_those_of_the_match(runs):
    report = load_report(runs / "m")
    assert isinstance(report, MatchReport)
    result = json.loads((runs / "m" / "result.json").read_text())
    assert report.result.mean_mbb == pytest.approx(result["mean_mbb"])
    assert report.result.ci95_mbb == pytest.approx(result["ci95_mbb"])
    for (_, ours), theirs in zip(report.positions, result["positions"]):
        assert (ours.mean_mbb, ours.ci95_mbb) == pytest.approx((theirs["mean_mbb"], theirs["ci95_mbb"]))
    assert sum(row.hands for row in report.streets) == result["hands"] == 300
    total = result["score_chips"][0]  # the unit of Leduc is one chip
    assert sum(row.total_bb for row in report.streets) == pytest.approx(total)
    assert report.curve.total[-1] == pytest.approx(total)
    half = (report.curve.high[-1] - report.curve.low[-1]) / 2
    assert half / 300 * 1000 == pytest.approx(result["ci95_mbb"])
    assert {row.ending for row in report.streets} == {"fold", "showdown"}
    assert report.players == ("strategy:leduc|purify", "bot:random")
    assert report.pots_bb == sorted(report.pots_bb, reverse=True)
    assert len(report.pots_bb) == 12


def test_running_interval_is_students():
    values = np.random.default_rng(1).normal(3.0, 40.0, 500)
    curve = running_total(values, 10, 2)
    for place in (100, len(curve.hands) - 1):
        count = int(curve.hands[place]) // 2
        expected = estimate(values[:count], 10)
        assert curve.total[place] == pytest.approx(expected.mean_mbb / 1000 * 2 * count)
        assert curve.high[place] - curve.total[place] == pytest.approx(expected.ci95_mbb / 1000 * 2 * count)
    assert np.isnan(curve.low[0])
    assert running_total(values[:1], 10, 2).total.tolist() == pytest.approx([values[0] / 5])


@pytest.mark.parametrize("game", ["m", "n"])
def test_replay_keeps_every_chip(runs, game):
    plan = load_plan(runs / game)
    definition = parse_definition(plan.definition)
    for hand in read_log(runs / game / "0000.BA.log", definition):
        steps = replay_steps(hand)
        assert steps[0].bets == list(definition.blinds)
        assert steps[0].text.startswith("blinds")
        assert steps[-1].num_board == len(hand.board)
        assert sum(step.player >= 0 for step in steps) == sum(map(len, hand.betting.actions))
        for step in steps:
            if step.stacks[0] is not None:
                assert step.pot + sum(step.bets) + sum(step.stacks) == sum(definition.stacks)
        assert step.pot + sum(step.bets) == sum(hand.betting.spent)


def test_replay_in_words():
    line = "STATE:3:cr300c/cr600r20000c//:Jh6h|Ah8h/2d8dKc/8s/3s:-20000|20000:Ann|Bob"
    hand = parse_state_line(line, find_definition("hunl"))
    assert [step.text for step in replay_steps(hand)] == [
        "blinds 100 and 50",
        "Bob calls 50",
        "Ann raises to 300",
        "Bob calls 200",
        "flop 2d 8d Kc",
        "Ann checks",
        "Bob bets 300",
        "Ann raises to 19,700 and is all-in",
        "Bob calls 19,400 and is all-in",
        "turn 8s",
        "river 3s",
        "Bob wins 20,000 at the showdown",
    ]
    assert position_names(find_definition("hunl")) == ["big blind", "button"]
    assert street_names(find_definition("leduc")) == ["round 1", "round 2"]


def test_explanations_are_of_the_actions_played(runs):
    """Every decision of the strategy is there, is what the log says, and another seed's would not be."""
    plan = load_plan(runs / "m")
    definition = parse_definition(plan.definition)
    run = plan.runs(0)[1]
    log = run.log_path(runs / "m")
    recorded = read_explanations(explanation_path(log))
    decisions = 0
    for hand in read_log(log, definition):
        actions = [entry for part in hand.betting.actions for entry in part]
        strategy_position = (1 - hand.number) % 2
        for number, (position, action) in enumerate(actions):
            assert (number in recorded.get(hand.number, {})) == (position == strategy_position)
            if position == strategy_position:
                record = recorded[hand.number][number]
                assert record["action"] == action.text(True)
                assert record["postprocessed"][record["actions"].index(record["action"])] > 0
                assert "logged" not in record
                decisions += 1
        assert explain_hand(hand, by_position(run_players(run), hand.number)) == {
            number: {key: value for key, value in record.items() if key != "hand"}
            for number, record in recorded.get(hand.number, {}).items()
        }
    assert decisions > 100
    opponent_of_the_strategy = [hand for hand in read_log(log, definition) if hand.number % 2 == 0]
    differing = [
        record
        for hand in opponent_of_the_strategy
        for record in explain_hand(hand, by_position(run_players(run)[::-1], hand.number)).values()
        if "logged" in record
    ]
    assert differing  # the random bot does not play as the strategy would


def test_report_explains_afterwards(runs, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(runs / "m", copy)
    for path in copy.glob("*.explain.jsonl"):
        path.unlink()
    assert load_report(copy).num_explained == 0
    anew = load_report(copy, num_hands=20, explain=True)
    recorded = load_report(runs / "m", num_hands=20)
    assert anew.num_explained == recorded.num_explained > 10
    assert anew.hands == recorded.hands
    (copy / "0000.AB.explain.jsonl").write_text("{}\n")
    with pytest.raises(FormatError, match=r"explain.jsonl, line 1"):
        load_report(copy)


def test_interrupted_match_is_reported_as_far_as_it_goes(runs, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(runs / "n", copy)
    log = copy / "0000.BA.log"
    log.write_text("\n".join(log.read_text().splitlines()[:40]) + "\nSTATE:36:cc/cc")
    report = load_report(copy)
    assert dict(report.facts)["pairs"] == "36 of 100 planned"
    log.unlink()
    with pytest.raises(DefinitionError, match="no pair of hands is finished"):
        load_report(copy)


@pytest.mark.parametrize(
    "name, sections",
    [
        ("m", {"running", "positions", "streets", "biggest", "replay", "hands", "step-on", "why"}),
        ("c", {"variants", "plot", "differences"}),
        ("t", {"cross", "plot"}),
        ("k", {"variants", "plot", "differences", "matches", "replay"}),
    ],
)
def test_page_is_whole_by_itself(runs, name, sections, tmp_path, capsys):
    output = tmp_path / "page.html"
    assert main(["report", str(runs / name), "-o", str(output), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    page = output.read_text(encoding="utf-8")
    assert result["bytes"] == len(page.encode())
    outline = Outline(page)
    assert sections <= outline.ids
    assert not outline.open
    assert not outline.links
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert "width=device-width" in page
    assert outline.tags.count("svg") == {"m": 1, "c": 2, "t": 1, "k": 6}[name]


def test_tables_say_what_the_folders_say(runs):
    comparison = json.loads((runs / "c" / "comparison.json").read_text())
    page = report_page(load_report(runs / "c"))
    for row in comparison["rows"]:
        assert f"{row['avg_mbb']:+,.1f}</span>" in page
        assert f"{row['exploitability_mbb']:.2f}" in page
    cells = json.loads((runs / "t" / "tournament.json").read_text())["cells"]
    page = report_page(load_report(runs / "t"))
    assert f"{cells[0][1]['mean_mbb']:+,.1f}</span> <small>± {cells[0][1]['ci95_mbb']:,.1f}" in page
    assert (runs / "t" / "tournament.csv").read_text().count("\n") == 7


def test_comparison_with_logs_is_the_same_and_can_be_replayed(runs, capsys):
    plain, kept = (json.loads((runs / name / "comparison.json").read_text()) for name in ("c", "k"))
    assert kept["rows"] == plain["rows"]
    report = load_report(runs / "k", num_hands=80)
    means = [match.result.mean_mbb for match in report.matches]
    assert means == pytest.approx([cell["mean_mbb"] for row in plain["rows"] for cell in row["results"]])
    hands = hands_of(report_page(report))
    assert len(hands) == 80
    assert hands[20]["label"].startswith("001 ")
    assert main(["compare", str(runs / "leduc"), "--opponents", "bot:call", "--logs", "-o", str(runs / "k")]) == 2
    assert "holds an earlier result" in capsys.readouterr().err
    assert main(["tournament", "bot:call", "bot:fold", "--logs"]) == 2
    assert "give -o DIR" in capsys.readouterr().err


def test_intervals_that_hold_zero_are_not_coloured(runs):
    """In the tables of a comparison: green and red are for what is certain."""
    report = load_report(runs / "c")
    page = report_page(report)
    cells = re.findall(r"<span class='(\w+)'>([+-][\d,.]+)</span> <small>± ([\d,.]+)</small>", page)
    assert len(cells) > 4
    for colour, mean, half in cells:
        value, width = (float(text.replace(",", "")) for text in (mean, half))
        if abs(value) < width - 0.1:
            assert colour == "even", (mean, half)
        elif abs(value) > width + 0.1:
            assert colour == ("win" if value > 0 else "loss"), (mean, half)


def test_names_cannot_break_the_page(tmp_path):
    """A log from elsewhere may name its players anything."""
    name = "</script><img src=x onerror=alert(1)>&amp;\"'"
    log = tmp_path / "odd.log"
    log.write_text(
        "# name/game/hands/seed odd hunl 2 1\n"
        f"STATE:0:r20000c///:AsKd|7c7d/2c3h4s/5h/9h:-20000|20000:{name}|Bob\n"
        f"STATE:1:f:AsKd|7c7d:50|-50:Bob|{name}\n"
    )
    report = load_report(log)
    page = report_page(report)
    outline = Outline(page)
    assert not outline.links
    assert "img" not in outline.tags
    assert page.count("<script") == 2
    assert hands_of(page)[0]["names"] == [name, "Bob"]
    assert report.players == (name, "Bob")
    assert report.result.mean_mbb == pytest.approx(-1000 * 20050 / 2 / 100)
    assert report.unit == "hand"


def test_report_says_what_it_needs(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "no match.json, comparison.json, tournament.json or duel" in capsys.readouterr().err
    (tmp_path / "comparison.json").write_text("[1]")
    assert main(["report", str(tmp_path)]) == 2
    assert "expected one JSON object" in capsys.readouterr().err
    assert main(["match", "bot:call", "bot:fold", "--explain"]) == 2
    assert "give -o DIR" in capsys.readouterr().err
    words = ["match", "bot:call", "bot:fold", "--explain", "--hands", "5", "-o", str(tmp_path / "m")]
    assert main(words) == 2
    assert "neither of bot:call, bot:fold is a strategy" in capsys.readouterr().err


def test_charts():
    assert ticks(0.0, 10.0) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert ticks(-130.0, 260.0) == [-100.0, 0.0, 100.0, 200.0]
    assert [tick_text(value) for value in (0.0, 1200.0, -0.5, 2.5e6)] == ["0", "1,200", "-0.5", "2.5M"]
    svg = interval_chart([Interval("a<b", 10.0, 5.0), Interval("c", -3.0, float("inf"))], "title")
    assert svg.count("<circle") == 2
    assert svg.count('class="bar"') == 1
    assert "a&lt;b" in svg


# ------------------------------------------------------------------------------------------------- in a real browser


@pytest.fixture(scope="module")
def browser():
    with open_browser("the page") as opened:
        yield opened


@pytest.fixture
def open_page(browser, runs, tmp_path):
    """Opens a report; fails the test for any error or any request but that for the file itself."""
    problems: list[str] = []

    def opened(name: str, width: int, height: int):
        output = tmp_path / f"{name}.html"
        assert main(["report", str(runs / name), "-o", str(output)]) == 0
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: None if request.url == output.as_uri() else problems.append(request.url))
        page.goto(output.as_uri())
        return page

    yield opened
    assert not problems


@pytest.mark.parametrize("name", ["m", "c", "t", "k"])
@pytest.mark.parametrize("width, height", [(1280, 900), (360, 740)])
def test_page_fits_desktop_and_phone(open_page, name, width, height):
    page = open_page(name, width, height)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.eval_on_selector_all("svg text", "all => all.map(t => t.getBoundingClientRect().height)")
    assert min(sizes) > 8.5  # words of a chart can still be read on a phone
    assert page.inner_text("h1")


def test_wide_tables_show_that_they_scroll(open_page):
    """A picture of the right edge before and after scrolling: the shadow is there while more is to come."""
    page = open_page("t", 360, 740)
    table = page.locator(".scroll").first
    wide = table.evaluate("e => e.scrollWidth > e.clientWidth")
    assert wide
    assert table.evaluate("e => getComputedStyle(e).backgroundAttachment") == "local, local, scroll, scroll"
    before = table.screenshot()
    table.evaluate("e => { e.scrollLeft = e.scrollWidth }")
    assert table.screenshot() != before


def test_replayer_steps_through_a_hand(open_page):
    page = open_page("m", 390, 844)
    hands = hands_of(page.content())
    assert page.inner_text("#event").startswith("blinds")
    page.click("#biggest button[data-hand='2']")
    record = hands[2]
    for step in record["steps"][1:]:
        page.click("#step-on")
        assert page.inner_text("#event") == step["text"]
        assert page.inner_text("#pot") == f"pot {step['pot'] + sum(step['bets'])}"
        assert page.locator("#board .cardface").count() == step["board"]
        assert page.is_visible("#why") == ("why" in step)
        if "why" in step:
            shown = page.eval_on_selector_all("#why .row div:first-child", "all => all.map(e => e.textContent)")
            assert [text for text in shown if text] == step["why"]["actions"]
            assert page.inner_text("#why .row.chosen div:first-child") == step["why"]["action"]
    page.click("#step-on")  # at the end nothing happens
    assert page.inner_text("#event") == record["steps"][-1]["text"]
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#event") == record["steps"][-2]["text"]
    page.select_option("#hand-choice", "5")
    assert page.inner_text("#event") == hands[5]["steps"][0]["text"]
    page.click("#hand-back")
    assert page.input_value("#hand-choice") == "4"
    page.click("#history li:nth-child(2) button")
    assert page.inner_text("#event") == hands[4]["steps"][1]["text"]
    assert page.locator("#seat-a .cardface").count() == 1
