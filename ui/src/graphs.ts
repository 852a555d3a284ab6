// The five graphs over one time: segments, causes, round trips, window and flight, throughput.

import { ACK, Connection, DATA, KINDS, OUT_OF_ORDER, Points, RETRANSMISSION, SACK, firstAt } from "./data";
import { Band } from "./band";
import { Chart, Kind, font, noUnit } from "./chart";
import { Frame, SegmentStyle, drawDots, drawSegments, drawSteps } from "./draw";
import { Samples, Series, extent, rates, valueAt } from "./series";
import { Range, View } from "./view";
import { Readable, Reading } from "./reader";
import { instant, octets, octetsUnit, rate, rateUnit, seconds, secondsUnit } from "./format";
import { kindColour, setColour, theme, windowColour } from "./theme";

/** The connection shown of one data set. */
export interface Shown {
  label: string;
  connection: Connection;
  /** Display filter for Wireshark, or nothing. */
  filter: string;
  points: Points | null;
  series: Series | null;
}

/** The marks of zero windows, timeouts and outages. */
export const TROUBLE = "zero window, timeout, outage";
/** What the sequence graph can leave out. */
export const PARTS = ["data", "retransmission", "out of order", "SACK", "ACK", "window", TROUBLE] as const;
export type Part = (typeof PARTS)[number];

const SYNC = "connection";

const SEGMENTS: { part: Part; kind: number; width: number; least: number }[] = [
  { part: "SACK", kind: SACK, width: 1, least: 1 },
  { part: "data", kind: DATA, width: 1.5, least: 1.5 },
  { part: "out of order", kind: OUT_OF_ORDER, width: 2, least: 4 },
  { part: "retransmission", kind: RETRANSMISSION, width: 2, least: 4 },
];

export class Graphs {
  shown: Shown[] = [];
  readonly band = new Band();
  readonly hidden = new Set<Part>();
  readonly charts: Chart[];
  /** Milliseconds that drawing took, lately. */
  readonly took: number[] = [];

  constructor(
    root: HTMLElement,
    readonly view: View,
    sets: number,
  ) {
    this.band.rows = Array.from({ length: sets }, () => ({ label: "", intervals: [] }));
    const kinds = [this.sequence(), this.causes(), this.roundTrips(), this.windows(), this.throughput()];
    this.charts = kinds.map((kind) => {
      const element = document.createElement("div");
      element.className = `graph ${kind.id}`;
      root.append(element);
      return new Chart(kind, element, view);
    });
    view.onChange(() => this.draw());
  }

  chart(id: string): Chart {
    const found = this.charts.find((chart) => chart.kind.id === id);
    if (found === undefined) throw new Error(`no graph ${id}`);
    return found;
  }

  show(shown: Shown[]): void {
    this.shown = shown;
    this.band.picked = null;
    this.band.rows = shown.map(({ label, connection }) => ({ label, intervals: connection.intervals }));
    this.view.cover(Math.max(...shown.map(({ connection }) => connection.duration_s)));
  }

  /** Draws all graphs anew. */
  private draw(): void {
    const began = performance.now();
    this.charts.forEach((chart) => chart.show());
    // uPlot draws at the end of the task: measured behind it.
    queueMicrotask(() => {
      this.took.push(performance.now() - began);
      if (this.took.length > 200) this.took.shift();
    });
  }

  private isEmpty(): boolean {
    return this.shown.every(({ points }) => points === null);
  }

  /** For each data set its series, where it has packets. */
  private each(use: (series: Series, index: number) => void): void {
    this.shown.forEach(({ series }, index) => {
      if (series !== null) use(series, index);
    });
  }

  private colour(index: number): string {
    return setColour(index, this.shown.length);
  }

  private sequence(): Kind {
    return {
      id: "sequence",
      sync: SYNC,
      title: "Time-sequence graph: segments, retransmissions, SACK blocks, ACKs and the window",
      height: 300,
      label: () => "sequence offset",
      unit: octetsUnit,
      range: (time) => this.view.sequence ?? this.sequenceRange(time),
      draw: (frame) => this.drawSequence(frame),
      times: null,
      isEmpty: () => this.isEmpty(),
      box: true,
    };
  }

