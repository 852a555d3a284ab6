// The plots of a report over time, to be zoomed into. What is drawn as SVG already stays for print.

import { Chart, Kind, noUnit } from "./chart";
import { Frame, LineStyle, drawCrosses, drawDots, drawLine, drawSteps } from "./draw";
import { Navigation } from "./navigation";
import { Range, View } from "./view";
import { Samples, extent } from "./series";
import { button, el, swatch } from "./dom";
import { onSchemeChange, paletteColour } from "./theme";

/** As crates/report/src/interactive.rs writes it. */
interface Embedded {
  title: string;
  x: { label: string; from: number; to: number; unit: number };
  y: { label: string; zero: boolean; fixed: Range | null; unit: number };
  series: EmbeddedSeries[];
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

interface Curve extends EmbeddedSeries {
  samples: Samples;
}

function curve(series: EmbeddedSeries, plot: Embedded): Curve {
  let at = 0;
  const t = Float64Array.from(series.x, (step) => plot.x.from + (at += step) * plot.x.unit);
  const v = Float64Array.from(series.y, (value) => value * plot.y.unit);
  return { ...series, samples: { t, v } };
}

/** One plot that has come alive. */
export class LivePlot {
  readonly chart: Chart;
  private curves: Curve[];
  private hidden = new Set<number>();
  private rises: boolean;
  private legend = el("div", { className: "legend parts", attributes: { role: "group", "aria-label": "curves" } });

  constructor(
    private plot: Embedded,
    figure: HTMLElement,
    readonly view: View,
    sync: string,
  ) {
    this.curves = plot.series.map((series) => curve(series, plot));
    this.rises = this.curves.every(({ samples: { v } }) => v.every((value, i) => i === 0 || value >= v[i - 1]));
    const graph = el("div", { className: "graph" });
    const root = el("div", { className: "graphs" }, [graph]);
    const navigation = new Navigation(root, view, () => this.chart.plot);
    const head = el("div", { className: "head" }, [el("figcaption", { text: plot.title }), navigation.buttons()]);
    figure.classList.add("live");
    const outlined = this.curves.some(({ samples }) => samples.t.length > OUTLINE);
    figure.append(head, this.legend, root, ...(outlined ? [el("p", { className: "note", text: OUTLINED })] : []));
    this.chart = new Chart(this.kind(sync), graph, view);
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

  private kind(sync: string): Kind {
    const { title, x, y } = this.plot;
    return {
      id: "plot",
      sync,
      title,
      height: 250,
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
    let range: Range = [Infinity, -Infinity];
    this.curves.forEach(({ samples }, number) => {
      if (!this.hidden.has(number)) range = extent(samples, time[0], time[1], range);
    });
    const [low, high] = [zero ? Math.min(0, range[0]) : range[0], range[1]];
    if (!(high > low)) return Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1];
    const margin = (high - low) * 0.06;
    return [zero && low === 0 ? 0 : low - margin, high + margin];
  }

  private draw(frame: Frame): void {
    this.curves.forEach(({ samples, mark, colour, dashed }, number) => {
      if (this.hidden.has(number)) return;
      const style: LineStyle = { colour: paletteColour(colour), width: 1.5, ...(dashed ? { dash: [6, 4] } : {}) };
      if (mark === "steps") drawSteps(frame, samples, style);
      else if (mark === "line") drawLine(frame, samples, style);
      else if (mark === "crosses") drawCrosses(frame, samples, style);
      else drawDots(frame, samples, { ...style, width: mark === "discs" ? 6 : 2.5 });
    });
  }

  private showLegend(): void {
    this.legend.replaceChildren(...this.curves.map(({ name, colour, dashed }, number) => {
      const made = button("", `show or hide: ${name}`, () => {
        if (!this.hidden.delete(number)) this.hidden.add(number);
        this.showLegend();
        this.view.changed();
      });
      made.append(swatch(paletteColour(colour), dashed), name);
      made.setAttribute("aria-pressed", String(!this.hidden.has(number)));
      return made;
    }));
  }
}

/** Brings all plots of the page to life; those of one section and time share what is seen. */
export function enliven(): LivePlot[] {
  const views = new Map<string, View>();
  const sections = [...document.querySelectorAll("section")];
  return [...document.querySelectorAll<HTMLScriptElement>("figure > script")].map((script) => {
    const figure = script.parentElement as HTMLElement;
    const plot = JSON.parse(script.textContent ?? "") as Embedded;
    const section = sections.findIndex((one) => one.contains(figure));
    const { from, to } = plot.x;
    const key = `${section} ${from} ${to}`;
    let view = views.get(key);
    if (view === undefined) {
      view = new View();
      view.coverJust([from, to]);
      views.set(key, view);
    }
    return new LivePlot(plot, figure, view, key);
  });
}
