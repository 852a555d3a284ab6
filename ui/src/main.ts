// Makes a page of crates/report interactive: a diagnosis, or the plots of a report.

import "uplot/dist/uPlot.min.css";
import "./page.css";
import { App } from "./app";
import { readPage } from "./data";
import { enliven } from "./plots";
import { refresh } from "./refresh";

const root = document.getElementById("ackord-connections");
const page = readPage();
if (root !== null && page !== null && page.sets.some(({ diagnosis }) => diagnosis.connections.length > 0)) {
  document.querySelector("main")?.classList.add("broad");
  Object.assign(window, { ackord: new App(page, root) });
}
void enliven().then((plots) => {
  if (plots.length > 0) Object.assign(window, { plots });
  const main = document.querySelector<HTMLElement>("main[data-refresh]");
  if (main !== null) refresh(main, plots);
});
