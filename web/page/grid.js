// The 13 x 13 grid of hold'em hands: mixed colours, a cell a class, its hands on focus.
import { cardsText, el, percent, signed } from "./dom.js";

export const RANKS = "AKQJT98765432";
const DECK = "23456789TJQKA";
const SUITS = "cdhs";

// Pair numbers as the server counts them: cards 4 * rank + suit, the higher first.
export const PAIRS = [];
for (let high = 1; high < 52; high += 1) for (let low = 0; low < high; low += 1) PAIRS.push([high, low]);
const text = (card) => DECK[card >> 2] + SUITS[card & 3];

export function className(high, low) {
  const [a, b] = [DECK[high >> 2], DECK[low >> 2]];
  return a === b ? a + b : a + b + ((high & 3) === (low & 3) ? "s" : "o");
}

export const CLASSES = RANKS.split("").map((row, r) => RANKS.split("").map((column, c) =>
  (r === c ? row + column : r < c ? `${row}${column}s` : `${column}${row}o`)));

// "bet 300 (50%)": chips of this street, as at the table, and the part of the pot; an all-in speaks for itself.
export function actionLabel(action) {
  const share = action.size_pot && !action.words.endsWith("all-in") ? ` (${Math.round(100 * action.size_pot)}%)` : "";
  return action.words + share;
}

export function colours(actions) {
  let raises = 0;
  return actions.map((action) => (action.text === "f" ? "fold" : action.text === "c" ? "call" : `raise-${Math.min(4, (raises += 1))}`));
}

export function byClass(found, keep = () => true) {
  const classes = new Map();
  found.hands.forEach((row, pair) => {
    if (!row) return;
    const name = className(...PAIRS[pair]);
    const made = found.made[pair] || [];
    if (!keep(name, made)) return;
    if (!classes.has(name)) classes.set(name, []);
    const cards = PAIRS[pair].map(text);
    classes.get(name).push({ cards, weight: row[0], rows: row.slice(1), values: found.values_bb && found.values_bb[pair] });
  });
  return classes;
}

const BY_CARDS = {
  "all hands": () => true,
  pairs: (name) => name.length === 2,
  suited: (name) => name.endsWith("s"),
  offsuit: (name) => name.endsWith("o"),
  broadways: (name) => "AKQJT".includes(name[0]) && "AKQJT".includes(name[1]),
  "with an ace": (name) => name[0] === "A",
  connectors: (name) => name.length === 3 && Math.abs(RANKS.indexOf(name[0]) - RANKS.indexOf(name[1])) === 1,
};

// What can be shown here: classes of hole cards, and what the hands that are here make of the board.
export function filters(found) {
  const here = new Set(found.made.flatMap((made) => made || []));
  const made = found.made_names.map((name, n) => [name, (_, list) => list.includes(n)]).filter((_, n) => here.has(n));
  return { "by cards": BY_CARDS, ...(made.length ? { "by what they make": Object.fromEntries(made) } : {}) };
}

export function findFilter(found, name) {
  return Object.assign({}, ...Object.values(filters(found)))[name] || BY_CARDS["all hands"];
}

export function mean(hands, count) {
  const total = hands.reduce((sum, hand) => sum + hand.weight, 0);
  const even = total <= 0;
  if (!hands.length) return { weight: 0, shares: Array(count).fill(0) };
  const shares = Array.from({ length: count }, (_, a) => hands.reduce((sum, hand) => sum + (even ? 1 : hand.weight) * hand.rows[a], 0) / (even ? hands.length : total));
  return { weight: hands.length ? total / hands.length : 0, shares };
}

// How often the hands kept take each action, and how much of the range they are.
export function summary(found, keep) {
  const all = [...byClass(found).values()].flat(), kept = [...byClass(found, keep).values()].flat();
  const total = (hands) => hands.reduce((sum, hand) => sum + hand.weight, 0);
  return { shares: mean(kept, found.actions.length).shares, part: total(all) > 0 ? total(kept) / total(all) : 0, combos: total(kept) };
}

