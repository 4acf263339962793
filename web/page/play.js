// The table: one websocket for each open session, redrawn from what the server says.
import { ask, bars, cardFace, cardsText, chips, dealerWords, el, keep, kept, option, percent, say, signed, socket, svg, tone } from "./dom.js";
import { rangePicture } from "./grid.js";

const SPEEDS = { instant: [0, 400], quick: [250, 1200], slow: [700, 2600], wait: [250, null] };
const SHARES = [["½", 0.5], ["¾", 0.75], ["pot", 1]];

export function show(place, query) {
  const current = query.get("session") || kept("session", null);
  const table = new Table(place);
  if (current && !query.has("new")) table.open(current);
  else table.choose();
  return () => table.close();
}

class Table {
  constructor(place) {
    this.place = place;
    this.queue = [];
    this.view = null;
    this.wanted = null;
    this.timers = new Set();
    this.onKey = (event) => this.key(event);
    addEventListener("keydown", this.onKey);
  }

  close() {
    removeEventListener("keydown", this.onKey);
    this.closed = true;
    this.timers.forEach(clearTimeout);
    if (this.line) this.line.close();
  }

  later(work, milliseconds) {
    const timer = setTimeout(() => { this.timers.delete(timer); if (!this.closed) work(); }, milliseconds);
    this.timers.add(timer);
  }

  async choose() {
    let offered;
    try {
      offered = await ask("/page/opponents");
    } catch (error) {
      say(error.message);
      return;
    }
    const settings = kept("settings", {});
    const chosen = offered.opponents.some((one) => one.name === settings.name) ? settings.name : offered.default.name;
    const field = (label, control) => el("label", {}, label, control);
    const opponent = el("select", { id: "opponent" }, offered.opponents.map((one) =>
      option(one.name, one.kind === "bot" ? `${one.name} (fixed rules)` : `${one.name} (${one.game})`, chosen)));
    const post = el("select", { id: "postprocess" }, ["none", "threshold(0.15)", "purify", "new(0.2)"].map((name) => option(name, name, settings.postprocess)));
    const searches = ["off", "fast", "fast, flop=fast", "normal", "deep"];
    if (!searches.includes(offered.default.search)) searches.push(offered.default.search);
    const search = el("select", { id: "search" }, searches.map((name) => option(name, name, settings.search || offered.default.search)));
    const speed = el("select", { id: "speed" }, [["instant", "instant"], ["quick", "quick"], ["slow", "slow"], ["wait", "next hand when I say so"]]
      .map(([value, text]) => option(value, text, settings.speed || "quick")));
    const reveal = el("select", { id: "reveal" }, [["rules", "as the rules show it"], ["always", "everything after each hand"]]
      .map(([value, text]) => option(value, text, settings.reveal || "rules")));
    const seed = el("input", { id: "seed", type: "number", min: 0, max: 4294967295, placeholder: "fresh cards" });
    const name = el("input", { id: "name", type: "text", maxlength: 40, value: settings.player || "you", autocomplete: "nickname" });
    const begin = el("button", { class: "primary", id: "sit", type: "submit" }, "Sit down");
    const onlyStrategies = () => {
      post.disabled = opponent.value.startsWith("bot:");
      search.disabled = !offered.opponents.find((one) => one.name === opponent.value).searchable;
    };
    opponent.addEventListener("change", onlyStrategies);
    onlyStrategies();
    const form = el("form", { class: "panel narrow seat-form", "aria-label": "New session" },
      el("div", { class: "felt welcome" }, el("div", { class: "cards", "aria-hidden": "true" }, ["As", "Kh", null, null].map((card) => cardFace(card))),
        el("div", {}, el("h2", {}, "A seat at the table"), el("p", {}, "Heads-up, hand after hand, against a strategy this machine has solved."))),
      el("div", { class: "fields" }, field("Opponent", opponent), field("Speed", speed), field("Shown to me", reveal),
        field("Post-processing", post), field("Search on turn and river, or the flop too", search), field("Seed of the cards", seed), field("My name", name)),
      el("div", { class: "row" }, begin, el("span", { class: "small soft" }, "Every hand is kept, as a log that all commands read.")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      begin.disabled = true;
      say("");
      const wish = { name: opponent.value, postprocess: post.disabled ? "none" : post.value, search: search.disabled ? "off" : search.value };
      keep("settings", { ...wish, search: search.value, speed: speed.value, reveal: reveal.value, player: name.value });
      try {
        const body = { player: name.value || "you", opponent: wish };
        if (seed.value !== "") body.seed = Number(seed.value);
        const { session } = await ask("/page/sessions", body);
        keep("sessions", [{ session, opponent: wish, begun: new Date().toISOString() }, ...kept("sessions", [])].slice(0, 30));
        this.open(session);
      } catch (error) {
        say(error.message);
        begin.disabled = false;
      }
    });
    const earlier = kept("sessions", []);
    this.place.replaceChildren(form);
    if (earlier.length) {
      this.place.append(el("section", { class: "panel narrow", "aria-label": "Earlier sessions" }, el("h2", {}, "Earlier sessions"),
        el("ul", { class: "small" }, earlier.map((one) => el("li", {},
          el("button", { class: "plain", type: "button", onclick: () => this.open(one.session) },
            `${one.opponent.name}, begun ${new Date(one.begun).toLocaleString()}`))))));
    }
    opponent.focus({ preventScroll: true });
  }

