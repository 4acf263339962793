// Any strategy as a tree: betting on the left, a board picker, the grid; and the same from a solve.
import { ask, cardName, chips, el, keep as remember, kept, option, percent, say, socket } from "./dom.js";
import { actionLabel, colours, details, filters, findFilter, grid, picture, rangeText, summary } from "./grid.js";

const RANKS = "AKQJT98765432", SUITS = "shdc", MARKS = { c: "♣", d: "♦", h: "♥", s: "♠" };

export function show(place, query) {
  const page = new Explore(place, query);
  page.start();
  return () => page.close();
}

class Explore {
  constructor(place, query) {
    this.place = place;
    this.state = { strategy: query.get("strategy") || "", betting: query.get("betting") || "", board: query.get("board") || "", postprocess: query.get("postprocess") || "none" };
    this.filter = query.get("shown") || "all hands";
    this.weighted = kept("weighted", true);
    this.solved = null;
  }

  close() {
    this.closed = true;
    if (this.line) this.line.close();
  }

  async start() {
    let offered;
    try {
      offered = (await ask("/page/opponents")).opponents.filter((one) => one.kind === "strategy");
    } catch (error) {
      say(error.message);
      return;
    }
    if (this.closed) return;
    if (!offered.length) {
      this.place.replaceChildren(el("section", { class: "panel" }, el("h2", {}, "No strategy to explore"), el("p", {}, "Start the server with one: foldwise serve STRATEGY")));
      return;
    }
    if (!offered.some((one) => one.name === this.state.strategy)) this.state.strategy = offered[0].name;
    const strategy = el("select", { id: "strategy" }, offered.map((one) => option(one.name, one.name, this.state.strategy)));
    strategy.addEventListener("change", () => this.go({ strategy: strategy.value, betting: "", board: "" }));
    const post = el("select", { id: "explore-post" }, ["none", "threshold(0.15)", "purify", "new(0.2)"].map((name) => option(name, name, this.state.postprocess)));
    post.addEventListener("change", () => this.go({ postprocess: post.value }));
    this.filterChoice = el("select", { id: "filter" });
    this.filterChoice.addEventListener("change", () => { this.filter = this.filterChoice.value; this.drawGrid(); this.drawExport(); });
    const weighted = el("input", { type: "checkbox", id: "weighted", checked: this.weighted });
    weighted.addEventListener("change", () => { this.weighted = weighted.checked; remember("weighted", this.weighted); this.drawGrid(); });
    this.path = el("div", {});
    this.choices = el("div", {});
    this.picker = el("div", {});
    this.gridPlace = el("div", {});
    this.detail = el("div", { class: "detail", "aria-live": "polite" });
    this.solving = el("div", {});
    this.export = el("div", {});
    this.place.replaceChildren(el("div", { class: "explore" },
      el("div", {},
        el("section", { class: "panel", "aria-label": "Betting" }, el("h2", {}, "Betting"),
          el("div", { class: "fields" }, el("label", {}, "Strategy", strategy), el("label", {}, "Post-processing", post)), this.path, this.choices),
        el("section", { class: "panel", "aria-label": "Board" }, el("h2", {}, "Board"), this.picker)),
      el("div", {},
        el("section", { class: "panel", "aria-label": "Grid" }, el("div", { class: "row grid-tools" }, el("label", {}, "Hands shown", this.filterChoice), el("label", { class: "inline" }, weighted, "height by range")), this.gridPlace, this.detail),
        el("section", { class: "panel", "aria-label": "Solve" }, el("h2", {}, "Solve this spot"), this.solving),
        el("section", { class: "panel", "aria-label": "Export" }, el("h2", {}, "Take it with you"), this.export))));
    this.load();
  }

  go(change) {
    this.state = { ...this.state, ...change };
    this.solved = null;
    if (this.line) this.line.close();
    this.load();
  }

  address() {
    const shown = this.filter === "all hands" ? "" : this.filter;
    const used = Object.entries({ ...this.state, shown }).filter(([name, value]) => value && !(name === "postprocess" && value === "none"));
    return `#explore?${new URLSearchParams(used)}`;
  }

  async load() {
    history.replaceState(null, "", this.address());
    say("");
    try {
      const found = await ask("/page/explore", this.state);
      if (this.closed) return;
      this.found = found;
      this.draw();
    } catch (error) {
      say(error.message);
      if (this.state.betting || this.state.board) this.go({ betting: "", board: "" });
    }
  }

