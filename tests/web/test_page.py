"""The page's own routes over real HTTP and websockets: figures equal those of the commands, and nothing hidden is told."""

import contextlib
import hashlib
import json
import shutil
import subprocess
import sys
import time

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from foldwise.cli.main import main
from foldwise.game.cards import card_text, parse_cards
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.library import find_definition
from foldwise.matches.table.log import read_log
from tests.support.places import ROOT
from tests.support.web_server import SECONDS, serving, told

HUNL = find_definition("hunl")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    assert main(["match", "bot:strength", "bot:call", "--hands", "30", "-o", str(folder / "done")]) == 0
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture(scope="module")
def table(holdem_strategy, runs, folder):
    words = (str(holdem_strategy), "--port", "0", "-o", str(folder), "--matches", str(runs))
    with serving(*words) as server:
        yield server


def ask(server, path, body):
    status, _, data = server.request("POST", path, body)
    return status, json.loads(data)


def begin(server, **more) -> str:
    opponent = {"name": more.pop("opponent", "rough")}
    status, answer = ask(server, "/page/sessions", {"opponent": opponent, **more})
    assert status == 200, answer
    return answer["session"]


def open_table(server, **headers):
    url = server.url.replace("http", "ws", 1) + "page/play"
    origin = headers.get("origin", server.url.rstrip("/"))
    return connect(url, origin=origin, open_timeout=SECONDS, close_timeout=5)


class Seat:
    """A page at its table."""

    def __init__(self, line, session):
        self.line = line
        self.texts: list[str] = []
        self.say({"session": session})

    def say(self, message):
        self.line.send(json.dumps(message))
        while True:
            text = self.line.recv(timeout=SECONDS)
            self.texts.append(text)
            answer = json.loads(text)
            if "error" in answer:
                return answer
            self.view = answer["table"]
            hand = self.view["hand"]
            if hand["your_turn"] or hand["end"]:
                return answer

    def act(self, text):
        hand = self.view["hand"]
        return self.say({"act": text, "hand": hand["number"], "moves": hand["moves"]})


@pytest.fixture
def sit(table):
    """Opens pages at the table; they are closed when the test ends."""
    with contextlib.ExitStack() as lines:
        yield lambda session: Seat(lines.enter_context(open_table(table)), session)


def private(folder, session):
    return folder / hashlib.sha256(session.encode()).hexdigest()[:24]


def test_a_session_over_the_websocket(table, sit, folder):
    """Hands by the page: nothing hidden in any byte, the log and the totals agree, a second page sees the same hand."""
    session = begin(table, player="Ann")
    seat = sit(session)
    place = private(folder, session)
    checked = 0
    while seat.view["hands"] < 8:
        hand = seat.view["hand"]
        if hand["end"]:
            seat.say({"next": True})
            continue
        kept = json.loads((place / "hand.json").read_text())
        you = kept["number"] % 2
        hidden = [*kept["hole_cards"][1 - you], *kept["board"][len(hand["board"]) :]]
        for card in hidden:
            assert not told(card, seat.texts[-1])
            checked += 1
        assert str(json.loads((place / "session.json").read_text())["bot_seed"]) not in seat.texts[-1]
        status, refused = ask(table, "/page/reveal", {"session": session, "hand": hand["number"]})
        assert (status, "is not over" in refused["error_msg"]) == (400, True)
        seat.act("c")
    assert checked > 20
    hands = list(read_log(place / "session.log", HUNL))
    assert sum(hand.values[hand.number % 2] for hand in hands) == seat.view["chips"]
    assert {name for hand in hands for name in hand.names} == {"Ann", "rough"}
    while seat.view["hand"]["end"]:
        seat.say({"next": True})
    other = sit(session)
    assert other.view == seat.view
    moves = other.view["hand"]["moves"]
    seat.act("c")
    stale = other.say({"act": "f", "hand": other.view["hand"]["number"], "moves": moves})
    assert stale["table"] == seat.view  # what the second page wanted was said of an older state
    assert "not an answer" in seat.act("zzz")["error"] or seat.view["hand"]["end"]


