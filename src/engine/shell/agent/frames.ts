/** Encodes and decodes the frames between engine and agent, as described in `src/agent/protocol.md`. */

/** Protocol version of both sides; any change of a frame increases it. */
export const protocolVersion = 2

/** Bytes that may be in transit before the receiver grants more. */
export const outputWindow = 1024 * 1024
export const inputWindow = 256 * 1024
/** Maximum frame size without its length field, in bytes. */
export const maxFrame = 2 * 1024 * 1024
/** Maximum amount of input in one frame, in bytes. */
export const chunk = 64 * 1024

/** Frames to the agent. */
export const toAgent = {
  exec: 1,
  data: 2,
  end: 3,
  credit: 4,
  signal: 5,
  kill: 6,
  resize: 7,
  discard: 8,
  file: 9,
  cancel: 10,
  ping: 11,
  killAll: 12,
} as const

/** Frames from the agent. */
export const fromAgent = {
  hello: 64,
  started: 65,
  failed: 66,
  output: 67,
  exited: 68,
  inputCredit: 69,
  inputClosed: 70,
  result: 71,
  done: 72,
  pong: 73,
} as const

export const fileOperation = {
  info: 1,
  realPath: 2,
  list: 3,
  walk: 4,
  read: 5,
  write: 6,
  remove: 7,
  copy: 8,
  move: 9,
  mkdir: 10,
} as const

export const execFlag = { pty: 1, stdin: 2, script: 4 } as const
export const writeFlag = { append: 1, parents: 2, overwrite: 4 } as const

/** Largest unsigned 64-bit number: no limit. */
export const unlimited = 0xffff_ffff_ffff_ffffn

/** Builds the body of a frame, little-endian. */
export class FrameWriter {
  readonly #parts: Uint8Array[] = []
  #size = 0

  u8(value: number): this {
    return this.#unsigned(value, 1)
  }

  flag(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  u16(value: number): this {
    return this.#unsigned(value, 2)
  }

  u32(value: number): this {
    return this.#unsigned(value, 4)
  }

  u64(value: bigint): this {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeBigUInt64LE(value)
    return this.raw(bytes)
  }

  /** Appends length and bytes; strings are encoded as UTF-8. */
  bytes(value: string | Uint8Array): this {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value
    return this.u32(bytes.length).raw(bytes)
  }

  raw(bytes: Uint8Array): this {
    this.#parts.push(bytes)
    this.#size += bytes.length
    return this
  }

  frame(type: number, id: number): Buffer {
    const head = Buffer.allocUnsafe(9)
    head.writeUInt32LE(this.#size + 5, 0)
    head.writeUInt8(type, 4)
    head.writeUInt32LE(id, 5)
    return Buffer.concat([head, ...this.#parts], this.#size + 9)
  }

  #unsigned(value: number, size: number): this {
    const bytes = Buffer.allocUnsafe(size)
    bytes.writeUIntLE(value, 0, size)
    return this.raw(bytes)
  }
}

/** Malformed frame. */
export class ProtocolError extends Error {}

/** Reads the body of a frame. @throws ProtocolError if it is too short. */
export class FrameReader {
  readonly #body: Buffer
  #at = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  get finished(): boolean {
    return this.#at === this.#body.length
  }

  u8(): number {
    return this.#body.readUInt8(this.#take(1))
  }

  u32(): number {
    return this.#body.readUInt32LE(this.#take(4))
  }

  u64(): bigint {
    return this.#body.readBigUInt64LE(this.#take(8))
  }

  bytes(): Buffer {
    const length = this.u32()
    const start = this.#take(length)
    return this.#body.subarray(start, start + length)
  }

  /** Returns the remaining bytes. */
  rest(): Buffer {
    const start = this.#take(this.#body.length - this.#at)
    return this.#body.subarray(start)
  }

  #take(length: number): number {
    const start = this.#at
    if (this.#body.length - start < length) throw new ProtocolError('a frame is shorter than its fields')
    this.#at = start + length
    return start
  }
}
