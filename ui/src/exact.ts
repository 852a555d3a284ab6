// The sequence graph of a report: every segment where the page has it, outlines beyond.

import { ACK, DATA, Points, RETRANSMISSION, SACK, firstAt } from "./data";
import { Frame, clipped, drawSegments, drawSteps } from "./draw";
import { Range } from "./view";
import { Reading } from "./reader";
import { SegmentCurve } from "./segments";
import { Series, derive, extent } from "./series";
import { kindColour, paletteColour, windowColour } from "./theme";

/** What the graph can leave out. */
export const SEGMENT_PARTS = ["data", "retransmission", "SACK", "ACK", "window"] as const;
export type SegmentPart = (typeof SEGMENT_PARTS)[number];

const KINDS: { part: SegmentPart; kind: number; width: number; least: number }[] = [
  { part: "SACK", kind: SACK, width: 1, least: 1 },
  { part: "data", kind: DATA, width: 1.5, least: 1.5 },
  { part: "retransmission", kind: RETRANSMISSION, width: 2.5, least: 5 },
];

const NAMES: Record<number, string> = { [DATA]: "data", [RETRANSMISSION]: "retransmission", [SACK]: "SACK block", [ACK]: "ACK" };

/** Pixels within which a segment is meant by the pointer. */
const REACH = 10;

interface Flow extends SegmentCurve {
  series: Series;
}

export class ExactSegments {
  readonly flows: Flow[];
  readonly hidden = new Set<SegmentPart>();
  readonly hiddenFlows = new Set<number>();
  /** Up to then every segment of every flow is known. */
  readonly until: number;
  /** Whether any ACK says how large the window is. */
  readonly hasWindow: boolean;

  constructor(curves: SegmentCurve[], private bytes: number) {
    this.flows = curves.map((curve) => ({ ...curve, series: derive(curve.points) }));
    this.until = Math.min(...curves.map(({ until }) => until));
    this.hasWindow = this.flows.some(({ series }) => series.window.v.some((value) => value > 0));
    // Blocks and windows of several flows would cover each other.
    if (this.several) this.hidden.add("SACK").add("window");
  }

  get several(): boolean {
    return this.flows.length > 1;
  }

  /** The parts that there is something of. */
  get parts(): SegmentPart[] {
    return SEGMENT_PARTS.filter((part) => part !== "window" || this.hasWindow);
  }

  get count(): number {
    return this.flows.reduce((sum, { points }) => sum + points.n, 0);
  }

  partColour(part: SegmentPart): string {
    if (part === "window") return windowColour();
    if (part === "ACK") return kindColour(ACK);
    return kindColour(KINDS.find((known) => known.part === part)?.kind ?? DATA);
  }

  private shown(): Flow[] {
    return this.flows.filter((_, number) => !this.hiddenFlows.has(number));
  }

  draw(frame: Frame): void {
    const end = Math.min(frame.right, frame.x(this.until));
    if (end <= frame.left) return;
    clipped({ ...frame, right: end }, () => this.shown().forEach((flow) => this.drawFlow(frame, flow)));
  }

  private drawFlow(frame: Frame, { points, series, colour }: Flow): void {
    const own = paletteColour(colour);
    const of = (kind: number): string => (this.several ? own : kindColour(kind));
    if (!this.hidden.has("window") && this.hasWindow) {
      drawSteps(frame, series.edge, { colour: this.several ? own : windowColour(), width: 1, dash: [5, 3] });
    }
    if (!this.hidden.has("ACK")) drawSteps(frame, series.acked, { colour: of(ACK), width: 1 });
    for (const { part, kind, width, least } of KINDS) {
      if (!this.hidden.has(part)) drawSegments(frame, points, { kind, colour: of(kind), width, least });
    }
  }

