import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentChannel } from '../../../../../src/engine/shell/agent/channel.ts'
import { demultiplex } from '../../../../../src/engine/shell/agent/docker-stream.ts'
import { startExec } from '../../../../../src/engine/shell/agent/exec.ts'
import { FrameStream } from '../../../../../src/engine/shell/agent/frame-stream.ts'
import {
  type FrameReader,
  FrameWriter,
  fromAgent,
  outputWindow,
  ProtocolError,
  toAgent,
} from '../../../../../src/engine/shell/agent/frames.ts'

const bytes = (max = 200) => fc.uint8Array({ maxLength: max }).map((array) => Buffer.from(array))
/** Ways to split a stream into chunks. */
const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })

function* cut(whole: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, index = 0; at < whole.length; index++) {
    const size = sizes[index % sizes.length]!
    yield whole.subarray(at, at + size)
    at += size
  }
}

const numbers = { id: fc.integer({ min: 0, max: 0xffff_ffff }), type: fc.integer({ min: 0, max: 255 }) }
const plainFrame = fc.record({ ...numbers, body: bytes() }).filter(({ type }) => type !== fromAgent.output)
const outputFrame = fc.record({ id: numbers.id, stream: fc.constantFrom(1, 2), body: bytes(2000) })

interface Seen {
  frames: { type: number; id: number; body: string }[]
  output: Map<string, Buffer>
}

function collect(): Seen & { stream: FrameStream } {
  const seen: Seen = { frames: [], output: new Map() }
  const stream = new FrameStream({
    frame: (type, id, body: FrameReader) => void seen.frames.push({ type, id, body: body.rest().toString('hex') }),
    output(id, name, piece) {
      const key = `${id}/${name}`
      seen.output.set(key, Buffer.concat([seen.output.get(key) ?? Buffer.alloc(0), piece]))
    },
  })
  return { ...seen, stream }
}