  open(session) {
    this.session = session;
    this.left = false;
    this.view = this.revealed = this.pending = null;
    this.queue = [];
    this.busy = false;
    this.lost = 0;
    keep("session", session);
    this.settings = kept("settings", {});
    this.skeleton();
    this.connect();
  }

  connect() {
    if (this.closed) return;
    const line = this.line = socket("/page/play");
    line.onopen = () => {
      this.lost = 0;
      say("");
      line.send(JSON.stringify({ session: this.session }));
    };
    line.onmessage = (event) => this.receive(JSON.parse(event.data));
    line.onclose = () => {
      if (this.closed || this.left || this.line !== line) return;
      this.lost = (this.lost || 0) + 1;
      if (this.lost > 1) say("The connection is lost; trying again. The hand is kept.");
      this.later(() => this.connect(), Math.min(8000, 250 * 2 ** this.lost));
    };
  }

  send(message) {
    if (this.line && this.line.readyState === WebSocket.OPEN) this.line.send(JSON.stringify(message));
  }

  receive(message) {
    if (message.error) {
      if (message.error.startsWith("no session")) {
        this.left = true;
        localStorage.removeItem("session");
        keep("sessions", kept("sessions", []).filter((one) => one.session !== this.session));
        this.choose().then(() => say(message.error));
        return;
      }
      say(message.error);
      this.busy = false;
      this.pending = null;
      this.draw();
      return;
    }
    this.queue.push(message.table);
    if (!this.drawing) this.next();
  }

  // The server may say two things at once, our action and the answer: they are shown one after the other.
  next() {
    const view = this.queue.shift();
    if (!view) {
      this.drawing = false;
      return;
    }
    this.drawing = true;
    const [pause] = SPEEDS[this.settings.speed] || SPEEDS.quick;
    const moved = this.view && this.view.hand && view.hand && view.hand.number === this.view.hand.number && view.hand.moves > this.view.hand.moves;
    const session = this.session;
    this.later(() => { if (this.session === session) this.take(view); this.next(); }, moved && this.view.hand.your_turn === false ? pause : 0);
  }

  take(view) {
    const before = this.view;
    this.view = view;
    this.busy = false;
    const lost = this.pending; // said while the connection was down, and still to be said
    this.pending = null;
    if (lost && view.hand && view.hand.your_turn && view.hand.number === lost.hand && view.hand.moves === lost.moves) {
      this.act(lost.act);
      return;
    }
    const ended = view.hand && view.hand.end && !(before && before.hand && before.hand.number === view.hand.number && before.hand.end);
    this.draw();
    if (ended) this.afterHand(Boolean(before));
    else if (!before) this.drawGraph();
  }

