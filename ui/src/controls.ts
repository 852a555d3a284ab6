// Pointer, wheel and keys over the graphs, and what follows the pointer.

import { Graphs } from "./graphs";
import { Picked } from "./band";
import { button, el } from "./dom";
import { causeTitle } from "./causes";
import { instant, percent, seconds } from "./format";

const STEP = 0.5;

export const HELP =
  "Drag a box to zoom, Shift and drag to move, Ctrl and wheel to zoom, double click to see all. " +
  "With the keyboard: + and - zoom, arrows move, 0 sees all, n and p go from interval to interval.";

/** What the keys and buttons do. */
export class Controls {
  private tip = el("div", { className: "tip", attributes: { role: "tooltip", hidden: "" } });

  constructor(
    root: HTMLElement,
    private graphs: Graphs,
    private pick: (place: Picked | null) => void,
  ) {
    document.body.append(this.tip);
    root.tabIndex = 0;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", `Graphs over time. ${HELP}`);
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("dblclick", () => graphs.view.reset());
    // Before uPlot hears of it and begins a box.
    root.addEventListener("mousedown", (event) => this.move(event), { capture: true });
    root.addEventListener("mouseleave", () => this.hideTip());
    this.watchBand();
    this.watchSequence();
  }

  buttons(): HTMLElement {
    const { view } = this.graphs;
    return el("div", { className: "buttons" }, [
      button("\u2190", "earlier", () => view.pan(-STEP)),
      button("\u2192", "later", () => view.pan(STEP)),
      button("+", "zoom in", () => view.zoom(STEP)),
      button("\u2212", "zoom out", () => view.zoom(1 / STEP)),
      button("all", "see all", () => view.reset()),
    ]);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { view, band } = this.graphs;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => view.pan(-0.2),
      ArrowRight: () => view.pan(0.2),
      ArrowUp: () => view.pan(0, 0.2),
      ArrowDown: () => view.pan(0, -0.2),
      "+": () => view.zoom(STEP),
      "=": () => view.zoom(STEP),
      "-": () => view.zoom(1 / STEP),
      "0": () => view.reset(),
      Home: () => view.reset(),
      n: () => this.go(band.step(1)),
      p: () => this.go(band.step(-1)),
      Escape: () => this.pick(null),
    };
    const action = actions[event.key];
    // Up and down scroll the page where no box holds the sequence numbers.
    if (action === undefined || (/^Arrow(Up|Down)$/.test(event.key) && view.sequence === null)) return;
    event.preventDefault();
    action();
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

  private wheel(event: WheelEvent): void {
    const { view } = this.graphs;
    const plot = this.graphs.charts[0].plot;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey) {
      const left = event.clientX - plot.over.getBoundingClientRect().left;
      view.zoom(1.0025 ** event.deltaY, plot.posToVal(left, "x"));
    } else if (event.shiftKey || sideways) {
      view.pan((sideways ? event.deltaX : event.deltaY) / plot.over.clientWidth);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Moves what is seen along with the pointer. */
  private move(event: MouseEvent): void {
    if (!(event.shiftKey && event.button === 0) && event.button !== 1) return;
    event.preventDefault();
    event.stopPropagation();
    const { view } = this.graphs;
    const over = this.graphs.charts[0].plot.over;
    let [x, y] = [event.clientX, event.clientY];
    const moved = (next: MouseEvent): void => {
      view.pan((x - next.clientX) / over.clientWidth, (next.clientY - y) / over.clientHeight);
      [x, y] = [next.clientX, next.clientY];
    };
    const done = (): void => {
      removeEventListener("mousemove", moved);
      removeEventListener("mouseup", done);
    };
    addEventListener("mousemove", moved);
    addEventListener("mouseup", done);
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
      const { cause, from_s, to_s, confidence } = interval;
      const span = `${instant(from_s, view.span)} to ${instant(to_s, view.span)} (${seconds(to_s - from_s)})`;
      this.showTip(event, `${causeTitle(cause)}\n${span}\nconfidence ${percent(confidence * 100)}`);
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
      const told = this.graphs.nearest(x, y, box.width / this.graphs.view.span, box.height / (high - low), 7);
      if (told === null || event.buttons !== 0) this.hideTip();
      else this.showTip(event, told);
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
