// Opens the report of a run in a browser and compares its sequence graph, pixel by pixel, with the run's event log.
//
// Usage: node segments.mjs FOLDER     with report.html and events.jsonl in it
//
// Prints a line for each thing that holds; fails at the first that does not.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const folder = process.argv[2];
const places = (process.env.PATH ?? "").split(":").map((place) => join(place, "chromium"));
const browser = await chromium.launch({
  executablePath: places.find((place) => existsSync(place)),
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

const [DATA, AGAIN] = "dr";

/** Segments of the sending end, in seconds and bytes of the stream, as the log has them. */
function logged() {
  const lines = readFileSync(join(folder, "events.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const sent = lines.filter(({ event }) => event === "SegmentSent");
  const by = (side) => sent.filter((one) => one.side === side).reduce((sum, { bytes }) => sum + bytes, 0);
  const side = by("server") > by("client") ? "server" : "client";
  const own = sent.filter((one) => one.side === side);
  // The SYN takes one number.
  const first = own[0].seq + 1;
  const segments = own.filter(({ bytes }) => bytes > 0).map(({ at_ns, seq, bytes, kind }) => {
    const from = (seq - first + 2 ** 32) % 2 ** 32;
    return { t: at_ns / 1e9, from, to: from + bytes, again: kind === "Retransmission" };
  });
  const acks = lines.filter((one) => one.event === "AckAdvanced" && one.side === side);
  return { segments, acks: acks.map(({ at_ns, stream_offset }) => ({ t: at_ns / 1e9, offset: stream_offset })) };
}

/** Shows a part of the run, and returns what is on the canvas, with the scales. */
function drawn(page, time) {
  return page.evaluate(async (time) => {
    const shown = window.plots.find(({ exact }) => exact !== null);
    if (time === null) shown.view.reset();
    else shown.view.set(time, null);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { plot } = shown.chart;
    const { canvas } = plot.ctx;
    const { data } = plot.ctx.getImageData(0, 0, canvas.width, canvas.height);
    const style = getComputedStyle(document.documentElement);
    const colour = (number) => style.getPropertyValue(`--s${number}`).trim().match(/[0-9a-f]{2}/g).map((part) => parseInt(part, 16));
    const { left, top, width, height } = plot.bbox;
    const bytes = shown.plot.segments.y;
    // A letter a pixel: data, a retransmission, or neither.
    const [own, again] = [colour(0), colour(1)];
    const off = (at, wanted) => Math.hypot(...wanted.map((part, i) => part - data[at + i]));
    const letters = Array.from({ length: canvas.width * canvas.height }, (_, i) => {
      if (data[4 * i + 3] <= 60) return ".";
      return off(4 * i, own) < 48 ? "d" : off(4 * i, again) < 48 ? "r" : ".";
    });
    return {
      pixels: letters.join(""), canvas: canvas.width, left, top, width, height,
      x: [plot.scales.x.min, plot.scales.x.max], y: [plot.scales.y.min * bytes, plot.scales.y.max * bytes],
    };
  }, time);
}

/** Where values are on the canvas, and what is there. */
function reading(picture) {
  const { pixels, canvas, left, top, width, height, x, y } = picture;
  const across = (t) => left + ((t - x[0]) * width) / (x[1] - x[0]);
  const down = (value) => top + ((y[1] - value) * height) / (y[1] - y[0]);
  const is = (px, py, letter) => pixels[Math.floor(py) * canvas + Math.floor(px)] === letter;
  return { across, down, is, left, top, right: left + width, bottom: top + height };
}

function check(what, test) {
  test();
  console.log(`holds: ${what}`);
}

/** Every segment of the log is drawn where it belongs, and nothing is drawn where there is none. */
function closeUp(picture, segments) {
  const { across, down, is, left, right, top, bottom } = reading(picture);
  const inside = segments.filter(({ t }) => t > picture.x[0] && t < picture.x[1]);
  assert.ok(inside.length > 20, `${inside.length} segments`);
  assert.ok(inside.some(({ again }) => again), "a retransmission is among them");
  for (const { t, from, to, again } of inside) {
    const [px, py] = [Math.round(across(t)) - 0.5, (down(from) + down(to)) / 2];
    if (px < left + 2 || px > right - 2 || py < top + 2 || py > bottom - 2) continue;
    // What is lower than a pixel is mixed with the grid below it: one of the three pixels around has the colour.
    const colours = again ? [AGAIN] : [DATA, AGAIN];
    const found = [-1, 0, 1].some((off) => colours.some((colour) => is(px, py + off, colour)));
    assert.ok(found, `a segment of ${from} to ${to} at ${t} s`);
  }
  const boxes = segments.map(({ t, from, to, again }) => ({ x: across(t), high: down(to), low: down(from), again }));
  let seen = 0;
  for (let px = Math.ceil(left) + 1; px < right - 1; px++) {
    const near = boxes.filter(({ x }) => Math.abs(x - px) <= 5);
    for (let py = Math.ceil(top) + 1; py < bottom - 1; py++) {
      for (const [colour, again] of [[DATA, false], [AGAIN, true]]) {
        if (!is(px, py, colour)) continue;
        seen++;
        const known = near.some((box) => box.again === again && py >= box.high - 4 && py <= box.low + 4);
        assert.ok(known, `something at ${px}, ${py} that is not in the log`);
      }
    }
  }
  assert.ok(seen > 100, `${seen} pixels`);
}

/** In every column of pixels the highest and the lowest that is drawn are those of the log. */
function extremes(picture, segments) {
  const { across, down, is, left, right, top, bottom } = reading(picture);
  let columns = 0;
  for (let px = Math.ceil(left) + 3; px < right - 3; px++) {
    const near = (reach) => segments.filter(({ t }) => Math.abs(across(t) - px) <= reach);
    const drawnAt = [];
    for (let py = Math.ceil(top); py < bottom; py++) {
      if (is(px, py, DATA) || is(px, py, AGAIN)) drawnAt.push(py);
    }
    // A line is two pixels wide; those of the next columns may reach into this one.
    const [sure, possible] = [near(0.4), near(4)];
    if (sure.length === 0 || drawnAt.length === 0) {
      assert.ok(sure.length === 0 || possible.length > 0, `column ${px} is empty`);
      continue;
    }
    columns++;
    const high = Math.min(...drawnAt);
    const low = Math.max(...drawnAt);
    const of = (all, pick, end) => pick(...all.map((one) => down(one[end])));
    assert.ok(high <= of(sure, Math.min, "to") + 3 && high >= of(possible, Math.min, "to") - 4, `highest of column ${px}`);
    assert.ok(low >= of(sure, Math.max, "from") - 3 && low <= of(possible, Math.max, "from") + 4, `lowest of column ${px}`);
  }
  assert.ok(columns > 100, `${columns} columns`);
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => /^(file|blob|data):/.test(request.url()) || complaints.push(request.url()));
  await page.goto(pathToFileURL(join(folder, "report.html")).href);
  await page.waitForFunction(() => window.plots !== undefined);
  const { segments, acks } = logged();
  const kept = await page.evaluate(() => {
    const { points, series } = window.plots.find(({ exact }) => exact !== null).exact.flows[0];
    const bytes = window.plots.find(({ exact }) => exact !== null).plot.segments.y;
    const list = (values) => Array.from(values);
    return { kind: list(points.kind), t: list(points.t), from: list(points.from), to: list(points.to), bytes, acked: [list(series.acked.t), list(series.acked.v)] };
  });
  check("the page has every segment of the log, to the nanosecond and the byte", () => {
    const own = kept.kind.flatMap((kind, i) => (kind === 0 || kind === 2 ? [i] : []));
    assert.equal(own.length, segments.length);
    own.forEach((i, n) => {
      const found = [Math.round(kept.t[i] * 1e9), Math.round(kept.from[i] * kept.bytes), Math.round(kept.to[i] * kept.bytes), kept.kind[i] === 2];
      const { t, from, to, again } = segments[n];
      assert.deepEqual(found, [Math.round(t * 1e9), from, to, again]);
    });
  });
  check("the ACK line is where the sender's log has it", () => {
    const [times, values] = kept.acked;
    for (const { t, offset } of acks) {
      let i = times.findIndex((time) => time > t + 1e-9);
      i = (i < 0 ? times.length : i) - 1;
      assert.equal(Math.round(values[i] * kept.bytes), offset, `at ${t} s`);
    }
    assert.ok(acks.length > 100);
  });
  const first = segments.find(({ again }) => again);
  assert.ok(first !== undefined, "the run has a retransmission");
  for (const span of [0.2, 0.05]) {
    const picture = await drawn(page, [first.t - span / 2, first.t + span / 2]);
    check(`${span} s around the first retransmission are drawn segment by segment`, () => closeUp(picture, segments));
  }
  const whole = await drawn(page, null);
  check("of the whole run each column of pixels has its extremes", () => extremes(whole, segments));
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
