// The list of connections, the account of the one that is picked, and what would help it.

import { Connection, DataSet, Interval, RadioFacts } from "./data";
import { Column, button, el, swatch, table } from "./dom";
import { causeColour, causeTitle, secondsLost } from "./causes";
import { count, instant, octets, percent, rate, seconds } from "./format";

const MOST_ROWS = 500;

/** A connection of a data set. */
interface Listed {
  set: number;
  connection: Connection;
  lost: number;
  traced: boolean;
}

type Key = "set" | "id" | "client" | "server" | "duration" | "bytes" | "again" | "lost" | "share";

const VALUES: Record<Key, (row: Listed) => number | string> = {
  set: ({ set }) => set,
  id: ({ connection }) => connection.id,
  client: ({ connection }) => connection.client,
  server: ({ connection }) => connection.server,
  duration: ({ connection }) => connection.duration_s,
  bytes: ({ connection }) => connection.bytes,
  again: ({ connection }) => connection.retransmitted_bytes,
  lost: ({ lost }) => lost,
  share: ({ lost, connection }) => lost / Math.max(connection.duration_s, 1e-9),
};

const HEADINGS: [Key, string][] = [
  ["set", "data"],
  ["id", "number"],
  ["client", "client"],
  ["server", "server"],
  ["duration", "duration"],
  ["bytes", "payload"],
  ["again", "retransmitted"],
  ["lost", "time lost"],
  ["share", "lost"],
];

/** The connections, to pick one from. */
export class List {
  readonly element = el("div", { className: "list" });
  private rows: Listed[];
  private key: Key = "lost";
  private falling = true;
  private words = "";

  constructor(
    private sets: DataSet[],
    private picked: (set: number) => number | undefined,
    private pick: (set: number, id: number) => void,
  ) {
    this.rows = sets.flatMap(({ diagnosis, traces }, set) => {
      const traced = new Set(traces.map(({ connection }) => connection));
      return diagnosis.connections.map((connection) => ({
        set,
        connection,
        lost: secondsLost(connection.causes),
        traced: traced.has(connection.id),
      }));
    });
    this.show();
  }

  show(): void {
    const value = VALUES[this.key];
    const sign = this.falling ? -1 : 1;
    const found = this.rows.filter(({ connection: { client, server } }) =>
      `${client} ${server}`.includes(this.words),
    );
    found.sort((a, b) => {
      const [one, other] = [value(a), value(b)];
      return sign * (one < other ? -1 : one > other ? 1 : 0) || a.connection.id - b.connection.id;
    });
    const made = table("", this.columns(), found.slice(0, MOST_ROWS), (row, line) => this.style(row, line));
    made.classList.add("scrolls");
    made.querySelectorAll("th").forEach((cell, index) => this.sortable(cell, index));
    const note = found.length > MOST_ROWS ? [el("p", { className: "note", text: `The first ${MOST_ROWS} of ${count(found.length)}.` })] : [];
    const old = this.element.querySelector(".wide");
    const place = old?.scrollTop ?? 0;
    this.element.replaceChildren(...(this.rows.length > 8 ? [this.search()] : []), made, ...note);
    made.scrollTop = place;
  }

  private headings(): [Key, string][] {
    return this.sets.length > 1 ? HEADINGS : HEADINGS.slice(1);
  }

  private columns(): Column<Listed>[] {
    const cells: Record<Key, (row: Listed) => Node | string> = {
      set: ({ set }) => this.sets[set].label,
      id: ({ connection }) => String(connection.id),
      client: (row) => this.opener(row),
      server: ({ connection }) => connection.server,
      duration: ({ connection }) => seconds(connection.duration_s),
      bytes: ({ connection }) => octets(connection.bytes),
      again: ({ connection }) => octets(connection.retransmitted_bytes),
      lost: ({ lost }) => seconds(lost),
      share: ({ lost, connection }) => percent((100 * lost) / Math.max(connection.duration_s, 1e-9)),
    };
    return this.headings().map(([key, heading]) => ({
      heading,
      right: !["set", "client", "server"].includes(key),
      cell: cells[key],
    }));
  }

  private opener({ set, connection }: Listed): Node {
    const made = button(connection.client, `show ${connection.client} to ${connection.server}`, () =>
      this.pick(set, connection.id),
    );
    made.className = "link";
    return made;
  }

  private sortable(cell: HTMLTableCellElement, index: number): void {
    const [key, heading] = this.headings()[index];
    const chosen = key === this.key;
    cell.setAttribute("aria-sort", chosen ? (this.falling ? "descending" : "ascending") : "none");
    const sort = button(`${heading}${chosen ? (this.falling ? " \u25be" : " \u25b4") : ""}`, `sort by ${heading}`, () => {
      this.falling = chosen ? !this.falling : !["set", "id", "client", "server"].includes(key);
      this.key = key;
      this.show();
    });
    cell.replaceChildren(sort);
  }