def test_graph_is_what_score_says(table, sit, folder, holdem_strategy, capsys):
    session = begin(table)
    seat = sit(session)
    while seat.view["hands"] < 6:
        seat.say({"next": True}) if seat.view["hand"]["end"] else seat.act("c")
    status, graph = ask(table, "/page/graph", {"session": session})
    assert status == 200
    log = private(folder, session) / "session.log"
    assert main(["score", str(log), "--strategy", str(holdem_strategy), "--player", "rough", "--json"]) == 0
    methods = {one["method"]: one for one in json.loads(capsys.readouterr().out)["methods"]}
    for ours, theirs in (("chips", "raw"), ("all-in", "all-in"), ("aivat", "aivat")):
        assert graph["methods"][ours]["mean_mbb"] == pytest.approx(-methods[theirs]["mean_mbb"], rel=1e-6, abs=1e-6)
        assert graph["methods"][ours]["ci95_mbb"] == pytest.approx(methods[theirs]["ci95_mbb"], rel=1e-6)
    status, revealed = ask(table, "/page/reveal", {"session": session, "hand": 0})
    assert status == 200
    first = next(read_log(log, HUNL))
    assert revealed["cards"] == [card_text(card) for card in first.hole_cards[1]]
    assert all(sum(one["probabilities"]) == pytest.approx(1.0) for one in revealed["decisions"])
    status, review = ask(table, "/page/review", {"session": session})
    assert main(["review", str(log), "--strategy", str(holdem_strategy), "--player", "you", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert review["given_up_bb"] == pytest.approx(said["given_up_bb"])
    assert review["players"] == said["players"]
    assert review["mistakes"] == said["mistakes"]


def test_other_sites_are_kept_out(table):
    for origin in ("https://evil.example", None):
        with pytest.raises(InvalidStatus) as refused, open_table(table, origin=origin):
            pass
        assert refused.value.response.status_code == 403
    body = {"opponent": {"name": "rough"}}
    assert table.request("POST", "/page/sessions", body, {"Origin": "https://evil.example"})[0] == 403
    assert table.request("POST", "/page/sessions", json.dumps(body).encode(), {"Content-Type": "text/plain"})[0] == 415


def test_sessions_are_apart(table):
    """Tokens of the door open nothing of the page, nor the other way round; made-up ones open nothing."""
    session, token = begin(table), table.call("login", {"username": "x", "password": ""})["token"]
    assert "no session" in table.call("new_hand", {"token": session})["error_msg"]
    for path in ("/page/graph", "/page/log", "/page/review"):
        for wrong in (token, "../" + session, session[:-1], "", "a" * 32):
            status, answer = ask(table, path, {"session": wrong})
            assert status == 400, (path, wrong)
            assert "no session" in answer["error_msg"]
    assert "at most 100" in ask(table, "/page/log", {"session": "x" * 200})[1]["error_msg"]
    assert ask(table, "/page/sessions", {"opponent": {"name": "../rough"}})[0] == 400
    assert ask(table, "/page/sessions", {"opponent": {"name": "rough", "postprocess": "cmd:ls"}})[0] == 400
    assert ask(table, "/page/sessions", {"opponent": {"name": "rough"}, "seed": -1})[0] == 400
    assert ask(table, "/page/sessions", {"opponent": {"name": "rough"}, "more": 1})[0] == 400


def test_a_seed_gives_the_same_cards_again(table, sit):
    first, second = (sit(begin(table, seed=11)) for _ in range(2))
    assert first.view["hand"]["cards"] == second.view["hand"]["cards"]
    assert first.view["hand"]["betting"] == second.view["hand"]["betting"]


@pytest.mark.parametrize("betting, board, hand", [("", "", "AsKs"), ("r300", "", "7h7c"), ("r300c/", "2c7d9h", "AsKs")])
def test_explore_says_what_inspect_says(table, holdem_strategy, betting, board, hand, capsys):
    words = ["--betting", betting, "--board", board, "--hand", hand]
    assert main(["inspect", str(holdem_strategy), *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    status, found = ask(table, "/page/explore", {"strategy": "rough", "betting": betting, "board": board})
    assert status == 200
    assert [action["text"] for action in found["actions"]] == said["actions"]
    row = found["hands"][pair_number(*parse_cards(hand))]
    assert row[1:] == pytest.approx(said["probabilities"], abs=1e-4)
    assert sum(action["frequency"] for action in found["actions"]) == pytest.approx(1.0)


def test_explore_asks_for_what_is_missing(table):
    found = ask(table, "/page/explore", {"strategy": "rough", "betting": "r300c/", "board": "2c"})[1]
    assert found["missing_cards"] == 2
    assert "hands" not in found
    for body in ({"betting": "x"}, {"board": "2c2c2c"}, {"board": "zz"}, {"strategy": "none"}):
        assert ask(table, "/page/explore", {"strategy": "rough", **body})[0] == 400


def test_solve_with_progress_and_stop(table):
    url = table.url.replace("http", "ws", 1) + "page/solve"
    with connect(url, origin=table.url.rstrip("/"), open_timeout=SECONDS) as line:
        place = {"strategy": "rough", "betting": "r300c/cc/cc/", "board": "2c7d9hKsAc"}
        spot = {**place, "seconds": 60, "ranges": ["22+, A2s+", "QQ+, KTs+"]}
        line.send(json.dumps(spot))
        first = json.loads(line.recv(timeout=SECONDS))
        assert first["progress"]["iterations"] == 0
        line.send(json.dumps({"cancel": True}))  # long before its minute is over
        while "result" not in (message := json.loads(line.recv(timeout=SECONDS))):
            assert "progress" in message
    result = message["result"]
    rows = [row for row in result["hands"] if row is not None and row[0] > 0]
    assert rows
    assert all(sum(row[1:]) == pytest.approx(1.0, abs=1e-3) for row in rows)
    with connect(url, origin=table.url.rstrip("/"), open_timeout=SECONDS) as line:
        line.send(json.dumps({"strategy": "rough", "betting": "", "board": ""}))
        assert "turn or a river" in json.loads(line.recv(timeout=SECONDS))["error"]


def test_drills_are_scored_and_kept(table):
    status, drill = ask(table, "/page/drill", {"kind": "flop"})
    assert status == 200
    assert (drill["street"], len(drill["board"]), drill["score"]["drills"]) == ("flop", 3, 0)
    status, verdict = ask(table, "/page/answer", {"drill": drill["drill"], "action": drill["actions"][0]})
    assert status == 200
    place = verdict["actions"].index(drill["actions"][0])
    expected = max(verdict["values_bb"]) - verdict["values_bb"][place]
    assert verdict["given_up_bb"] == pytest.approx(expected)
    assert ask(table, "/page/answer", {"drill": drill["drill"], "action": "c"})[0] == 400  # once only
    again = ask(table, "/page/drill", {"trainee": drill["trainee"]})[1]
    assert again["score"] == verdict["score"]
    assert again["score"]["drills"] == 1
    assert ask(table, "/page/answer", {"drill": again["drill"], "action": "r1"})[0] == 400


def listed(server):
    return json.loads(server.request("GET", "/page/matches")[2])["folders"]


def test_watch_follows_a_running_match(table, runs):
    (done,) = [one for one in listed(table) if one["title"] == "done"]
    result = json.loads((runs / "done" / "result.json").read_text())
    assert (done["state"], done["hands"]) == ("finished", 60)
    assert done["mean_mbb"] == pytest.approx(result["mean_mbb"])
    status, headers, page = table.request("GET", f"/page/report/{done['id']}")
    assert (status, b"replay" in page) == (200, True)
    assert "sandbox" in headers["content-security-policy"]
    assert table.request("GET", "/page/report/..%2f..")[0] == 404
    words = ["match", "bot:strength", "bot:random", "--hands", "2000", "--over", "tcp", "-o", str(runs / "live")]
    command = [sys.executable, "-m", "foldwise.cli.main", *words]
    match = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + SECONDS
        while not (
            live := [
                one for one in json.loads(table.request("GET", "/page/matches")[2])["folders"] if one["title"] == "live"
            ]
        ):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        url = table.url.replace("http", "ws", 1) + "page/watch"
        seen = []
        with connect(url, origin=table.url.rstrip("/"), open_timeout=SECONDS) as line:
            line.send(json.dumps({"match": live[0]["id"]}))
            while len(seen) < 3 or seen[-1] == seen[0]:
                seen.append(json.loads(line.recv(timeout=SECONDS))["match"]["hands"])
        assert seen == sorted(seen)
    finally:
        match.kill()
        match.wait()
        shutil.rmtree(runs / "live", ignore_errors=True)


def test_page_is_whole_by_itself(table):
    status, headers, page = table.request("GET", "/")
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    names = {part.split(b'"')[0].decode() for part in page.split(b"/static/")[1:]}
    for name in sorted(names | {"dom.js", "play.js", "explore.js", "review.js", "watch.js", "train.js", "grid.js"}):
        status, headers, data = table.request("GET", f"/static/{name}")
        assert status == 200, name
        text = data.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text.replace('"https:"', "")
        assert "innerHTML" not in text
        assert table.request("GET", f"/static/{name}", None, {"If-None-Match": headers["etag"]})[0] == 304
    assert b"http" not in page.replace(b"http-equiv", b"")


def test_floods_of_messages_are_slowed(table, sit):
    seat = sit(begin(table))
    for _ in range(600):
        seat.line.send("{}")
    answers = [json.loads(seat.line.recv(timeout=SECONDS)) for _ in range(600)]
    assert any("too many messages" in answer.get("error", "") for answer in answers)
    other = sit(begin(table))  # others are not affected
    assert other.view["hand"] is not None