  private drawSequence(frame: Frame): void {
    this.band.shade(frame);
    if (!this.hidden.has(TROUBLE)) this.band.mark(frame);
    const { faint } = theme();
    const window = windowColour();
    if (this.isEmpty()) {
      const { ctx, ratio } = frame;
      ctx.fillStyle = faint;
      ctx.font = font(14 * ratio);
      ctx.textAlign = "center";
      const words = "The page has no packets of this connection, only its causes.";
      ctx.fillText(words, (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2, frame.right - frame.left);
    }
    this.shown.forEach(({ points, series }, index) => {
      if (points === null || series === null) return;
      const earlier = this.shown.length > 1 && index === 0;
      if (!this.hidden.has("window")) {
        drawSteps(frame, series.edge, { colour: window, width: 1, dash: [5, 3] });
      }
      if (!this.hidden.has("ACK")) {
        const colour = this.shown.length > 1 ? this.colour(index) : kindColour(ACK);
        drawSteps(frame, series.acked, { colour, width: 1 });
      }
      for (const { part, kind, width, least } of SEGMENTS) {
        if (this.hidden.has(part)) continue;
        const colour = kind === DATA ? this.colour(index) : kindColour(kind);
        const style: SegmentStyle = { kind, colour, width, least };
        frame.ctx.globalAlpha = earlier && kind !== RETRANSMISSION ? 0.6 : 1;
        drawSegments(frame, points, style);
        frame.ctx.globalAlpha = 1;
      }
    });
  }

  /** What holds the segments that are seen, and the window's edge where it is not far above. */
  private sequenceRange(time: Range): Range {
    let range: Range = [Infinity, -Infinity];
    let edge: Range = [Infinity, -Infinity];
    for (const { points, series } of this.shown) {
      if (points === null || series === null) continue;
      const end = firstAt(points.t, time[1], points.n);
      for (let i = firstAt(points.t, time[0], points.n); i < end; i++) {
        const to = points.kind[i] === ACK ? points.from[i] : points.to[i];
        if (points.from[i] < range[0]) range[0] = points.from[i];
        if (to > range[1]) range[1] = to;
      }
      range = extent(series.acked, time[0], time[1], range);
      if (!this.hidden.has("window")) edge = extent(series.edge, time[0], time[1], edge);
    }
    if (!(range[1] > range[0])) return Number.isFinite(range[0]) ? [range[0] - 1, range[0] + 1500] : [0, 1];
    const height = range[1] - range[0];
    const high = edge[1] < range[1] + height * 0.5 ? Math.max(range[1], edge[1]) : range[1];
    const margin = Math.max((high - range[0]) * 0.03, 1);
    return [range[0] - margin, high + margin];
  }

  private causes(): Kind {
    return {
      id: "causes",
      sync: SYNC,
      title: "Causes along the time",
      height: this.band.height + 12,
      label: () => "",
      unit: noUnit,
      range: () => [0, 1],
      draw: (frame) => this.band.draw(frame),
      beside: (frame) => this.band.label(frame, font(12 * frame.ratio)),
      times: null,
    };
  }

  private roundTrips(): Kind {
    return this.amounts("rtt", "RTT", "Round trips, from a segment to its ACK", secondsUnit, (series) => [series.rtt], (frame) =>
      this.each(({ rtt }, index) => drawDots(frame, rtt, { colour: this.colour(index), width: 2.5 })),
    );
  }

  private windows(): Kind {
    return this.amounts("window", "in flight", "Octets in flight, and the window advertised", octetsUnit, (series) => [series.flight], (frame) =>
      this.each(({ flight, window }, index) => {
        const colour = this.colour(index);
        drawSteps(frame, window, { colour: this.shown.length > 1 ? colour : windowColour(), width: 1.25, dash: [5, 3] });
        drawSteps(frame, flight, { colour, width: 1.25 });
      }),
    );
  }

  private amounts(
    id: string,
    label: string,
    title: string,
    unit: Kind["unit"],
    of: (series: Series) => Samples[],
    draw: (frame: Frame) => void,
  ): Kind {
    const range = (time: Range): Range => {
      let [, high]: Range = [0, 0];
      this.each((series) => {
        for (const samples of of(series)) high = extent(samples, time[0], time[1], [0, high])[1];
        // The window is shown where it is not far above what is in flight.
        if (id === "window") {
          const edge = extent(series.window, time[0], time[1], [0, 0])[1];
          if (edge < 2.5 * high) high = Math.max(high, edge);
        }
      });
      return [0, high > 0 ? high * 1.08 : 1];
    };
    return {
      id,
      sync: SYNC,
      title,
      height: 112,
      label: () => label,
      unit,
      range,
      draw: (frame) => {
        this.band.shade(frame);
        draw(frame);
      },
      times: null,
      isEmpty: () => this.isEmpty(),
    };
  }

  /** Seconds over which throughput is summed: a hundredth and some of what is seen, but a round trip at least. */
  step(time: Range): number {
    const trips = this.shown.map(({ connection }) => connection.path.base_rtt_s ?? 1e-3);
    const wanted = Math.max((time[1] - time[0]) / 150, Math.min(...trips, 1), 1e-3);
    const power = 10 ** Math.floor(Math.log10(wanted));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted * 0.999) ?? wanted;
  }