  private style({ set, connection, traced }: Listed, line: HTMLTableRowElement): void {
    line.classList.toggle("picked", this.picked(set) === connection.id);
    line.classList.toggle("untraced", !traced);
    if (!traced) line.title = "Its packets are not in this page: its account is.";
    line.addEventListener("click", () => this.pick(set, connection.id));
  }

  private search(): HTMLElement {
    const input = el("input", {
      attributes: { type: "search", placeholder: "address or port", "aria-label": "find connections" },
    });
    input.value = this.words;
    input.addEventListener("input", () => {
      this.words = input.value.trim();
      this.show();
      this.element.querySelector("input")?.focus();
    });
    return input;
  }
}

/** A few facts of a connection, in a line. */
export function facts(connection: Connection): HTMLElement {
  const { path } = connection;
  const known: [string, string][] = [
    ["duration", seconds(connection.duration_s)],
    ["payload", octets(connection.bytes)],
    ["retransmitted", octets(connection.retransmitted_bytes)],
    ["shortest RTT", path.base_rtt_s === null ? "unknown" : seconds(path.base_rtt_s)],
    ["highest rate", path.rate_bit_s === null ? "unknown" : rate(path.rate_bit_s)],
    ["segments lost", `${count(path.lost)} of ${count(path.segments)}`],
    ["captured", connection.vantage.replaceAll("-", " ")],
    ...onAir(path.radio),
  ];
  return el("dl", {}, known.map(([name, value]) => el("div", {}, [el("dt", { text: name }), el("dd", { text: value })])));
}

/** Frames, retries, median rate and airtime of both directions. */
function onAir(radio: RadioFacts | undefined): [string, string][] {
  const of = (side: 0 | 1): string[] => {
    const [share, bits, airtime] = [radio?.retry_share[side], radio?.rate_bit_s[side], radio?.airtime_s[side]];
    if (radio === undefined || typeof share !== "number") {
      return [];
    }
    return [
      `${count(radio.frames[side])} frames, ${percent(100 * share)} retries`,
      ...(typeof bits === "number" ? [`median ${rate(bits)}`] : []),
      ...(typeof airtime === "number" ? [`airtime ${seconds(airtime)}`] : []),
    ];
  };
  const sides: [string, string[]][] = [["client on the air", of(0)], ["server on the air", of(1)]];
  return sides.filter(([, parts]) => parts.length > 0).map(([name, parts]) => [name, parts.join(", ")]);
}

/** Where its time went. */
export function account(connection: Connection): HTMLElement {
  const whole = Math.max(connection.duration_s, 1e-9);
  return table("Where the time went", [
    { heading: "cause", cell: ({ cause }) => el("span", {}, [swatch(causeColour(cause)), causeTitle(cause)]) },
    { heading: "time", right: true, cell: (share) => seconds(share.seconds) },
    { heading: "share", right: true, cell: (share) => percent((100 * share.seconds) / whole) },
    { heading: "confidence", right: true, cell: (share) => percent(100 * share.confidence) },
    { heading: "frames", cell: ({ frames }) => frames.join(", ") },
  ], connection.causes);
}

/** What would help it. */
export function remedies(connection: Connection): HTMLElement {
  if (connection.remedies.length === 0) {
    return el("p", { className: "note", text: "No remedy was predicted for it." });
  }
  return table("What would help", [
    { heading: "remedy", cell: ({ remedy }) => remedy },
    { heading: "less time", right: true, cell: ({ gain_percent }) => percent(gain_percent) },
    { heading: "95 % interval", right: true, cell: ({ ci95 }) => `${percent(ci95[0])} to ${percent(ci95[1])}` },
    { heading: "where", cell: (remedy) => remedy.where },
    { heading: "how", cell: ({ command }) => (command === "" ? "" : el("code", { text: command })) },
  ], connection.remedies);
}

/** Every interval, to be read and to be gone to. */
export function intervals(connection: Connection, go: (index: number) => void): HTMLElement {
  const all = connection.intervals.map((interval, index) => ({ interval, index }));
  const of = (use: (interval: Interval) => string) => (row: { interval: Interval }) => use(row.interval);
  const made = table("", [
    {
      heading: "from",
      right: true,
      cell: ({ interval, index }) => {
        const link = button(instant(interval.from_s, 1), "show it in the graph", () => go(index));
        link.className = "link";
        return link;
      },
    },
    { heading: "for", right: true, cell: of(({ from_s, to_s }) => seconds(to_s - from_s)) },
    { heading: "cause", cell: ({ interval }) => el("span", {}, [swatch(causeColour(interval.cause)), causeTitle(interval.cause)]) },
    { heading: "frames", cell: of(({ frames }) => `${frames[0]} to ${frames[1]}`) },
    { heading: "reason", cell: of(({ reason }) => reason) },
  ], all.slice(0, MOST_ROWS));
  made.classList.add("scrolls");
  const more = all.length > MOST_ROWS ? ` (the first ${MOST_ROWS} of ${count(all.length)})` : ` (${count(all.length)})`;
  return el("details", {}, [el("summary", { text: `Intervals${more}` }), made]);
}
