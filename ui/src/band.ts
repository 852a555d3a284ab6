// The causes along the time: a row of coloured stretches for each data set.

import { Frame } from "./draw";
import { Interval } from "./data";
import { Range } from "./view";
import { causeColour, isTrouble } from "./causes";
import { theme } from "./theme";

export const ROW = 30;
const GAP = 4;

/** The intervals of the connection shown of one data set. */
export interface BandRow {
  label: string;
  intervals: Interval[];
}

/** One interval: of which row, and which. */
export interface Picked {
  row: number;
  index: number;
}

export class Band {
  rows: BandRow[] = [];
  picked: Picked | null = null;
  /** The cause that the reader looks for. */
  sought: string | null = null;

  get height(): number {
    return Math.max(1, this.rows.length) * (ROW + GAP) + GAP;
  }

  interval(place: Picked | null): Interval | null {
    return place === null ? null : (this.rows[place.row]?.intervals[place.index] ?? null);
  }

  /** What is at this place of the plot, in pixels of the page. */
  at(time: number, top: number, tolerance: number): Picked | null {
    const row = Math.floor((top - GAP / 2) / (ROW + GAP));
    const intervals = this.rows[row]?.intervals;
    if (intervals === undefined) return null;
    let best: Picked | null = null;
    let nearest = tolerance;
    for (let index = firstEnding(intervals, time - tolerance); index < intervals.length; index++) {
      const { from_s, to_s } = intervals[index];
      if (from_s > time + tolerance) break;
      const away = time < from_s ? from_s - time : time >= to_s ? time - to_s : -1;
      // Something short beside the pointer is meant as well, but not before what is under it.
      if (away <= nearest) [best, nearest] = [{ row, index }, away];
      if (away < 0) break;
    }
    return best;
  }

  /** The next interval that is seen, or the one before. */
  step(by: 1 | -1): Picked | null {
    const from = this.picked ?? { row: 0, index: by === 1 ? -1 : 0 };
    const count = this.rows[from.row]?.intervals.length ?? 0;
    if (count === 0) return null;
    return { row: from.row, index: Math.min(Math.max(from.index + by, 0), count - 1) };
  }

  draw(frame: Frame): void {
    this.rows.forEach((row, number) => this.drawRow(frame, row.intervals, number));
  }

  /** The names of the rows, left of them. */
  label({ ctx, left, top, ratio }: Frame, font: string): void {
    ctx.fillStyle = theme().faint;
    ctx.font = font;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    this.rows.forEach(({ label }, row) => {
      const name = this.rows.length > 1 ? label : "causes";
      ctx.fillText(name, left - 8 * ratio, top + (GAP + row * (ROW + GAP) + ROW / 2) * ratio, left - 12 * ratio);
    });
  }

  private drawRow(frame: Frame, intervals: Interval[], row: number): void {
    const { ctx, ratio, x } = frame;
    const top = Math.round(frame.top + (GAP + row * (ROW + GAP)) * ratio);
    const height = Math.round(ROW * ratio);
    const colours = new Map<string, string>();
    for (let i = firstEnding(intervals, frame.from); i < intervals.length; i++) {
      const { from_s, to_s, cause } = intervals[i];
      if (from_s > frame.to) break;
      let colour = colours.get(cause);
      if (colour === undefined) colours.set(cause, (colour = causeColour(cause)));
      const [left, right] = [Math.round(x(from_s)), Math.round(x(to_s))];
      ctx.globalAlpha = this.sought === null || this.sought === cause ? 1 : 0.15;
      ctx.fillStyle = colour;
      ctx.fillRect(left, top, Math.max(1, right - left), height);
      if (right - left > 6 * ratio) {
        // A seam, so that neighbours of one family are told apart.
        ctx.globalAlpha = 1;
        ctx.fillStyle = theme().paper;
        ctx.fillRect(right - Math.ceil(ratio / 2), top, Math.ceil(ratio / 2), height);
      }
    }
    ctx.globalAlpha = 1;
    if (this.picked?.row !== row) return;
    const picked = this.interval(this.picked);
    if (picked === null) return;
    const [left, right] = [x(picked.from_s), x(picked.to_s)];
    ctx.strokeStyle = theme().words;
    ctx.lineWidth = 2 * ratio;
    ctx.strokeRect(left - ratio, top - ratio, Math.max(right - left, ratio) + 2 * ratio, height + 2 * ratio);
  }

  /** Zero windows, timeouts and outages as bands behind another graph, each with a tab at the top. */
  mark(frame: Frame): void {
    const { ctx, ratio, x, top, bottom } = frame;
    const tab = Math.round(6 * ratio);
    for (const { intervals } of this.rows) {
      for (let i = firstEnding(intervals, frame.from); i < intervals.length; i++) {
        const { from_s, to_s, cause } = intervals[i];
        if (from_s > frame.to) break;
        if (!isTrouble(cause)) continue;
        const left = Math.round(x(from_s));
        const width = Math.max(Math.round(x(to_s)) - left, Math.round(2 * ratio));
        ctx.fillStyle = causeColour(cause);
        ctx.globalAlpha = 0.18;
        ctx.fillRect(left, top, width, bottom - top);
        ctx.globalAlpha = 1;
        ctx.fillRect(left, top, width, tab);
      }
    }
  }

  /** The marked interval at this time, within `tolerance` seconds. */
  marked(time: number, tolerance: number): Interval | null {
    for (const { intervals } of this.rows) {
      for (let i = firstEnding(intervals, time - tolerance); i < intervals.length; i++) {
        if (intervals[i].from_s > time + tolerance) break;
        if (isTrouble(intervals[i].cause)) return intervals[i];
      }
    }
    return null;
  }

  /** The picked interval as a shade behind another graph. */
  shade(frame: Frame): void {
    const picked = this.interval(this.picked);
    if (picked === null) return;
    const [left, right]: Range = [frame.x(picked.from_s), frame.x(picked.to_s)];
    frame.ctx.fillStyle = theme().selected;
    frame.ctx.fillRect(left, frame.top, Math.max(right - left, frame.ratio), frame.bottom - frame.top);
  }
}

/** The first interval that ends after `time`. */
function firstEnding(intervals: Interval[], time: number): number {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[middle].to_s <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
