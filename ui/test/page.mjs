// Opens pages in a browser without a window and looks at what it makes of them.
//
// Usage: node page.mjs FOLDER     with one.html, two.html, many.html, report.html and refreshing.html in it
//
// Prints a line for each thing that holds, and how long a redraw took; fails at the first that does not.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const folder = process.argv[2];
const places = (process.env.PATH ?? "").split(":").map((place) => join(place, "chromium"));
const browser = await chromium.launch({
  executablePath: places.find((place) => existsSync(place)),
  // Tests run as root in a container, where Chromium has no sandbox to use and little shared memory.
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

/** A page, and what it complained of or asked for. */
async function open(name, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => request.url().startsWith("file:") || complaints.push(request.url()));
  await page.goto(pathToFileURL(join(folder, name)).href);
  await settled(page);
  return { page, complaints };
}

/** Waits until two frames were drawn. */
function settled(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

/** Pixels of the canvas of a graph that are not empty, by colour. */
function colours(page, graph) {
  return page.evaluate((graph) => {
    const canvas = document.querySelector(`.${graph} canvas`);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = {};
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 255) continue;
      const colour = `${data[i]},${data[i + 1]},${data[i + 2]}`;
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
    return counts;
  }, graph);
}

async function check(what, test) {
  await test();
  console.log(`holds: ${what}`);
}

async function time(page) {
  return page.evaluate(() => window.ackord.time);
}

async function one() {
  const { page, complaints } = await open("one.html");
  await check("every graph is drawn, retransmissions in red", async () => {
    for (const graph of ["sequence", "causes", "rtt", "window", "throughput"]) {
      assert.ok(Object.keys(await colours(page, graph)).length > 2, graph);
    }
    const drawn = await colours(page, "sequence");
    assert.ok(drawn["33,82,168"] > 200, "data");
    assert.ok(drawn["196,58,15"] > 10, "retransmissions");
  });
  await check("a click on an interval tells its reason", async () => {
    await page.locator(".graphs").scrollIntoViewIfNeeded();
    const [x, y] = await page.evaluate(() => window.ackord.placeOf(0, 5));
    await page.mouse.move(x, y);
    assert.match(await page.locator(".tip").innerText(), /confidence/);
    await page.mouse.click(x, y);
    const told = await page.evaluate(() => JSON.parse(document.getElementById("ackord-data").textContent));
    const interval = told.sets[0].diagnosis.connections[0].intervals[5];
    const panel = await page.locator(".panel").innerText();
    assert.ok(panel.includes(interval.reason), panel);
    assert.ok(panel.includes(`tcp.stream eq 0 && frame.number >= ${interval.frames[0]}`), panel);
  });
  await answerFirst(page);
  await directionAndMarks(page);
  await keysAndPointer(page);
  await check("another connection can be picked, and the list be sorted", async () => {
    await page.locator(".list th button", { hasText: "client" }).click();
    const first = page.locator(".list tbody tr").first();
    const address = await first.locator("td").nth(1).innerText();
    await first.click();
    assert.match(await page.locator(".about h2").innerText(), new RegExp(address));
  });
  assert.deepEqual(complaints, []);
  await page.close();
}

async function answerFirst(page) {
  await check("the answer comes first: what would help, where the time went, the connections", async () => {
    const headings = await page.locator("main h2").allInnerTexts();
    const wanted = ["What would help", "Where the time went", "Connections", "Over time"];
    assert.deepEqual(headings.slice(0, wanted.length), wanted);
    assert.equal(headings[headings.length - 1], "What was read");
    const help = await page.locator("section table").first().innerText();
    for (const part of ["fq-codel", "31.4", "24.0 to 38.1", "router", "ackord gateway run"]) {
      assert.ok(help.includes(part), `${part} in ${help}`);
    }
  });
}

async function directionAndMarks(page) {
  await check("the other direction can be shown", async () => {
    const before = await colours(page, "sequence");
    const buttons = page.locator(".directions button");
    assert.deepEqual(await buttons.allInnerTexts(), ["data from the client", "data from the server"]);
    await buttons.nth(1).click();
    await settled(page);
    assert.equal(await buttons.nth(1).getAttribute("aria-pressed"), "true");
    const other = await colours(page, "sequence");
    assert.ok((other["196,58,15"] ?? 0) < before["196,58,15"], "no retransmissions there");
    await buttons.nth(0).click();
    await settled(page);
    assert.deepEqual(await colours(page, "sequence"), before);
  });
  await check("timeouts are marked in the sequence graph, with their cause beside the pointer", async () => {
    const told = await page.evaluate(() => JSON.parse(document.getElementById("ackord-data").textContent));
    const { intervals } = told.sets[0].diagnosis.connections[0];
    const index = intervals.findIndex(({ cause }) => cause === "timeout-tail");
    const [x] = await page.evaluate((index) => window.ackord.placeOf(0, index), index);
    const over = await page.locator(".sequence .u-over").boundingBox();
    await page.mouse.move(x, over.y + 3);
    assert.match(await page.locator(".tip").innerText(), /timeout, tail loss/);
  });
}

async function keysAndPointer(page) {
  await check("a box, keys and buttons zoom, a double click shows all", async () => {
    const whole = await time(page);
    const over = await page.locator(".sequence .u-over").boundingBox();
    const middle = over.y + over.height / 2;
    await page.mouse.move(over.x + over.width * 0.25, middle);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * 0.5, middle + 3, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    const boxed = await time(page);
    const share = (boxed[1] - boxed[0]) / (whole[1] - whole[0]);
    assert.ok(Math.abs(share - 0.25) < 0.02, `${share}`);
    await page.locator(".graphs").focus();
    await page.keyboard.press("+");
    await settled(page);
    const closer = await time(page);
    assert.ok(Math.abs((closer[1] - closer[0]) / (boxed[1] - boxed[0]) - 0.5) < 0.01);
    await page.keyboard.press("ArrowRight");
    await settled(page);
    assert.ok((await time(page))[0] > closer[0]);
    await page.mouse.dblclick(over.x + over.width / 2, middle);
    await settled(page);
    assert.deepEqual(await time(page), whole);
    await page.locator(".buttons button", { hasText: "+" }).click();
    await settled(page);
    assert.ok((await time(page))[1] < whole[1]);
    await page.locator(".buttons button", { hasText: "all" }).click();
    await settled(page);
    assert.deepEqual(await time(page), whole);
  });
}

async function two() {
  const { page, complaints } = await open("two.html", { colorScheme: "dark", deviceScaleFactor: 2 });
  await check("before and after are drawn over each other, dark and sharp", async () => {
    const drawn = await colours(page, "sequence");
    assert.ok(drawn["89,167,255"] > 200, "after");
    const width = await page.evaluate(() => document.querySelector(".sequence canvas").width);
    const shown = await page.locator(".sequence").evaluate((graph) => graph.clientWidth);
    assert.equal(width, 2 * shown);
    assert.equal(await page.locator(".list tr.picked").count(), 2);
    await page.locator(".graphs").scrollIntoViewIfNeeded();
    const [x, y] = await page.evaluate(() => window.ackord.placeOf(1, 3));
    await page.mouse.click(x, y);
    assert.match(await page.locator(".panel h3").innerText(), /^after: /);
  });
  await check("a narrow window has nothing that sticks out", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await settled(page);
    const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(scroll <= inner, `${scroll} > ${inner}`);
  });
  assert.deepEqual(complaints, []);
  await page.close();
}