export function grid(found, keep, weighted, choose) {
  const classes = byClass(found, keep);
  const names = found.actions.map((action) => actionLabel(action));
  const tones = colours(found.actions);
  const table = el("div", { class: "grid169", role: "grid", "aria-label": "What each hand does" });
  CLASSES.forEach((line, r) => {
    const row = el("div", { role: "row" });
    line.forEach((name, c) => {
      const hands = classes.get(name) || [];
      const { weight, shares } = mean(hands, names.length);
      const shown = hands.length > 0;
      const words = shown ? `${name}: ${names.map((one, a) => `${one} ${percent(shares[a])}`).join(", ")}` : `${name}: not there`;
      const fill = el("span", { class: "mix" });
      if (shown) {
        let at = 0;
        const stops = shares.flatMap((share, a) => { const from = at; at += 100 * share; return [`var(--${tones[a]}) ${from.toFixed(2)}% ${at.toFixed(2)}%`]; });
        fill.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
        fill.style.height = `${weighted ? Math.max(weight > 0 ? 4 : 0, 100 * Math.min(1, weight)) : 100}%`;
      }
      const cell = el("div", { role: "gridcell", class: shown ? "cell" : "cell none", tabindex: r + c === 0 ? "0" : "-1", "aria-label": words, "data-hand": name },
        el("span", { class: "area", "aria-hidden": "true" }, fill), el("span", { class: "name", "aria-hidden": "true" }, name));
      cell.addEventListener("mouseenter", () => choose(name, hands));
      cell.addEventListener("focus", () => choose(name, hands));
      row.append(cell);
    });
    table.append(row);
  });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 }[event.key];
    const cells = [...table.querySelectorAll(".cell")];
    const next = step && cells[cells.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    cells.forEach((cell) => cell.setAttribute("tabindex", "-1"));
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return table;
}

// A range alone, without choices: how much of each class is in it, compared with the class that has most.
export function rangePicture(weights, label) {
  const classes = byClass({ hands: weights.map((weight) => (weight === null ? null : [weight])), made: [] });
  const share = (name) => mean(classes.get(name) || [], 0).weight;
  const top = Math.max(...CLASSES.flat().map(share)) || 1;
  return el("div", { class: "grid169 range", role: "img", "aria-label": label }, CLASSES.map((line) => el("div", { role: "presentation" }, line.map((name) => {
    const fill = el("span", { class: "mix" });
    fill.style.height = `${100 * share(name) / top}%`;
    return el("span", { class: "cell", title: `${name}: ${percent(share(name))}` }, el("span", { class: "area" }, fill), el("span", { class: "name" }, name));
  }))));
}

export function details(name, hands, found) {
  if (!hands.length) return [el("h3", {}, name), el("p", { class: "soft" }, "None of these hands is here.")];
  const same = hands.every((hand) => hand.weight === hands[0].weight && hand.rows.every((share, a) => share === hands[0].rows[a]));
  const rows = (same ? [hands[0]] : [...hands].sort((a, b) => b.weight - a.weight)).map((hand) => el("tr", {},
    el("td", {}, same && hands.length > 1 ? `all ${hands.length}` : cardsText(hand.cards)), el("td", {}, percent(hand.weight)),
    hand.rows.map((share, a) => el("td", {}, percent(share), hand.values ? el("small", { class: "soft" }, ` ${signed(hand.values[a], 2)}`) : ""))));
  return [el("h3", {}, name), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${name}, hand by hand` }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "hand"), el("th", { scope: "col" }, "weight"), found.actions.map((action) => el("th", { scope: "col" }, actionLabel(action))))), el("tbody", {}, rows))),
  found.values_bb ? el("p", { class: "small soft" }, "Small figures: what the action wins over the whole hand, in big blinds.") : null].filter(Boolean);
}

// A range as text: classes whose hands weigh the same by their name, others hand by hand.
export function rangeText(found, keep, action) {
  const parts = [];
  const weigh = (hand) => Math.round(1000 * hand.weight * (action === null ? 1 : hand.rows[action])) / 1000;
  for (const [name, hands] of byClass(found, keep)) {
    const weights = hands.map(weigh);
    const write = (what, weight) => { if (weight > 0) parts.push(weight === 1 ? what : `${weight}(${what})`); };
    const whole = hands.length === (name.length === 2 ? 6 : name.endsWith("s") ? 4 : 12);
    if (whole && weights.every((weight) => weight === weights[0])) write(name, weights[0]);
    else hands.forEach((hand, n) => write(hand.cards.join(""), weights[n]));
  }
  return parts.join(", ");
}

export function picture(found, keep, weighted) {
  const size = 46, canvas = document.createElement("canvas");
  canvas.width = canvas.height = 13 * size;
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const tones = colours(found.actions).map((tone) => style.getPropertyValue(`--${tone}`).trim());
  const classes = byClass(found, keep);
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  CLASSES.forEach((line, r) => line.forEach((name, c) => {
    const hands = classes.get(name) || [];
    if (hands.length) {
      const { weight, shares } = mean(hands, tones.length);
      const height = size * (weighted ? Math.min(1, weight) : 1);
      let x = c * size;
      shares.forEach((share, a) => { pen.fillStyle = tones[a]; pen.fillRect(x, (r + 1) * size - height, share * size, height); x += share * size; });
    }
    pen.strokeStyle = "#c8cdd6";
    pen.strokeRect(c * size + 0.5, r * size + 0.5, size, size);
    pen.fillStyle = "#000000";
    pen.font = "600 14px system-ui, sans-serif";
    pen.fillText(name, c * size + 5, r * size + 17);
  }));
  return canvas.toDataURL("image/png");
}
