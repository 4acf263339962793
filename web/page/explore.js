import { el } from "./dom.js";
export function show(place) { place.replaceChildren(el("p", {}, "…")); }