  afterHand(justNow) {
    const number = this.view.hand.number;
    this.drawGraph();
    if (this.settings.reveal === "always") this.reveal(number);
    const wait = (SPEEDS[this.settings.speed] || SPEEDS.quick)[1];
    if (justNow && wait !== null) this.later(() => { if (this.view.hand.number === number && this.view.hand.end) this.deal(); }, wait);
  }

  deal() {
    if (this.busy || !this.view || !this.view.hand || !this.view.hand.end) return;
    this.busy = true;
    this.send({ next: true });
  }

  act(text) {
    const hand = this.view && this.view.hand;
    if (this.busy || !hand || !hand.your_turn) return;
    this.busy = true;
    say("");
    this.pending = { act: text, hand: hand.number, moves: hand.moves };
    this.send(this.pending);
    this.drawBar();
  }

  async reveal(number) {
    const session = this.session;
    try {
      const found = await ask("/page/reveal", { session, hand: number });
      if (this.closed || this.left || this.session !== session) return;
      this.revealed = { ...found, number };
      this.draw();
    } catch (error) {
      say(error.message);
    }
  }

  skeleton() {
    const part = (name, attributes = {}) => (this[name] = el("div", attributes));
    this.bar = el("div", { class: "bar", role: "group", "aria-label": "Your choices" });
    // A button pressed by key keeps the focus when the choices come again; after a click Enter must mean the bet.
    this.held = null;
    this.bar.addEventListener("click", (event) => { this.held = event.detail === 0 ? event.target.closest("button")?.id : null; }, true);
    this.live = el("p", { class: "unseen", "aria-live": "polite" });
    this.graph = el("div", {});
    this.story = el("ol", { class: "story", "aria-label": "This hand", tabindex: "0" });
    this.totals = el("dl", { class: "totals" });
    this.thoughts = el("div", {});
    this.place.replaceChildren(el("div", { class: "columns" },
      el("section", { "aria-label": "Table" }, part("felt", { class: "felt" }), this.bar, this.live),
      el("div", {},
        el("section", { class: "panel", "aria-label": "Session" }, el("h2", {}, "Session"), this.totals, this.graph,
          el("div", { class: "row small" },
            el("button", { type: "button", class: "plain", onclick: () => { this.left = true; this.line.close(); localStorage.removeItem("session"); this.view = null; this.choose(); } }, "New session"),
            el("a", { href: `#review?session=${this.session}` }, "Review it"),
            el("button", { type: "button", class: "plain", onclick: () => this.download() }, "Save the log"))),
        el("section", { class: "panel", "aria-label": "Story of the hand" }, el("h2", {}, "This hand"), this.story, this.thoughts))));
  }

