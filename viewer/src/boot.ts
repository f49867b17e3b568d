// The program stands in the page compressed; this unpacks it. It is all that the page's security policy lets run from
// the page's own text (by its hash).
async function start() {
  const packed = atob((document.getElementById("perp-program")!.textContent ?? "").trim());
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = await new Response(stream).text();
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  document.body.append(script);
}

start().catch((problem: unknown) => {
  const message = document.getElementById("message")!;
  message.hidden = false;
  message.textContent = `This page could not be shown: ${String(problem)}. It needs a browser of 2023 or later.`;
});
