// Plots that cannot be zoomed into: their pictures stay, and show the values of their points.

import { READING_HELP, hasMoved, tip } from "./reader";

/** As crates/report/src/plot/readings.rs writes it. */
export interface Readings {
  x: string;
  y: string;
  series: string[];
  /** Series, place in tenths of a pixel of the picture, values. */
  points: [number, number, number, string, string][];
}

/** Pixels of the page within which a point is meant by the pointer. */
const REACH = 24;

/** A picture whose points can be read. */
export class ReadPicture {
  private ring: Element;
  /** In the order in which keys go through them. */
  private order: number[];
  private at = -1;

  constructor(
    private readings: Readings,
    private svg: SVGSVGElement,
  ) {
    const { points } = readings;
    this.order = points.map((_, i) => i).sort((a, b) => points[a][1] - points[b][1] || points[a][0] - points[b][0]);
    this.ring = document.createElementNS(svg.namespaceURI, "circle");
    this.ring.setAttribute("class", "reading");
    this.ring.setAttribute("r", "7");
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-description", READING_HELP);
    svg.addEventListener("mousemove", (event) => this.point(event));
    svg.addEventListener("mouseleave", () => this.hide());
    svg.addEventListener("blur", () => this.hide());
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  /** Pixels of the page for one of the picture. */
  private scale(): { box: DOMRect; ratio: number } {
    const box = this.svg.getBoundingClientRect();
    return { box, ratio: box.width / this.svg.viewBox.baseVal.width };
  }

  private point(event: MouseEvent): void {
    // Scrolling to the picture moves it below a pointer at rest.
    if (!hasMoved()) return;
    const { box, ratio } = this.scale();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, nearest] = [-1, REACH];
    this.readings.points.forEach(([, px, py], i) => {
      const away = Math.hypot((px / 10) * ratio - x, (py / 10) * ratio - y);
      if (away < nearest) [best, nearest] = [i, away];
    });
    if (best < 0) this.hide();
    else this.show(best, event.clientX, event.clientY);
  }

  private key(event: KeyboardEvent): void {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by === 0 || this.order.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const count = this.order.length;
    this.at = this.at < 0 ? (by === 1 ? 0 : count - 1) : (this.at + by + count) % count;
    const i = this.order[this.at];
    const { box, ratio } = this.scale();
    const [, x, y] = this.readings.points[i];
    this.show(i, box.left + (x / 10) * ratio, box.top + (y / 10) * ratio);
  }

  private show(i: number, x: number, y: number): void {
    const { points, series } = this.readings;
    const [number, px, py, across, upright] = points[i];
    this.ring.setAttribute("cx", String(px / 10));
    this.ring.setAttribute("cy", String(py / 10));
    this.svg.append(this.ring);
    const name = series[number] === "" ? this.readings.y : series[number];
    const unit = /\(([^()]*)\)$/.exec(this.readings.y)?.[1] ?? "";
    tip().show(x, y, { time: `${this.readings.x}: ${across}`, rows: [{ name, value: unit === "" ? upright : `${upright} ${unit}` }] });
  }

  private hide(): void {
    this.ring.remove();
    tip().hide();
  }
}
