// The plots of a report over time, to be zoomed into. What is drawn as SVG already stays for print.

import { Chart, Kind, noUnit } from "./chart";
import { EmbeddedSegments, canUnpack, unpack } from "./segments";
import { ExactSegments } from "./exact";
import { Frame, LineStyle, clipped, drawCrosses, drawDots, drawLine, drawSteps } from "./draw";
import { Navigation } from "./navigation";
import { Range, View } from "./view";
import { READING_HELP, Reader, Reading } from "./reader";
import { ReadPicture, Readings } from "./pictures";
import { Samples, extent, valueAt } from "./series";
import { firstAt } from "./data";
import { button, el, swatch } from "./dom";
import { count } from "./format";
import { onSchemeChange, paletteColour } from "./theme";

/** As crates/report/src/interactive.rs writes it. */
export interface Embedded {
  title: string;
  x: { label: string; from: number; to: number; unit: number };
  y: { label: string; zero: boolean; fixed: Range | null; unit: number };
  series: EmbeddedSeries[];
  segments?: EmbeddedSegments;
}

interface EmbeddedSeries {
  name: string;
  mark: "line" | "steps" | "dots" | "crosses" | "discs";
  colour: number;
  dashed: boolean;
  /** In `x.unit`, from `x.from` on; each as the difference to the one before. */
  x: number[];
  /** In `y.unit`. */
  y: number[];
}

/** Above so many points, a curve may be an outline: see docs/decisions/0021-series-keep-outlines.md. */
const OUTLINE = 2000;
const OUTLINED =
  "A curve of thousands of points is an outline: close up, what lies between its corners is not known.";
/** Pixels within which a mark that stands by itself is meant by the pointer. */
const REACH = 12;

interface Curve extends EmbeddedSeries {
  samples: Samples;
}

function curve(series: EmbeddedSeries, plot: Embedded): Curve {
  let at = 0;
  const t = Float64Array.from(series.x, (step) => plot.x.from + (at += step) * plot.x.unit);
  const v = Float64Array.from(series.y, (value) => value * plot.y.unit);
  return { ...series, samples: { t, v } };
}

/** What stands in the last parentheses of a label. */
const unitIn = (label: string): string => /\(([^()]*)\)$/.exec(label)?.[1] ?? "";

/** One plot that has come alive. */
export class LivePlot {
  readonly chart: Chart;
  private curves: Curve[];
  private hidden = new Set<number>();
  private rises: boolean;
  private legend = el("div", { className: "legend parts", attributes: { role: "group", "aria-label": "curves" } });
  private units: { x: string; y: string };

  constructor(
    private plot: Embedded,
    readonly figure: HTMLElement,
    readonly view: View,
    sync: string,
    /** Every segment, where the page has them. */
    readonly exact: ExactSegments | null,
  ) {
    this.curves = plot.series.map((series) => curve(series, plot));
    this.units = { x: unitIn(plot.x.label), y: unitIn(plot.y.label) };
    this.rises =
      exact !== null || this.curves.every(({ samples: { v } }) => v.every((value, i) => i === 0 || value >= v[i - 1]));
    const graph = el("div", { className: "graph" });
    const root = el("div", { className: "graphs" }, [graph]);
    const navigation = new Navigation(root, view, () => this.chart.plot);
    const head = el("div", { className: "head" }, [el("figcaption", { text: plot.title }), navigation.buttons()]);
    figure.classList.add("live");
    figure.append(head, this.legend, root, ...this.notes());
    this.chart = new Chart(this.kind(sync), graph, view);
    new Reader(root, view, [{
      plot: this.chart.plot,
      read: (time, level) => this.read(time, level),
      next: (time, by) => this.next(time, by),
    }]);
    this.showLegend();
    onSchemeChange(() => {
      this.showLegend();
      view.changed();
    });
    view.onChange(() => this.chart.show());
    new ResizeObserver(() => {
      this.chart.resize();
      view.changed();
    }).observe(graph);
  }

  /** Shows other data: all of its time if all of it was seen, else the same time as before. */
  update(plot: Embedded, picture: SVGSVGElement | null): void {
    const wasWhole = this.view.isWhole;
    const names = this.curves.map(({ name }) => name).join();
    this.plot = plot;
    this.curves = plot.series.map((series) => curve(series, plot));
    if (this.curves.map(({ name }) => name).join() !== names) {
      this.hidden.clear();
      this.showLegend();
    }
    if (picture !== null) this.figure.querySelector(":scope > svg")?.replaceWith(picture);
    const { from, to } = plot.x;
    this.view.widen([from, to], wasWhole);
  }

