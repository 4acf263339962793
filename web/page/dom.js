// Small helpers: elements, requests, cards. Texts are always set as text, never as markup.

const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const SUIT_NAMES = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const RANK_NAMES = { T: "ten", J: "jack", Q: "queen", K: "king", A: "ace" };
const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  return fill(made, attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in made) made.value = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function say(text) {
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = !text;
}

export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("the server does not answer: is foldwise serve still running?");
  }
  const kind = answer.headers.get("content-type") || "";
  const content = kind.includes("json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Error(content.error_msg || content || `status ${answer.status}`);
  return content;
}

export function socket(path) {
  return new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`);
}

export function cardName(card) {
  return `${RANK_NAMES[card[0]] || card[0]} of ${SUIT_NAMES[card[1]]}`;
}

export function cardFace(card) {
  if (!card) return el("span", { class: "cardface back", role: "img", "aria-label": "hidden card" });
  const rank = card[0] === "T" ? "10" : card[0];
  return el("span", { class: `cardface ${card[1]}`, role: "img", "aria-label": cardName(card) },
    el("span", { "aria-hidden": "true" }, rank), el("span", { class: "suit", "aria-hidden": "true" }, SUITS[card[1]]));
}

export function cardText(card) {
  return el("span", { class: `suit-${card[1]}` }, `${card[0]}${SUITS[card[1]]}`);
}

export function cardsText(cards) {
  return el("span", { class: "cards-text" }, cards.map(cardText));
}

export const chips = (amount) => Number(amount).toLocaleString("en-US", { maximumFractionDigits: 2 });
export const signed = (amount, digits = 0) => {
  const shown = Math.abs(amount).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return Number(shown.replaceAll(",", "")) === 0 ? shown : `${amount < 0 ? "−" : "+"}${shown}`;
};
export const tone = (amount) => (amount > 0 ? "win" : amount < 0 ? "loss" : "");
export const percent = (share) => `${(100 * share).toFixed(1)}%`;

export function kept(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(key, value) {
  localStorage.setItem(key, JSON.stringify(value));
}

export function option(value, text, chosen) {
  return el("option", { value, selected: value === chosen }, text);
}

// Actions with their probabilities; rows: {label, share, chosen} and, where values are known, {worth, best}, in big blinds.
export function bars(rows) {
  const valued = rows.some((row) => row.worth !== undefined);
  return el("div", { class: valued ? "bars valued" : "bars" }, rows.map((row) => {
    const filled = el("div", { class: "fill" });
    filled.style.width = `${Math.max(0, Math.min(100, 100 * row.share))}%`;
    return el("div", { class: row.chosen ? "line chosen" : "line" }, el("span", {}, row.label),
      el("span", { class: "track" }, filled), el("span", { class: "value" }, percent(row.share)),
      valued ? el("span", { class: "value" }, `${signed(row.worth, 2)} bb`) : null,
      valued ? el("span", { class: "best" }, row.best ? el("span", { role: "img", "aria-label": "best", title: "the best by these values" }, "★") : "") : null);
  }));
}

// "flop Ks 7d 2c" with the cards in their colours; other words as they are.
export function dealerWords(text) {
  const [, words, cards] = text.match(/^(\S+) ((?:[2-9TJQKA][cdhs] ?)+)$/) || [];
  return cards ? [`${words} `, cardsText(cards.split(" "))] : [text];
}
