"use strict";
(() => {
  const hands = JSON.parse(document.getElementById("hands").textContent);
  const at = (id) => document.getElementById(id);
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  let hand = 0;
  let step = 0;

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function showCards(place, cards) {
    place.replaceChildren(
      ...cards.map((card) => make("div", "hd".includes(card[1]) ? "cardface red" : "cardface", card[0] + SUITS[card[1]]))
    );
  }

  const chips = (count) => count.toLocaleString("en-US");

  function folded(record, player) {
    return record.steps
      .slice(0, step + 1)
      .some((past) => past.player === player && past.folds);
  }

  function showSeat(letter, record, now, player) {
    const seat = at("seat-" + letter);
    seat.querySelector(".who").textContent = letter.toUpperCase() + " · " + record.names[player];
    showCards(seat.querySelector(".cards"), record.cards[player]);
    const stack = now.stacks[player];
    seat.querySelector(".stack").textContent = stack === null ? "" : chips(stack) + " behind";
    seat.classList.toggle("acting", now.player === player);
    seat.classList.toggle("out", folded(record, player));
    const bet = at("bet-" + letter);
    bet.replaceChildren(...(now.bets[player] > 0 ? [make("b", "", chips(now.bets[player]))] : []));
  }

  function percent(value) {
    return (100 * value).toFixed(1) + "%";
  }

  function showWhy(why) {
    const place = at("why");
    place.hidden = !why;
    if (!why) return;
    const reached = why.reached ? "" : ", never reached by the solver: uniform";
    const read = why.abstract_betting ? "betting read as " + why.abstract_betting : "first action";
    const rows = [make("p", "", "bucket " + why.bucket + reached + " · " + read)];
    if (why.logged) rows.push(make("p", "", "the log has " + why.logged + " instead of " + why.action));
    why.actions.forEach((action, index) => {
      const raw = why.probabilities[index];
      const played = why.postprocessed[index];
      const row = make("div", action === why.action ? "row chosen" : "row");
      const track = make("div", "track");
      const fill = make("div", "fill");
      fill.style.width = percent(played);
      track.append(fill);
      const number = Math.abs(raw - played) < 0.0005 ? percent(played) : percent(raw) + " → " + percent(played);
      row.append(make("div", "", action), track, make("div", "number", number));
      rows.push(row);
    });
    place.replaceChildren(...rows);
  }

  function show() {
    const record = hands[hand];
    const now = record.steps[step];
    showSeat("a", record, now, record.a);
    showSeat("b", record, now, 1 - record.a);
    showCards(at("board"), record.board.slice(0, now.board));
    at("pot").textContent = "pot " + chips(now.pot + now.bets.reduce((sum, bet) => sum + bet, 0));
    at("event").textContent = now.text;
    at("step").max = record.steps.length - 1;
    at("step").value = step;
    showWhy(now.why);
    at("history").replaceChildren(
      ...record.steps.map((past, index) => {
        const item = make("li", (past.player < 0 ? "deal" : "") + (index === step ? " now" : ""));
        const button = make("button", "", past.player < 0 ? past.text : past.text.slice(record.names[past.player].length + 1));
        button.type = "button";
        button.addEventListener("click", () => toStep(index));
        item.append(button);
        return item;
      })
    );
  }

  function toStep(wanted) {
    step = Math.max(0, Math.min(wanted, hands[hand].steps.length - 1));
    show();
  }

  function toHand(wanted) {
    hand = (wanted + hands.length) % hands.length;
    step = 0;
    at("hand-choice").value = String(hand);
    show();
  }

  hands.forEach((record, index) => {
    const option = make("option", "", record.label + "  (" + (record.values[record.a] > 0 ? "+" : "") + chips(record.values[record.a]) + ")");
    option.value = String(index);
    at("hand-choice").append(option);
  });
  at("hand-choice").addEventListener("change", (event) => toHand(Number(event.target.value)));
  at("hand-back").addEventListener("click", () => toHand(hand - 1));
  at("hand-on").addEventListener("click", () => toHand(hand + 1));
  at("step-back").addEventListener("click", () => toStep(step - 1));
  at("step-on").addEventListener("click", () => toStep(step + 1));
  at("step").addEventListener("input", (event) => toStep(Number(event.target.value)));
  document.querySelectorAll("[data-hand]").forEach((button) =>
    button.addEventListener("click", () => {
      toHand(Number(button.dataset.hand));
      at("replay").scrollIntoView({ behavior: "smooth" });
    })
  );
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("select, input")) return;
    if (event.key === "ArrowRight") toStep(step + 1);
    else if (event.key === "ArrowLeft") toStep(step - 1);
    else return;
    event.preventDefault();
  });
  toHand(0);
})();
