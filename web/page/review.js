// The review: hands of a session or pasted ones, the dearest decisions first.
import { ask, bars, cardsText, chips, el, kept, option, percent, say, signed, tone } from "./dom.js";

export function show(place, query) {
  const session = query.get("session");
  const sessions = kept("sessions", []);
  const source = el("select", { id: "source" }, option("text", "hands I paste", session ? "" : "text"),
    ...sessions.map((one) => option(one.session, `session with ${one.opponent.name}, ${new Date(one.begun).toLocaleString()}`, session)));
  if (session && !sessions.some((one) => one.session === session)) source.append(option(session, "this session", session));
  const text = el("textarea", { id: "hands-text", "aria-label": "Hands", placeholder: "An ACPC log (STATE:… lines), PHH hands, or answers of a Slumbot table (JSON)", spellcheck: "false" });
  const file = el("input", { type: "file", id: "file", "aria-label": "A file of hands" });
  const strategy = el("select", { id: "judge" });
  const search = el("select", { id: "review-search" }, ["off", "fast", "normal"].map((name) => option(name, name, "off")));
  const player = el("input", { type: "text", id: "reviewed", placeholder: "everybody", maxlength: 40 });
  const button = el("button", { class: "primary", id: "review", type: "submit" }, "Review");
  const result = el("div", { id: "result" });
  const pasted = el("div", {}, text, el("p", { class: "small soft" }, "or a file: ", file));
  const swap = () => { pasted.hidden = source.value !== "text"; player.placeholder = pasted.hidden ? "mine" : "everybody’s"; };
  source.addEventListener("change", swap);
  file.addEventListener("change", async () => { if (file.files[0]) text.value = await file.files[0].text(); });
  const form = el("form", { class: "panel", "aria-label": "What to review" }, el("h2", {}, "Where did the chips go?"),
    el("p", { class: "soft" }, "Each decision is held against a strategy: what it would do, what each action is worth, what yours gave up. Others' cards may be unknown."),
    el("div", { class: "fields" }, el("label", {}, "Hands of", source), el("label", {}, "Judged by", strategy),
      el("label", {}, "Search on turn and river", search), el("label", {}, "Whose decisions", player)), pasted, button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    say("");
    button.disabled = true;
    result.replaceChildren(el("p", { class: "soft", role: "status" }, "Working it out …"));
    try {
      const body = { search: search.value };
      body.strategy = strategy.value; // empty: nobody
      if (player.value) body.player = player.value;
      if (source.value === "text") body.text = text.value; else body.session = source.value;
      result.replaceChildren(...drawn(await ask("/page/review", body)));
    } catch (error) {
      result.replaceChildren();
      say(error.message);
    }
    button.disabled = false;
  });
  place.replaceChildren(form, result);
  swap();
  ask("/page/opponents").then(({ opponents }) => {
    strategy.replaceChildren(...opponents.filter((one) => one.kind === "strategy").map((one) => option(one.name, one.name)), option("", "nobody: statistics only"));
    if (!opponents.some((one) => one.kind === "strategy")) strategy.value = "";
    if (session) form.requestSubmit();
  }).catch((error) => say(error.message));
}

function drawn(found) {
  const share = (value) => (value === null ? "–" : percent(value));
  const rows = found.players.map((one) => el("tr", {}, el("td", {}, one.name), el("td", {}, chips(one.hands)), el("td", {}, share(one.vpip)),
    el("td", {}, share(one.pfr)), el("td", {}, one.aggression === null ? "–" : one.aggression.toFixed(2)), el("td", {}, share(one.wtsd)),
    el("td", {}, share(one.won_at_showdown)), el("td", { class: tone(one.mean_mbb) }, one.mean_mbb === null ? "–" : signed(one.mean_mbb, 1))));
  const statistics = el("section", { class: "panel", "aria-label": "Players" }, el("h2", {}, "Players"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Statistics" }, el("table", {}, el("thead", {}, el("tr", {},
      ["player", "hands", "VPIP", "PFR", "aggression", "to showdown", "won there", "mbb a hand"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows))));
  if (!found.strategy) return [statistics];
  const of = !found.player ? "" : found.player === "you" ? "Your " : `${found.player}’s `;
  const summary = el("section", { class: "panel", "aria-label": "In all" }, el("h2", {}, "In all"),
    el("p", {}, `${of}${chips(found.decisions)} decisions in ${found.given_hands > found.hands ? `the last ${chips(found.hands)} of ${chips(found.given_hands)}` : chips(found.hands)} hands gave up `, el("b", { id: "given-up" }, `${found.given_up_bb.toFixed(2)} bb`),
      `, ${chips(Math.round(found.given_up_mbb_a_hand))} mbb a hand, by the values of ${found.strategy}.`),
    el("p", { class: "small soft" }, "Values are those of hands that look alike to the strategy, when it plays itself: small differences mean little. With search they are the hand’s own on turn and river."));
  const mistakes = el("section", { class: "panel", "aria-label": "Dearest decisions" }, el("h2", {}, "The dearest decisions"),
    ...(found.mistakes.length ? found.mistakes.map((one) => decision(one, found)) : [el("p", {}, found.decisions ? "No decision gave anything up." : "No decision with known cards.")]));
  const hands = el("section", { class: "panel", "aria-label": "Hands" }, el("h2", {}, "Hand by hand"),
    ...found.played.map((hand) => el("details", {}, el("summary", {}, `Hand ${hand.number}: `, ...hand.names.flatMap((name, n) => [`${n ? " against " : ""}${name} `, hand.cards[n].length ? cardsText(hand.cards[n]) : "??", ` ${signed(hand.values[n])}`])),
      el("p", { class: "small soft" }, "board ", hand.board.length ? cardsText(hand.board) : "none", hand.betting ? ` · ${hand.betting}` : ""), ...hand.decisions.map((one) => decision(one, found)))));
  return [summary, mistakes, hands, statistics];
}

function decision(one, found) {
  const cards = (text) => (text.match(/../g) || []);
  const top = Math.max(...one.values);
  return el("article", { class: "decision" },
    el("p", {}, el("b", {}, `Hand ${one.hand}, ${found.streets[one.street]}: `), `${one.name} with `, cardsText(cards(one.cards)), one.board ? " on " : "", one.board ? cardsText(cards(one.board)) : "",
      ": ", el("b", {}, one.done_words), " gave up ",
      el("b", { class: one.given_up_bb > 0.05 ? "loss" : "" }, `${one.given_up_bb.toFixed(2)} bb`), el("span", { class: "soft small" }, ` (${one.method}${one.reached ? "" : ", never reached by the solver"})`)),
    one.so_far ? el("p", { class: "small soft" }, one.so_far) : null,
    bars(one.actions.map((action, n) => ({ label: one.action_words[n], share: one.probabilities[n], chosen: action === one.done,
      worth: one.values[n] / found.big_blind, best: one.values[n] === top }))));
}
