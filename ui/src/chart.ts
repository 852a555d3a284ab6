// One graph over the shared time: axes by uPlot, everything between them drawn here.

import uPlot from "uplot";
import { AxisUnit, ticks } from "./format";
import { Frame, clipped, frameOf } from "./draw";
import { Range, View } from "./view";
import { theme } from "./theme";

/** Width of what stands left of every graph, so that their times lie above each other. */
const LEFT = 76;
const RIGHT = 24;
const TIME_AXIS = 46;

/** What makes one graph different from the others. */
export interface Kind {
  id: string;
  /** Those of one name show the pointer of each other. */
  sync: string;
  /** What a screen reader says. */
  title: string;
  height: number;
  /** What the upright axis shows, without its unit; empty for none. */
  label: () => string;
  unit: (largest: number) => AxisUnit;
  /** What the upright axis covers at this time. */
  range: (time: Range) => Range;
  draw: (frame: Frame) => void;
  /** Whether there is nothing to draw, and so no scale. */
  isEmpty?: () => boolean;
  /** Draws what stands left of the plot. */
  beside?: (frame: Frame) => void;
  /** What stands below it: times, or nothing. */
  times: string | null;
  /** Whether a box may be drawn in both directions. */
  box?: boolean;
}

/** The font of what stands on a canvas, in pixels. */
export const font = (size = 12): string =>
  `${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

function axes(kind: Kind): uPlot.Axis[] {
  const common: uPlot.Axis = {
    stroke: () => theme().faint,
    font: font(),
    labelFont: font(),
    grid: { stroke: () => theme().grid, width: 1 },
    ticks: { stroke: () => theme().axis, width: 1, size: 4 },
    gap: 4,
  };
  const time: uPlot.Axis = {
    ...common,
    space: 80,
    size: kind.times === null ? 0 : TIME_AXIS - 20,
    label: kind.times ?? undefined,
    labelSize: 20,
    ticks: { ...common.ticks, show: kind.times !== null },
    values: (_, splits) => (kind.times === null ? splits.map(() => "") : ticks(splits, { size: 1, name: "" })),
  };
  const upright: uPlot.Axis = {
    ...common,
    size: LEFT - 20,
    labelSize: 20,
    space: 28,
    label: (u) => {
      const unit = kind.unit(u.scales.y.max ?? 1);
      return unit.name === "" ? kind.label() : `${kind.label()} (${unit.name})`;
    },
    values: (u, splits) =>
      kind.isEmpty?.() === true ? splits.map(() => "") : ticks(splits, kind.unit(u.scales.y.max ?? 1)),
  };
  const none: uPlot.Axis = { ...common, size: LEFT, grid: { show: false }, ticks: { show: false }, values: () => [] };
  return [time, kind.label() === "" ? none : upright];
}

export class Chart {
  readonly plot: uPlot;

  constructor(
    readonly kind: Kind,
    readonly element: HTMLElement,
    private view: View,
  ) {
    const options: uPlot.Options = {
      width: this.width(),
      height: this.height(),
      padding: [10, RIGHT, kind.times === null ? 4 : 0, 0],
      legend: { show: false },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      series: [{}, { scale: "y", show: true, paths: () => null, points: { show: false } }],
      axes: axes(kind),
      cursor: {
        sync: { key: kind.sync, scales: ["x", null] },
        points: { show: false },
        drag: { x: true, y: kind.box === true, uni: 24, dist: 5, setScale: false },
        y: kind.box === true,
        // A double click resets all graphs: see controls.ts.
        bind: { dblclick: () => null },
      },
      hooks: {
        draw: [
          (u) => {
            const frame = frameOf(u);
            clipped(frame, () => kind.draw(frame));
            kind.beside?.(frame);
          },
        ],
        setSelect: [(u) => this.selected(u)],
      },
    };
    this.plot = new uPlot(options, [[0, 1], [null, null]] as uPlot.AlignedData, element);
    this.plot.ctx.canvas.setAttribute("role", "img");
    this.plot.ctx.canvas.setAttribute("aria-label", kind.title);
  }

  private width(): number {
    return Math.max(240, this.element.clientWidth);
  }

  private height(): number {
    return this.kind.height + (this.kind.times === null ? 0 : TIME_AXIS);
  }

  resize(): void {
    this.plot.setSize({ width: this.width(), height: this.height() });
  }

  /** Takes over what is seen. */
  show(): void {
    const [min, max] = this.view.time;
    const [low, high] = this.kind.range([min, max]);
    this.plot.batch(() => {
      this.plot.setScale("x", { min, max });
      this.plot.setScale("y", { min: low, max: high });
      // Other data or colours with the same scales.
      this.plot.redraw(false, true);
    });
  }

  /** A box was drawn. */
  private selected(u: uPlot): void {
    const { left, top, width, height } = u.select;
    if (width < 5 && height < 5) return;
    const all = u.over.clientHeight;
    const time: Range = width < 5 ? this.view.time : [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    const boxed = this.kind.box === true && height < all - 1;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.set(
      time,
      boxed ? [u.posToVal(top + height, "y"), u.posToVal(top, "y")] : null,
    );
  }
}

export const noUnit = (): AxisUnit => ({ size: 1, name: "" });