describe('stream of frames', () => {
  test('returns every frame and every byte of output for any chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(plainFrame, outputFrame)), cuts, (items, sizes) => {
        const whole = Buffer.concat(
          items.map((item) =>
            'stream' in item
              ? new FrameWriter().u8(item.stream).raw(item.body).frame(fromAgent.output, item.id)
              : new FrameWriter().raw(item.body).frame(item.type, item.id),
          ),
        )
        const seen = collect()
        for (const piece of cut(whole, sizes)) seen.stream.push(piece)
        const plain = items.flatMap((item) => ('stream' in item ? [] : [item]))
        expect(seen.frames).toEqual(plain.map(({ type, id, body }) => ({ type, id, body: body.toString('hex') })))
        for (const [key, sent] of grouped(items)) expect(seen.output.get(key) ?? Buffer.alloc(0)).toEqual(sent)
      }),
    )
  })

  test('throws ProtocolError and nothing else on invalid frames', () => {
    fc.assert(
      fc.property(bytes(400), cuts, (noise, sizes) => {
        const { stream } = collect()
        try {
          for (const piece of cut(noise, sizes)) stream.push(piece)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
    )
  })
})

function grouped(items: readonly ({ id: number; body: Buffer } & ({ stream: number } | { type: number }))[]) {
  const all = new Map<string, Buffer>()
  for (const item of items) {
    if (!('stream' in item)) continue
    const key = `${item.id}/${item.stream}`
    all.set(key, Buffer.concat([all.get(key) ?? Buffer.alloc(0), item.body]))
  }
  return all
}

describe("Docker's stream", () => {
  const piece = fc.record({ stream: fc.constantFrom(1, 2), body: bytes() })
  const head = (stream: number, size: number) => {
    const buffer = Buffer.alloc(8)
    buffer.writeUInt32LE(stream)
    buffer.writeUInt32BE(size, 4)
    return buffer
  }

  test('is split into its two outputs for any chunks', () => {
    fc.assert(
      fc.property(fc.array(piece), cuts, (pieces, sizes) => {
        const whole = Buffer.concat(pieces.flatMap(({ stream, body }) => [head(stream, body.length), body]))
        const seen = { stdout: '', stderr: '' }
        const push = demultiplex((name, part) => (seen[name] += part.toString('hex')))
        for (const part of cut(whole, sizes)) push(part)
        const sent = (requested: number) =>
          pieces
            .filter(({ stream: name }) => name === requested)
            .map(({ body }) => body.toString('hex'))
            .join('')
        expect(seen).toEqual({ stdout: sent(1), stderr: sent(2) })
      }),
    )
  })

  test('is rejected if it is malformed', () => {
    expect(() => demultiplex(() => {})(head(7, 1))).toThrow(ProtocolError)
    expect(() => demultiplex(() => {})(head(1, 0x7fff_ffff))).toThrow(ProtocolError)
  })
})

describe('channel', () => {
  const spec = { argv: ['x'], cwd: '/', env: {}, stdin: 'pipe' as const }
  const lost = { reason: 'exited' as const, message: 'gone' }

  test('a call ends once, with a response or an error, for any data of the agent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(plainFrame, outputFrame), { maxLength: 20 }), async (items) => {
        const channel = new AgentChannel(() => {})
        const exec = startExec(channel, spec)
        // Most of the random frames go to the call itself.
        const whole = Buffer.concat(
          items.map((item) =>
            'stream' in item
              ? new FrameWriter().u8(item.stream).raw(item.body).frame(fromAgent.output, 1)
              : new FrameWriter().raw(item.body).frame(64 + (item.type % 12), item.id % 3),
          ),
        )
        try {
          channel.receive(whole)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
        channel.lose(lost)
        await exec.then(
          ({ exit }) => exit.catch((error: Error) => expect(error.name).toMatch(/BaxError|ContainerError/)),
          (error: Error) => expect(error.name).toMatch(/BaxError|ContainerError/),
        )
        expect(channel.busy).toBe(false)
      }),
    )
  })

  test('rejects calls after it was lost', async () => {
    const channel = new AgentChannel(() => {})
    channel.lose(lost)
    await expect(startExec(channel, spec)).rejects.toMatchObject({ code: 'session_lost', message: 'gone' })
    await expect(channel.ping()).rejects.toMatchObject({ code: 'session_lost' })
    await expect(channel.ready).rejects.toMatchObject({ code: 'session_lost' })
  })

  test('rejects an agent of another version', async () => {
    const channel = new AgentChannel(() => {})
    channel.receive(new FrameWriter().u32(99).frame(fromAgent.hello, 0))
    await expect(channel.ready).rejects.toThrow('version 99')
  })

  test('grants more credit only as the reader reads', async () => {
    const sent: Buffer[] = []
    const channel = new AgentChannel((frame) => void sent.push(Buffer.from(frame)))
    const starting = startExec(channel, spec)
    channel.receive(new FrameWriter().u32(7).u32(0).frame(fromAgent.started, 1))
    const exec = await starting
    const granted = () =>
      sent.filter((frame) => frame[4] === toAgent.credit).reduce((sum, frame) => sum + frame.readUInt32LE(10), 0)
    for (let at = 0; at < outputWindow; at += 65_536)
      channel.receive(new FrameWriter().u8(1).raw(Buffer.alloc(65_536)).frame(fromAgent.output, 1))
    expect(granted()).toBe(0)
    const reader = exec.stdout[Symbol.asyncIterator]()
    for (let read = 0; read < outputWindow / 2;) read += (await reader.next()).value!.length
    expect(granted()).toBe(outputWindow / 2)
    // Leaving a reader discards the rest.
    await reader.return!()
    expect(sent.some((frame) => frame[4] === toAgent.discard)).toBe(true)
  })

  test('sends no more input than granted', async () => {
    const sent: Buffer[] = []
    const channel = new AgentChannel((frame) => void sent.push(Buffer.from(frame)))
    const starting = startExec(channel, spec)
    channel.receive(new FrameWriter().u32(7).u32(0).frame(fromAgent.started, 1))
    const exec = await starting
    const size = () =>
      sent.filter((frame) => frame[4] === toAgent.data).reduce((sum, frame) => sum + frame.length - 9, 0)
    const writing = exec.write(Buffer.alloc(1_000_000))
    await new Promise(setImmediate)
    expect(size()).toBe(256 * 1024)
    channel.receive(new FrameWriter().u32(100_000).frame(fromAgent.inputCredit, 1))
    await new Promise(setImmediate)
    expect(size()).toBe(256 * 1024 + 100_000)
    channel.receive(new FrameWriter().frame(fromAgent.inputClosed, 1))
    expect(await writing).toBe(false)
  })
})
