// Bundles src/ into dist/page.js and dist/page.css, which crates/report puts into its pages.
// Files that would not change are left alone, so that cargo does not compile the crate again.

import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const licence = readFileSync(new URL("node_modules/uplot/LICENSE", import.meta.url), "utf8");

const { outputFiles } = await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { page: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  // A page is read for years; this is what browsers of 2021 understand.
  target: ["es2020"],
  charset: "ascii",
  legalComments: "none",
  banner: { js: `/*! uPlot, which draws axes and scales:\n${licence.trim()}\n*/` },
  write: false,
});

mkdirSync(new URL("dist", import.meta.url), { recursive: true });
for (const { path, contents, text } of outputFiles) {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
    writeFileSync(path, contents);
  }
}
