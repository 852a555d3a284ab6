// Values beside the pointer, and beside a mark that keys move.

import uPlot from "uplot";
import { View } from "./view";
import { el, swatch } from "./dom";

/** A value that is shown. */
export interface Row {
  colour?: string;
  name: string;
  value: string;
}

/** What is read at one place of a graph: its time, and a row per series. */
export interface Reading {
  time: string;
  rows: Row[];
}

/** A graph whose values can be read. */
export interface Readable {
  plot: uPlot;
  /** At a time and a level of the upright axis; a level of null asks for the series alone. */
  read: (time: number, level: number | null) => Reading | null;
  /** The next time after `time` (or before it) at which a series has a value; null for none. */
  next: (time: number, by: 1 | -1) => number | null;
}

/** The box beside the pointer; there is one in a page. */
class Tip {
  private element = el("div", { className: "tip", attributes: { role: "status", hidden: "" } });

  constructor() {
    document.body.append(this.element);
  }

  show(x: number, y: number, reading: Reading): void {
    const rows = reading.rows.map(({ colour, name, value }) => el("div", { className: "row" }, [
      ...(colour === undefined ? [] : [swatch(colour)]),
      el("span", { className: "name", text: name }),
      el("span", { className: "value", text: value }),
    ]));
    this.element.replaceChildren(el("b", { text: reading.time }), ...rows);
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    const left = x + 14 + width > room - 4 ? x - width - 14 : x + 14;
    const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
    this.element.style.left = `${Math.max(4, Math.min(left, room - width - 4))}px`;
    this.element.style.top = `${Math.max(4, top)}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

let shared: Tip | null = null;

export const tip = (): Tip => (shared ??= new Tip());

/** Where the pointer was at the last event, and whether that event moved it. */
const pointer = { x: NaN, y: NaN, moved: false };
addEventListener("mousemove", ({ clientX: x, clientY: y }) => {
  Object.assign(pointer, { x, y, moved: x !== pointer.x || y !== pointer.y });
}, { capture: true });

/** Whether the pointer moved, and not the page below it. */
export const hasMoved = (): boolean => pointer.moved;

/** What stands in the help of a graph. */
export const READING_HELP = "Shift and an arrow read the values one by one";

/** Reads the values of graphs that lie over each other. */
export class Reader {
  /** Where the keys are. */
  private at: number | null = null;

  constructor(
    root: HTMLElement,
    private view: View,
    private graphs: Readable[],
  ) {
    for (const graph of graphs) {
      const { over } = graph.plot;
      over.addEventListener("mousemove", (event) => this.point(graph, event));
      over.addEventListener("mouseleave", () => tip().hide());
    }
    root.addEventListener("keydown", (event) => this.key(event), { capture: true });
    root.addEventListener("blur", () => this.leave());
  }

  private point({ plot, read }: Readable, event: MouseEvent): void {
    // What scrolls below a pointer at rest is not meant; a button that is held draws a box.
    if (!hasMoved()) return;
    if (event.buttons !== 0) return tip().hide();
    this.at = null;
    const box = plot.over.getBoundingClientRect();
    const [time, level] = [plot.posToVal(event.clientX - box.left, "x"), plot.posToVal(event.clientY - box.top, "y")];
    const reading = read(time, level);
    if (reading === null) tip().hide();
    else tip().show(event.clientX, event.clientY, reading);
  }

  private key(event: KeyboardEvent): void {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by !== 0 && event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      this.step(by);
    } else if (event.key !== "Shift") {
      this.leave();
    }
  }

  private step(by: 1 | -1): void {
    const [from, to] = this.view.time;
    const width = this.graphs[0].plot.over.clientWidth;
    const begin = this.at ?? (by === 1 ? from : to);
    // Samples that share a pixel are read as one: closer up, each by itself.
    const beyond = this.at === null ? begin : begin + (by * (to - from)) / width / 2;
    const found = this.graphs.map(({ next }) => next(beyond, by)).filter((time): time is number => time !== null);
    if (found.length === 0) return;
    const time = by === 1 ? Math.min(...found) : Math.max(...found);
    if (time < from || time > to) this.view.set([time - (to - from) / 2, time + (to - from) / 2]);
    this.at = time;
    this.view.draw();
    this.show(time);
  }

  /** Shows the values of all graphs at this time, beside the uppermost that has some. */
  private show(time: number): void {
    const readings = this.graphs.map(({ read }) => read(time, null));
    const rows = readings.flatMap((reading) => reading?.rows ?? []);
    const first = readings.findIndex((reading) => reading !== null && reading.rows.length > 0);
    if (first < 0) return tip().hide();
    const { plot } = this.graphs[first];
    const left = plot.valToPos(time, "x");
    plot.setCursor({ left, top: plot.over.clientHeight / 2 });
    const box = plot.over.getBoundingClientRect();
    tip().show(box.left + left, box.top + box.height / 2, { time: readings[first]?.time ?? "", rows });
  }

  private leave(): void {
    if (this.at === null) return;
    this.at = null;
    tip().hide();
    this.graphs[0].plot.setCursor({ left: -10, top: -10 });
  }
}
