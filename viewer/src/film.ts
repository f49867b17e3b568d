import { webm, type Picture } from "./webm";

const KEY_SECONDS = 2; // between pictures that can be shown by themselves, to which a player may jump
const QUANTIZER = 24; // of VP9, 0 to 63: lines stay sharp
const MOST_FRAMES = 36000; // twenty minutes at 30 a second
const PIECE = 3 << 20; // bytes; a multiple of 3, so that pieces of base64 are whole

// What is asked for, in pixels, pictures per second of the film, and seconds of the run.
export interface Asked {
  width: number;
  height: number;
  fps: number;
  speed: number;
  from: number;
  to: number;
}

// What is filmed: shows a time, and says by a word what is shown then.
export interface Stage {
  time: [number, number];
  show(t: number): string;
}

// A film of a replay, picture by picture: not by the clock, so that it is the same however long a picture takes. Whoever drives
// the page takes them: for each of `frames`, show(i) says whether there is a "new" picture, and add() is given its PNG.
export class Film {
  readonly frames: number;
  private readonly encoder: VideoEncoder;
  private readonly encoded: Picture[] = [];
  private readonly from: number;
  private shown = "";
  private frame = 0;
  private last: ImageBitmap | null = null;
  private failure: Error | null = null;
  private file: Blob | null = null;

  constructor(private readonly asked: Asked, private readonly stage: Stage) {
    const [start, end] = stage.time, to = Math.min(end, asked.to);
    this.from = Math.max(start, asked.from);
    if (this.from > to) {
      throw new Error(`there is nothing to film: the log goes from ${start} to ${end} s`);
    }
    this.frames = Math.floor(((to - this.from) / asked.speed) * asked.fps + 1e-6) + 1;
    if (this.frames > MOST_FRAMES) {
      throw new Error(`the video would have ${this.frames} pictures, more than ${MOST_FRAMES}: film a shorter time, at a higher speed, or fewer pictures a second`);
    }
    this.encoder = new VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        this.encoded.push({ t: Math.round(chunk.timestamp / 1000), key: chunk.type === "key", bytes });
      },
      error: (problem) => { this.failure = problem; },
    });
  }

  // Throws where the browser cannot.
  async begin(): Promise<number> {
    const { width, height, fps } = this.asked;
    const config: VideoEncoderConfig = { codec: "vp09.00.61.08", width, height, framerate: fps, bitrateMode: "quantizer", latencyMode: "quality" };
    if (!(await VideoEncoder.isConfigSupported(config)).supported) {
      throw new Error(`this browser does not encode VP9 of ${width}x${height} pixels`);
    }
    this.encoder.configure(config);
    return this.frames;
  }

  show(frame: number): string {
    this.frame = frame;
    const shown = this.stage.show(this.from + (frame / this.asked.fps) * this.asked.speed), known = shown === this.shown;
    this.shown = shown;
    return known ? "same" : "new";
  }

  // `png` in base64; "": what the picture before shows.
  async add(png: string): Promise<string> {
    if (png) {
      this.last?.close();
      this.last = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (c) => c.charCodeAt(0))], { type: "image/png" }));
    }
    const micro = 1e6 / this.asked.fps, picture = new VideoFrame(this.last!, { timestamp: Math.round(this.frame * micro), duration: Math.round(micro) });
    const how = { keyFrame: this.frame % Math.ceil(KEY_SECONDS * this.asked.fps) === 0, vp9: { quantizer: QUANTIZER } };
    this.encoder.encode(picture, how);
    picture.close();
    while (this.encoder.encodeQueueSize > 4) {
      await new Promise((done) => this.encoder.addEventListener("dequeue", done, { once: true }));
    }
    if (this.failure) {
      throw this.failure;
    }
    return "added";
  }

  // A piece of the file, in base64; "": there is no more.
  async piece(number: number): Promise<string> {
    this.file ??= await this.finish();
    const bytes = new Uint8Array(await this.file.slice(number * PIECE, (number + 1) * PIECE).arrayBuffer());
    const letters: string[] = [];
    for (let i = 0; i < bytes.length; i += 8192) {
      letters.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
    }
    return btoa(letters.join(""));
  }

  private async finish(): Promise<Blob> {
    await this.encoder.flush();
    this.encoder.close();
    const { width, height, fps } = this.asked;
    return new Blob(webm("V_VP9", width, height, (this.frames / fps) * 1000, this.encoded) as BlobPart[]);
  }
}
