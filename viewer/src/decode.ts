import type { Column } from "./format";

// The inverse of src/report/replay_pack.c: differences along each series, zigzag, bytes of equal weight together.
export function decodeColumn(column: Column, bytes: Uint8Array): Float32Array | Uint8Array {
  if (column.coding === "byte") {
    return bytes.slice();
  }
  const n = column.length;
  const out = new Float32Array(n);
  const bits = new Int32Array(out.buffer);
  const perSeries = column.series > 0 ? n / column.series : n;
  let previous = 0;
  for (let i = 0; i < n; i++) {
    if (i % perSeries === 0) {
      previous = 0;
    }
    const z = bytes[i] | (bytes[n + i] << 8) | (bytes[2 * n + i] << 16) | (bytes[3 * n + i] << 24);
    previous = (previous + ((z >>> 1) ^ -(z & 1))) | 0;
    if (column.coding === "fixed") {
      out[i] = previous * column.quantum;
    } else {
      bits[i] = previous >= 0 ? previous << 4 : (-previous << 4) | 0x80000000;
    }
  }
  return out;
}

export function columnBytes(column: Column): number {
  return column.coding === "byte" ? column.length : 4 * column.length;
}

export function fromBase64(text: string): Uint8Array {
  const raw = atob(text.trim());
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    out[i] = raw.charCodeAt(i);
  }
  return out;
}
