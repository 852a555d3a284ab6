// The segments of flows one by one, as crates/report/src/segments.rs packs them.

import { ACK, DATA, Points, RETRANSMISSION, SACK } from "./data";

/** The segments of the flows of a plot. */
export interface EmbeddedSegments {
  /** Nanoseconds and bytes in a unit of the axes. */
  x: number;
  y: number;
  curves: EmbeddedCurve[];
  /** How many points a plot has at most. */
  bound: number;
}

interface EmbeddedCurve {
  name: string;
  colour: number;
  count: number;
  /** Nanoseconds: from then on points are missing. */
  exact_until: number | null;
  data: string;
}

/** One flow's segments in the units of the axes. */
export interface SegmentCurve {
  name: string;
  colour: number;
  points: Points;
  /** From this time on points are missing; infinite where none is. */
  until: number;
}

/** The kinds of points by their number in the columns. */
const MARKS = [DATA, RETRANSMISSION, SACK, ACK];

/** Whether this browser can unpack them. */
export const canUnpack = (): boolean => typeof DecompressionStream === "function";

export async function unpack({ x, y, curves }: EmbeddedSegments): Promise<SegmentCurve[]> {
  return Promise.all(curves.map(async ({ name, colour, count, exact_until, data }) => ({
    name,
    colour,
    points: columns(await inflated(data), count, x, y),
    until: exact_until === null ? Infinity : exact_until / x,
  })));
}

async function inflated(base64: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function columns(bytes: Uint8Array, n: number, x: number, y: number): Points {
  let at = n;
  // Beyond 32 bits, where shifting ends.
  const number = (): number => {
    let [value, place] = [0, 1];
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * place;
      if (byte < 0x80) return value;
      place *= 0x80;
    }
  };
  const signed = (): number => {
    const value = number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  const points: Points = {
    n,
    t: new Float64Array(n),
    kind: Uint8Array.from(bytes.subarray(0, n), (mark) => MARKS[mark]),
    from: new Float64Array(n),
    to: new Float64Array(n),
    frame: new Float64Array(n),
  };
  let time = 0;
  for (let i = 0; i < n; i++) points.t[i] = (time += number()) / x;
  // Where the next one of the same mark is expected depends on lengths, which follow.
  const differences = Float64Array.from({ length: n }, signed);
  const lengths = [0, 0, 0, 0];
  const expected = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const mark = bytes[i];
    const length = (lengths[mark] += signed());
    const from = expected[mark] + differences[i];
    expected[mark] = mark < 2 ? from + length : from;
    points.from[i] = from / y;
    points.to[i] = (from + length) / y;
    points.frame[i] = i + 1;
  }
  return points;
}
