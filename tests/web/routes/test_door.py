"""Slumbot's interface over real HTTP: what is answered, what is refused, what is kept, and what is never told."""

import http.client
import json
import socket
import time
from itertools import pairwise

import pytest

from foldwise.game.cards import card_text
from foldwise.game.library import find_definition
from foldwise.game.text.slumbot import read_slumbot
from foldwise.matches.table.log import read_log, state_lines
from tests.support.web_server import (
    SECONDS,
    ServerProcess,
    kept_hand,
    play_passively,
    serving,
    session_folder,
    told,
)

HUNL = find_definition("hunl")


@pytest.fixture(scope="module")
def door(table):
    return table


@pytest.fixture(scope="module", autouse=True)
def slow(door):
    """Clients that never finish their requests, started before the first test; the last test checks their fate."""
    host, port = door.host.split(":")
    heads = [socket.create_connection((host, int(port))) for _ in range(10)]
    bodies = [socket.create_connection((host, int(port))) for _ in range(10)]
    for sock in heads:
        sock.sendall(b"POST /api/new_hand HTTP/1.1\r\nHost: local")
    for sock in bodies:
        sock.sendall(b"POST /api/new_hand HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
    silent = socket.create_connection((host, int(port)))
    yield [*heads, silent], bodies
    for sock in (*heads, silent, *bodies):
        sock.close()


def play_hand(server: ServerProcess, token: str | None, prefix: str = "/api/") -> tuple[dict, list[dict]]:
    first = server.call("new_hand", {"token": token} if token else {}, prefix)
    token = first.get("token")
    return play_passively(lambda incr: server.call("act", {"token": token, "incr": incr}, prefix), first)


@pytest.mark.parametrize("prefix", ["/api/", "/slumbot/api/"])
def test_a_session_by_the_book(door, folder, prefix):
    token, total, baseline = None, 0, 0
    for number in range(6):
        last, answers = play_hand(door, token, prefix)
        assert answers[0]["old_action"] == ""
        for before, after in pairwise(answers):
            assert after["old_action"] == before["action"]
            assert after["action"].startswith(before["action"].rstrip("/"))
            assert after["hole_cards"] == before["hole_cards"]
            assert after["board"][: len(before["board"])] == before["board"]
        assert all(
            set(answer) == {"old_action", "action", "client_pos", "hole_cards", "board", "token"}
            for answer in answers[:-1]
        )
        token = last["token"]
        assert {answer["token"] for answer in answers} == {token}
        assert last["client_pos"] == number % 2  # the first hand is played in the big blind
        assert answers[0]["action"][:1] != "k"  # the button acts first
        betting = read_slumbot(last["action"], HUNL).betting
        assert betting.finished
        total, baseline = total + last["winnings"], baseline + last["baseline_winnings"]
        assert last["session_num_hands"] == number + 1
        assert (last["session_total"], last["session_baseline_total"]) == (total, baseline)
        spent = betting.spent[last["client_pos"]]
        assert last["won_pot"] == (0 if last["winnings"] == -spent else last["winnings"] + spent)
        assert len({*last["hole_cards"], *last["bot_hole_cards"], *last["board"]}) == 4 + len(last["board"])
    hands = list(read_log(session_folder(folder, token) / "session.log", HUNL))
    assert [hand.number for hand in hands] == list(range(6))
    assert sum(hand.values[hand.number % 2] for hand in hands) == total
    final = hands[-1]
    assert [card_text(card) for card in final.hole_cards[last["client_pos"]]] == last["hole_cards"]
    assert final.betting == betting


def test_new_hand_in_mid_hand_gives_the_same_hand(door):
    first = door.call("new_hand", {})
    while "winnings" in first:
        first = door.call("new_hand", {"token": first["token"]})
    again = door.call("new_hand", {"token": first["token"]})
    assert (again["hole_cards"], again["action"], again["client_pos"]) == (
        first["hole_cards"],
        first["action"],
        first["client_pos"],
    )


def test_login_names_the_player(door, folder):
    answer = door.call("login", {"username": "A|n:n<script>\n", "password": "x"})
    assert set(answer) == {"token"}
    play_hand(door, answer["token"])
    (line,) = state_lines(session_folder(folder, answer["token"]) / "session.log")
    assert line.rpartition(":")[2].split("|") == ["A.n.n<script>", "rough"]


@pytest.mark.parametrize(
    "call, body, expected",
    [
        ("act", b"{", "Invalid JSON"),
        ("act", b"[1]", "body"),
        ("act", b'{"token": 5, "incr": "c"}', "token"),
        ("act", b"{}", "token: Field required"),
        ("act", b'{"token": "nobody", "incr": "c"}', "no session has this token"),
        ("act", b'{"token": "../../etc/passwd", "incr": "c"}', "no session has this token"),
        ("new_hand", b'{"token": "..%2f.."}', "no session has this token"),
        ("new_hand", b'{"token": "\\u0000"}', "no session has this token"),
        ("new_hand", b"\xff\xfe", "Invalid JSON"),
        ("new_hand", json.dumps({"token": "x" * 300}).encode(), "at most 200"),
        ("login", b'{"username": "x"}', "password: Field required"),
    ],
)
def test_mistakes_are_answered_with_status_200(door, call, body, expected):
    status, headers, data = door.request("POST", f"/api/{call}", body)
    assert status == 200
    assert expected in json.loads(data)["error_msg"]
    assert headers["access-control-allow-origin"] == "*"


def test_illegal_actions_change_nothing(door):
    hand = door.call("new_hand", {})
    while "winnings" in hand:
        hand = door.call("new_hand", {"token": hand["token"]})
    for incr in ("b1", "b20001", "x", "b", "kk"):
        assert "expected" in door.call("act", {"token": hand["token"], "incr": incr})["error_msg"]
    assert door.call("new_hand", {"token": hand["token"]})["action"] == hand["action"]
    last, _ = play_passively(lambda incr: door.call("act", {"token": hand["token"], "incr": incr}), hand)
    assert "call new_hand" in door.call("act", {"token": last["token"], "incr": "c"})["error_msg"]


def test_cross_origin_calls_are_allowed(door):
    status, headers, _ = door.request("OPTIONS", "/api/act", headers={"Origin": "https://example.org"})
    assert status == 204
    assert headers["access-control-allow-origin"] == "*"
    assert "content-type" in headers["access-control-allow-headers"]


def test_nothing_is_told_before_the_end_of_a_hand(door, folder):
    """Every byte of every answer and of every log is searched for what the player may not know yet."""
    token = door.call("login", {"username": "spy", "password": "x"})["token"]
    place = session_folder(folder, token)
    log = place / "session.log"
    settings = json.loads((place / "session.json").read_text())
    checked = 0
    while checked <= 50:  # a bot that folds at once leaves nothing to check
        answer_bytes = door.request("POST", "/api/new_hand", {"token": token})[2]
        while True:
            answer = json.loads(answer_bytes)
            assert str(settings["bot_seed"]).encode() not in answer_bytes
            if "winnings" in answer:
                break
            kept = kept_hand(folder, token)
            hidden = [*kept.hole_cards[1 - answer["client_pos"]], *kept.board[len(answer["board"]) :]]
            refused = door.request("POST", "/api/act", {"token": token, "incr": "b1"})[2]
            assert not log.exists() or f"STATE:{kept.number}:".encode() not in log.read_bytes()
            for card in hidden:
                assert not told(card, answer_bytes.decode().replace(token, ""))
                assert not told(card, refused.decode())
                checked += 1
            facing = read_slumbot(answer["action"], HUNL).betting.can_fold()
            body = {"token": token, "incr": "c" if facing else "k"}
            answer_bytes = door.request("POST", "/api/act", body)[2]
    assert oct((place / "hand.journal").stat().st_mode)[-3:] == "600"
    assert oct(place.stat().st_mode)[-3:] == "700"
    header = log.read_text().splitlines()[0]
    assert header.endswith(" 0")  # the cards have no seed


def test_other_hosts_names_are_refused(door):
    for host in ("evil.example", "evil.example:80", f"evil.example:{door.host.partition(':')[2]}"):
        status, _, data = door.request("POST", "/api/new_hand", {}, {"Host": host})
        assert status == 421
        assert b"loopback" in data
    assert door.request("POST", "/api/new_hand", {}, {"Host": "localhost"})[0] == 200


def test_huge_bodies_are_refused(door):
    status, _, data = door.request("POST", "/api/new_hand", b"x" * (1 << 17))
    assert (status, json.loads(data)["error_msg"][:6]) == (413, "a body")
    host, port = door.host.split(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as endless:
        endless.sendall(b"POST /api/new_hand HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(5):
            endless.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        assert b" 413 " in endless.recv(4096)
    with socket.create_connection((host, int(port)), timeout=SECONDS) as long:
        long.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (1 << 17))
        assert b" 400 " in long.recv(4096)


def test_a_crowd_of_one_address_is_told_to_leave(door):
    """Connections beyond an address's share are closed with a message; existing ones are answered as before."""
    host, port = door.host.split(":")
    kept = http.client.HTTPConnection(door.host, timeout=SECONDS)
    kept.connect()
    crowd = [socket.create_connection((host, int(port)), timeout=SECONDS) for _ in range(420)]
    try:
        assert b" 429 " in crowd[-1].recv(4096)
        kept.request("POST", "/api/new_hand", b"{}")
        assert b"token" in kept.getresponse().read()
    finally:
        for sock in (*crowd, kept):
            sock.close()
    deadline = time.monotonic() + SECONDS
    while door.request("GET", "/")[0] == 429:  # until the server has noticed that they left
        assert time.monotonic() < deadline


def test_unknown_paths_and_methods(door):
    assert door.request("GET", "/api/new_hand")[0] == 405
    assert door.request("POST", "/api/other", {})[0] == 404
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/static/..%2f..%2fpyproject.toml", "//etc/passwd"):
        status, _, data = door.request("GET", path)
        assert status in (400, 404), path
        assert b"root:" not in data


def test_sessions_survive_kill_9_and_an_interrupt(tmp_path):
    with serving("--port", "0", "-o", str(tmp_path)) as server:
        last, _ = play_hand(server, None)
        token = last["token"]
        hand = server.call("new_hand", {"token": token})
        while "winnings" in hand:
            hand = server.call("new_hand", {"token": token})
        server.kill()
    log = next(tmp_path.glob("*/session.log"))
    num_logged = len(list(state_lines(log)))
    with serving("--port", "0", "-o", str(tmp_path)) as server:
        again = server.call("new_hand", {"token": token})
        for key in ("hole_cards", "action", "client_pos", "board"):
            assert again[key] == hand[key]
        end, _ = play_passively(lambda incr: server.call("act", {"token": token, "incr": incr}), again)
        assert end["session_num_hands"] == num_logged + 1
        assert end["session_total"] == sum(h.values[h.number % 2] for h in read_log(log, HUNL))
        assert [h.number for h in read_log(log, HUNL)] == list(range(num_logged + 1))
        hand = server.call("new_hand", {"token": token})
        connection = http.client.HTTPConnection(server.host)
        connection.request("POST", "/api/new_hand", b"{}")
        connection.getresponse().read()  # an idle connection must not keep it
        code, errors = server.interrupt()  # Ctrl-C
        assert code == 130
        assert errors.startswith("foldwise: interrupted")
        assert errors.count("\n") == 1
        assert kept_hand(tmp_path, token).number == num_logged + 1


def test_access_token_and_how_many_sessions_it_gives(tmp_path):
    with serving("--port", "0", "-o", str(tmp_path), "--token", "auto") as server:
        token = server.said["token"]
        assert len(token) >= 20
        assert "its token" in server.call("new_hand", {})["error_msg"]
        assert "its token" in server.call("login", {"username": "x", "password": "wrong"})["error_msg"]
        session = server.call("login", {"username": "x", "password": token})["token"]
        assert play_hand(server, session)[0]["session_num_hands"] == 1
        assert server.request("POST", "/api/new_hand", {}, {"Authorization": f"Bearer {token}"})[0] == 200
        assert server.request("GET", "/")[0] == 401
        assert server.request("GET", "/?token=wrong")[0] == 401
        status, headers, _ = server.request("GET", f"/?token={token}")
        assert status == 303
        assert headers["location"] == "/"
        assert "HttpOnly" in headers["set-cookie"]
        start = time.monotonic()
        allowed_in = {"Authorization": f"Bearer {token}"}
        answers = [json.loads(server.request("POST", "/api/new_hand", {}, allowed_in)[2]) for _ in range(230)]
        refused = [answer for answer in answers if "error_msg" in answer]
        assert len(answers) - len(refused) <= 200 + 20 * (time.monotonic() - start) + 1
        assert all("too many new sessions" in answer["error_msg"] for answer in refused)
        assert len(list(tmp_path.iterdir())) == len(answers) - len(refused) + 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--bind", "0.0.0.0"], "give --token"),
        (["--token", "short"], "at least 8"),
        (["--search", "wild"], "expected auto, off, fast"),
        (["/nowhere"], "no such folder"),
        (["--bind", "300.1.1.1", "--token", "auto"], "cannot listen"),
    ],
)
def test_serve_says_what_is_wrong(arguments, message, tmp_path, capsys):
    from foldwise.cli.main import main

    assert main(["serve", *arguments, "--no-open", "-o", str(tmp_path / "s")]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_port_in_use(tmp_path, capsys):
    from foldwise.cli.main import main

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = ["serve", "--no-open", "--port", str(taken.getsockname()[1]), "-o", str(tmp_path / "s")]
        assert main(words) == 2
    assert "cannot listen" in capsys.readouterr().err


def test_floods_are_told_to_wait():
    from foldwise.web.connection.guard import Flood

    flood = Flood(burst=3, rate=2)
    assert [flood.allows("a", 0.0) for _ in range(5)] == [True, True, True, False, False]
    assert flood.allows("b", 0.0)
    assert flood.allows("a", 0.5)
    assert not flood.allows("a", 0.6)
    assert all(flood.allows("a", time) for time in (100.0, 100.0, 100.0))


def test_slow_clients_are_cut_off(door, slow):
    """Headers and bodies that do not come; everybody was served meanwhile."""
    heads, bodies = slow
    for sock in (*heads, *bodies):
        sock.settimeout(SECONDS)
        assert b" 408 " in sock.recv(4096)
    assert "token" in door.call("new_hand", {})
