// Drawing many points quickly: what falls into one column of pixels is drawn once.

import uPlot from "uplot";
import { Samples } from "./series";
import { firstAt, Points } from "./data";

/** From values to pixels of the canvas. */
export interface Frame {
  ctx: CanvasRenderingContext2D;
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** Pixels of the canvas for one of the page. */
  ratio: number;
  from: number;
  to: number;
  x: (value: number) => number;
  y: (value: number) => number;
}

export function frameOf(u: uPlot): Frame {
  const { left, top, width, height } = u.bbox;
  const [from, to] = [u.scales.x.min ?? 0, u.scales.x.max ?? 1];
  const [low, high] = [u.scales.y.min ?? 0, u.scales.y.max ?? 1];
  const [perSecond, perUnit] = [width / (to - from), height / (high - low)];
  return {
    ctx: u.ctx,
    left,
    top,
    right: left + width,
    bottom: top + height,
    ratio: uPlot.pxRatio,
    from,
    to,
    x: (value) => left + (value - from) * perSecond,
    y: (value) => top + (high - value) * perUnit,
  };
}

/** Runs `draw` with everything outside of the plot cut off. */
export function clipped(frame: Frame, draw: () => void): void {
  const { ctx, left, top, right, bottom } = frame;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, right - left, bottom - top);
  ctx.clip();
  draw();
  ctx.restore();
}

/** How a kind of segments looks. */
export interface SegmentStyle {
  kind: number;
  colour: string;
  /** Pixels of the page. */
  width: number;
  /** Pixels of the page that it has at least, so that it is seen. */
  least: number;
}

/** Every segment of a kind as an upright line from its first octet to its last. */
export function drawSegments(frame: Frame, points: Points, style: SegmentStyle): void {
  const { ctx, ratio, x, y, top, bottom } = frame;
  const width = Math.max(1, Math.round(style.width * ratio));
  const least = style.least * ratio;
  const caps = 2 * ratio;
  ctx.fillStyle = style.colour;
  ctx.beginPath();
  // What is gathered for one column: neighbours that touch are one line.
  let [column, high, low] = [NaN, 0, 0];
  const flush = (): void => {
    if (Number.isNaN(column) || low < top || high > bottom) return;
    const left = column - (width >> 1);
    const [from, to] = [Math.max(high, top - 9), Math.min(low, bottom + 9)];
    ctx.rect(left, from, width, to - from);
    if (to - from > 7 * ratio && width <= 2 * ratio) {
      ctx.rect(left - caps, from, width + 2 * caps, ratio);
      ctx.rect(left - caps, to - ratio, width + 2 * caps, ratio);
    }
  };
  const end = firstAt(points.t, frame.to + 0.01 * (frame.to - frame.from), points.n);
  for (let i = firstAt(points.t, frame.from, points.n); i < end; i++) {
    if (points.kind[i] !== style.kind) continue;
    const at = Math.round(x(points.t[i]));
    let [above, below] = [y(points.to[i]), y(points.from[i])];
    if (below - above < least) {
      const middle = (above + below) / 2;
      [above, below] = [middle - least / 2, middle + least / 2];
    }
    if (at === column && above <= low + 1 && below >= high - 1) {
      // Close enough that the line between their ends is theirs.
      if (above < high) high = above;
      if (below > low) low = below;
      continue;
    }
    flush();
    [column, high, low] = [at, above, below];
  }
  flush();
  ctx.fill();
}

/** How a line looks. */
export interface LineStyle {
  colour: string;
  /** Pixels of the page. */
  width: number;
  dash?: number[];
}

