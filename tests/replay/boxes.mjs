// A table that shakes under boxes, four contacts each, which stick and slide in turn.
export function boxes(count, steps) {
  const width = Math.ceil(Math.sqrt(count));
  const lines = [
    "perp: 1", "name: boxes", "bodies:",
    "  table: {driven: {x: {sines: [{amplitude: 0.06, omega: 3}, {amplitude: 0.02, omega: 7.3}]}, y: {sines: [{amplitude: 0.03, omega: 4.1}]}}, " +
      "pose: {position: [0, 0, -0.05]}, shapes: [{box: [40, 40, 0.1]}]}",
  ];
  for (let i = 0; i < count; i++) {
    lines.push(`  box${i}: {mass: 1, pose: {position: [${0.2 * (i % width)}, ${0.2 * Math.floor(i / width)}, 0.05], ` +
      `rpy: [0, 0, ${0.03 * i}]}, shapes: [{box: [0.1, 0.1, 0.1]}]}`);
  }
  return [...lines, "contacts: {friction: 0.4, margin: 0.01}", `run: {model: quasidynamic, h: 0.01, steps: ${steps}}`, ""].join("\n");
}
