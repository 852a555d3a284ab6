// A page that refreshes itself: requests its own address again and again, and replaces what has changed.

import { LivePlot, enliven, embedded } from "./plots";
import { el } from "./dom";

/** Elements that hold the parts of a page: they are updated part by part. */
const CONTAINERS = new Set(["MAIN", "SECTION"]);

/** Updates `main` every `data-refresh` milliseconds while the page is visible. */
export function refresh(main: HTMLElement, plots: LivePlot[]): void {
  const every = Number(main.dataset.refresh);
  const note = el("p", { className: "stale", attributes: { role: "status" } });
  main.before(note);
  const alive = new Map(plots.map((plot) => [plot.figure, plot]));
  const next = async (): Promise<void> => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, { cache: "no-store" });
        if (!answer.ok) throw new Error(answer.statusText);
        await show(main, await answer.text(), alive);
        note.textContent = "";
      } catch {
        if (note.textContent === "") note.textContent = `No answer since ${new Date().toLocaleTimeString()}.`;
      }
    }
    setTimeout(() => void next(), every);
  };
  setTimeout(() => void next(), every);
}

async function show(main: HTMLElement, html: string, alive: Map<HTMLElement, LivePlot>): Promise<void> {
  const page = new DOMParser().parseFromString(html, "text/html");
  const newer = page.querySelector("main");
  if (newer === null) throw new Error("no page");
  document.title = page.title;
  update(main, newer, alive);
  for (const plot of await enliven()) alive.set(plot.figure, plot);
}

/** Makes `old` like `newer`, and keeps each element that did not change: a selection in it stays. */
function update(old: Element, newer: Element, alive: Map<HTMLElement, LivePlot>): void {
  const [before, after] = [[...old.children], [...newer.children]];
  const isLike = before.length === after.length && before.every((one, i) => one.tagName === after[i].tagName);
  if (!isLike) {
    old.replaceChildren(...after);
    return;
  }
  before.forEach((one, i) => {
    const plot = alive.get(one as HTMLElement);
    const data = plot === undefined ? null : embedded(after[i]);
    if (plot !== undefined && data !== null) plot.update(data, after[i].querySelector("svg"));
    else if (CONTAINERS.has(one.tagName)) update(one, after[i], alive);
    else if (one.outerHTML !== after[i].outerHTML) one.replaceWith(after[i]);
  });
  for (const figure of alive.keys()) if (!figure.isConnected) alive.delete(figure);
}
