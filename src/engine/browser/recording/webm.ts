/** Writes encoded frames as a WebM file: one video track, in clusters that each begin with a key frame, and cues. */
import { type FileHandle, open } from 'node:fs/promises'

/** An encoded frame. */
export interface VideoChunk {
  /** Milliseconds since the start. */
  readonly at: number
  readonly key: boolean
  readonly data: Buffer
}

interface Track {
  readonly width: number
  readonly height: number
  /** Matroska's name of the codec, such as V_VP8. */
  readonly codec: string
}

/** Places in the file that are filled in at the end. */
const seekHeadBytes = 32

export class WebmWriter {
  readonly #file: FileHandle
  /** Bytes written so far. */
  size = 0
  readonly #segmentAt: number
  readonly #durationAt: number
  readonly #cues: { at: number; position: number }[] = []
  #cluster: { at: number; blocks: Buffer[] } | undefined

  private constructor(file: FileHandle, head: Buffer, segmentAt: number, durationAt: number) {
    this.#file = file
    this.size = head.length
    this.#segmentAt = segmentAt
    this.#durationAt = durationAt
  }

  static async create(path: string, track: Track): Promise<WebmWriter> {
    const prologue = element(0x1a45dfa3, [
      uint(0x4286, 1),
      uint(0x42f7, 1),
      uint(0x42f2, 4),
      uint(0x42f3, 8),
      text(0x4282, 'webm'),
      uint(0x4287, 2),
      uint(0x4285, 2),
    ])
    // The length of the segment is filled in at the end.
    const segment = Buffer.concat([id(0x18538067), Buffer.from('01ffffffffffffff', 'hex')])
    const info = element(0x1549a966, [
      uint(0x2ad7b1, 1_000_000),
      text(0x4d80, 'bax'),
      text(0x5741, 'bax'),
      float(0x4489, 0),
    ])
    const video = element(0xe0, [uint(0xb0, track.width), uint(0xba, track.height)])
    const entry = element(0xae, [
      uint(0xd7, 1),
      uint(0x73c5, 1),
      uint(0x83, 1),
      uint(0x9c, 0),
      text(0x86, track.codec),
      video,
    ])
    const placeholder = Buffer.concat([id(0xec), length(seekHeadBytes - 2), Buffer.alloc(seekHeadBytes - 2)])
    const head = Buffer.concat([prologue, segment, placeholder, info, element(0x1654ae6b, [entry])])
    const file = await open(path, 'wx', 0o600)
    await file.write(head)
    const segmentAt = prologue.length + segment.length
    return new WebmWriter(file, head, segmentAt, segmentAt + placeholder.length + info.length - 8)
  }

  async add({ at, key, data }: VideoChunk): Promise<void> {
    if (key || !this.#cluster) {
      await this.#endCluster()
      this.#cluster = { at, blocks: [] }
    }
    const header = Buffer.from([0x81, 0, 0, key ? 0x80 : 0])
    header.writeInt16BE(at - this.#cluster.at, 1)
    this.#cluster.blocks.push(element(0xa3, [header, data]))
  }

  /** Completes the file. */
  async finish(durationMs: number): Promise<void> {
    await this.#endCluster()
    const cuesAt = this.size - this.#segmentAt
    const cues = this.#cues.map(({ at, position }) =>
      element(0xbb, [uint(0xb3, at), element(0xb7, [uint(0xf7, 1), uint(0xf1, position)])]),
    )
    await this.#append(element(0x1c53bb6b, cues))
    const seek = element(0x114d9b74, [element(0x4dbb, [element(0x53ab, [id(0x1c53bb6b)]), uint(0x53ac, cuesAt)])])
    const rest = seekHeadBytes - seek.length
    const head = Buffer.concat([seek, id(0xec), length(rest - 2), Buffer.alloc(rest - 2)])
    const duration = Buffer.alloc(8)
    duration.writeDoubleBE(durationMs)
    const total = Buffer.alloc(8)
    total.writeBigUInt64BE(BigInt(this.size - this.#segmentAt) | (1n << 56n))
    await this.#file.write(head, 0, head.length, this.#segmentAt)
    await this.#file.write(duration, 0, 8, this.#durationAt)
    await this.#file.write(total, 0, 8, this.#segmentAt - 8)
    await this.close()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #endCluster(): Promise<void> {
    const cluster = this.#cluster
    this.#cluster = undefined
    if (!cluster) return
    this.#cues.push({ at: cluster.at, position: this.size - this.#segmentAt })
    await this.#append(element(0x1f43b675, [uint(0xe7, cluster.at), ...cluster.blocks]))
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.#file.write(bytes, 0, bytes.length, this.size)
    this.size += bytes.length
  }
}

const element = (name: number, parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([id(name), length(content.length), content])
}

/** Returns the ID of an element, which contains its own length. */
const id = (name: number): Buffer => Buffer.from(name.toString(16).padStart(2, '0'), 'hex')

/** Returns a length: in one byte if it is short, else in eight. */
function length(bytes: number): Buffer {
  if (bytes < 127) return Buffer.from([0x80 | bytes])
  const long = Buffer.alloc(8)
  long.writeBigUInt64BE(BigInt(bytes) | (1n << 56n))
  return long
}

function uint(name: number, value: number): Buffer {
  const digits = value.toString(16)
  return element(name, [Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')])
}

function float(name: number, value: number): Buffer {
  const content = Buffer.alloc(8)
  content.writeDoubleBE(value)
  return element(name, [content])
}

const text = (name: number, value: string): Buffer => element(name, [Buffer.from(value)])
