import { describe, expect, test } from 'vitest'
import type { Frame } from '../../../../src/core/operation/call.ts'
import { limits } from '../../../../src/core/limits/limits.ts'
import { FrameLog } from '../../../../src/engine/shell/exec/frame-log.ts'

const never = new AbortController().signal

async function read(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = []
  for await (const frame of frames) all.push(frame)
  return all
}

/** Returns whether a promise has settled once all pending work has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

describe('frames of a command', () => {
  test('are numbered from 1, and frames after the last one are ignored', async () => {
    const log = new FrameLog(false)
    const frames = log.follow(0, never)
    log.add('start', { pid: 1 })
    log.end('exit', { exit_code: 0 })
    log.add('stdout', { data: 'late' })
    expect((await read(frames)).map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'start'],
      [2, 'exit'],
    ])
  })

  test('have room while a reader keeps up, but not while it is far behind', async () => {
    const log = new FrameLog(false)
    const frames = log.follow(0, never)
    log.add('stdout', { data: 'x' }, limits.exec.bufferedBytes + 1)
    const room = log.room()
    expect(await isSettled(room)).toBe(false)
    await frames.next()
    await room
    for (let count = 0; count < limits.events.ring; count += 1) log.add('stdout', { data: '' }, 1)
    const more = log.room()
    expect(await isSettled(more)).toBe(false)
    for (let count = 0; count < limits.events.ring; count += 1) await frames.next()
    await more
  })

  test('make both outputs of a program wait', async () => {
    const log = new FrameLog(false)
    const frames = log.follow(0, never)
    log.add('stdout', {}, limits.exec.bufferedBytes + 1)
    const both = Promise.all([log.room(), log.room()])
    await frames.next()
    expect(await both).toHaveLength(2)
  })

  test('do not block a program whose reader has disconnected, even before reading', async () => {
    const stop = new AbortController()
    const log = new FrameLog(false)
    log.follow(0, stop.signal)
    log.add('stdout', {}, limits.exec.bufferedBytes + 1)
    const room = log.room()
    expect(await isSettled(room)).toBe(false)
    stop.abort()
    await room
  })

  test('are kept for a reader that reconnects after the last frame it received', async () => {
    const stop = new AbortController()
    const log = new FrameLog(true)
    const first = log.follow(0, stop.signal)
    for (const data of ['a', 'b', 'c']) log.add('stdout', { data }, 1)
    expect((await first.next()).value).toMatchObject({ seq: 1 })
    stop.abort()
    log.end('exit', {})
    expect((await read(log.follow(1, never))).map(({ seq }) => seq)).toEqual([2, 3, 4])
    expect((await read(log.follow(0, never))).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
  })

  test('report how many were dropped while there was no reader', async () => {
    const stop = new AbortController()
    const log = new FrameLog(true)
    log.follow(0, stop.signal)
    stop.abort()
    const extra = 10
    for (let count = 0; count < limits.events.ring + extra; count += 1) log.add('stdout', { data: '' }, 1)
    log.end('exit', {})
    const [lagged, next, ...rest] = await read(log.follow(0, never))
    expect(lagged).toMatchObject({ type: 'lagged', data: { dropped: extra + 1 } })
    expect(next!.seq).toBe(extra + 2)
    expect(rest.at(-1)!.type).toBe('exit')
  })
})
