"""What a browser makes of SVG files: where their words are, and what is painted. One start of the browser for many."""
import base64
import html
import json
import re
import shutil
import subprocess

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

SCRIPT = """
const results = {};
async function look(name, data) {
  const text = new TextDecoder().decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
  const holder = document.createElement('div');
  holder.innerHTML = text.slice(text.indexOf('<svg'));
  document.body.append(holder);
  const svg = holder.firstElementChild, frame = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim()).map((t) => {
    const r = t.getBoundingClientRect();
    return [t.textContent, r.left - frame.left, r.top - frame.top, r.right - frame.left, r.bottom - frame.top];
  });
  holder.remove();
  const image = new Image();
  image.src = 'data:image/svg+xml;base64,' + data;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = frame.width; canvas.height = frame.height;
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data, colours = {};
  for (let i = 0; i < pixels.length; i += 4) {
    const key = [pixels[i], pixels[i + 1], pixels[i + 2]].map((c) => c.toString(16).padStart(2, '0')).join('');
    colours[key] = (colours[key] ?? 0) + 1;
  }
  const kept = Object.entries(colours).sort((a, b) => b[1] - a[1]).slice(0, 60);
  results[name] = {words, width: frame.width, height: frame.height, colours: Object.fromEntries(kept),
                   painted: 1 - (colours.ffffff ?? 0) / (canvas.width * canvas.height)};
}
(async () => {
  const files = JSON.parse(document.getElementById('files').textContent);
  for (const [name, data] of Object.entries(files)) {
    await look(name, data);
  }
  document.body.textContent = JSON.stringify(results);
  document.title = 'done';
})().catch((problem) => { document.body.textContent = JSON.stringify({problem: String(problem)}); });
"""


def look(folder, files):
    """{name: {words: [[text, left, top, right, bottom]], width, height, colours: {rrggbb: pixels}, painted}}"""
    data = json.dumps({name: base64.b64encode(text.encode()).decode() for name, text in files.items()})
    page = folder / "look.html"
    page.write_text("<!doctype html><meta charset=utf-8><body style='margin:0'>"
                    f"<script id=files type=application/json>{data}</script><script>{SCRIPT}</script>")
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                           "--virtual-time-budget=60000", "--dump-dom", page.as_uri()],
                          capture_output=True, text=True, timeout=120, check=True)
    body = re.search(r"<body[^>]*>(.*)</body>", done.stdout, re.DOTALL).group(1)
    results = json.loads(html.unescape(body))
    assert "problem" not in results, results
    return results


def overlaps(words, slack=0.5):
    """Pairs of words whose boxes meet by more than `slack` px, for rounding."""
    met = []
    for i, (a, left, top, right, bottom) in enumerate(words):
        for b, left2, top2, right2, bottom2 in words[i + 1:]:
            if (min(right, right2) - max(left, left2) > slack) and (min(bottom, bottom2) - max(top, top2) > slack):
                met.append((a, b))
    return met