async function many() {
  const { page, complaints } = await open("many.html");
  const took = [];
  for (let step = 0; step < 40; step++) {
    // Ten steps closer, ten back, and so on: the first ones with every point in sight.
    const factor = step % 20 < 10 ? 0.8 : 1.25;
    took.push(await page.evaluate((factor) => window.ackord.measure(factor), factor));
  }
  assert.deepEqual(complaints, []);
  took.sort((a, b) => a - b);
  console.log(`redraw worst ms ${took[took.length - 1].toFixed(1)}`);
  console.log(`redraw median ms ${took[took.length >> 1].toFixed(1)}`);
  await page.close();
}

/** The text beside the pointer; nothing where there is none. */
async function tipText(page) {
  const tip = page.locator(".tip");
  return (await tip.count()) > 0 && (await tip.isVisible()) ? (await tip.innerText()).replace(/\u00a0/g, " ") : "";
}

async function values(page) {
  await check("the pointer shows time, series and value with unit", async () => {
    const over = await page.locator(".live .u-over").first().boundingBox();
    await page.mouse.move(over.x + over.width * 0.5, over.y + 60);
    const told = await tipText(page);
    assert.match(told, /^5\.0\d* s/);
    assert.match(told, /<\/script>/, "the series");
    assert.match(told, /\d kB$/);
  });
  await check("keys read one value after the other, and Escape ends it", async () => {
    await page.locator(".graphs").first().focus();
    const read = [];
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press("Shift+ArrowRight");
      await settled(page);
      read.push(await tipText(page));
    }
    assert.equal(new Set(read).size, 3, read.join(" | "));
    read.forEach((told) => assert.match(told, /kB$/));
    const whole = await page.evaluate(() => window.plots[0].view.isWhole);
    assert.ok(whole, "reading does not move the graph");
    await page.keyboard.press("Escape");
    assert.equal(await tipText(page), "");
  });
  await check("pictures show their values, by pointer and by keys", async () => {
    const picture = page.locator("svg[tabindex]");
    assert.equal(await picture.count(), 1);
    await picture.focus();
    await page.keyboard.press("ArrowRight");
    const first = await tipText(page);
    await page.keyboard.press("ArrowRight");
    const second = await tipText(page);
    assert.match(first, /queue: fifo\s+gains\s+3\.000 Mbit\/s/);
    assert.match(second, /queue: fq\s+gains\s+5\.000 Mbit\/s/);
    const ring = await page.locator("svg .reading").boundingBox();
    await page.mouse.move(0, 0);
    await page.mouse.move(ring.x + ring.width / 2, ring.y + ring.height / 2);
    assert.equal(await tipText(page), second);
  });
}

