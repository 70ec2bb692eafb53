import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { EventLog } from '../../../src/core/events/events.ts'
import type { OpenedSession } from '../../../src/engine/browser/ports/session.ts'
import type { Slot } from '../../../src/engine/browser/pool/slots.ts'
import { Provision } from '../../../src/engine/browser/create/provision.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns a promise with its resolve and reject functions. */
function pending<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

function begin() {
  const slot = pending<Slot>()
  const found = pending<void>()
  const opened = pending<OpenedSession>()
  const did: string[] = []
  const { provision } = Provision.begin({
    owner: null,
    waiting: {
      slot: slot.promise,
      get position() {
        return did.includes('left') ? null : 1
      },
      leave: () => did.push('left'),
    },
    open: () => opened.promise,
    onEnded: () => did.push('finished'),
  })
  const provideSlot = (launching: boolean) =>
    slot.resolve({
      launching,
      found: found.promise,
      worker: new Promise(() => {}),
      claim: () => undefined,
      free: () => did.push('freed'),
    })
  const session = {
    session: {
      sessionId: 'ses_1',
      name: 'shop',
      events: new EventLog(),
      servesCdp: true,
      endLater: () => did.push('session ended'),
    },
    frameToken: 'ft_1',
  } as unknown as OpenedSession
  const stages = () => provision.record({ baseUrl: 'http://x', socketBaseUrl: null }).stages.map(({ stage }) => stage)
  return { provision, provideSlot, found, opened, session, did, stages, drain: () => vi.advanceTimersByTimeAsync(0) }
}

describe('provision', () => {
  test('goes through the stages as they happen', async () => {
    const { provision, provideSlot, found, opened, session, did, stages, drain } = begin()
    expect(provision.record({ baseUrl: 'http://x', socketBaseUrl: null })).toMatchObject({
      status: 'provisioning',
      stage: 'provisioning',
      queue_position: 1,
    })
    provideSlot(true)
    await drain()
    expect(stages()).toEqual(['provisioning', 'scaling'])
    found.resolve()
    await drain()
    expect(stages()).toEqual(['provisioning', 'scaling', 'worker_found', 'creating'])
    opened.resolve(session)
    await drain()
    expect(provision.record({ baseUrl: 'http://x', socketBaseUrl: null })).toMatchObject({
      status: 'ready',
      stage: 'ready',
      session_id: 'ses_1',
      name: 'shop',
      frame_token: 'ft_1',
      sse_url: 'http://x/stream/sse?session_id=ses_1',
      error: null,
    })
    expect(did).toEqual(['finished'])
  })

  test('skips the scaling stage on a slot of a running browser', async () => {
    const { provideSlot, found, stages, drain } = begin()
    provideSlot(false)
    found.resolve()
    await drain()
    expect(stages()).toEqual(['provisioning', 'worker_found', 'creating'])
  })

  test('fails with the reason when the browser does not start', async () => {
    const { provision, provideSlot, found, did, drain } = begin()
    provideSlot(true)
    found.reject(new BaxError('browser_failed', 'it did not start'))
    await drain()
    expect(provision.record({ baseUrl: '', socketBaseUrl: null })).toMatchObject({
      status: 'failed',
      stage: 'failed',
      error: 'it did not start',
      code: 'browser_failed',
      session_id: null,
    })
    expect(did).toEqual(['left', 'finished'])
  })

  test('fails with no_capacity after two minutes in the queue, and frees a slot that arrives later', async () => {
    const { provision, provideSlot, did, drain } = begin()
    await vi.advanceTimersByTimeAsync(120_000)
    expect(provision.record({ baseUrl: '', socketBaseUrl: null })).toMatchObject({
      status: 'failed',
      code: 'no_capacity',
      queue_position: null,
    })
    provideSlot(false)
    await drain()
    expect(did).toEqual(['left', 'finished', 'freed'])
  })

  test('ends a session that is created after the cancellation', async () => {
    const { provision, provideSlot, found, opened, session, did, drain } = begin()
    provideSlot(false)
    found.resolve()
    await drain()
    provision.cancel()
    await drain()
    expect(provision.record({ baseUrl: '', socketBaseUrl: null })).toMatchObject({
      status: 'cancelled',
      stage: 'failed',
      code: 'cancelled',
    })
    opened.resolve(session)
    await drain()
    expect(did).toEqual(['left', 'finished', 'session ended'])
  })
})
