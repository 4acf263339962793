// Which page is shown: by the part of the address behind the #, "explore?strategy=small&board=...".
import { say } from "./dom.js";
import * as play from "./play.js";
import * as explore from "./explore.js";
import * as review from "./review.js";
import * as watch from "./watch.js";
import * as train from "./train.js";

const pages = { play, explore, review, watch, train };
let leave = null;

function route() {
  const [name, query] = location.hash.slice(1).split("?");
  const page = pages[name] ? name : "play";
  if (leave) leave();
  leave = null;
  say("");
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.hash === `#${page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = page[0].toUpperCase() + page.slice(1);
  document.title = `${title} · foldwise`;
  document.getElementById("heading").textContent = title;
  const place = document.createElement("div"); // the page's own: what it draws once it has been left is not seen
  document.getElementById("page").replaceChildren(place);
  leave = pages[page].show(place, new URLSearchParams(query || "")) || null;
}

addEventListener("hashchange", route);
route();
