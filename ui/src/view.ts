// The part of the time that is seen, shared by every graph; and, where somebody drew a box, the part of
// the sequence numbers.

/** From and to. */
export type Range = [number, number];

const NARROWEST = 20e-6;

export class View {
  /** All there is. */
  private whole: Range = [0, 1];
  private x: Range = [0, 1];
  private y: Range | null = null;
  private told: (() => void)[] = [];
  private asked = false;

  get time(): Range {
    return this.x;
  }

  /** Sequence numbers, where they do not follow from the time. */
  get sequence(): Range | null {
    return this.y;
  }

  get span(): number {
    return this.x[1] - this.x[0];
  }

  get isWhole(): boolean {
    return this.y === null && this.x[0] === this.whole[0] && this.x[1] === this.whole[1];
  }

  onChange(listener: () => void): void {
    this.told.push(listener);
  }

  /** Other data: from 0 to `end`, and a little around it. */
  cover(end: number): void {
    const margin = Math.max(end, NARROWEST) * 0.01;
    this.coverJust([-margin, Math.max(end, NARROWEST) + margin]);
  }

  /** Other data: just this. */
  coverJust(whole: Range): void {
    this.whole = whole;
    this.reset();
  }

  /** More data: all of it is seen if `follow`, else the same part as before. */
  widen(whole: Range, follow: boolean): void {
    this.whole = whole;
    if (follow) this.reset();
    else this.set(this.x);
  }

  reset(): void {
    this.set(this.whole, null);
  }

  /** Shows this, as far as there is something. */
  set(time: Range, sequence: Range | null = this.y): void {
    const [low, high] = this.whole;
    const span = Math.min(Math.max(time[1] - time[0], NARROWEST), high - low);
    const from = Math.min(Math.max((time[0] + time[1] - span) / 2, low), high - span);
    this.x = span === high - low ? [low, high] : [from, from + span];
    this.y = sequence;
    this.changed();
  }

  /** Makes `factor` of the time fill the graph; what is at `centre` stays there. */
  zoom(factor: number, centre = (this.x[0] + this.x[1]) / 2): void {
    const [from, to] = this.x;
    this.set([centre - (centre - from) * factor, centre + (to - centre) * factor], null);
  }

  /** Moves on by this part of what is seen. */
  pan(part: number, sequencePart = 0): void {
    const by = part * this.span;
    const [low, high] = this.whole;
    const held = Math.min(Math.max(by, low - this.x[0]), high - this.x[1]);
    const y = this.y;
    const rise = y === null ? 0 : sequencePart * (y[1] - y[0]);
    this.set([this.x[0] + held, this.x[1] + held], y === null ? null : [y[0] + rise, y[1] + rise]);
  }

  /** Draws anew before the next frame, once. */
  changed(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.draw());
  }

  /** Draws now. */
  draw(): void {
    this.asked = false;
    this.told.forEach((listener) => listener());
  }
}
