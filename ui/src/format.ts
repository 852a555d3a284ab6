// Numbers as people read them.

/** "1 234 567", with thin spaces. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** Four digits that count, never an exponent. */
function digits(value: number): string {
  const magnitude = Math.abs(value);
  const places = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
  return value.toFixed(places);
}

function scaled(value: number, units: [number, string][]): string {
  if (value === 0) return `0\u00a0${units[units.length - 1][1]}`;
  const found = units.find(([size]) => Math.abs(value) >= size) ?? units[units.length - 1];
  return `${digits(value / found[0])}\u00a0${found[1]}`;
}

export const seconds = (value: number): string =>
  value === 0 ? "0\u00a0s" : scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"]]);

export const octets = (value: number): string =>
  scaled(value, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);

export const rate = (value: number): string =>
  scaled(value, [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]]);

export const percent = (value: number): string =>
  `${value.toFixed(Math.abs(value) < 10 ? 1 : 0)}\u00a0%`;

/** A time on the shared axis: as many places as what is seen asks for. */
export function instant(value: number, span: number): string {
  const places = Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(Math.max(span, 1e-9)))));
  return `${value.toFixed(places)}\u00a0s`;
}

/** The unit of an axis, by the largest value on it. */
export interface AxisUnit {
  size: number;
  name: string;
}

function unitOf(largest: number, units: AxisUnit[]): AxisUnit {
  return units.find((unit) => largest >= unit.size * 2) ?? units[units.length - 1];
}

export const octetsUnit = (largest: number): AxisUnit =>
  unitOf(largest, [
    { size: 1e9, name: "GB" },
    { size: 1e6, name: "MB" },
    { size: 1e3, name: "kB" },
    { size: 1, name: "B" },
  ]);

export const rateUnit = (largest: number): AxisUnit =>
  unitOf(largest, [
    { size: 1e9, name: "Gbit/s" },
    { size: 1e6, name: "Mbit/s" },
    { size: 1e3, name: "kbit/s" },
    { size: 1, name: "bit/s" },
  ]);

export const secondsUnit = (largest: number): AxisUnit =>
  unitOf(largest, [
    { size: 1, name: "s" },
    { size: 1e-3, name: "ms" },
    { size: 1e-6, name: "\u00b5s" },
  ]);

/** Ticks in this unit, all with the places that their distance needs. */
export function ticks(splits: number[], unit: AxisUnit): string[] {
  const step = splits.length > 1 ? (splits[1] - splits[0]) / unit.size : 1;
  const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < 1e-6 * Math.max(1, value);
  let places = 0;
  while (places < 9 && !isWhole(step * 10 ** places)) places++;
  return splits.map((split) => {
    const [whole, part] = (split / unit.size).toFixed(places).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u2009");
    return part === undefined ? grouped : `${grouped}.${part}`;
  });
}
