// The causes: what they are called and how they look. Causes of one family share a hue.

import { isDark } from "./theme";

interface Look {
  title: string;
  /** Degrees. */
  hue: number;
  /** Percent. */
  saturation: number;
  /** From -2, darker, to 2, lighter. */
  shade: number;
}

const look = (title: string, hue: number, saturation: number, shade: number): Look => ({
  title,
  hue,
  saturation,
  shade,
});

/** As in crates/diagnose/src/cause.rs, in its order. */
const LOOKS: Record<string, Look> = {
  "set-up": look("connection set-up", 190, 45, 0),
  "syn-loss": look("SYN loss", 190, 75, -1),
  "client-idle": look("client application idle", 220, 10, 2),
  "server-idle": look("server application idle", 220, 14, 1),
  "receiver-window": look("receiver window", 212, 70, 0),
  "zero-window": look("zero window", 222, 75, -1),
  "send-buffer": look("send buffer", 205, 65, 2),
  "nagle-delayed-ack": look("Nagle against delayed ACK", 268, 55, 0),
  "delayed-ack": look("delayed ACK at a small window", 282, 50, 1),
  "window-growth": look("window growth", 48, 85, 0),
  "fast-recovery": look("congestion loss, fast recovery", 28, 90, 0),
  "timeout-tail": look("timeout, tail loss", 2, 75, 0),
  "timeout-window": look("timeout, whole window lost", 2, 75, -2),
  "timeout-small-window": look("timeout, small window", 2, 75, 2),
  "timeout-lost-retransmission": look("timeout, lost retransmission", 348, 75, -1),
  "spurious-reordering": look("spurious retransmission by reordering", 322, 60, 1),
  "spurious-delay": look("spurious retransmission by delay", 322, 60, -1),
  "queueing-own": look("queueing, its own", 30, 45, -1),
  "queueing-others": look("queueing behind others", 34, 45, 1),
  outage: look("outage", 0, 0, -2),
  "random-loss": look("random loss", 14, 85, 1),
  policer: look("policer", 88, 50, -1),
  shaper: look("shaper", 88, 50, 1),
  "ack-path": look("ACK loss or thinning", 250, 55, 2),
  "unfair-share": look("unfair share of a queue", 172, 60, -1),
  "path-limited": look("path-limited", 150, 45, 0),
  "capture-artefact": look("capture artefact", 0, 0, 1),
  unknown: look("unknown", 0, 0, 2),
};

const ORDER = Object.keys(LOOKS);

/** Causes that are marked in the sequence graph: nothing may be sent, or nothing arrives. */
export const isTrouble = (cause: string): boolean =>
  cause === "zero-window" || cause === "outage" || cause === "syn-loss" || cause.startsWith("timeout-");

/** Causes whose time is not lost: as `Cause::is_loss`. */
const NO_LOSS = new Set([
  "set-up",
  "client-idle",
  "server-idle",
  "path-limited",
  "capture-artefact",
  "unknown",
]);

export const isLoss = (cause: string): boolean => !NO_LOSS.has(cause);

export const causeTitle = (cause: string): string => LOOKS[cause]?.title ?? cause;

export function causeColour(cause: string): string {
  const { hue, saturation, shade } = LOOKS[cause] ?? LOOKS.unknown;
  const lightness = (isDark() ? 52 : 54) + shade * 10;
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
}

/** Its place among the causes. */
export const causeOrder = (cause: string): number =>
  cause in LOOKS ? ORDER.indexOf(cause) : ORDER.length;

/** Seconds of a connection that were lost. */
export function secondsLost(causes: { cause: string; seconds: number }[]): number {
  return causes.reduce((sum, { cause, seconds }) => sum + (isLoss(cause) ? seconds : 0), 0);
}
