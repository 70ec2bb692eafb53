/** A file of responses: for each, a record in one line, then its bytes and a line break. */
import { closeSync, ftruncateSync, openSync, readFileSync, writevSync } from 'node:fs'
import { checksumOf } from '../../../core/state/checksum.ts'
import { decodeRecord, encodeRecord } from '../../../core/state/state-record.ts'

interface EntryHead {
  /** URL of the queued page; empty for responses about the site. */
  readonly visit: string
  readonly key: string
  readonly facts: Readonly<Record<string, unknown>>
}

export interface Entry extends EntryHead {
  readonly path: string
  readonly at: number
  readonly length: number
  isComplete(bytes: Buffer): boolean
}

interface KeptHead extends EntryHead {
  readonly length: number
  readonly sum: string
}

export class Segment {
  readonly path: string
  #file: number | undefined
  bytes = 0

  constructor(path: string) {
    this.path = path
  }

  static open(path: string): Segment {
    const segment = new Segment(path)
    segment.#file = openSync(path, 'a', 0o600)
    return segment
  }

  append(head: EntryHead, bytes: Uint8Array): void {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const kept: KeptHead = { ...head, length: body.length, sum: sumOf(body) }
    const parts = [Buffer.from(`${encodeRecord(kept)}\n`), body, lineBreak]
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (writevSync(this.#file!, parts) !== length) throw new Error('a response was written only in part')
    this.bytes += length
  }

  clear(): void {
    ftruncateSync(this.#file!)
    this.bytes = 0
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

const lineBreak = Buffer.from('\n')

const sumOf = (bytes: Buffer): string => checksumOf(bytes.toString('latin1'))

/** Yields the entries of a file, up to the first incomplete one. */
export function* readSegment(path: string): Generator<Entry> {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch {
    // Responses that cannot be read are requested again.
    return
  }
  for (let at = 0; ;) {
    const end = bytes.indexOf(10, at)
    if (end < 0) return
    const record = decodeRecord<KeptHead>(bytes.toString('utf8', at, end), { isContent: (value) => 'visit' in value })
    if (!('content' in record)) return
    const { sum, ...head } = record.content
    yield { ...head, path, at: end + 1, isComplete: (body) => sumOf(body) === sum }
    at = end + 1 + head.length + 1
  }
}
