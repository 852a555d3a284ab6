// What a pointer and keys tell of the graphs of a diagnosis: intervals and segments.

import { Graphs, TROUBLE } from "./graphs";
import { Interval } from "./data";
import { Picked } from "./band";
import { Navigation } from "./navigation";
import { el } from "./dom";
import { causeTitle } from "./causes";
import { instant, percent, seconds } from "./format";

/** An interval in a few lines; times as exact as what is seen asks for. */
function describe({ cause, from_s, to_s, confidence }: Interval, seen: number): string {
  const span = `${instant(from_s, seen)} to ${instant(to_s, seen)} (${seconds(to_s - from_s)})`;
  return `${causeTitle(cause)}\n${span}\nconfidence ${percent(confidence * 100)}`;
}

/** What the pointer and the keys do besides moving. */
export class Controls {
  readonly navigation: Navigation;
  private tip = el("div", { className: "tip", attributes: { role: "tooltip", hidden: "" } });

  constructor(
    root: HTMLElement,
    private graphs: Graphs,
    private pick: (place: Picked | null) => void,
  ) {
    document.body.append(this.tip);
    const { view, band } = graphs;
    this.navigation = new Navigation(root, view, () => graphs.charts[0].plot, {
      n: () => this.go(band.step(1)),
      p: () => this.go(band.step(-1)),
      Escape: () => this.pick(null),
    });
    root.addEventListener("mouseleave", () => this.hideTip());
    this.watchBand();
    this.watchSequence();
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
      if (interval === null) return this.hideTip();
      this.showTip(event, describe(interval, view.span));
    });
    plot.over.addEventListener("mouseleave", () => this.hideTip());
    let pressed = 0;
    plot.over.addEventListener("mousedown", (event) => (pressed = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressed) < 5) this.pick(place(event));
    });
  }

  private watchSequence(): void {
    const { plot } = this.graphs.chart("sequence");
    plot.over.addEventListener("mousemove", (event) => {
      const box = plot.over.getBoundingClientRect();
      const [x, y] = [plot.posToVal(event.clientX - box.left, "x"), plot.posToVal(event.clientY - box.top, "y")];
      const [low, high] = [plot.scales.y.min ?? 0, plot.scales.y.max ?? 1];
      const { band, hidden, view } = this.graphs;
      const point = this.graphs.nearest(x, y, box.width / view.span, box.height / (high - low), 7);
      const mark = hidden.has(TROUBLE) ? null : band.marked(x, (2 * view.span) / box.width);
      const text = point ?? (mark === null ? null : describe(mark, view.span));
      if (text === null || event.buttons !== 0) this.hideTip();
      else this.showTip(event, text);
    });
    plot.over.addEventListener("mouseleave", () => this.hideTip());
  }

  private showTip(event: MouseEvent, text: string): void {
    this.tip.textContent = text;
    this.tip.hidden = false;
    const { width, height } = this.tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8);
    const below = event.clientY + 18;
    const top = below + height > innerHeight ? event.clientY - height - 12 : below;
    this.tip.style.left = `${Math.max(4, left)}px`;
    this.tip.style.top = `${top}px`;
  }

  private hideTip(): void {
    this.tip.hidden = true;
  }
}