  draw() {
    const found = this.found;
    const crumbs = [el("button", { type: "button", class: "crumb", onclick: () => this.go({ betting: "" }) }, "start")];
    let street = 0;
    for (const step of found.path) {
      if (step.street !== street) { street = step.street; crumbs.push(el("span", { class: "soft small" }, found.streets[street])); }
      crumbs.push(el("button", { type: "button", class: "crumb", title: "back to before this", onclick: () => this.go({ betting: step.before }) }, step.words));
    }
    this.path.replaceChildren(el("div", { class: "row crumbs", role: "group", "aria-label": "Betting so far" }, crumbs));
    this.drawPicker();
    this.drawSolve();
    this.drawShown();
  }

  // What a solve changes: the choices with their frequencies, the grid, and what can be taken away.
  drawShown() {
    const found = this.found, shown = this.shown();
    const head = found.finished ? "The hand is over here." : `${found.streets[found.street]}: ${found.to_act} to act, pot ${chips(found.pot)}`;
    const parts = [el("p", { class: "small", id: "where" }, head)];
    if (shown) {
      const tones = colours(shown.actions);
      parts.push(el("div", { class: "choices" }, shown.actions.map((action, n) => {
        const mark = el("span", { class: "swatch", "aria-hidden": "true" });
        mark.style.background = `var(--${tones[n]})`;
        return el("button", { type: "button", "data-action": action.text, onclick: () => this.go({ betting: action.betting }) }, mark, actionLabel(action), el("span", { class: "number soft" }, percent(action.frequency)));
      })));
    } else if (found.missing_cards) {
      parts.push(el("p", { class: "soft" }, `Choose ${found.missing_cards} card${found.missing_cards > 1 ? "s" : ""} of the board to go on.`));
    }
    this.choices.replaceChildren(...parts);
    this.drawGrid();
    this.drawExport();
  }

  drawPicker() {
    const chosen = this.state.board.match(/../g) || [];
    const needed = this.found.board_cards;
    const toggle = (card) => {
      const next = chosen.includes(card) ? chosen.filter((one) => one !== card) : [...chosen, card];
      this.go({ board: next.join("") });
    };
    const field = el("input", { type: "text", id: "board", value: this.state.board, "aria-label": "Board as text", placeholder: "AsKd2c", maxlength: 10, spellcheck: "false" });
    field.addEventListener("change", () => this.go({ board: field.value.replace(/\s/g, "") }));
    this.picker.replaceChildren(el("p", { class: "small soft" }, needed ? `${found_words(needed, chosen.length)}` : "The board begins with the flop; cards chosen now are kept for later."),
      el("div", { class: "deck", role: "group", "aria-label": "Cards" }, SUITS.split("").flatMap((suit) => RANKS.split("").map((rank) => {
        const card = rank + suit;
        const on = chosen.includes(card);
        return el("button", { type: "button", class: `mini suit-${suit}${on ? " on" : ""}`, "aria-pressed": String(on), "aria-label": cardName(card), disabled: !on && chosen.length >= 5, onclick: () => toggle(card) }, rank, MARKS[suit]);
      }))), el("div", { class: "row" }, field, el("button", { type: "button", onclick: () => this.go({ board: "" }) }, "Clear")));
  }

  shown() { return this.solved || (this.found.actions && !this.found.finished ? this.found : null); }

  drawGrid() {
    const found = this.shown();
    if (!found) {
      this.gridPlace.replaceChildren(el("p", { class: "soft" }, this.found.finished ? "The hand is over: nobody acts." : "The grid appears once the board is chosen."));
      this.detail.replaceChildren();
      return;
    }
    const choices = filters(found);
    if (!Object.values(choices).some((group) => this.filter in group)) this.filter = "all hands"; // of another board
    this.filterChoice.replaceChildren(...Object.entries(choices).map(([label, group]) => el("optgroup", { label }, Object.keys(group).map((name) => option(name, name, this.filter)))));
    history.replaceState(null, "", this.address());
    const keep = findFilter(found, this.filter), tones = colours(found.actions), all = summary(found, keep);
    const legend = el("div", { class: "row legend", id: "legend" }, found.actions.map((action, n) => {
      const mark = el("span", { class: "swatch", "aria-hidden": "true" });
      mark.style.background = `var(--${tones[n]})`;
      return el("span", { class: "small" }, mark, `${actionLabel(action)} ${percent(all.shares[n])}`);
    }), el("span", { class: "small soft" }, `${all.combos.toFixed(1)} combos${this.filter === "all hands" ? "" : `, ${percent(all.part)} of the range`}`));
    this.gridPlace.replaceChildren(this.solved ? el("p", { class: "small" }, `Solved: ${this.solved.iterations} iterations, exploitable for ${this.solved.pot_percent.toFixed(2)}% of the pot. `, el("button", { type: "button", class: "plain", onclick: () => { this.solved = null; this.drawShown(); } }, "Back to the strategy")) : "",
      legend, grid(found, keep, this.weighted, (name, hands) => this.detail.replaceChildren(...details(name, hands, found))));
  }