  async download() {
    const text = await ask("/page/log", { session: this.session });
    const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: "session.log" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  draw() {
    const view = this.view;
    if (!view || !view.hand) return;
    const hand = view.hand;
    const seat = (who, name, cards) => {
      const acting = !hand.end && (who === "you") === hand.your_turn;
      const out = hand.end && hand.end.folded === who;
      return el("div", { class: `seat${acting ? " acting" : ""}${out ? " out" : ""}`, id: `seat-${who}` },
        who === "bot" ? el("div", { class: "plate" }, ...this.plate(who, name, hand)) : null,
        el("div", { class: "cards", role: "group", "aria-label": `${name}: cards` }, cards),
        who === "you" ? el("div", { class: "plate" }, ...this.plate(who, name, hand)) : null);
    };
    const isRevealed = this.revealed && this.revealed.number === hand.number; // else it is of the hand before
    const shown = hand.bot_cards.length ? hand.bot_cards : isRevealed ? this.revealed.cards : null;
    const bot = shown ? shown.map(cardFace) : hand.cards.map(() => cardFace(null));
    const slots = Array.from({ length: view.board_size }, (_, n) => (n < hand.board.length ? cardFace(hand.board[n]) : el("span", { class: "cardface slot" })));
    const bet = (who) => el("div", { class: "bet" }, hand.bets[who] && !hand.end ? el("span", { class: "chips" }, chips(hand.bets[who])) : "");
    let outcome = "";
    if (hand.end) {
      const amount = chips(Math.abs(hand.end.winnings));
      outcome = hand.end.winnings > 0 ? `You win ${amount}` : hand.end.winnings < 0 ? `You lose ${amount}` : "The pot is split";
    }
    this.felt.replaceChildren(seat("bot", view.opponent, bot), bet("bot"),
      el("div", { class: "middle" }, el("div", { class: "cards board", role: "group", "aria-label": "Board" }, slots),
        el("div", { class: "pot", id: "pot" }, `Pot ${chips(hand.pot)}`), el("div", { class: "outcome", id: "outcome" }, outcome)),
      bet("you"), seat("you", "You", hand.cards.map(cardFace)));
    this.story.replaceChildren(...hand.story.map((line) => el("li", { class: line.by === "dealer" ? "dealer-word" : line.by }, line.by === "dealer" ? dealerWords(line.text) : line.text)));
    this.story.scrollTop = this.story.scrollHeight;
    const last = hand.story[hand.story.length - 1];
    this.live.textContent = hand.your_turn ? `${last.text}. Your turn.` : last.text;
    this.totals.replaceChildren(el("dt", {}, "Hands"), el("dd", { id: "hands" }, chips(view.hands)),
      el("dt", {}, "Won"), el("dd", { id: "won", class: tone(view.chips) }, `${signed(view.chips)} chips`),
      el("dt", {}, "A hand"), el("dd", {}, `${signed(view.mean_mbb)} mbb`));
    this.drawThoughts();
    this.drawBar();
  }

  plate(who, name, hand) {
    return [hand.button === who ? el("span", { class: "dealer", title: "button", role: "img", "aria-label": "dealer button" }, "D") : null,
      el("span", { class: "who" }, name), el("span", { class: "stack" }, hand.stacks[who] > 1e9 ? "" : chips(hand.stacks[who]))].filter(Boolean);
  }

  drawThoughts() {
    const found = this.revealed, hand = this.view.hand, isOfThis = found && found.number === hand.number;
    const ask = hand.end && !isOfThis && this.settings.reveal !== "always"
      ? el("button", { type: "button", class: "plain", id: "reveal-hand", onclick: () => this.reveal(hand.number) }, "Show what the opponent held and considered") : "";
    if (!found || ask) {
      this.thoughts.replaceChildren(ask);
      return;
    }
    this.thoughts.replaceChildren(el("h3", {}, isOfThis ? "The opponent held " : "In the hand before, the opponent held ", cardsText(found.cards)),
      ...found.decisions.flatMap((one) => [
        el("p", { class: "small soft" }, one.betting || "first to act", one.reached ? "" : " (never reached by the solver)"),
        bars(one.actions.map((action, n) => ({ label: action, share: one.probabilities[n], chosen: action === one.played })))]),
      ...(found.range.length ? [el("h3", {}, "Its range before its last decision"),
        rangePicture(found.weights, `Its range as a grid; the likeliest hands: ${found.range.map((one) => one.hand).join(", ")}`),
        el("p", { class: "small likeliest" }, "The likeliest hands: ", found.range.flatMap((one) => [el("span", {}, cardsText(one.hand.match(/../g)), ` ${percent(one.share)}`), "  "]))] : []));
  }

  drawBar() {
    const hand = this.view.hand;
    if (hand.end) {
      this.bar.replaceChildren(el("button", { class: "primary", id: "next", type: "button", disabled: this.busy, onclick: () => this.deal() }, "Next hand ", el("kbd", {}, "Enter")));
      this.focusAgain();
      return;
    }
    if (!hand.your_turn || this.busy) {
      this.bar.replaceChildren(el("div", { class: "waiting", role: "status" }, this.busy && hand.your_turn ? "…" : `${this.view.opponent} is thinking …`));
      return;
    }
    const can = hand.choices;
    const call = can.to_call ? `Call ${chips(can.to_call)}` : "Check";
    const choices = [
      el("button", { class: "fold", id: "fold", type: "button", disabled: !can.can_fold, onclick: () => this.act("f") }, "Fold ", el("kbd", {}, "F")),
      el("button", { class: "call", id: "call", type: "button", onclick: () => this.act("c") }, `${call} `, el("kbd", {}, "C")),
    ];
    const rows = [];
    if (can.raise) {
      const [low, high] = can.raise;
      const verb = can.facing ? "Raise to" : "Bet";
      if (this.wantedAt !== `${hand.number}.${hand.moves}`) {
        this.wantedAt = `${hand.number}.${hand.moves}`;
        this.wanted = this.share(0.75);
      }
      const button = el("button", { class: "bet-now", id: "bet", type: "button", onclick: () => this.bet() });
      const label = () => { button.replaceChildren(`${verb} ${chips(this.wanted)} `, el("kbd", {}, "Enter")); };
      label();
      choices.push(button);
      if (!this.view.limit) {
        const slider = el("input", { type: "range", id: "slider", min: low, max: high, step: 1, value: this.wanted, "aria-label": `${verb}, slider` });
        const amount = el("input", { type: "number", id: "amount", min: low, max: high, value: this.wanted, "aria-label": `${verb}, chips on this street`, inputmode: "numeric" });
        this.set = (value) => {
          this.wanted = Math.max(low, Math.min(high, Math.round(value)));
          slider.value = amount.value = this.wanted;
          label();
        };
        slider.addEventListener("input", () => this.set(Number(slider.value)));
        amount.addEventListener("change", () => this.set(Number(amount.value) || low));
        amount.addEventListener("input", () => { if (amount.value >= low && amount.value <= high) { this.wanted = Math.round(amount.value); slider.value = this.wanted; label(); } });
        rows.push(el("div", { class: "sizes" },
          el("div", { class: "presets", role: "group", "aria-label": "Sizes" },
            SHARES.map(([text, share], n) => el("button", { type: "button", id: `share-${n + 1}`, "aria-label": `${text === "pot" ? "the pot" : text + " of the pot"}`, onclick: () => this.set(this.share(share)) }, `${text} `, el("kbd", {}, n + 1))),
            el("button", { type: "button", id: "all-in", "aria-label": "all-in", onclick: () => this.set(high) }, "all-in ", el("kbd", {}, "A"))),
          slider, amount));
      }
    }
    const held = document.activeElement && document.activeElement.id;
    this.bar.replaceChildren(...rows, el("div", { class: "main-choices" }, choices));
    if (held && this.bar.querySelector(`#${CSS.escape(held)}`)) this.bar.querySelector(`#${CSS.escape(held)}`).focus();
    this.focusAgain();
  }

  focusAgain() {
    if (!this.held || document.activeElement !== document.body) return;
    (this.bar.querySelector(`#${CSS.escape(this.held)}:enabled`) || this.bar.querySelector("#next:enabled, #call"))?.focus();
  }

  share(part) {
    const hand = this.view.hand;
    const [low, high] = hand.choices.raise;
    const level = hand.bets.you + hand.choices.to_call;
    return Math.max(low, Math.min(high, level + Math.round(part * (hand.pot + hand.choices.to_call))));
  }

  bet() {
    if (this.view.hand.choices && this.view.hand.choices.raise) this.act(this.view.limit ? "r" : `b ${this.wanted}`);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.view || !this.view.hand) return;
    const typing = event.target.matches("input[type=text], textarea, select");
    const number = event.target.matches("input[type=number]");
    if (typing || (number && event.key !== "Enter" && /^[0-9]$|^Arrow|^Backspace$|^Delete$|^Tab$/.test(event.key))) return;
    const hand = this.view.hand;
    const key = event.key.toLowerCase();
    if (hand.end) {
      if ((key === "enter" || key === " " || key === "n") && !event.target.matches("a, button, summary")) { event.preventDefault(); this.deal(); }
      return;
    }
    if (!hand.your_turn || this.busy || this.drawing) return;
    const can = hand.choices;
    if (key === "f" && can.can_fold) this.act("f");
    else if (key === "c" || key === "k") this.act("c");
    else if (key === "enter" && can.raise && !event.target.matches("a, button")) { if (number) event.target.dispatchEvent(new Event("change")); this.bet(); }
    else if (can.raise && !this.view.limit && /^[123]$/.test(key)) this.set(this.share(SHARES[Number(key) - 1][1]));
    else if (can.raise && !this.view.limit && key === "a") this.set(can.raise[1]);
    else if (can.raise && (key === "b" || key === "r")) { const field = document.getElementById("amount"); if (field) { field.focus(); field.select(); } else this.bet(); }
    else return;
    event.preventDefault();
  }