  /** What a reader has to know about how exact the graph is. */
  private notes(): HTMLElement[] {
    const { exact, plot } = this;
    const note = (text: string): HTMLElement[] => [el("p", { className: "note", text })];
    if (exact === null) return this.curves.some(({ samples }) => samples.t.length > OUTLINE) ? note(OUTLINED) : [];
    if (exact.until === Infinity) {
      return note(`Every segment is in this graph, ${count(exact.count)} points: zoom in to see each of them.`);
    }
    const bound = count(plot.segments?.bound ?? exact.count);
    return note(
      `Up to ${this.instant(exact.until)} every segment is in this graph; later, from where the line is drawn, ` +
        `curves are outlines, because a graph keeps at most ${bound} points.`,
    );
  }

  private kind(sync: string): Kind {
    const { title, x, y } = this.plot;
    return {
      id: "plot",
      sync,
      title: `${title}. ${READING_HELP}.`,
      height: this.exact === null ? 250 : 340,
      label: () => y.label,
      unit: noUnit,
      range: (time) => this.range(time),
      draw: (frame) => this.draw(frame),
      times: x.label,
    };
  }

  private range(time: Range): Range {
    const { fixed } = this.plot.y;
    // Close to what only rises, zero is far away.
    const zero = this.plot.y.zero && !(this.rises && !this.view.isWhole);
    if (fixed !== null) return fixed;
    let range: Range = this.exact?.range(time, [Infinity, -Infinity]) ?? [Infinity, -Infinity];
    const from = Math.max(time[0], this.outlinesFrom());
    if (from <= time[1]) {
      this.curves.forEach(({ samples }, number) => {
        if (!this.hidden.has(number)) range = extent(samples, from, time[1], range);
      });
    }
    const [low, high] = [zero ? Math.min(0, range[0]) : range[0], range[1]];
    if (!(high > low) && zero) return [0, 1];
    if (!(high > low)) return Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1];
    const margin = (high - low) * 0.06;
    return [zero && low === 0 ? 0 : low - margin, high + margin];
  }

  /** The time from which on outlines are drawn. */
  private outlinesFrom(): number {
    return this.exact?.until ?? -Infinity;
  }

  private draw(frame: Frame): void {
    this.exact?.draw(frame);
    const from = this.outlinesFrom();
    if (from > frame.to) return;
    const left = Math.max(frame.left, frame.x(from));
    if (left > frame.left) {
      frame.ctx.fillStyle = paletteColour(6);
      frame.ctx.fillRect(Math.round(left), frame.top, Math.max(1, frame.ratio), frame.bottom - frame.top);
    }
    clipped({ ...frame, left }, () => this.drawCurves(frame));
  }

  private drawCurves(frame: Frame): void {
    this.curves.forEach(({ samples, mark, colour, dashed }, number) => {
      if (this.hidden.has(number)) return;
      const style: LineStyle = { colour: paletteColour(colour), width: 1.5, ...(dashed ? { dash: [6, 4] } : {}) };
      if (mark === "steps") drawSteps(frame, samples, style);
      else if (mark === "line") drawLine(frame, samples, style);
      else if (mark === "crosses") drawCrosses(frame, samples, style);
      else drawDots(frame, samples, { ...style, width: mark === "discs" ? 6 : 2.5 });
    });
  }

  /** A time as exact as what is seen asks for. */
  private instant(time: number): string {
    const places = Math.min(9, Math.max(2, 4 - Math.floor(Math.log10(Math.max(this.view.span, 1e-9)))));
    return `${time.toFixed(places)}\u00a0${this.units.x}`;
  }

  /** The values at a time: what holds until it changes, and of points the one that is next. */
  private read(time: number, level: number | null): Reading | null {
    const { over, scales } = this.chart.plot;
    const [perX, high, low] = [over.clientWidth / this.view.span, scales.y.max ?? 1, scales.y.min ?? 0];
    const exact = this.exact?.read(time, level, perX, over.clientHeight / (high - low), (at) => this.instant(at));
    if (exact !== undefined && exact !== null) return exact;
    if (time < this.outlinesFrom()) return null;
    const rows = this.curves.flatMap(({ samples, mark, colour, name }, number) => {
      const value = this.hidden.has(number) ? null : mark === "steps" ? valueAt(samples, time) : near(samples, time, perX, mark === "line");
      if (value === null) return [];
      const words = `${digits(value)}${this.units.y === "" ? "" : `\u00a0${this.units.y}`}`;
      return [{ colour: paletteColour(colour), name: name === "" ? this.plot.y.label : name, value: words }];
    });
    return rows.length === 0 ? null : { time: this.instant(time), rows };
  }

  private next(time: number, by: 1 | -1): number | null {
    const exact = this.exact?.next(time, by) ?? null;
    const times = this.curves.flatMap(({ samples: { t } }, number) => {
      if (this.hidden.has(number)) return [];
      let i = firstAt(t, time);
      while (by === 1 && i < t.length && t[i] <= time) i++;
      const at = by === 1 ? i : i - 1;
      return at >= 0 && at < t.length && t[at] >= this.outlinesFrom() ? [t[at]] : [];
    });
    if (exact !== null) times.push(exact);
    return times.length === 0 ? null : by === 1 ? Math.min(...times) : Math.max(...times);
  }

  private showLegend(): void {
    this.legend.replaceChildren(...(this.exact === null ? [] : this.exactLegend(this.exact)), ...this.curves.map(
      ({ name, colour, dashed }, number) =>
        this.toggle(name, swatch(paletteColour(colour), dashed), this.hidden, number),
    ));
  }

  private exactLegend(exact: ExactSegments): HTMLElement[] {
    const parts = exact.parts.map((part) =>
      this.toggle(part, exact.several ? null : swatch(exact.partColour(part), part === "window"), exact.hidden, part));
    const flows = exact.flows.map(({ name, colour }, number) =>
      this.toggle(name, swatch(paletteColour(colour)), exact.hiddenFlows, number));
    return exact.several ? [...flows, ...parts] : parts;
  }

  private toggle<T>(name: string, mark: HTMLElement | null, hidden: Set<T>, what: T): HTMLElement {
    const made = button("", `show or hide: ${name}`, () => {
      if (!hidden.delete(what)) hidden.add(what);
      this.showLegend();
      this.view.changed();
    });
    made.append(...(mark === null ? [] : [mark]), name);
    made.setAttribute("aria-pressed", String(!hidden.has(what)));
    return made;
  }
}

