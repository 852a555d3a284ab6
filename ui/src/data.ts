// What the page is given: the diagnosis as `ackord diagnose --json` has it, and the packets of some
// connections in columns. Written by crates/report/src/page/columns.rs.

export interface Page {
  title: string;
  version: string;
  sets: DataSet[];
}

/** One diagnosis: the only one, or that of before, or of after. */
export interface DataSet {
  label: string;
  diagnosis: Diagnosis;
  /** Display filters for Wireshark, one per connection of the diagnosis; may be empty. */
  filters: string[];
  traces: Trace[];
}

export interface Diagnosis {
  captures: { name: string; began_ns: number }[];
  connections: Connection[];
}

export interface Connection {
  id: number;
  client: string;
  server: string;
  duration_s: number;
  packets: [number, number];
  bytes: number;
  bytes_by: [number, number];
  retransmitted_bytes: number;
  vantage: string;
  path: PathFacts;
  causes: CauseShare[];
  intervals: Interval[];
  remedies: Remedy[];
}

export interface PathFacts {
  base_rtt_s: number | null;
  rate_bit_s: number | null;
  lost: number;
  segments: number;
  mss: number;
  radio?: RadioFacts;
}

/** Frames of 802.11, from the client and from the server. */
export interface RadioFacts {
  frames: [number, number];
  retries: [number, number];
  retry_share: [number | null, number | null];
  rate_bit_s: [number | null, number | null];
  airtime_s: [number | null, number | null];
  airtime_share: [number | null, number | null];
}

export interface CauseShare {
  cause: string;
  seconds: number;
  confidence: number;
  frames: number[];
}

export interface Interval {
  from_s: number;
  to_s: number;
  cause: string;
  confidence: number;
  frames: [number, number];
  reason: string;
}

export interface Remedy {
  remedy: string;
  gain_percent: number;
  ci95: [number, number];
  where: string;
  command: string;
}

/** The points of a connection: of the direction of most data, and of the other if it has any. */
export interface Trace extends Columns {
  connection: number;
  reverse: Columns | null;
}

/** Points in columns, each but `kinds` and `lengths` as the difference to the point before. */
export interface Columns {
  /** One letter a point: see `KINDS`. */
  kinds: string;
  /** Microseconds. */
  times: number[];
  /** First octet, or the ACK. */
  starts: number[];
  /** Octets, or the window. */
  lengths: number[];
  frames: number[];
}

/** The letters of `Columns.kinds`, in the order in which they are drawn. */
export const KINDS = "dorsa";
export const DATA = 0;
export const OUT_OF_ORDER = 1;
export const RETRANSMISSION = 2;
export const SACK = 3;
export const ACK = 4;

/** The points of one connection, ready to be drawn. */
export interface Points {
  n: number;
  /** Seconds, never falling. */
  t: Float64Array;
  kind: Uint8Array;
  from: Float64Array;
  to: Float64Array;
  frame: Float64Array;
}

export function readPage(): Page {
  const element = document.getElementById("ackord-data");
  return JSON.parse(element?.textContent ?? "null") as Page;
}

export function decode(columns: Columns): Points {
  const n = columns.kinds.length;
  const points: Points = {
    n,
    t: new Float64Array(n),
    kind: new Uint8Array(n),
    from: new Float64Array(n),
    to: new Float64Array(n),
    frame: new Float64Array(n),
  };
  let [time, start, frame] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    time += columns.times[i];
    start += columns.starts[i];
    frame += columns.frames[i];
    points.t[i] = time / 1e6;
    points.kind[i] = KINDS.indexOf(columns.kinds[i]);
    points.from[i] = start;
    points.to[i] = start + columns.lengths[i];
    points.frame[i] = frame;
  }
  return points;
}

/** The end that sends the data of a graph: as `ackord_diagnose::Trace` has it. */
export function sender({ bytes_by }: Connection, reversed: boolean): "client" | "server" {
  return bytes_by[1] > bytes_by[0] !== reversed ? "server" : "client";
}

/** The first index whose time is not before `time`. */
export function firstAt(t: Float64Array, time: number, n = t.length): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
