// Drills: a spot, a choice, what it costs, and a score that is kept.
import { ask, bars, cardFace, chips, el, keep, kept, option, percent, say } from "./dom.js";

const STREETS = { any: "any street", preflop: "preflop", flop: "flop", turn: "turn", river: "river" };
const SITUATIONS = {
  any: "any situation", first: "first to act", checked: "checked or called to me", bet: "facing a bet", raise: "facing a raise", "big-pot": "pot of 20 bb or more",
};

export function show(place) {
  const drills = new Drills(place);
  drills.start();
  return () => drills.close();
}

class Drills {
  constructor(place) {
    this.place = place;
    this.onKey = (event) => this.key(event);
    addEventListener("keydown", this.onKey);
  }

  close() { this.closed = true; removeEventListener("keydown", this.onKey); }

  async start() {
    let offered;
    try {
      offered = (await ask("/page/opponents")).opponents.filter((one) => one.kind === "strategy");
    } catch (error) { say(error.message); return; }
    if (this.closed) return;
    if (!offered.length) {
      this.place.replaceChildren(el("section", { class: "panel" }, el("h2", {}, "No strategy to train with"), el("p", {}, "Start the server with one: foldwise serve STRATEGY")));
      return;
    }
    const chosen = kept("drill", {});
    this.strategy = el("select", { id: "drill-strategy" }, offered.map((one) => option(one.name, one.name, chosen.strategy)));
    const choice = (id, words, value) => el("select", { id }, Object.entries(words).map(([name, text]) => option(name, text, value)));
    this.street = choice("drill-street", STREETS, chosen.street);
    this.situation = choice("drill-situation", SITUATIONS, chosen.situation);
    for (const control of [this.strategy, this.street, this.situation]) control.addEventListener("change", () => { keep("drill", this.wish()); this.ask(); });
    this.score = el("dl", { class: "totals", id: "drill-score" });
    this.kinds = el("div", { id: "drill-kinds" });
    this.spot = el("div", { class: "felt small-felt" });
    this.bar = el("div", { class: "bar", role: "group", "aria-label": "Your choice" });
    this.verdict = el("div", { "aria-live": "polite" });
    this.place.replaceChildren(el("div", { class: "columns" }, el("section", { "aria-label": "Spot" }, this.spot, this.bar, this.verdict),
      el("section", { class: "panel", "aria-label": "Drills" }, el("h2", {}, "Drills"), el("div", { class: "fields" }, el("label", {}, "Strategy", this.strategy), el("label", {}, "Street", this.street), el("label", {}, "Situation", this.situation)),
        this.score, this.kinds, el("p", { class: "small soft" }, "Spots come from the strategy playing itself. A choice costs the difference between the best action’s value and its own; less than 0.1 bb counts as good."))));
    this.ask();
  }

  wish() { return { strategy: this.strategy.value, street: this.street.value, situation: this.situation.value }; }

  async ask() {
    const asked = this.asked = {}; // another choice may be made before the answer comes: the last one counts
    this.now = null;
    say("");
    this.verdict.replaceChildren();
    this.bar.replaceChildren(el("div", { class: "waiting", role: "status" }, "Dealing …"));
    try {
      const body = this.wish();
      const trainee = kept("trainee", null);
      if (trainee) body.trainee = trainee;
      const found = await ask("/page/drill", body);
      if (this.closed || this.asked !== asked) return;
      this.now = found;
      this.done = null;
      keep("trainee", this.now.trainee);
      this.draw();
    } catch (error) {
      if (this.closed || this.asked !== asked) return;
      say(error.message);
      this.bar.replaceChildren();
    }
  }

  draw() {
    const now = this.now;
    this.spot.replaceChildren(el("div", { class: "plate" }, el("span", { class: "who" }, "Opponent"), el("span", { class: "stack" }, chips(now.stacks.bot)), now.bets.bot ? el("span", { class: "bet" }, el("span", { class: "chips" }, chips(now.bets.bot))) : ""),
      el("div", { class: "middle" }, el("div", { class: "cards board", role: "group", "aria-label": "Board" }, Array.from({ length: 5 }, (_, n) => (now.board[n] ? cardFace(now.board[n]) : el("span", { class: "cardface slot" })))),
        el("div", { class: "pot" }, `${now.street}, pot ${chips(now.pot)}`), el("div", { class: "small" }, now.betting || "you are first to act")),
      el("div", { class: "seat" }, el("div", { class: "cards", role: "group", "aria-label": "Your cards" }, now.cards.map(cardFace)),
        el("div", { class: "plate" }, el("span", { class: "who" }, `You, ${now.position}`), el("span", { class: "stack" }, chips(now.stacks.you)), now.bets.you ? el("span", { class: "bet" }, el("span", { class: "chips" }, chips(now.bets.you))) : "")));
    this.bar.replaceChildren(el("div", { class: "main-choices drill-choices" }, now.actions.map((action, n) => el("button", { type: "button", class: action === "f" ? "fold" : action === "c" ? "call" : "bet-now", "data-drill": action, onclick: () => this.answer(action) }, `${capital(now.words[n])} `, el("kbd", {}, String(n + 1))))));
    this.drawScore(now.score);
  }

  drawScore(score) {
    const mean = score.drills ? score.given_up_bb / score.drills : 0;
    const rows = [["Drills", chips(score.drills)], ["Good choices", score.drills ? percent(score.best / score.drills) : "–"], ["Given up a drill", `${mean.toFixed(2)} bb`], ["Streak, longest", `${score.streak}, ${score.longest_streak}`]];
    this.score.replaceChildren(...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    const dearest = score.kinds.map((one) => ({ ...one, mean: one.given_up_bb / one.drills })).sort((one, other) => other.mean - one.mean);
    this.kinds.replaceChildren(dearest.length ? el("table", {}, el("caption", {}, "By kind of spot, the dearest first"), el("thead", {}, el("tr", {}, ["Spot", "Drills", "bb a drill"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, dearest.map((one) => el("tr", {}, el("td", {}, `${one.street}, ${SITUATIONS[one.situation]}`), el("td", {}, chips(one.drills)), el("td", {}, one.mean.toFixed(2)))))) : "");
  }

  async answer(action) {
    if (this.busy || this.done || !this.now) return;
    this.busy = true;
    try {
      const found = this.done = await ask("/page/answer", { drill: this.now.drill, action });
      const top = Math.max(...found.values_bb);
      this.verdict.replaceChildren(el("section", { class: "panel verdict", "aria-label": "Verdict" },
        el("h2", { class: found.good ? "win" : "loss", id: "verdict" }, found.good ? "Well chosen" : `That gives up ${found.given_up_bb.toFixed(2)} bb`),
        bars(found.actions.map((one, n) => ({ label: capital(found.words[n]), share: found.probabilities[n], chosen: one === action, worth: found.values_bb[n], best: found.values_bb[n] === top })))));
      this.bar.replaceChildren(el("button", { type: "button", class: "primary", id: "next-drill", onclick: () => this.ask() }, "Next drill ", el("kbd", {}, "Enter")));
      this.drawScore(found.score);
    } catch (error) { say(error.message); }
    this.busy = false;
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, textarea, select, button, a")) return;
    if (this.done && (event.key === "Enter" || event.key === "n")) { event.preventDefault(); this.ask(); return; }
    const number = Number(event.key);
    if (!this.done && this.now && number >= 1 && number <= this.now.actions.length) { event.preventDefault(); this.answer(this.now.actions[number - 1]); }
  }
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
