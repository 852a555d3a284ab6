// Moving through the time with pointer, wheel and keys.

import uPlot from "uplot";
import { View } from "./view";
import { button, el } from "./dom";

const STEP = 0.5;

export const HELP =
  "Drag a box to zoom, Shift and drag to move, Ctrl and wheel to zoom, double click to see all. " +
  "With the keyboard: + and - zoom, arrows move, Shift and an arrow read the values one by one, 0 sees all";

/** Lets a reader move through the graphs in an element. */
export class Navigation {
  constructor(
    root: HTMLElement,
    private view: View,
    /** One of the graphs: they all lie over the same time. */
    private plot: () => uPlot,
    /** What other keys do. */
    private keys: Record<string, () => void> = {},
  ) {
    root.tabIndex = 0;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", `Graphs over time. ${HELP}.`);
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("dblclick", () => view.reset());
    // Before uPlot hears of it and begins a box.
    root.addEventListener("mousedown", (event) => this.move(event), { capture: true });
  }

  buttons(): HTMLElement {
    const { view } = this;
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
    const { view } = this;
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
      ...this.keys,
    };
    const action = actions[event.key];
    // Up and down scroll the page where no box holds the sequence numbers.
    if (action === undefined || (/^Arrow(Up|Down)$/.test(event.key) && view.sequence === null)) return;
    event.preventDefault();
    action();
  }

  private wheel(event: WheelEvent): void {
    const { view } = this;
    const plot = this.plot();
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
    const { view } = this;
    const { over } = this.plot();
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
}
