"""The page in a real browser: a person plays, explores, reviews, watches and trains, on a screen and on a phone."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from foldwise.cli.main import main
from foldwise.game.library import find_definition
from foldwise.matches.table.log import read_log
from tests.support.browser import open_browser
from tests.support.network import ended
from tests.support.places import ROOT
from tests.support.web_server import SECONDS, serving, session_folder

SIZES = {"desktop": (1280, 860, "light"), "phone": (360, 740, "dark")}
HUNL = find_definition("hunl")
HANDS = """# name/game/hands/seed x hunl 2 0
STATE:0:r300c/cr600c/cc/cc:AsKs|7c7d/2c9hTs/3h/Kd:900|-900:Ann|<b>Bob</b>
# STATE:1:r300r900f:|QdQh:-300|300:<b>Bob</b>|Ann
"""


@pytest.fixture(scope="module")
def browser():
    with open_browser("the table") as opened:
        yield opened


@pytest.fixture(params=list(SIZES))
def page(request, browser, table):
    """A fresh page; any error of a script, any word on the console and any request to another host fails the test."""
    width, height, scheme = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    opened = context.new_page()
    opened.set_default_timeout(1000 * SECONDS)
    problems: list[str] = []

    def hear(message):
        if "status of 400" not in message.text:  # the browser's own word for a mistake that the page shows
            problems.append(f"console: {message.text}")

    opened.on("console", hear)
    opened.on("pageerror", lambda error: problems.append(f"error: {error}"))

    def look(asked):
        if not asked.url.startswith((table.url, table.url.replace("http", "ws", 1), "data:", "blob:")):
            problems.append(f"request: {asked.url}")

    opened.on("request", look)
    opened.goto(table.url)
    yield opened
    wide = opened.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    context.close()
    assert not problems
    assert wide <= 0, "the page scrolls sideways"


def check_accessible(page):
    """axe-core finds nothing against WCAG 2 A and AA: names, roles, contrast."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-core is not installed: accessibility is not checked"
    )
    page.wait_for_function("() => document.getAnimations().every((one) => one.playState === 'finished')")
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = axe.Axe().run(page, options=options).response["violations"]
    assert not found, json.dumps([(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found])


def sit_down(page, speed="wait"):
    page.wait_for_selector("#sit")
    page.select_option("#speed", speed)
    page.click("#sit")
    page.wait_for_selector("#call, #next")


def hurry(page):
    """The page's own pauses pass fifty times as fast: between a player's action and the answer, two thirds of the time."""
    page.add_init_script(
        "const wait = window.setTimeout; window.setTimeout = (work, time, ...more) => wait(work, time / 50, ...more);"
    )
    page.reload()


def hands_played(page) -> int:
    return int(page.inner_text("#hands").replace(",", ""))


def one_log(folder, page):
    """The log of the session the page has open."""
    return session_folder(folder, json.loads(page.evaluate("localStorage.getItem('session')"))) / "session.log"


def play_hands(page, count, choose, deal):
    while hands_played(page) < count:
        page.wait_for_selector("#call, #next")
        before = page.evaluate("document.querySelector('.story').children.length"), hands_played(page)
        deal() if page.query_selector("#next") else choose()
        page.wait_for_function(
            "([lines, hands]) => { const now = document.querySelector('.story').children.length;"
            " return (now !== lines || document.getElementById('hands').textContent !== String(hands)) &&"
            " document.querySelector('#call, #next'); }",
            arg=list(before),
        )


def check_totals(page, folder):
    hands = list(read_log(one_log(folder, page), HUNL))
    won = sum(hand.values[hand.number % 2] for hand in hands)
    assert len(hands) == hands_played(page)
    shown = page.inner_text("#won").replace(",", "").replace("−", "-").replace("+", "")
    assert float(shown.split()[0]) == pytest.approx(won, abs=0.51)


def test_twenty_hands_by_mouse(page, folder):
    hurry(page)
    page.wait_for_selector("#sit")
    check_accessible(page)
    sit_down(page)
    turns = iter(range(10**6))

    def choose():
        turn = next(turns)
        if turn % 7 == 3 and page.query_selector("#share-1"):
            page.click(f"#share-{1 + turn % 3}")
            page.click("#bet")
        elif turn % 11 == 5 and page.is_enabled("#fold"):
            page.click("#fold")
        else:
            page.click("#call")

    play_hands(page, 3, choose, lambda: page.click("#next"))
    check_accessible(page)
    session = page.evaluate("localStorage.getItem('session')")
    page.reload()  # the hand goes on
    page.wait_for_selector("#call, #next")
    assert page.evaluate("localStorage.getItem('session')") == session
    play_hands(page, 20, choose, lambda: page.click("#next"))
    check_totals(page, folder)
    page.wait_for_selector(".graph")
    if page.query_selector("#next"):
        page.click("text=Show what the opponent held")
        page.wait_for_selector("text=The opponent held")


def test_twenty_hands_by_keyboard(page, folder):
    hurry(page)
    page.wait_for_selector("#sit")
    page.focus("#speed")
    for _ in range(4):  # "next hand when I say so", the last of the list
        page.keyboard.press("ArrowDown")
    page.focus("#sit")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.press("Enter")
    page.wait_for_selector("#call, #next")
    turns = iter(range(10**6))

    def choose():
        turn = next(turns)
        if turn % 5 == 2 and page.query_selector("#amount"):
            page.keyboard.press("b")
            assert page.evaluate("document.activeElement.id") == "amount"
            low = page.get_attribute("#amount", "min")
            page.keyboard.type(low)
            page.keyboard.press("Enter")
        elif turn % 5 == 4 and page.query_selector("#share-1"):
            page.keyboard.press("1")
            page.keyboard.press("Enter")
        elif turn % 11 == 5 and page.is_enabled("#fold"):
            page.keyboard.press("f")
        else:
            page.keyboard.press("c")

    def deal():
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("n")

    play_hands(page, 20, choose, deal)
    check_totals(page, folder)
    assert outline != "none"


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_what_is_revealed_is_not_taken_for_the_next_hand(page):
    """The bot's cards are shown face up once its hand is over, and face down in the next; its range as a grid."""
    hurry(page)
    page.wait_for_selector("#sit")
    page.select_option("#reveal", "always")
    sit_down(page)
    play_hands(page, 1, lambda: page.click("#call"), lambda: page.click("#next"))
    page.wait_for_selector("text=The opponent held")
    assert page.locator("#seat-bot .cardface.back").count() == 0
    if page.locator(".grid169.range").count():  # where the bot had a decision
        assert page.locator(".grid169.range .cell").count() == 169
    check_accessible(page)
    play_hands(page, 2, lambda: page.evaluate(FACE_DOWN) or page.click("#call"), lambda: page.click("#next"))


FACE_DOWN = """() => {
    const shown = document.querySelectorAll("#seat-bot .cardface:not(.back)").length;
    if (shown) throw new Error("the bot's cards are shown in mid-hand");
}"""


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_a_second_session_takes_up_a_lost_connection_too(page):
    page.add_init_script(
        "const Line = WebSocket; window.WebSocket = class extends Line"
        " { constructor(...words) { super(...words); window.line = this; } };"
    )
    page.reload()
    page.wait_for_selector("#sit")
    sit_down(page)
    page.click("text=New session")
    sit_down(page)
    hand = page.inner_text("#seat-you .cards")
    with page.expect_websocket():
        page.evaluate("line.close()")
    page.wait_for_selector("#call, #next")
    assert page.inner_text("#seat-you .cards") == hand


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_a_button_pressed_by_key_keeps_the_focus(page):
    """Whoever walks by Tab goes on where he was; after a click Enter is the bet, so nothing is focused."""
    hurry(page)
    page.wait_for_selector("#sit")
    sit_down(page)
    for _ in range(6):
        page.wait_for_selector("#call, #next:enabled")
        name = "#call" if page.query_selector("#call") else "#next"
        before = page.inner_text(".story"), page.inner_text("#hands")
        page.focus(name)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "([story, hands]) => (document.querySelector('.story').innerText !== story ||"
            " document.getElementById('hands').innerText !== hands) && document.querySelector('#call, #next:enabled')",
            arg=list(before),
        )
        page.wait_for_function("() => ['call', 'next'].includes(document.activeElement.id)")