  private throughput(): Kind {
    const seen = (series: Series, time: Range): Samples => rates(series.sent, time[0], time[1], this.step(time));
    return {
      id: "throughput",
      sync: SYNC,
      title: "Throughput of data segments",
      height: 112,
      label: () => "sent",
      unit: rateUnit,
      range: (time) => {
        let high = 0;
        this.each((series) => {
          for (const value of seen(series, time).v) high = Math.max(high, value);
        });
        return [0, high > 0 ? high * 1.08 : 1];
      },
      draw: (frame) => {
        this.band.shade(frame);
        const time: Range = [frame.from, frame.to];
        this.each((series, index) =>
          drawSteps(frame, seen(series, time), { colour: this.colour(index), width: 1.5 }),
        );
      },
      times: "time since the connection's first packet (s)",
      isEmpty: () => this.isEmpty(),
    };
  }

  /** What the pointer and the keys read off the graphs below the sequence graph. */
  readable(): Readable[] {
    const of = (id: string, rows: (series: Series, time: number) => [string, string | null][]): Readable => ({
      plot: this.chart(id).plot,
      read: (time) => this.reading(time, rows),
      next: (time, by) => this.next(time, by),
    });
    const words = (samples: Samples, time: number, write: (value: number) => string): string | null => {
      const value = valueAt(samples, time);
      return value === null ? null : write(value);
    };
    return [
      of("rtt", ({ rtt }, time) => [["RTT", words(rtt, time, seconds)]]),
      of("window", ({ flight, window }, time) => [
        ["in flight", words(flight, time, octets)],
        ["window", words(window, time, octets)],
      ]),
      of("throughput", ({ sent }, time) => {
        const step = this.step(this.view.time);
        return [["sent", words(rates(sent, time, time + step / 1e6, step), time, rate)]];
      }),
    ];
  }

  /** How far the ACKs are, with keys. */
  readAcks(time: number): Reading | null {
    return this.reading(time, ({ acked, edge }, time) => {
      const una = valueAt(acked, time);
      const right = valueAt(edge, time);
      return [["ACK", una === null ? null : String(una)], ["window up to", right === null ? null : String(right)]];
    });
  }

  private reading(time: number, rows: (series: Series, time: number) => [string, string | null][]): Reading | null {
    const found: Reading["rows"] = [];
    this.each((series, index) => {
      for (const [name, value] of rows(series, time)) {
        const whose = this.shown.length > 1 ? `${this.shown[index].label}: ` : "";
        if (value !== null) found.push({ colour: this.colour(index), name: whose + name, value });
      }
    });
    return found.length === 0 ? null : { time: instant(time, this.view.span), rows: found };
  }

  /** The next time after `time`, or before it, with a packet. */
  next(time: number, by: 1 | -1): number | null {
    const times = this.shown.flatMap(({ points }) => {
      if (points === null) return [];
      let i = firstAt(points.t, time, points.n);
      while (by === 1 && i < points.n && points.t[i] <= time) i++;
      const at = by === 1 ? i : i - 1;
      return at >= 0 && at < points.n ? [points.t[at]] : [];
    });
    return times.length === 0 ? null : by === 1 ? Math.min(...times) : Math.max(...times);
  }

  /** The point of the sequence graph that is next to this place, if one is within `reach` pixels. */
  nearest(time: number, offset: number, perSecond: number, perOctet: number, reach: number): Reading | null {
    let best: { away: number; shown: Shown; at: number } | null = null;
    for (const shown of this.shown) {
      const { points } = shown;
      if (points === null) continue;
      const end = firstAt(points.t, time + reach / perSecond, points.n);
      for (let at = firstAt(points.t, time - reach / perSecond, points.n); at < end; at++) {
        const to = points.kind[at] === ACK ? points.from[at] : points.to[at];
        const beyond = Math.max(points.from[at] - offset, offset - to, 0) * perOctet;
        const away = Math.hypot((points.t[at] - time) * perSecond, beyond);
        if (away <= reach && (best === null || away < best.away)) best = { away, shown, at };
      }
    }
    return best === null ? null : this.told(best.shown, best.at);
  }

  private told({ label, points }: Shown, at: number): Reading | null {
    if (points === null) return null;
    const names: Record<string, string> = {
      d: "data",
      o: "out of order",
      r: "retransmission",
      s: "SACK block",
      a: "ACK",
    };
    const [from, to] = [points.from[at], points.to[at]];
    const kind = points.kind[at];
    const what = kind === ACK ? `ACK ${from}, window ${to - from} B` : `${names[KINDS[kind]]} ${from} to ${to} (${to - from} B)`;
    const whose = this.shown.length > 1 ? `${label}: ` : "";
    const time = `${points.t[at].toFixed(6)}\u00a0s, frame ${points.frame[at]}`;
    return { time, rows: [{ colour: kindColour(kind), name: whose + what, value: "" }] };
  }
}
