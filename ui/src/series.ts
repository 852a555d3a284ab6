// What follows from the packets of one connection: round trips, octets in flight, the window, and how
// much was sent until when.

import { ACK, DATA, Points, RETRANSMISSION, SACK, firstAt } from "./data";

/** A value at some times; between them it stays, or there is none. */
export interface Samples {
  t: Float64Array;
  v: Float64Array;
}

export interface Series {
  /** From a segment to the ACK of it, s. Never of what was sent twice (RFC 6298, section 3). */
  rtt: Samples;
  /** Octets sent and not acknowledged. */
  flight: Samples;
  /** The window that the receiver advertised, octets. */
  window: Samples;
  /** Highest ACK so far. */
  acked: Samples;
  /** Right edge of the window so far. */
  edge: Samples;
  /** Octets of data segments so far. */
  sent: Samples;
}

class Growing {
  private t: number[] = [];
  private v: number[] = [];

  push(t: number, v: number): void {
    this.t.push(t);
    this.v.push(v);
  }

  done(): Samples {
    return { t: Float64Array.from(this.t), v: Float64Array.from(this.v) };
  }
}

export function derive(points: Points): Series {
  const [flight, window, acked, edge, sent] = Array.from({ length: 5 }, () => new Growing());
  let [highest, una, octets, right] = [NaN, NaN, 0, NaN];
  for (let i = 0; i < points.n; i++) {
    const [t, from, to] = [points.t[i], points.from[i], points.to[i]];
    if (points.kind[i] === ACK) {
      una = una >= from ? una : from;
      right = right >= to ? right : to;
      window.push(t, to - from);
      acked.push(t, una);
      edge.push(t, right);
    } else if (points.kind[i] !== SACK) {
      if (Number.isNaN(una)) una = from;
      highest = highest >= to ? highest : to;
      octets += to - from;
      sent.push(t, octets);
    }
    if (highest >= una) flight.push(t, highest - una);
  }
  return {
    rtt: roundTrips(points),
    flight: flight.done(),
    window: window.done(),
    acked: acked.done(),
    edge: edge.done(),
    sent: sent.done(),
  };
}

function roundTrips(points: Points): Samples {
  const samples = new Growing();
  // What waits for its ACK, in the order of its octets: from `head` on.
  const ends: number[] = [];
  const times: number[] = [];
  const spoilt: boolean[] = [];
  let head = 0;
  for (let i = 0; i < points.n; i++) {
    const [t, from, to] = [points.t[i], points.from[i], points.to[i]];
    if (points.kind[i] === DATA) {
      ends.push(to);
      times.push(t);
      spoilt.push(false);
    } else if (points.kind[i] === RETRANSMISSION) {
      for (let j = head; j < ends.length; j++) {
        if (ends[j] > from) spoilt[j] = true;
        if (ends[j] >= to) break;
      }
    } else if (points.kind[i] === ACK) {
      const first = head;
      let clean = true;
      for (; head < ends.length && ends[head] <= from; head++) clean &&= !spoilt[head];
      // Behind a hole that was filled, the ACK tells of the hole.
      if (clean && head > first) samples.push(t, t - times[head - 1]);
    }
  }
  return samples.done();
}

/** The value at `time` of what stays between its changes. */
export function valueAt(samples: Samples, time: number): number | null {
  const i = firstAt(samples.t, time + 1e-9) - 1;
  return i < 0 ? null : samples.v[i];
}

/** Bit/s over steps of `step` seconds that begin at multiples of it. */
export function rates(sent: Samples, from: number, to: number, step: number): Samples {
  const first = Math.floor(from / step);
  const last = Math.ceil(to / step);
  const count = Math.max(0, last - first);
  const t = new Float64Array(count);
  const v = new Float64Array(count);
  const until = (time: number): number => {
    const i = firstAt(sent.t, time);
    return i === 0 ? 0 : sent.v[i - 1];
  };
  let before = until(first * step);
  for (let k = 0; k < count; k++) {
    const after = until((first + k + 1) * step);
    t[k] = (first + k) * step;
    v[k] = ((after - before) * 8) / step;
    before = after;
  }
  return { t, v };
}

/** Smallest and largest value from `from` to `to`, widened to `range`. */
export function extent(
  samples: Samples,
  from: number,
  to: number,
  range: [number, number],
): [number, number] {
  let [low, high] = range;
  // What was so before goes on.
  const begin = Math.max(0, firstAt(samples.t, from) - 1);
  for (let i = begin; i < samples.t.length && samples.t[i] <= to; i++) {
    if (samples.v[i] < low) low = samples.v[i];
    if (samples.v[i] > high) high = samples.v[i];
  }
  return [low, high];
}
