"""The page's own routes over real HTTP and websockets: figures equal those of the commands, and nothing hidden is told."""

import contextlib
import json
import re
import shutil
import socket
import time

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from foldwise.cli.main import main
from foldwise.game.cards import card_text, parse_cards
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.library import find_definition
from foldwise.matches.table.log import read_log
from tests.support.web_server import SECONDS, kept_hand, serving, session_folder, told

HUNL = find_definition("hunl")


def ask(server, path, body):
    status, _, data = server.request("POST", path, body)
    return status, json.loads(data)


def begin(server, **more) -> str:
    opponent = {"name": "rough", "search": more.pop("search", "off")}
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
                assert "too many" not in answer["error"]  # and nothing was done: what follows would mislead
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


def test_a_session_over_the_websocket(table, sit, folder):
    """Hands by the page: nothing hidden in any byte, the log and the totals agree, a second page sees the same hand."""
    session = begin(table, player="Ann")
    seat = sit(session)
    place = session_folder(folder, session)
    checked = 0
    while seat.view["hands"] < 8 or checked <= 20:  # a bot that folds at once leaves nothing to check
        hand = seat.view["hand"]
        if hand["end"]:
            seat.say({"next": True})
            continue
        kept = kept_hand(folder, session)
        hidden = [*kept.hole_cards[1 - kept.number % 2], *kept.board[len(hand["board"]) :]]
        for card in hidden:
            assert not told(card, seat.texts[-1])
            checked += 1
        assert str(json.loads((place / "session.json").read_text())["bot_seed"]) not in seat.texts[-1]
        status, refused = ask(table, "/page/reveal", {"session": session, "hand": hand["number"]})
        assert (status, "is not over" in refused["error_msg"]) == (400, True)
        seat.act("c")
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
    assert stale["table"] == seat.view  # the second page's request was for an older state
    while seat.view["hand"]["end"]:
        seat.say({"next": True})
    assert "not an answer" in seat.act("zzz")["error"]


def whole_graph(server, session):
    """The graph once every hand is corrected: it comes in parts, and the first time the strategy's values are computed."""
    while True:
        status, graph = ask(server, "/page/graph", {"session": session})
        assert status == 200, graph
        if not graph["to_correct"]:
            return graph
        time.sleep(0.1)


def test_graph_is_what_score_says(table, sit, folder, holdem_strategy, capsys):
    session = begin(table)
    seat = sit(session)
    while seat.view["hands"] < 6:
        seat.say({"next": True}) if seat.view["hand"]["end"] else seat.act("c")
    graph = whole_graph(table, session)
    log = session_folder(folder, session) / "session.log"
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
    for shown, printed in zip(review["mistakes"], said["mistakes"], strict=True):
        assert {key: shown[key] for key in printed} == printed


TWICE = """STATE:0:r300c/cr600c/cc/cc:AsKs|7c7d/2c9hTs/3h/Kd:900|-900:Ann|Bob
STATE:0:r300f:2c3d|AsAh:-100|100:Ann|Bob
"""


def test_hands_of_one_number_are_reviewed_apart(table):
    """Two logs pasted one after the other both begin with hand 0: each hand has its own decisions and no other's."""
    status, found = ask(table, "/page/review", {"text": TWICE})
    assert status == 200
    assert [len(hand["decisions"]) for hand in found["played"]] == [9, 2]
    assert {one["cards"] for one in found["played"][1]["decisions"]} == {"2c3d", "AsAh"}


def test_statistics_without_a_judge(table):
    status, found = ask(table, "/page/review", {"text": TWICE, "strategy": ""})
    assert status == 200
    assert (found["strategy"], found["decisions"], found["mistakes"]) == (None, 0, [])
    assert [player["hands"] for player in found["players"]] == [2, 2]


def test_a_player_who_is_not_there_is_said_so(table):
    status, answer = ask(table, "/page/review", {"text": TWICE, "player": "Cid"})
    assert (status, answer["error_msg"]) == (400, "nobody is called 'Cid' here: expected Ann or Bob")


def test_only_the_last_of_very_many_hands_are_reviewed_and_that_is_said(table):
    line = TWICE.splitlines()[1]
    status, found = ask(table, "/page/review", {"text": "\n".join([line] * 2001), "strategy": ""})
    assert (status, found["hands"], found["given_hands"]) == (200, 2000, 2001)


def around(card, text):
    """Where a text names a card."""
    place = re.search(rf"(?<![0-9A-Za-z]){card_text(card)}(?![0-9A-Za-z])", text).start()
    return text[max(0, place - 80) : place + 80]