  /** What the upright axis has to cover at this time. */
  range(time: Range, range: Range): Range {
    const to = Math.min(time[1], this.until);
    for (const { points, series } of this.shown()) {
      const end = firstAt(points.t, to, points.n);
      for (let i = firstAt(points.t, time[0], points.n); i < end; i++) {
        const top = points.kind[i] === ACK ? points.from[i] : points.to[i];
        range = [Math.min(range[0], points.from[i]), Math.max(range[1], top)];
      }
      range = extent(series.acked, time[0], to, range);
      if (this.hidden.has("window") || !this.hasWindow || !Number.isFinite(range[0])) continue;
      // The window's edge is shown where it is not far above.
      const edge = extent(series.edge, time[0], to, [Infinity, -Infinity])[1];
      if (edge < range[1] + 0.5 * (range[1] - range[0])) range = [range[0], Math.max(range[1], edge)];
    }
    return range;
  }

  /** The segment next to a place, else how far each flow's ACKs are; `unit` writes a time. */
  read(time: number, level: number | null, perX: number, perY: number, instant: (time: number) => string): Reading | null {
    if (time >= this.until) return null;
    const best = this.nearest(time, level, perX, perY);
    if (best !== null) {
      const { flow, at } = best;
      const kind = flow.points.kind[at];
      return { time: instant(flow.points.t[at]), rows: [this.row(flow, kind, at)] };
    }
    const rows = this.shown().flatMap((flow) => {
      const at = lastOf(flow.points, ACK, time);
      return at < 0 ? [] : [this.row(flow, ACK, at)];
    });
    return rows.length === 0 ? null : { time: instant(time), rows };
  }

  private row(flow: Flow, kind: number, at: number): Reading["rows"][number] {
    const [from, to] = [flow.points.from[at], flow.points.to[at]].map((value) => Math.round(value * this.bytes));
    const window = to > from ? `, window ${to - from} B` : "";
    return {
      colour: this.several ? paletteColour(flow.colour) : kindColour(kind),
      name: this.several ? `${flow.name}: ${NAMES[kind]}` : NAMES[kind],
      value: kind === ACK ? `${from}${window}` : `${from} to ${to} (${to - from} B)`,
    };
  }

  private nearest(time: number, level: number | null, perX: number, perY: number): { flow: Flow; at: number } | null {
    if (level === null) return null;
    let best: { away: number; flow: Flow; at: number } | null = null;
    for (const flow of this.shown()) {
      const { points } = flow;
      const end = firstAt(points.t, time + REACH / perX, points.n);
      for (let at = firstAt(points.t, time - REACH / perX, points.n); at < end; at++) {
        if (this.hides(points.kind[at])) continue;
        const top = points.kind[at] === ACK ? points.from[at] : points.to[at];
        const beyond = Math.max(points.from[at] - level, level - top, 0) * perY;
        const away = Math.hypot((points.t[at] - time) * perX, beyond);
        if (away <= REACH && (best === null || away < best.away)) best = { away, flow, at };
      }
    }
    return best;
  }

  private hides(kind: number): boolean {
    const part = kind === ACK ? "ACK" : KINDS.find((known) => known.kind === kind)?.part;
    return part === undefined || this.hidden.has(part);
  }

  /** The next time after `time`, or before it, at which something was sent or arrived. */
  next(time: number, by: 1 | -1): number | null {
    const times = this.shown().flatMap(({ points }) => {
      let i = firstAt(points.t, time, points.n);
      while (by === 1 && i < points.n && points.t[i] <= time) i++;
      const at = by === 1 ? i : i - 1;
      return at >= 0 && at < points.n ? [points.t[at]] : [];
    });
    return times.length === 0 ? null : by === 1 ? Math.min(...times) : Math.max(...times);
  }
}

/** The last point of a kind at or before a time; below zero for none. */
function lastOf(points: Points, kind: number, time: number): number {
  let i = firstAt(points.t, time, points.n);
  while (i < points.n && points.t[i] <= time) i++;
  for (i--; i >= 0 && points.kind[i] !== kind; i--);
  return i;
}
