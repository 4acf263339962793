// Matches that run on this machine or at a broker, live; finished ones as their report.
import { ask, cardsText, chips, dealerWords, el, say, signed, socket, svg, tone } from "./dom.js";

export function show(place, query) {
  const page = new Watch(place);
  page.list(query.get("match"));
  return () => page.close();
}

class Watch {
  constructor(place) {
    this.place = place;
    this.opened = new Map(); // hands by label: what was opened stays, however fast others follow
    this.matches = el("ul", { class: "match-list", id: "matches" });
    this.view = el("section", { class: "panel", "aria-label": "Match", hidden: true });
    place.replaceChildren(el("div", { class: "columns watch" }, this.view, el("section", { class: "panel matches", "aria-label": "Matches" }, el("h2", {}, "Matches"), this.matches)));
  }

  close() { this.closed = true; clearTimeout(this.timer); if (this.line) this.line.close(); }

  async list(wanted) {
    if (this.closed) return;
    try {
      const found = await ask("/page/matches");
      if (this.closed) return;
      const all = [...found.folders, ...found.feed];
      const held = document.activeElement && document.activeElement.dataset && document.activeElement.dataset.match;
      this.matches.replaceChildren(...(all.length ? all.map((one) => el("li", {}, el("button", { type: "button", "data-match": one.id, "aria-pressed": String(this.current === one.id), onclick: () => this.open(one.id) },
        el("span", { class: "match-title" }, one.state === "running" ? el("span", { class: "live", role: "img", "aria-label": "running" }) : "", one.title),
        one.mean_mbb === undefined || one.mean_mbb === null ? el("span", { class: "small soft" }, one.state) : el("span", { class: `number ${tone(one.mean_mbb)}` }, `${signed(one.mean_mbb, 1)} mbb`),
        el("span", { class: "small soft match-players" }, one.players.join(" against ")))))
        : [el("li", { class: "soft" }, "No match yet. Start one with -o in a folder this server watches: foldwise match A B -o runs/match")]));
      if (found.trouble) this.matches.append(el("li", { class: "small soft" }, found.trouble));
      if (held) { const again = this.matches.querySelector(`[data-match="${CSS.escape(held)}"]`); if (again) again.focus(); }
      const first = wanted || (this.current ? null : (all.find((one) => one.state === "running") || all[0] || {}).id);
      if (first && !this.current) this.open(first);
    } catch (error) { say(error.message); }
    this.timer = setTimeout(() => this.list(null), 4000);
  }

  open(match) {
    if (this.line) this.line.close();
    if (match !== this.current) this.opened.clear();
    this.current = match;
    history.replaceState(null, "", `#watch?match=${encodeURIComponent(match)}`);
    for (const button of this.matches.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.match === match));
    const line = this.line = socket("/page/watch");
    line.onopen = () => line.send(JSON.stringify({ match }));
    line.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.error) { this.view.hidden = false; this.view.replaceChildren(el("h2", {}, "Match"), el("p", {}, message.error), reportLink(match)); } else this.draw(message.match);
    };
    line.onclose = () => { if (!this.closed && this.line === line && this.running) setTimeout(() => { if (!this.closed && this.line === line) this.open(match); }, 2000); };
  }

  draw(match) {
    this.running = match.state === "running";
    this.view.hidden = false;
    const width = (row) => (row.ci95_mbb === null || row.ci95_mbb === undefined ? "" : ` ± ${chips(Math.round(row.ci95_mbb))}`);
    const parts = [el("h2", {}, match.state === "running" ? el("span", { class: "live", role: "img", "aria-label": "running" }) : "", match.players.join(" against ") || match.title)];
    parts.push(el("p", {}, el("b", { id: "watched-hands" }, chips(match.hands)), match.planned ? ` of ${chips(match.planned)} hands` : " hands", match.mean_mbb === undefined ? "" : el("span", {}, ", ", el("b", { class: tone(match.mean_mbb), id: "watched-mean" }, `${signed(match.mean_mbb, 1)}`), `${width(match)} mbb a hand for ${match.players[0]}`)));
    if (match.curve && match.curve.length > 1) parts.push(curve(match.curve));
    if (match.rows && match.rows.length) {
      parts.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Totals" }, el("table", {}, el("tbody", {}, match.rows.map((row) => el("tr", {}, el("td", {}, row.name || ""), el("td", {}, `${signed(row.mean_mbb, 1)}${width(row)}`)))))));
    }
    const last = match.last || [], kept = [...this.opened.values()].filter((hand) => !last.some((one) => one.label === hand.label));
    if (last.length + kept.length) parts.push(el("h3", {}, "Last hands"), el("div", { class: "last-hands" }, [...kept, ...last].map((hand) => this.hand(hand))));
    if (!match.id.startsWith("feed:")) parts.push(reportLink(match.id));
    const held = document.activeElement?.closest?.("summary")?.parentElement.dataset.label;
    this.view.replaceChildren(...parts);
    if (held) this.view.querySelector(`[data-label="${CSS.escape(held)}"] summary`)?.focus();
  }

  // A hand in a line; opened, the whole of it in words.
  hand(hand) {
    const line = el("summary", {}, el("span", { class: "small soft hand-label" }, hand.label),
      hand.cards.map((cards, n) => el("span", { class: "seat-line" }, cards.length ? cardsText(cards) : "??", " ", el("span", { class: "small soft seat-name", title: hand.names[n] }, hand.names[n]), " ", el("b", { class: tone(hand.values[n]) }, signed(hand.values[n])))),
      hand.board.length ? cardsText(hand.board) : el("span", { class: "small soft" }, "no board"));
    const opened = el("details", { "data-label": hand.label, open: this.opened.has(hand.label) }, line,
      el("ol", { class: "story" }, hand.story.map((step) => el("li", { class: step.by === "dealer" ? "dealer-word" : step.by === "seat-0" ? "you" : "bot" }, step.by === "dealer" ? dealerWords(step.text) : step.text))));
    opened.addEventListener("toggle", () => { if (opened.open) this.opened.set(hand.label, hand); else this.opened.delete(hand.label); });
    return opened;
  }
}

function reportLink(match) {
  return el("p", {}, el("a", { class: "button", href: `/page/report/${encodeURIComponent(match)}`, target: "_blank", rel: "noopener" }, "Report with the replayer"));
}

function curve(points) {
  const width = innerWidth < 600 ? 330 : 640, height = width === 330 ? 170 : 220, left = 52, bottom = 20; // letters keep their size
  const known = points.flatMap((point) => point.slice(1)).filter((value) => value !== null).concat(0);
  const low = Math.min(...known), high = Math.max(...known), span = high - low || 1, last = points[points.length - 1][0];
  const x = (hand) => left + (width - left - 6) * hand / last;
  const y = (value) => 8 + (height - bottom - 16) * (1 - (value - low) / span);
  const band = points.filter((point) => point[2] !== null);
  const path = [...band.map((point) => [point[0], point[3]]), ...band.reverse().map((point) => [point[0], point[2]])].map(([hand, value]) => `${x(hand).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Running total in big blinds with its 95% interval" },
    path ? svg("polygon", { class: "band", points: path }) : null, svg("line", { class: "zero", x1: left, x2: width, y1: y(0), y2: y(0) }),
    svg("polyline", { class: "aivat-line", points: points.map((point) => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`).join(" ") }),
    svg("text", { x: 0, y: y(high) + 4 }, signed(high)), svg("text", { x: 0, y: y(low) + 4 }, signed(low)), svg("text", { x: width, y: height - 4, "text-anchor": "end" }, `big blinds over ${chips(last)} hands`));
}