def test_nothing_hidden_is_in_any_byte(table, sit, folder):
    """The first hand of a session, asked about in every way the server has; each byte that comes is searched."""
    checked = 0
    public = table.request("GET", "/page/matches")[2]  # of before: cards of other tests' matches, by now shown to all
    while checked <= 20:  # hands in which the bot folds at once have nothing to check
        session = begin(table, player="spy")
        seat = sit(session)
        place = session_folder(folder, session)
        seed = str(json.loads((place / "session.json").read_text())["bot_seed"])
        while not seat.view["hand"]["end"]:
            hand = seat.view["hand"]
            seat.act("zzz")
            heard = [text.encode() for text in seat.texts]
            for path, body in (
                ("/page/graph", {"session": session}),
                ("/page/log", {"session": session}),
                ("/page/reveal", {"session": session, "hand": hand["number"]}),
                ("/page/reveal", {"session": session, "hand": -1}),
                ("/page/review", {"session": session}),
                ("/api/new_hand", {"token": session}),
                ("/page/sessions", {"session": session}),
            ):
                _, headers, data = table.request("POST", path, body)
                heard += [data, repr(headers).encode()]
            for path in (
                "/page/opponents",
                "/page/matches",
                f"/page/report/{place.name}",
                f"/{place.name}/hand.journal",
            ):
                _, headers, data = table.request("GET", path)
                heard += [data.replace(public, b""), repr(headers).encode()]
            kept = kept_hand(folder, session)
            hidden = [*kept.hole_cards[1], *kept.board[len(hand["board"]) :]]
            # Tokens are random letters, and may hold what reads as a card.
            text = re.sub(r'"(session|token)": ?"[^"]*"', "", b"\n".join(heard).decode()).replace(session, "")
            assert seed not in text
            assert ",".join(map(str, kept.hole_cards[1])) not in text.replace(" ", "")
            for card in hidden:
                assert not told(card, text), around(card, text)
                checked += 1
            assert not (place / "session.log").exists()
            seat.act("c")


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


def test_explore_speaks_of_chips_as_the_table_does(table):
    """After the flop a bet's chips are those of the street, not of the whole hand as in the dealer's text."""
    place = {"strategy": "rough", "betting": "r300c/", "board": "2c7d9h"}
    found = ask(table, "/page/explore", place)[1]
    assert [step["words"] for step in found["path"]] == ["button raises to 300", "big blind calls 200"]
    for action in found["actions"]:
        if action["text"].startswith("r"):
            put_in = int(action["text"][1:]) - 300
            assert action["words"].startswith(f"bet {put_in:,}")
            assert action["size_pot"] == pytest.approx(put_in / 600)
    assert found["actions"][0]["words"] == "check"


def test_explore_asks_for_what_is_missing(table):
    found = ask(table, "/page/explore", {"strategy": "rough", "betting": "r300c/", "board": "2c"})[1]
    assert found["missing_cards"] == 2
    assert "hands" not in found
    for body in ({"betting": "x"}, {"board": "2c2c2c"}, {"board": "zz"}, {"strategy": "none"}):
        assert ask(table, "/page/explore", {"strategy": "rough", **body})[0] == 400


def test_explore_says_what_hands_make_of_the_board(table):
    found = ask(table, "/page/explore", {"strategy": "rough", "betting": "r300c/", "board": "2c7d9h"})[1]
    names = found["made_names"]
    for hand, words in (("9s9d", ["set"]), ("AhKh", ["ace high"]), ("Ts8s", ["no pair", "open-ended straight draw"])):
        assert [names[n] for n in found["made"][pair_number(*parse_cards(hand))]] == words
    assert found["made"][pair_number(*parse_cards("2c7d"))] is None
    assert ask(table, "/page/explore", {"strategy": "rough"})[1]["made"] == []


def solved(server, **spot):
    url = server.url.replace("http", "ws", 1) + "page/solve"
    with connect(url, origin=server.url.rstrip("/"), open_timeout=SECONDS) as line:
        line.send(json.dumps({"strategy": "rough", "seconds": 0.2, **spot}))
        while "progress" in (message := json.loads(line.recv(timeout=SECONDS))):
            pass
    return message


def test_one_range_may_be_typed_and_the_other_the_strategys(table):
    place = {"betting": "r300c/cc/cc/", "board": "2c7d9hKsAc"}
    found = ask(table, "/page/explore", {"strategy": "rough", **place})[1]
    position = found["position"]
    ranges = ["", ""]
    ranges[1 - position] = "QQ+"
    kept = solved(table, ranges=ranges, **place)["result"]  # the hands shown are the strategy's
    assert [row and row[0] for row in kept["hands"]] == [row and row[0] for row in found["hands"]]
    ranges = ["", ""]
    ranges[position] = "QQ+"
    typed = solved(table, ranges=ranges, **place)["result"]
    assert sum(1 for row in typed["hands"] if row and row[0] > 0) == 6 + 3 + 3
    assert "expected" in solved(table, ranges=["nonsense", ""], **place)["error"]


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