/** A value with five digits that count. */
function digits(value: number): string {
  const size = Math.floor(Math.log10(Math.max(Math.abs(value), 1e-9)));
  return value.toFixed(Math.min(9, Math.max(0, 4 - size)));
}

/** The value of the sample next to a time; of marks that stand by themselves only where it is close. */
function near(samples: Samples, time: number, perX: number, isLine: boolean): number | null {
  const { t, v } = samples;
  const i = firstAt(t, time);
  const before = i > 0 && (i === t.length || time - t[i - 1] < t[i] - time) ? i - 1 : i;
  if (before < 0 || before >= t.length) return null;
  return isLine || Math.abs(t[before] - time) * perX <= REACH ? v[before] : null;
}

/** The data of the plot in a figure that can be zoomed into, or null. */
export function embedded(figure: Element): Embedded | null {
  const script = figure.querySelector(":scope > script");
  const plot = script === null ? null : (JSON.parse(script.textContent ?? "") as Embedded | Readings);
  return plot === null || "points" in plot ? null : plot;
}

/** Brings all plots of the page to life that are not yet; those of one section and time share what is seen. */
export async function enliven(): Promise<LivePlot[]> {
  const views = new Map<string, View>();
  const sections = [...document.querySelectorAll("section")];
  const made: LivePlot[] = [];
  for (const script of document.querySelectorAll<HTMLScriptElement>("figure > script")) {
    const figure = script.parentElement as HTMLElement;
    if (figure.classList.contains("live")) continue;
    const plot = JSON.parse(script.textContent ?? "") as Embedded | Readings;
    if ("points" in plot) {
      const svg = figure.querySelector("svg");
      if (svg !== null) new ReadPicture(plot, svg);
      continue;
    }
    const exact = await exactOf(plot);
    // Without the segments there may be nothing to draw: the picture stays.
    if (exact === null && plot.series.length === 0) continue;
    const section = sections.findIndex((one) => one.contains(figure));
    const { from, to } = plot.x;
    const key = `${section} ${from} ${to}`;
    let view = views.get(key);
    if (view === undefined) {
      view = new View();
      view.coverJust([from, to]);
      views.set(key, view);
    }
    made.push(new LivePlot(plot, figure, view, key, exact));
  }
  return made;
}

async function exactOf({ segments }: Embedded): Promise<ExactSegments | null> {
  return segments === undefined || !canUnpack() ? null : new ExactSegments(await unpack(segments), segments.y);
}