def test_session_survives_the_server(browser, holdem_strategy, tmp_path):
    """`kill -9` in mid-hand: the page says so, and goes on with the same cards when the server is back."""
    with serving(str(holdem_strategy), "--port", "0", "-o", str(tmp_path)) as server:
        port = server.host.rpartition(":")[2]
        page = browser.new_page()
        page.set_default_timeout(1000 * SECONDS)
        page.goto(server.url)
        sit_down(page)
        while not page.query_selector("#call"):  # the bot folded before we could act
            hands = page.inner_text("#hands")
            page.click("#next")
            page.wait_for_function(
                "hands => document.querySelector('#call') || document.getElementById('hands').textContent !== hands",
                arg=hands,
            )
        cards = page.inner_text("#seat-you .cards")
        server.kill()
    with serving(str(holdem_strategy), "--port", port, "-o", str(tmp_path)):
        page.wait_for_function("() => document.getElementById('notice').hidden")
        assert page.inner_text("#seat-you .cards") == cards
        page.click("#call")
        page.wait_for_function("() => document.querySelector('.story').children.length > 2")
        page.close()


def test_explore(page, table, holdem_strategy):
    page.click("nav >> text=Explore")
    page.wait_for_selector(".grid169")
    check_accessible(page)
    assert page.locator(".cell").count() == 169
    page.focus(".cell")
    page.keyboard.press("ArrowRight")
    assert "AKs" in page.inner_text(".detail")
    assert page.get_attribute("[data-hand=AKs]", "aria-label").startswith("AKs: ")
    page.click("[data-action=r300]")
    page.wait_for_selector("text=big blind to act")
    page.click("[data-action=c]")
    page.wait_for_selector("text=Choose 3 cards")
    for card in ("ace of spades", "king of diamonds", "7 of clubs"):
        page.click(f"[aria-label='{card}']")
        page.wait_for_selector(f"[aria-label='{card}'][aria-pressed=true]")
    page.wait_for_selector(".grid169")
    assert "betting=r300c" in page.url
    link = page.url
    text = page.input_value("#range-text")
    assert re.search(r"[AKQJT2-9]{2}", text)
    page.select_option("#filter", "pairs")
    assert page.locator(".cell.none").count() >= 156
    page.select_option("#filter", "set")  # three of sevens, of kings, of aces
    assert page.locator(".cell:not(.none)").evaluate_all("cells => cells.map((cell) => cell.dataset.hand)") == [
        "AA",
        "KK",
        "77",
    ]
    assert "of the range" in page.inner_text("#legend")
    assert set(re.findall(r"[AKQJT2-9]+(?=[shdc])", page.input_value("#range-text"))) <= {"A", "K", "7"}
    link = page.url
    assert "shown=set" in link
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-link")
    page.wait_for_selector("#copy-link >> text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    with page.expect_download() as saved:
        page.click("#save-picture")
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    page.goto(link)
    page.reload()
    page.wait_for_selector(".grid169")
    assert "flop" in page.inner_text("#where")
    assert page.input_value("#filter") == "set"


def test_a_solve_is_followed_and_stopped(page):
    page.goto(page.url.partition("#")[0] + "#explore?betting=r300c/cc/cc/&board=2c7d9hKsAc")
    page.wait_for_selector("#solve")
    page.fill("#solve-seconds", "60")
    page.fill("#range-button", "22+, A2s+")  # the other range is the strategy's
    page.click("#solve")
    page.wait_for_selector("text=exploitable for")
    check_accessible(page)
    page.click("#stop-solve")  # long before its minute is over
    page.wait_for_selector("text=Done: ")
    page.wait_for_selector("text=Back to the strategy")
    assert float(re.search(r"in ([0-9.]+) s", page.inner_text("#solve-progress"))[1]) < 60
    page.focus("[data-hand=AA]")
    assert "big blinds" in page.inner_text(".detail")  # values of each action


def test_review_of_pasted_hands(page, table, holdem_strategy, tmp_path, capsys):
    page.click("nav >> text=Review")
    page.wait_for_selector("#judge option", state="attached")
    page.fill("#hands-text", HANDS)
    page.fill("#reviewed", "Ann")
    page.click("#review")
    page.wait_for_selector("#given-up")
    check_accessible(page)
    log = tmp_path / "x.log"
    log.write_text(HANDS)
    capsys.readouterr()
    assert main(["review", str(log), "--strategy", str(holdem_strategy), "--player", "Ann", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert page.inner_text("#given-up") == f"{said['given_up_bb']:.2f} bb"
    assert "<b>Bob</b>" in page.inner_text("#result")  # a name is text
    page.fill("#hands-text", "nonsense")
    page.click("#review")
    page.wait_for_selector("#notice:not([hidden])")
    assert "PHH" in page.inner_text("#notice")


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
@pytest.mark.parametrize(
    "left, asked",
    [("play", "opponents"), ("explore", "opponents"), ("watch", "matches"), ("train", "opponents")],
)
def test_an_answer_for_a_page_that_was_left_changes_nothing(page, table, left, asked):
    """The server is slow to answer the first page, and quick to answer the one chosen after it."""
    page.goto(f"{table.url}#{left}")
    late = []
    page.route(f"**/page/{asked}", lambda route: route.continue_() if late else late.append(route))
    page.reload()
    page.click("nav >> text=Review")
    page.wait_for_selector("#judge option", state="attached")
    with page.expect_response(f"**/page/{asked}"):
        late[0].continue_()
    page.evaluate("fetch('/page/opponents').then((answer) => answer.json())")  # comes after what was late
    assert page.url.endswith("#review")
    assert page.locator("#judge option").count() > 0


def test_watch(page, runs):
    page.click("nav >> text=Watch")
    page.wait_for_selector("#watched-mean")
    check_accessible(page)
    result = json.loads((runs / "done" / "result.json").read_text())
    shown = page.inner_text("#watched-mean").replace(",", "").replace("−", "-")
    assert float(shown) == pytest.approx(result["mean_mbb"], abs=0.051)
    assert page.inner_text("#watched-hands") == "60"


def test_matches_are_followed_live(browser, table, runs, feed_url):
    """A match that runs here and is published at a broker: its folder and its feed, each growing before one's eyes."""
    words = ["match", "bot:strength", "bot:random", "--hands", "1000000", "--over", "tcp", "-o", str(runs / "live")]
    command = [sys.executable, "-m", "foldwise.cli.main", *words, "--broker", feed_url]
    page = browser.new_page()
    page.set_default_timeout(1000 * SECONDS)
    grown = "than => Number(document.getElementById('watched-hands').innerText.replaceAll(',', '')) > than"
    page.goto(table.url + "#watch")
    with ended(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)):
        live = "[data-match]:has([aria-label=running])"
        page.wait_for_selector(f"{live}[data-match^='feed:']")
        page.wait_for_selector(f"{live}:not([data-match^='feed:'])")
        for choice in (f"{live}:not([data-match^='feed:'])", f"{live}[data-match^='feed:']"):
            page.click(choice)
            page.wait_for_selector(f"{choice}[aria-pressed=true]")
            page.wait_for_function(grown, arg=0)
            seen = int(page.inner_text("#watched-hands").replace(",", ""))
            page.wait_for_function(grown, arg=seen)
            page.click(".last-hands summary")
            assert "blinds 100 and 50" in page.inner_text(".last-hands details[open]")
            check_accessible(page)
    page.wait_for_selector("text=lost")  # the broker says so of a publisher that is gone
    page.close()
    shutil.rmtree(runs / "live")


def test_train(page):
    page.click("nav >> text=Train")
    page.wait_for_selector("[data-drill]")
    check_accessible(page)
    page.click("[data-drill]")
    page.wait_for_selector("#verdict")
    check_accessible(page)
    page.click("#next-drill")
    page.wait_for_selector("[data-drill]")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("1")
    page.wait_for_selector("#verdict")
    assert page.inner_text("#drill-score dd >> nth=0") == "2"
    rows = page.locator("#drill-kinds tbody tr td:nth-child(2)").all_inner_texts()
    assert sum(map(int, rows)) == 2
    page.reload()
    page.wait_for_selector("[data-drill]")
    assert page.inner_text("#drill-score dd >> nth=0") == "2"
    assert page.locator("#drill-kinds tbody tr td:nth-child(2)").all_inner_texts() == rows


def test_a_kind_of_drill_is_chosen_and_kept(page):
    page.click("nav >> text=Train")
    page.wait_for_selector("[data-drill]")
    with page.expect_response("**/page/drill"):
        page.select_option("#drill-street", "turn")
    with page.expect_response("**/page/drill"):
        page.select_option("#drill-situation", "bet")
    page.wait_for_selector("[data-drill=f]")
    assert page.inner_text(".felt .pot").startswith("turn, pot ")
    page.reload()
    page.wait_for_selector("[data-drill=f]")
    assert page.inner_text(".felt .pot").startswith("turn, pot ")
    assert (page.input_value("#drill-street"), page.input_value("#drill-situation")) == ("turn", "bet")


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_the_last_kind_of_drill_chosen_is_the_one_shown(page):
    """The answer to the kind chosen first is late, and comes after that to the second."""
    page.click("nav >> text=Train")
    page.wait_for_selector("[data-drill]")
    late = []
    page.route("**/page/drill", lambda route: route.continue_() if late else late.append(route))
    page.select_option("#drill-street", "preflop")
    with page.expect_response("**/page/drill"):
        page.select_option("#drill-street", "river")
    page.wait_for_selector("text=river, pot")
    with page.expect_response("**/page/drill"):
        late[0].continue_()
    page.evaluate("fetch('/page/opponents').then((answer) => answer.json())")  # comes after what was late
    assert page.inner_text(".felt .pot").startswith("river, pot ")