def test_what_was_searched_is_revealed(table, sit):
    """The bot's decisions on turn and river, worked out again from its seed: what it played had a share."""
    session = begin(table, search="fast", seed=4)
    seat = sit(session)
    searched = 0
    while not searched:
        hand = seat.view["hand"]
        if not hand["end"]:
            seat.act("c")
            continue
        status, revealed = ask(table, "/page/reveal", {"session": session, "hand": hand["number"]})
        assert status == 200
        for one in revealed["decisions"]:
            assert one["probabilities"][one["actions"].index(one["played"])] > 0.0
            searched += "turn: " in one["betting"]
        if revealed["decisions"]:
            shares = [one["share"] for one in revealed["range"]]
            assert shares == sorted(shares, reverse=True)
            assert 0.0 < sum(shares) <= 1.0 + 1e-9
            likeliest = pair_number(*parse_cards(revealed["range"][0]["hand"]))
            assert revealed["weights"][likeliest] == 1.0
            assert revealed["weights"][pair_number(*parse_cards("".join(hand["cards"])))] is None  # our own hand
        if not searched:
            seat.say({"next": True})
    graph = whole_graph(table, session)
    assert set(graph["methods"]) == {"chips", "all-in", "aivat"}  # the bot's rows are known where it searches, too
    assert len(graph["methods"]["aivat"]["total_bb"]) == len(graph["methods"]["chips"]["total_bb"])


def test_drills_are_scored_and_kept(table):
    status, drill = ask(table, "/page/drill", {"street": "flop"})
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
    kind = {"street": "flop", "situation": drill["situation"], "drills": 1, "given_up_bb": verdict["given_up_bb"]}
    assert again["score"]["kinds"] == [kind]
    assert ask(table, "/page/answer", {"drill": again["drill"], "action": "r1"})[0] == 400
    assert ask(table, "/page/drill", {"street": "flop", "situation": "wild"})[0] == 400


def listed(server):
    return json.loads(server.request("GET", "/page/matches")[2])["folders"]


def test_finished_matches_are_listed_and_reported(table, runs):
    (done,) = [one for one in listed(table) if one["title"] == "done"]
    result = json.loads((runs / "done" / "result.json").read_text())
    assert (done["state"], done["hands"]) == ("finished", 60)
    assert done["mean_mbb"] == pytest.approx(result["mean_mbb"])
    status, headers, page = table.request("GET", f"/page/report/{done['id']}")
    assert (status, b"replay" in page) == (200, True)
    assert "sandbox" in headers["content-security-policy"]
    assert table.request("GET", "/page/report/..%2f..")[0] == 404


def test_a_server_that_ends_is_quiet_whoever_is_there(holdem_strategy, runs, tmp_path):
    """A page that watches a match which stands still, and a review that takes long, when Ctrl-C comes: one line."""
    still = tmp_path / "runs" / "still"
    shutil.copytree(runs / "done", still)
    (still / "result.json").unlink()  # as if it were being played
    with serving(
        str(holdem_strategy), "--port", "0", "-o", str(tmp_path / "s"), "--matches", str(still.parent)
    ) as server:
        (match,) = listed(server)
        assert match["state"] == "running"
        url = server.url.replace("http", "ws", 1) + "page/watch"
        with connect(url, origin=server.url.rstrip("/"), open_timeout=SECONDS) as line:
            line.send(json.dumps({"match": match["id"]}))
            assert json.loads(line.recv(timeout=SECONDS))["match"]["hands"] == 60
            text = "\n".join([TWICE.splitlines()[0]] * 30)
            body = json.dumps({"text": text, "search": "deep"})
            head = "POST /page/review HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            host, port = server.host.split(":")
            with socket.create_connection((host, int(port)), timeout=SECONDS) as asking:
                asking.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
                listed(server)  # answered after it: the review has begun
                code, errors = server.interrupt()
                assert b" 503 " in asking.recv(4096)
    assert code == 130
    assert errors.startswith("foldwise: interrupted")
    assert errors.count("\n") == 1


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
    for _ in range(2000):
        seat.line.send("{}")
    answers = [json.loads(seat.line.recv(timeout=SECONDS)) for _ in range(2000)]
    assert any("too many messages" in answer.get("error", "") for answer in answers)
    other = sit(begin(table))  # others are not affected
    assert other.view["hand"] is not None
