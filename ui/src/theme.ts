// Colours, for light and for dark. The sets and kinds are told apart by more than hue: see Okabe and Ito.

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
  /** By kind of point. */
  kinds: string[];
  window: string;
  /** The only data set or the later one, and the earlier one. */
  sets: [string, string];
  selected: string;
}

function kinds(colours: Record<number, string>): string[] {
  return [DATA, OUT_OF_ORDER, RETRANSMISSION, SACK, ACK].map((kind) => colours[kind]);
}

const LIGHT: Theme = {
  words: "#1a1a1a",
  faint: "#555555",
  axis: "#8a8a8a",
  grid: "#e9eaec",
  paper: "#ffffff",
  kinds: kinds({
    [DATA]: "#0072b2",
    [OUT_OF_ORDER]: "#6f42c1",
    [RETRANSMISSION]: "#d0211c",
    [SACK]: "#c2559d",
    [ACK]: "#00875f",
  }),
  window: "#8b8f94",
  sets: ["#0072b2", "#d55e00"],
  selected: "rgba(20, 24, 30, 0.08)",
};

const DARK: Theme = {
  words: "#e8e8e8",
  faint: "#b0b4b8",
  axis: "#7d8288",
  grid: "#262b31",
  paper: "#15181c",
  kinds: kinds({
    [DATA]: "#56b4e9",
    [OUT_OF_ORDER]: "#b197fc",
    [RETRANSMISSION]: "#ff6b61",
    [SACK]: "#e58cc4",
    [ACK]: "#2cc295",
  }),
  window: "#8a9097",
  sets: ["#56b4e9", "#f08b4a"],
  selected: "rgba(255, 255, 255, 0.10)",
};

export const theme = (): Theme => (isDark() ? DARK : LIGHT);

/** The colour of data set `index` of `of`. */
export const setColour = (index: number, of: number): string =>
  theme().sets[of > 1 && index === 0 ? 1 : 0];

/** The palette of plots, as in crates/report/src/plot/scene.rs and its style for the dark. */
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b"];
const IN_THE_DARK: Record<number, string> = { 0: "#4aa3df", 6: "#a8a8a8" };

export function paletteColour(number: number): string {
  const place = number % PALETTE.length;
  return (isDark() ? IN_THE_DARK[place] : undefined) ?? PALETTE[place];
}
