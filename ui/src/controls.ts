// What a pointer and keys read off the graphs of a diagnosis: intervals, segments and values.

import { Graphs, TROUBLE } from "./graphs";
import { Interval } from "./data";
import { Picked } from "./band";
import { Navigation } from "./navigation";
import { Readable, Reader, Reading, tip } from "./reader";
import { causeTitle } from "./causes";
import { instant, percent, seconds } from "./format";

/** An interval in a few lines; times as exact as what is seen asks for. */
function describe({ cause, from_s, to_s, confidence }: Interval, seen: number): Reading {
  const span = `${instant(from_s, seen)} to ${instant(to_s, seen)} (${seconds(to_s - from_s)})`;
  const lines = [span, `confidence ${percent(confidence * 100)}`];
  return { time: causeTitle(cause), rows: lines.map((name) => ({ name, value: "" })) };
}

/** What the pointer and the keys do besides moving. */
export class Controls {
  readonly navigation: Navigation;

  constructor(
    root: HTMLElement,
    private graphs: Graphs,
    private pick: (place: Picked | null) => void,
  ) {
    const { view, band } = graphs;
    this.navigation = new Navigation(root, view, () => graphs.charts[0].plot, {
      n: () => this.go(band.step(1)),
      p: () => this.go(band.step(-1)),
      Escape: () => this.pick(null),
    });
    root.addEventListener("mouseleave", () => tip().hide());
    this.watchBand();
    new Reader(root, view, [this.sequence(), ...graphs.readable()]);
  }

  /** Picks an interval, and moves it into sight. */
  go(place: Picked | null): void {
    const { view, band } = this.graphs;
    const interval = band.interval(place);
    if (interval === null) return;
    this.pick(place);
    const [from, to] = view.time;
    if (interval.to_s < from || interval.from_s > to) {
      const [middle, half] = [(interval.from_s + interval.to_s) / 2, view.span / 2];
      view.set([middle - half, middle + half], null);
    }
  }

  private watchBand(): void {
    const { plot } = this.graphs.chart("causes");
    const { band, view } = this.graphs;
    const place = (event: MouseEvent): Picked | null => {
      const box = plot.over.getBoundingClientRect();
      const tolerance = (3 * view.span) / box.width;
      return band.at(plot.posToVal(event.clientX - box.left, "x"), event.clientY - box.top, tolerance);
    };
    plot.over.addEventListener("mousemove", (event) => {
      const interval = band.interval(place(event));
      plot.over.style.cursor = interval === null ? "" : "pointer";
      if (interval === null) tip().hide();
      else tip().show(event.clientX, event.clientY, describe(interval, view.span));
    });
    plot.over.addEventListener("mouseleave", () => tip().hide());
    let pressed = 0;
    plot.over.addEventListener("mousedown", (event) => (pressed = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressed) < 5) this.pick(place(event));
    });
  }

  /** The segment next to the pointer, else the mark of a time of trouble; with keys how far the ACKs are. */
  private sequence(): Readable {
    const { plot } = this.graphs.chart("sequence");
    const { band, hidden, view } = this.graphs;
    const read = (time: number, level: number | null): Reading | null => {
      if (level === null) return this.graphs.readAcks(time);
      const [low, high] = [plot.scales.y.min ?? 0, plot.scales.y.max ?? 1];
      const { clientWidth, clientHeight } = plot.over;
      const point = this.graphs.nearest(time, level, clientWidth / view.span, clientHeight / (high - low), 7);
      const mark = hidden.has(TROUBLE) ? null : band.marked(time, (2 * view.span) / clientWidth);
      return point ?? (mark === null ? null : describe(mark, view.span));
    };
    return { plot, read, next: (time, by) => this.graphs.next(time, by) };
  }
}
