// WebM (Matroska) of one picture track: what players and browsers take without further ado.
// An element is its id, its size and its content; https://www.rfc-editor.org/rfc/rfc9559 has the ids.

export interface Picture {
  t: number; // ms
  key: boolean; // can be shown without those before it
  bytes: Uint8Array;
}

type Content = Uint8Array | Uint8Array[];

const sizeOf = (content: Content) => (content instanceof Uint8Array ? content.length : content.reduce((sum, part) => sum + part.length, 0));

// An integer of so many bytes, the highest first.
const integer = (value: number, bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 2 ** (8 * (bytes - 1 - i))) % 256);

const text = (words: string) => new TextEncoder().encode(words);

function real(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

// The parts of an element, its content not copied; sizes have eight bytes, so that places are known before contents.
function element(id: number, content: Content): Uint8Array[] {
  const head = new Uint8Array([...integer(id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1), 1, ...integer(sizeOf(content), 7)]);
  return content instanceof Uint8Array ? [head, content] : [head, ...content];
}

const number = (id: number, value: number) => element(id, integer(value, 4));

// A cluster: pictures from one that can be shown by itself to the one before the next such.
function cluster(pictures: Picture[]): Uint8Array[] {
  const blocks = pictures.flatMap((p) =>
    element(0xa3, [new Uint8Array([0x81, ...integer(p.t - pictures[0].t, 2), p.key ? 0x80 : 0]), p.bytes]));
  return element(0x1f43b675, [...number(0xe7, pictures[0].t), ...blocks]);
}

// `codec`: "V_VP9"; `duration` in ms. Its parts, one after the other.
export function webm(codec: string, width: number, height: number, duration: number, pictures: Picture[]): Uint8Array[] {
  const groups: Picture[][] = [];
  for (const picture of pictures) {
    picture.key ? groups.push([picture]) : groups[groups.length - 1].push(picture);
  }
  const head = element(0x1a45dfa3, [
    ...number(0x4286, 1), ...number(0x42f7, 1), ...number(0x42f2, 4), ...number(0x42f3, 8),
    ...element(0x4282, text("webm")), ...number(0x4287, 4), ...number(0x4285, 2),
  ]);
  const about = element(0x1549a966, [
    ...number(0x2ad7b1, 1000000), ...element(0x4489, real(duration)), ...element(0x4d80, text("perp")), ...element(0x5741, text("perp")),
  ]);
  const track = element(0x1654ae6b, element(0xae, [
    ...number(0xd7, 1), ...number(0x73c5, 1), ...number(0x83, 1), ...number(0x9c, 0), ...element(0x86, text(codec)),
    ...element(0xe0, [...number(0xb0, width), ...number(0xba, height)]),
  ]));
  const clusters = groups.map(cluster);
  const index = (places: number[]) => element(0x1c53bb6b, groups.flatMap((group, i) =>
    element(0xbb, [...number(0xb3, group[0].t), ...element(0xb7, [...number(0xf7, 1), ...number(0xf1, places[i])])])));
  // the index comes first, so that a player finds it; its size does not depend on what it says
  const places: number[] = [];
  let place = sizeOf(about) + sizeOf(track) + sizeOf(index(groups.map(() => 0)));
  for (const part of clusters) {
    places.push(place);
    place += sizeOf(part);
  }
  return [...head, ...element(0x18538067, [...about, ...track, ...index(places), ...clusters.flat()])];
}