async function bound(page) {
  await check("where segments end, the page says so, and outlines go on", async () => {
    const note = (await page.locator(".live .note").last().innerText()).replace(/[\u00a0\u2009]/g, " ");
    assert.match(note, /^Up to 2\.0+ s every segment is in this graph; later, .* outlines, .* at most 250 000 points/);
    const beyond = await page.evaluate(() => {
      const plot = window.plots.find(({ exact }) => exact !== null);
      const { canvas } = plot.chart.plot.ctx;
      const { left, top, width, height } = plot.chart.plot.bbox;
      const { data } = plot.chart.plot.ctx.getImageData(left + width * 0.4, top, width * 0.5, height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length / canvas.width;
    });
    assert.ok(beyond > 1, "something is drawn behind the segments");
  });
}

async function report() {
  const { page, complaints } = await open("report.html");
  await page.waitForFunction(() => window.plots !== undefined);
  await values(page);
  await bound(page);
  await check("the plots of a report share what is seen, and print as pictures", async () => {
    await page.locator(".live .u-over").first().scrollIntoViewIfNeeded();
    const over = await page.locator(".live .u-over").first().boundingBox();
    await page.mouse.move(over.x + over.width * 0.5, over.y + 30);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * 0.75, over.y + 90, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    const seen = await page.evaluate(() =>
      window.plots.map(({ chart: { plot } }) => [plot.scales.x.min, plot.scales.x.max]),
    );
    assert.equal(seen.length, 3);
    assert.deepEqual(seen[0], seen[1]);
    assert.deepEqual(seen[2], [0, 10], "another section");
    assert.ok(Math.abs(seen[0][1] - seen[0][0] - 2.5) < 0.2, `${seen[0]}`);
    assert.equal(await page.locator("figure > svg").first().isVisible(), false);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("figure > svg").first().isVisible(), true);
    assert.equal(await page.locator(".live .graph").first().isVisible(), false);
  });
  assert.deepEqual(complaints, []);
  await page.close();
}

/** A page that refreshes itself, from a server that answers `html()`; null closes the connection. */
async function refreshing() {
  const first = readFileSync(join(folder, "refreshing.html"), "utf8");
  const title = /<h1>(.*?)<\/h1>/.exec(first)[1];
  let html = () => first;
  const server = createServer((request, response) => {
    const answer = html();
    if (answer === null) return void request.socket.destroy();
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(answer);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => window.plots?.length > 0);
  const x = () => page.evaluate(() => [window.plots[0].view.time, window.plots[0].figure.isConnected]);
  await check("a page that refreshes itself shows what changed, and its plots keep what is seen", async () => {
    assert.deepEqual(await x(), [[0, 60], true]);
    html = () => first.replace(`<h1>${title}</h1>`, "<h1>later</h1>").replaceAll('"to":60.0', '"to":90.0');
    await page.waitForFunction(() => document.querySelector("h1").textContent === "later");
    await page.waitForFunction(() => window.plots[0].view.time[1] === 90);
    await page.evaluate(() => window.plots[0].view.set([10, 20]));
    html = () => first;
    await page.waitForFunction((title) => document.querySelector("h1").textContent === title, title);
    assert.deepEqual(await x(), [[10, 20], true]);
  });
  await check("a page that refreshes itself says since when there is no answer, and goes on", async () => {
    html = () => null;
    await page.waitForFunction(() => /^No answer since/.test(document.querySelector(".stale").textContent));
    html = () => first;
    await page.waitForFunction(() => document.querySelector(".stale").textContent === "");
  });
  assert.deepEqual(faults, []);
  await page.close();
  server.close();
}

try {
  await one();
  await two();
  await report();
  await refreshing();
  await many();
} finally {
  await browser.close();
}
