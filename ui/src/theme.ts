// Colours, for light and for dark. Those of series are the page's own style: crates/report/assets/report.css.

import { ACK, DATA, OUT_OF_ORDER, RETRANSMISSION, SACK } from "./data";

const query = matchMedia("(prefers-color-scheme: dark)");

export const isDark = (): boolean => query.matches;

export function onSchemeChange(listener: () => void): void {
  query.addEventListener("change", listener);
}

interface Theme {
  words: string;
  faint: string;
  axis: string;
  grid: string;
  paper: string;
  selected: string;
}

const LIGHT: Theme = {
  words: "#1a1a1a",
  faint: "#555555",
  axis: "#8a8a8a",
  grid: "#e9eaec",
  paper: "#ffffff",
  selected: "rgba(20, 24, 30, 0.08)",
};

const DARK: Theme = {
  words: "#e8e8e8",
  faint: "#b0b4b8",
  axis: "#7d8288",
  grid: "#262b31",
  paper: "#15181c",
  selected: "rgba(255, 255, 255, 0.10)",
};

export const theme = (): Theme => (isDark() ? DARK : LIGHT);

/** Series in the palette. */
const COLOURS = 7;

/** The colour of this number in the palette. */
export function paletteColour(number: number): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--s${number % COLOURS}`).trim();
}

/** The colour of a kind of segments. */
export const kindColour = (kind: number): string => paletteColour(KIND_COLOURS[kind] ?? 0);

const KIND_COLOURS: Record<number, number> = { [DATA]: 0, [RETRANSMISSION]: 1, [ACK]: 2, [SACK]: 3, [OUT_OF_ORDER]: 4 };

/** The colour of the window's edge. */
export const windowColour = (): string => paletteColour(6);

/** The colour of data set `index` of `of`: the only one or the later one, and the earlier one. */
export const setColour = (index: number, of: number): string => paletteColour(of > 1 && index === 0 ? 5 : 0);