  async drawGraph() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    const session = this.session;
    try {
      const found = await ask("/page/graph", { session });
      if (this.session === session) {
        this.graph.replaceChildren(...graph(found));
        if (found.to_correct) this.again ||= found.to_correct === this.toCorrect ? "later" : true; // "later": the values are not ready
        this.toCorrect = found.to_correct;
      }
    } catch (error) {
      this.graph.replaceChildren(el("p", { class: "small soft" }, error.message));
    }
    this.asking = false;
    const again = this.again;
    this.again = false;
    if (again && !this.left) this.later(() => this.drawGraph(), again === "later" ? 3000 : 0);
  }
}

function graph(found) {
  const { chips: won, aivat } = found.methods;
  if (!won || found.hands < 2) return [el("p", { class: "small soft" }, "The graph of winnings begins with the second hand.")];
  const width = 300, height = 130, left = 34, bottom = 16;
  const lines = [won, aivat].filter(Boolean).map((method) => method.total_bb);
  const values = lines.flat().map((point) => point[1]).concat(0);
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  const x = (hand) => left + (width - left - 4) * (hand - 1) / Math.max(1, found.hands - 1);
  const y = (value) => 6 + (height - bottom - 12) * (1 - (value - low) / span);
  const line = (points, name) => svg("polyline", { class: name, points: points.map(([hand, value]) => `${x(hand).toFixed(1)},${y(value).toFixed(1)}`).join(" ") });
  const round = (value) => signed(value, Math.abs(value) >= 10 ? 0 : 1);
  const picture = svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Winnings over ${found.hands} hands in big blinds` },
    svg("line", { class: "zero", x1: left, x2: width, y1: y(0), y2: y(0) }),
    svg("text", { x: 0, y: y(high) + 4 }, round(high)), low < 0 ? svg("text", { x: 0, y: y(low) + 4 }, round(low)) : null,
    svg("text", { x: width, y: height - 2, "text-anchor": "end" }, `big blinds over ${chips(found.hands)} hands`),
    line(won.total_bb, "chips-line"), aivat ? line(aivat.total_bb, "aivat-line") : null);
  const words = (name, method, key) => el("div", { class: "small number" }, el("span", { class: `key ${key}` }),
    `${name}: `, el("b", { class: tone(method.mean_mbb), id: `mean-${key}` }, signed(method.mean_mbb)), " mbb a hand", method.ci95_mbb === null ? "" : ` ± ${chips(Math.round(method.ci95_mbb))}`);
  const behind = aivat ? `, the first ${chips(aivat.hands)} hands; the others are being worked out` : "Without luck (AIVAT): being worked out, the first time it takes a minute or more.";
  const corrected = aivat ? words("without luck (AIVAT)", aivat, "aivat") : null;
  if (found.to_correct) corrected ? corrected.append(el("span", { class: "soft" }, behind)) : null;
  return [picture, words("as won", won, "won"), corrected || (found.to_correct ? el("p", { class: "small soft" }, behind) : null)].filter(Boolean);
}
