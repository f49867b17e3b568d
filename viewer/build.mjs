// Makes the page's template: bundles the program, packs it, and writes the page with places left for data, and for what a page that is
// watched may do besides.
//   node build.mjs OUT_HTML [OUT_C]
// OUT_C: the same as a C source, split at those places, for the library.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false, format: "iife", target: "es2022",
    legalComments: "none", charset: "ascii", logLevel: "warning",
  });
  return result.outputFiles[0].text;
}

async function styles() {
  const result = await build({
    stdin: { contents: '@import "uplot/dist/uPlot.min.css"; @import "./src/style.css";', resolveDir: here, loader: "css" },
    bundle: true, minify: true, write: false, logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => createHash("sha256").update(text, "utf8").digest("base64");

// A license that asks to be kept with copies is kept: in the page, beside the program.
async function licences() {
  const names = ["three", "uplot", "fzstd"];
  const texts = await Promise.all(names.map((n) => readFile(join(here, "node_modules", n, "LICENSE"), "utf8")));
  return names.map((n, i) => `${n}\n${texts[i].trim()}`).join("\n\n").replaceAll("--", "- -");
}

const boot = (await bundle("boot.ts")).trim().replaceAll("</", "<\\/");
const style = await styles();
const program = gzipSync(Buffer.from(await bundle("main.ts"), "utf8"), { level: 9 }).toString("base64");
const parts = {
  STYLE: style, STYLE_HASH: hash(style), BOOT: boot, BOOT_HASH: hash(boot), PROGRAM: program,
};
let page = await readFile(join(here, "src", "index.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  page = page.split(`{{${name}}}`).join(text);
}
page = page.replace("</html>", `<!--\nContains:\n\n${await licences()}\n-->\n</html>`);
await writeFile(process.argv[2], page);

if (process.argv[3]) {
  const [top, head, middle, tail] = page.split(/\{\{(?:WATCH|HEADERS|DATA)\}\}/);
  const array = (name, text) => {
    const bytes = [...Buffer.from(text, "utf8")];
    const lines = [];
    for (let i = 0; i < bytes.length; i += 32) {
      lines.push(bytes.slice(i, i + 32).join(","));
    }
    return `const unsigned char perp_replay_${name}[] = {\n${lines.join(",\n")},0};\n` +
      `const size_t perp_replay_${name}_size = ${bytes.length};\n`;
  };
  await writeFile(process.argv[3], "/* Made by viewer/build.mjs: the page of a replay, but for its data. */\n" +
    '#include "report/replay_template.h"\n\n' + array("top", top) + array("head", head) + array("middle", middle) + array("tail", tail));
}
