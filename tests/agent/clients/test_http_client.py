"""The agent at HTTP tables: at our own over real HTTP, and at servers with the quirks of real ones."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from foldwise.cli.main import main
from foldwise.game.library import find_definition
from foldwise.matches.table.log import read_log
from foldwise.search.modes import MODES, Budget
from tests.support.web_server import serving

HUNL = find_definition("hunl")
CUT = "the connection is cut"


class Script:
    """A server that gives prepared answers, one per call, and records the requests."""

    def __init__(self, answers):
        self.calls: list[tuple[str, dict]] = []
        answers = iter(answers)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler):
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                self.calls.append((handler.path, json.loads(body)))
                answer = next(answers)
                if answer is CUT:
                    handler.close_connection = True
                    handler.connection.close()
                    return
                status, data = answer if isinstance(answer, tuple) else (200, json.dumps(answer).encode())
                handler.send_response(status)
                handler.send_header("Content-Length", str(len(data)))
                handler.end_headers()
                handler.wfile.write(data)

            def log_message(handler, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._server.server_close()


def start(pos=0, action="b200", **more):
    return {"action": action, "client_pos": pos, "hole_cards": ["Ac", "Ad"], "board": [], "token": "t", **more}


def end(action, board, winnings, pos=0, **more):
    fields = {"action": action, "client_pos": pos, "hole_cards": ["Ac", "Ad"], "board": board, "winnings": winnings}
    return {**fields, "bot_hole_cards": ["Ks", "Kd"], **more}


BOARD = ["2c", "7d", "9h", "Jh", "3s"]
CALLED = end("b20000c///", BOARD, 20000)


def run(url, *words, player="bot:call", capsys=None):
    search = () if player.startswith("bot:") or "--search" in words else ("--search", "off")
    code = main(["play", player, url, "--json", "--patience", "20", *search, *words])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


@pytest.mark.parametrize("final", ["b20000c", "b20000c/", "b20000c//", "b20000c///"])
def test_slashes_after_an_all_in_may_be_missing(final, tmp_path, capsys):
    with Script([start(action="b20000"), {**CALLED, "action": final}]) as server:
        code, result, _ = run(server.url, "--hands", "1", "-o", str(tmp_path), capsys=capsys)
    assert code == 0
    assert (result["mean_mbb"], result["differing_hands"], result["hidden_hands"]) == (200_000, 0, 0)
    (hand,) = read_log(tmp_path / "http.log", HUNL)
    assert hand.betting.betting_text() == "r20000c///"
    assert hand.values == (20000.0, -20000.0)
    assert server.calls == [
        ("/slumbot/api/new_hand", {}),
        ("/slumbot/api/act", {"token": "t", "incr": "c"}),
    ]


def test_token_may_be_missing_or_change(capsys):
    answers = [
        start(token="first"),
        {"action": "b200c/", "client_pos": 0, "hole_cards": ["Ac", "Ad"], "board": ["2c", "7d", "9h"]},  # no token
        {"action": "b200c/kk/", "client_pos": 0, "hole_cards": ["Ac", "Ad"], "board": BOARD[:4], "token": "second"},
        end("b200c/kk/kk/kk", BOARD, 200),
        start(pos=1, action=""),
        end("ck/kk/kk/kk", BOARD, 100, pos=1),
    ]
    with Script(answers) as server:
        answers[4]["token"] = None
        # The button calls, then checks down: five calls more than a script of one answer a street would have.
        code, result, _ = run(server.url, "--hands", "2", capsys=capsys)
    assert code == 0
    assert result["hands"] == 2
    tokens = [body.get("token") for _, body in server.calls]
    assert tokens == [None, "first", "first", "second", "second", "second"]


def test_missing_position_is_the_big_blind(capsys):
    first, last = start(action="b20000"), dict(CALLED)
    del first["client_pos"], last["client_pos"]
    with Script([first, last]) as server:
        code, result, _ = run(server.url, "--hands", "1", capsys=capsys)
    assert (code, result["mean_mbb"]) == (0, 200_000)


def test_hidden_cards_are_no_obstacle(tmp_path, capsys):
    answers = [
        start(action="f", winnings=50),
        start(pos=1, action="", token=None),
        end("ck/kk/kk/kk", BOARD, 100, pos=1),
    ]
    with Script(answers) as server:
        code, result, _ = run(server.url, "--hands", "2", "-o", str(tmp_path), capsys=capsys)
    assert code == 0
    assert result["hidden_hands"] == 1
    assert "# STATE:0:f:AcAd|:50|-50:agent|table" in (tmp_path / "http.log").read_text()
    (hand,) = read_log(tmp_path / "http.log", HUNL)
    assert hand.number == 1
    assert result["mean_mbb"] == 750


def test_lost_answer_is_asked_for_again(capsys):
    """The connection breaks at `act`; the server had accepted the action, and returns the hand in play."""
    answers = [start(), CUT, {**start(action="b200c/"), "board": BOARD[:3]}, end("b200c/kk/kk/kk", BOARD, 200)]
    with Script(answers) as server:
        code, result, _ = run(server.url, "--hands", "1", capsys=capsys)
    assert (code, result["reconnections"], result["lost_hands"], result["hands"]) == (0, 1, 0, 1)
    assert [path.rpartition("/")[2] for path, _ in server.calls] == ["new_hand", "act", "new_hand", "act"]


def test_hand_thrown_away_by_the_server_is_counted_as_lost(tmp_path, capsys):
    other = {**start(pos=1, action=""), "hole_cards": ["7c", "7d"]}
    last = {**end("f", [], -50, pos=1), "hole_cards": ["7c", "7d"]}
    with Script([CUT, start(), CUT, (502, b"bad gateway"), other, last]) as server:
        code, result, _ = run(server.url, "--hands", "1", "-o", str(tmp_path), player="bot:fold", capsys=capsys)
    assert (code, result["lost_hands"], result["hands"]) == (0, 1, 1)
    (hand,) = read_log(tmp_path / "http.log", HUNL)
    assert hand.number == 1  # the seat that had the button, as its number says
    assert hand.names == ("table", "agent")


@pytest.mark.parametrize(
    "answers, message",
    [
        ([{"error_msg": "Please\nlog in"}], "refused new_hand: Please log in"),
        ([(404, b"<html>not here</html>")], "status 404 and no JSON object"),
        ([{"token": "t"}], "without a hand (hole_cards: Field required)"),
        ([start(action="b200x")], "cannot be read"),
        ([start(action="b200c/")], "is not ours to play: expected 3 board cards"),
        ([start(action="b200c/k")], "is not ours to play"),
        ([start(action="b200", winnings=5)], "which is no end"),
        ([start(action="b300", hole_cards=["Ac", "Ac"])], "cannot be read"),
        ([start(), {"error_msg": "no such action"}], "refused act: no such action"),
    ],
)
def test_refusals_are_one_line(answers, message, capsys):
    with Script(answers) as server:
        code, result, err = run(server.url, "--hands", "1", capsys=capsys)
    assert (code, result) == (1, None)
    assert message in err
    assert err.startswith("foldwise: ")
    assert err.count("\n") == 1


def test_nobody_there(capsys):
    with Script([]) as server:
        url = server.url
    code = main(["play", "bot:call", url, "--hands", "1", "--patience", "0.1"])
    assert code == 1
    assert "no answer from" in capsys.readouterr().err
    assert main(["play", "bot:call", "http://:99/", "--hands", "1"]) == 2
    assert "expected an address as in http" in capsys.readouterr().err


def test_wrong_winnings_are_noticed(capsys):
    with Script([start(action="b20000"), {**CALLED, "winnings": -20000}]) as server:
        code, result, _ = run(server.url, "--hands", "1", capsys=capsys)
    assert (code, result["differing_hands"]) == (0, 1)


def test_at_our_own_table(holdem_strategy, tmp_path, capsys, monkeypatch):
    """A strategy against itself over real HTTP: both logs tell the same hands, and all three scores come out."""
    quick = replace(MODES["fast"], turn=Budget(0.0, 2, 2), river=Budget(0.0, 4, 4))
    monkeypatch.setitem(MODES, "fast", quick)
    with serving(str(holdem_strategy), "--port", "0", "-o", str(tmp_path / "sessions")) as server:
        code, result, err = run(
            server.url,
            "--hands",
            "60",
            "-o",
            str(tmp_path / "http"),
            "--user",
            "Ann",
            player=str(holdem_strategy),
            capsys=capsys,
        )
        found = run(server.url, "--hands", "8", "--search", "fast", player=str(holdem_strategy), capsys=capsys)
    assert found[0] == 0, found[2]
    assert "search(fast)" in found[1]["player"]
    assert [method["method"] for method in found[1]["methods"]] == [
        "raw",
        "all-in",
        "aivat",
    ]  # by the rows searched for
    assert code == 0, err
    assert result["hands"] == 60
    assert (result["errors"], result["lost_hands"], result["hidden_hands"], result["differing_hands"]) == (0, 0, 0, 0)
    assert [method["method"] for method in result["methods"]] == ["raw", "all-in", "aivat"]
    assert result["methods"][0]["mean_mbb"] == pytest.approx(result["mean_mbb"])
    assert result["baseline_mbb"] is not None
    theirs = max((tmp_path / "sessions").glob("*/session.log"), key=lambda log: log.stat().st_size)
    for one, other in zip(read_log(tmp_path / "http" / "http.log", HUNL), read_log(theirs, HUNL), strict=True):
        assert (one.number, one.betting, one.hole_cards, one.board, one.values) == (
            other.number,
            other.betting,
            other.hole_cards,
            other.board,
            other.values,
        )
    assert main(["play", str(holdem_strategy), server.url, "-o", str(tmp_path / "http")]) == 2
    assert "holds a match" in capsys.readouterr().err
