// The interactive part of a diagnosis: takes the place of the tables of connections that stand in the page.

import { ACK, DATA, OUT_OF_ORDER, RETRANSMISSION, SACK } from "./data";
import { Connection, DataSet, Page, Points, decode, sender } from "./data";
import { Controls } from "./controls";
import { Graphs, PARTS, Part, Shown, TROUBLE } from "./graphs";
import { HELP } from "./navigation";
import { List, account, facts, intervals, remedies } from "./tables";
import { Picked } from "./band";
import { Series, derive } from "./series";
import { View } from "./view";
import { button, copied, el, swatch } from "./dom";
import { causeColour, causeOrder, causeTitle, secondsLost } from "./causes";
import { instant, percent, seconds } from "./format";
import { kindColour, onSchemeChange, setColour, windowColour } from "./theme";

export class App {
  private view = new View();
  private graphs: Graphs;
  private controls: Controls;
  private list: List;
  private chosen: number[];
  /** Whether the graphs show the direction of less data. */
  private reversed = false;
  private directions = el("div", { className: "legend directions", attributes: { role: "group", "aria-label": "direction of the data" } });
  private decoded = new Map<string, { points: Points; series: Series }>();
  private parts = el("div", { className: "legend parts", attributes: { role: "group", "aria-label": "what the sequence graph shows" } });
  private legend = el("div", { className: "legend", attributes: { role: "group", "aria-label": "causes" } });
  private panel = el("div", { className: "panel", attributes: { "aria-live": "polite" } });
  private about = el("div", { className: "about" });
  private said = el("p", { className: "seen" });

  constructor(
    private page: Page,
    root: HTMLElement,
  ) {
    this.chosen = page.sets.map(worst);
    const graphs = el("div", { className: "graphs" });
    const head = el("div", { className: "head" });
    this.list = new List(page.sets, (set) => this.chosen[set], (set, id) => this.choose(set, id));
    root.replaceChildren(
      el("h2", { text: "Connections" }),
      this.list.element,
      el("h2", { text: "Over time" }),
      head,
      this.directions,
      this.parts,
      graphs,
      this.legend,
      this.panel,
      el("p", { className: "note", text: `${HELP}, n and p go from interval to interval.` }),
      this.about,
    );
    this.graphs = new Graphs(graphs, this.view, page.sets.length);
    this.controls = new Controls(graphs, this.graphs, (place) => this.pick(place));
    head.append(this.said, this.controls.navigation.buttons());
    this.view.onChange(() => this.say());
    onSchemeChange(() => this.recolour());
    new ResizeObserver(() => {
      this.graphs.charts.forEach((chart) => chart.resize());
      this.view.changed();
    }).observe(graphs);
    this.show();
  }

  private choose(set: number, id: number): void {
    this.chosen[set] = id;
    this.list.show();
    this.show();
  }

  private shown(): Shown[] {
    return this.page.sets.flatMap((set, index) => {
      const connection = set.diagnosis.connections.find(({ id }) => id === this.chosen[index]);
      if (connection === undefined) return [];
      const { points, series } = this.packets(set, index, connection.id);
      const filter = set.filters[set.diagnosis.connections.indexOf(connection)] ?? "";
      return [{ label: set.label, connection, filter, points, series }];
    });
  }

  private packets(set: DataSet, index: number, id: number): { points: Points | null; series: Series | null } {
    const key = `${index} ${id} ${this.reversed}`;
    const known = this.decoded.get(key);
    if (known !== undefined) return known;
    const trace = set.traces.find(({ connection }) => connection === id);
    const columns = this.reversed ? trace?.reverse : trace;
    if (columns === undefined || columns === null) return { points: null, series: null };
    const points = decode(columns);
    const made = { points, series: derive(points) };
    this.decoded.set(key, made);
    return made;
  }

  /** Shows the chosen connections. */
  private show(): void {
    const shown = this.shown();
    if (shown.length === 0) return;
    this.graphs.show(shown);
    this.pick(null);
    this.showDirections();
    this.showParts();
    this.showAbout();
  }

