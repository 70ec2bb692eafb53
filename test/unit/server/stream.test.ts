import { afterEach, expect, test, vi } from 'vitest'
import type { Frame } from '../../../src/core/operation/call.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { frameResponse } from '../../../src/server/request/stream.ts'

afterEach(() => void vi.useRealTimers())

const frame = (seq: number): Frame => ({ seq, ts: '2026-01-01T00:00:00.000Z', type: 'console' })

async function* frames(many: number, end: Promise<void> = Promise.resolve()): AsyncGenerator<Frame> {
  for (let seq = 1; seq <= many; seq++) yield frame(seq)
  await end
}

test('an idle stream sends a keep-alive every 15 s', async () => {
  vi.useFakeTimers()
  const reader = frameResponse(frames(0, new Promise(() => {})), undefined, () => {}).body!.getReader()
  const next = async () => new TextDecoder().decode((await reader.read()).value)
  expect(await next()).toBe('retry: 2000\n')
  const beat = next()
  await vi.advanceTimersByTimeAsync(limits.stream.keepAliveMs)
  expect(await beat).toBe(': ka\n')
})

test('NDJSON has no comments, and both formats end with their frames', async () => {
  const lines = await frameResponse(frames(2), 'application/x-ndjson', () => {}).text()
  expect(lines).toBe(`${JSON.stringify(frame(1))}\n${JSON.stringify(frame(2))}\n`)
  const events = await frameResponse(frames(1), 'text/event-stream', () => {}).text()
  expect(events).toBe(`retry: 2000\nid: 1\ndata: ${JSON.stringify(frame(1))}\n\n`)
})

test('a reader that disconnects closes the stream', async () => {
  const gone = vi.fn()
  let stop!: () => void
  const ended = new Promise<void>((resolve) => {
    stop = resolve
  })
  gone.mockImplementation(() => stop())
  const reader = frameResponse(frames(1, ended), undefined, gone).body!.getReader()
  await reader.read()
  await reader.read()
  await reader.cancel()
  expect(gone).toHaveBeenCalledOnce()
})