  drawSolve() {
    const found = this.found;
    if (found.finished || found.missing_cards || found.street < 2) {
      this.solving.replaceChildren(el("p", { class: "soft" }, "On a turn or a river, the rest of the hand can be solved for all hands: go there first."));
      return;
    }
    const seconds = el("input", { type: "number", id: "solve-seconds", min: 1, max: 60, value: 10 });
    const sizes = el("input", { type: "text", id: "solve-sizes", placeholder: "f c 0.5p 1p a | f c a | f c", maxlength: 200, spellcheck: "false" });
    const ranges = found.positions.map((name) => el("input", { type: "text", id: `range-${name.replace(" ", "-")}`, placeholder: "the strategy’s", maxlength: 5000, spellcheck: "false" }));
    const button = el("button", { type: "submit", class: "primary", id: "solve" }, "Solve");
    const progress = el("div", { role: "status", id: "solve-progress" });
    const form = el("form", { "aria-label": "Solve" }, el("div", { class: "fields" }, el("label", {}, "Seconds", seconds), el("label", {}, "Bet sizes", sizes),
      found.positions.map((name, n) => el("label", {}, `Range of the ${name}`, ranges[n]))), el("div", { class: "row" }, button), progress);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const body = { ...this.state, seconds: Number(seconds.value) || 10 };
      if (sizes.value.trim()) body.sizes = sizes.value.trim();
      body.ranges = ranges.map((one) => one.value.trim());
      this.solve(body, button, progress);
    });
    this.solving.replaceChildren(form);
  }

  solve(body, button, progress) {
    say("");
    const line = this.line = socket("/page/solve");
    button.disabled = true;
    const cancel = el("button", { type: "button", id: "stop-solve", onclick: () => { cancel.disabled = true; line.send(JSON.stringify({ cancel: true })); } }, "Stop here");
    const bar = el("progress", { max: body.seconds, value: 0, "aria-label": "Solving" });
    const words = el("span", { class: "small" }, "Waiting for its turn …");
    progress.replaceChildren(bar, el("div", { class: "row" }, words, cancel));
    line.onopen = () => line.send(JSON.stringify(body));
    line.onclose = () => { button.disabled = false; if (this.line === line) this.line = null; };
    line.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.error) { say(message.error); progress.replaceChildren(); }
      if (message.progress) {
        bar.value = message.progress.seconds;
        words.textContent = `${message.progress.iterations} iterations, exploitable for ${message.progress.pot_percent.toFixed(2)}% of the pot`;
      }
      if (message.result) {
        this.solved = message.result;
        progress.replaceChildren(el("p", { class: "small" }, `Done: ${message.result.iterations} iterations in ${message.result.seconds} s.`));
        this.drawShown();
      }
    };
  }

  drawExport() {
    const found = this.shown();
    if (!found) { this.export.replaceChildren(el("p", { class: "soft" }, "Nothing to export here.")); return; }
    const what = el("select", { id: "export-what" }, option("", `range of the ${found.to_act}`), found.actions.map((action, n) => option(String(n), `hands that ${actionLabel(action)}`)));
    const text = el("textarea", { id: "range-text", readonly: true, "aria-label": "Range as text" });
    const fill = () => { text.value = rangeText(found, findFilter(found, this.filter), what.value === "" ? null : Number(what.value)); };
    what.addEventListener("change", fill);
    const save = el("button", { type: "button", id: "save-picture", onclick: () => {
      el("a", { href: picture(found, findFilter(found, this.filter), this.weighted), download: "grid.png" }).click();
    } }, "Picture of the grid");
    this.export.replaceChildren(el("label", {}, "What", what), text, el("div", { class: "row" },
      el("button", { type: "button", id: "copy-text", onclick: (event) => { text.select(); copy(event.currentTarget, text.value, "select it and copy it yourself"); } }, "Copy the text"), save,
      el("button", { type: "button", id: "copy-link", onclick: (event) => { history.replaceState(null, "", this.address()); copy(event.currentTarget, location.href, location.href); } }, "Copy a link to this place")));
    fill();
  }
}

async function copy(button, text, otherwise) {
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 2000);
  } catch {
    say(`The browser does not let this page copy: ${otherwise}`);
  }
}

function found_words(needed, chosen) {
  return chosen >= needed ? `${needed} cards on the board.` : `${needed} cards on the board, ${needed - chosen} to choose.`;
}