  private recolour(): void {
    this.showParts();
    this.showLegend();
    this.showPanel();
    this.showAbout();
    this.view.changed();
  }

  private say(): void {
    const [from, to] = this.view.time;
    const names = this.graphs.shown.map(({ label, connection: { client, server } }) =>
      (this.page.sets.length > 1 ? `${label}: ` : "") + `${client} \u2192 ${server}`,
    );
    const step = this.graphs.step([from, to]);
    const seen = `${instant(Math.max(0, from), to - from)} to ${instant(to, to - from)}, throughput per ${seconds(step)}`;
    this.said.replaceChildren(...names.map((name, index) => el("span", {}, [
      ...(names.length > 1 ? [swatch(setColour(index, names.length))] : []), name,
    ])), el("span", { className: "window", text: seen }));
  }

  /** Lets the reader switch between the data of the client and of the server, if both are in the page. */
  private showDirections(): void {
    const [connection] = this.graphs.shown.map(({ connection }) => connection);
    const both = this.page.sets.some((set, index) =>
      set.traces.some((trace) => trace.connection === this.chosen[index] && trace.reverse !== null),
    );
    const made = [false, true].map((reversed) => {
      const from = sender(connection, reversed);
      const direction = button(`data from the ${from}`, `show the data that the ${from} sends`, () => {
        this.reversed = reversed;
        const [time, picked] = [this.view.time, this.graphs.band.picked];
        this.graphs.show(this.shown());
        this.view.set(time, null);
        this.graphs.band.picked = picked;
        this.view.changed();
        this.showDirections();
      });
      direction.setAttribute("aria-pressed", String(this.reversed === reversed));
      return direction;
    });
    this.directions.replaceChildren(...(both ? made : []));
  }

  private showParts(): void {
    const colours: Record<Part, string> = {
      data: kindColour(DATA),
      retransmission: kindColour(RETRANSMISSION),
      "out of order": kindColour(OUT_OF_ORDER),
      SACK: kindColour(SACK),
      ACK: kindColour(ACK),
      window: windowColour(),
      [TROUBLE]: causeColour("timeout-tail"),
    };
    const several = this.page.sets.length > 1;
    this.parts.replaceChildren(...PARTS.map((part) => {
      const hidden = this.graphs.hidden;
      const plain = several && (part === "data" || part === "ACK");
      const made = button("", `show or hide: ${part}`, () => {
        if (!hidden.delete(part)) hidden.add(part);
        this.showParts();
        this.view.changed();
      });
      made.append(...(plain ? [] : [swatch(colours[part])]), part);
      made.setAttribute("aria-pressed", String(!hidden.has(part)));
      return made;
    }));
  }

  private showLegend(): void {
    const { band, shown } = this.graphs;
    const causes = new Map<string, number[]>();
    shown.forEach(({ connection }, index) => {
      for (const { cause, seconds: spent } of connection.causes) {
        const sums = causes.get(cause) ?? shown.map(() => 0);
        sums[index] += spent;
        causes.set(cause, sums);
      }
    });
    const sorted = [...causes].sort((a, b) => Math.max(...b[1]) - Math.max(...a[1]) || causeOrder(a[0]) - causeOrder(b[0]));
    this.legend.replaceChildren(...sorted.map(([cause, sums]) => {
      const made = button("", `look for: ${causeTitle(cause)}`, () => {
        band.sought = band.sought === cause ? null : cause;
        this.showLegend();
        this.view.changed();
      });
      made.append(swatch(causeColour(cause)), causeTitle(cause), el("b", { text: sums.map(seconds).join(" \u2192 ") }));
      made.setAttribute("aria-pressed", String(band.sought === cause));
      return made;
    }));
  }

  private pick(place: Picked | null): void {
    this.graphs.band.picked = place;
    this.showLegend();
    this.showPanel();
    if (place !== null) this.panel.scrollIntoView({ block: "nearest" });
    this.view.changed();
  }