/** A line that stays until it changes. */
export function drawSteps(frame: Frame, samples: Samples, style: LineStyle): void {
  const { ctx, ratio, x, y, from, to, top, bottom } = frame;
  const { t, v } = samples;
  let i = Math.max(0, firstAt(t, from) - 1);
  if (i >= t.length || t[i] > to) return;
  const limit = (value: number): number => Math.min(Math.max(value, top - 99), bottom + 99);
  ctx.strokeStyle = style.colour;
  ctx.lineWidth = style.width * ratio;
  ctx.lineJoin = "round";
  ctx.setLineDash((style.dash ?? []).map((part) => part * ratio));
  ctx.beginPath();
  let last = limit(y(v[i]));
  ctx.moveTo(Math.max(x(t[i]), frame.left - 9), last);
  for (i++; i < t.length && t[i] <= to; ) {
    const column = Math.round(x(t[i]));
    let [low, high] = [last, last];
    let at = last;
    // All within this column: once up and down.
    for (; i < t.length && t[i] <= to && Math.round(x(t[i])) === column; i++) {
      at = limit(y(v[i]));
      if (at < low) low = at;
      if (at > high) high = at;
    }
    ctx.lineTo(column, last);
    if (low < Math.min(last, at)) ctx.lineTo(column, low);
    if (high > Math.max(last, at)) ctx.lineTo(column, high);
    ctx.lineTo(column, at);
    last = at;
  }
  ctx.lineTo(Math.min(x(to), frame.right + 9), last);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A dot a sample; those that would lie on each other in a column are one stroke. */
export function drawDots(frame: Frame, samples: Samples, style: LineStyle): void {
  const { ctx, ratio, x, y, from, to } = frame;
  const size = Math.max(2, Math.round(style.width * ratio));
  ctx.fillStyle = style.colour;
  ctx.beginPath();
  let [column, high, low] = [NaN, 0, 0];
  for (let i = firstAt(samples.t, from); i < samples.t.length && samples.t[i] <= to; i++) {
    const at = Math.round(x(samples.t[i]) - size / 2);
    const level = Math.round(y(samples.v[i]) - size / 2);
    if (at === column && level <= low + size && level >= high - size) {
      high = Math.min(high, level);
      low = Math.max(low, level);
      continue;
    }
    if (!Number.isNaN(column)) ctx.rect(column, high, size, low - high + size);
    [column, high, low] = [at, level, level];
  }
  if (!Number.isNaN(column)) ctx.rect(column, high, size, low - high + size);
  ctx.fill();
}

/** Straight from sample to sample; of a column its first, lowest, highest and last. */
export function drawLine(frame: Frame, samples: Samples, style: LineStyle): void {
  const { ctx, ratio, x, y, from, to } = frame;
  const { t, v } = samples;
  const begin = Math.max(0, firstAt(t, from) - 1);
  const end = Math.min(t.length, firstAt(t, to) + 1);
  ctx.strokeStyle = style.colour;
  ctx.lineWidth = style.width * ratio;
  ctx.lineJoin = "round";
  ctx.setLineDash((style.dash ?? []).map((part) => part * ratio));
  ctx.beginPath();
  for (let i = begin; i < end; ) {
    const column = Math.round(x(t[i]));
    const first = y(v[i]);
    let [low, high, last] = [first, first, first];
    for (i++; i < end && Math.round(x(t[i])) === column; i++) {
      last = y(v[i]);
      low = Math.min(low, last);
      high = Math.max(high, last);
    }
    ctx.lineTo(column, first);
    if (low < first) ctx.lineTo(column, low);
    if (high > low) ctx.lineTo(column, high);
    ctx.lineTo(column, last);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A cross a sample. */
export function drawCrosses(frame: Frame, samples: Samples, style: LineStyle): void {
  const { ctx, ratio, x, y, from, to } = frame;
  const half = 3 * ratio;
  ctx.strokeStyle = style.colour;
  ctx.lineWidth = style.width * ratio;
  ctx.beginPath();
  for (let i = firstAt(samples.t, from); i < samples.t.length && samples.t[i] <= to; i++) {
    const [across, down] = [x(samples.t[i]), y(samples.v[i])];
    ctx.moveTo(across - half, down - half);
    ctx.lineTo(across + half, down + half);
    ctx.moveTo(across - half, down + half);
    ctx.lineTo(across + half, down - half);
  }
  ctx.stroke();
}