  private showPanel(): void {
    const { band, shown } = this.graphs;
    const interval = band.interval(band.picked);
    this.panel.classList.toggle("empty", interval === null);
    if (interval === null || band.picked === null) {
      this.panel.replaceChildren("Click a coloured interval to see why the time went there.");
      return;
    }
    const { cause, from_s, to_s, confidence, frames, reason } = interval;
    const span = to_s - from_s;
    const range = `frame.number >= ${frames[0]} && frame.number <= ${frames[1]}`;
    const { filter } = shown[band.picked.row];
    const several = this.page.sets[band.picked.row].diagnosis.captures.length > 1;
    const told: [string, Node | string][] = [
      ["time", `${instant(from_s, span)} to ${instant(to_s, span)} (${seconds(span)})`],
      ["frames", `${frames[0]} to ${frames[1]}`],
      ["confidence", percent(confidence * 100)],
      ["in Wireshark", copied(filter === "" || several ? range : `${filter} && ${range}`)],
    ];
    const whose = shown.length > 1 ? `${shown[band.picked.row].label}: ` : "";
    this.panel.style.borderLeftColor = causeColour(cause);
    this.panel.replaceChildren(
      el("h3", {}, [whose, causeTitle(cause)]),
      el("p", { className: "reason", text: reason }),
      el("dl", {}, told.map(([name, value]) => el("div", {}, [el("dt", { text: name }), el("dd", {}, [value])]))),
      button("zoom to it", "zoom to this interval", () => this.view.set([from_s - span * 0.5, to_s + span * 0.5], null)),
    );
  }

  private showAbout(): void {
    const several = this.graphs.shown.length > 1;
    const parts = this.graphs.shown.map(({ label, connection, filter, points }, row) => {
      const heading = `${several ? `${label}: ` : ""}${connection.client} \u2192 ${connection.server}`;
      const untraced = points === null ? [el("p", { className: "note", text: "The page has no packets of this connection, only its causes." })] : [];
      return el("section", {}, [
        el("h2", { text: heading }),
        facts(connection),
        ...(filter === "" ? [] : [el("p", {}, ["In Wireshark: ", copied(filter)])]),
        ...untraced,
        account(connection),
        remedies(connection),
        intervals(connection, (index) => {
          this.controls.go({ row, index });
          this.panel.scrollIntoView({ block: "center" });
        }),
      ]);
    });
    this.about.replaceChildren(...parts);
  }

  /** For tests: draws after a step of zoom, and says how many milliseconds that took. */
  async measure(factor: number): Promise<number> {
    const began = performance.now();
    this.view.zoom(factor);
    this.view.draw();
    await Promise.resolve();
    // Reading a pixel waits until what was asked for is drawn.
    this.graphs.charts[0].plot.ctx.getImageData(0, 0, 1, 1);
    return performance.now() - began;
  }

  get time(): [number, number] {
    return this.view.time;
  }

  /** Where an interval is in the page. */
  placeOf(row: number, index: number): [number, number] {
    const { plot } = this.graphs.chart("causes");
    const box = plot.over.getBoundingClientRect();
    const interval = this.graphs.band.interval({ row, index });
    const middle = interval === null ? 0 : (interval.from_s + interval.to_s) / 2;
    return [box.left + plot.valToPos(middle, "x"), box.top + 16 + row * 34];
  }
}

/** The connection that lost most, of those whose packets are there if any are. */
function worst({ diagnosis, traces }: DataSet): number {
  const traced = new Set(traces.map(({ connection }) => connection));
  const some = diagnosis.connections.filter(({ id }) => traced.size === 0 || traced.has(id));
  const most = (best: Connection | undefined, next: Connection): Connection =>
    best === undefined || secondsLost(next.causes) > secondsLost(best.causes) ? next : best;
  return some.reduce<Connection | undefined>(most, undefined)?.id ?? -1;
}
