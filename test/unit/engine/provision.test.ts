import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { EventLog } from '../../../src/core/events/events.ts'
import type { OpenedSession } from '../../../src/engine/browser/create/opening.ts'
import type { Seat } from '../../../src/engine/browser/pool/pool.ts'
import { Provision } from '../../../src/engine/browser/create/provision.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A promise and the ways to settle it. */
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
  const seat = pending<Seat>()
  const found = pending<void>()
  const opened = pending<OpenedSession>()
  const did: string[] = []
  const { provision } = Provision.begin({
    owner: null,
    waiting: {
      seat: seat.promise,
      get position() {
        return did.includes('left') ? null : 1
      },
      leave: () => did.push('left'),
    },
    open: () => opened.promise,
    onSettled: () => did.push('settled'),
  })
  const give = (launching: boolean) =>
    seat.resolve({
      launching,
      found: found.promise,
      worker: new Promise(() => {}),
      free: () => did.push('freed'),
    })
  const session = {
    session: {
      sessionId: 'ses_1',
      name: 'shop',
      events: new EventLog(),
      servesCdp: true,
      endLater: () => did.push('ended'),
    },
    frameToken: 'ft_1',
  } as unknown as OpenedSession
  const stages = () => provision.record({ baseUrl: 'http://x', socketBaseUrl: null }).stages.map(({ stage }) => stage)
  return { provision, give, found, opened, session, did, stages, settle: () => vi.advanceTimersByTimeAsync(0) }
}

describe('a provision', () => {
  test('goes through the stages as they happen', async () => {
    const { provision, give, found, opened, session, did, stages, settle } = begin()
    expect(provision.record({ baseUrl: 'http://x', socketBaseUrl: null })).toMatchObject({
      status: 'provisioning',
      stage: 'provisioning',
      queue_position: 1,
    })
    give(true)
    await settle()
    expect(stages()).toEqual(['provisioning', 'scaling'])
    found.resolve()
    await settle()
    expect(stages()).toEqual(['provisioning', 'scaling', 'worker_found', 'creating'])
    opened.resolve(session)
    await settle()
    expect(provision.record({ baseUrl: 'http://x', socketBaseUrl: null })).toMatchObject({
      status: 'ready',
      stage: 'ready',
      session_id: 'ses_1',
      name: 'shop',
      frame_token: 'ft_1',
      sse_url: 'http://x/stream/sse?session_id=ses_1',
      error: null,
    })
    expect(did).toEqual(['settled'])
  })

  test('on a place that was freed no browser is started', async () => {
    const { give, found, stages, settle } = begin()
    give(false)
    found.resolve()
    await settle()
    expect(stages()).toEqual(['provisioning', 'worker_found', 'creating'])
  })

  test('a browser that does not start fails it, with the reason', async () => {
    const { provision, give, found, did, settle } = begin()
    give(true)
    found.reject(new BaxError('browser_failed', 'it did not start'))
    await settle()
    expect(provision.record({ baseUrl: '', socketBaseUrl: null })).toMatchObject({
      status: 'failed',
      stage: 'failed',
      error: 'it did not start',
      code: 'browser_failed',
      session_id: null,
    })
    expect(did).toEqual(['left', 'settled'])
  })

  test('after two minutes without a place it fails with no_capacity, and gives back what comes too late', async () => {
    const { provision, give, did, settle } = begin()
    await vi.advanceTimersByTimeAsync(120_000)
    expect(provision.record({ baseUrl: '', socketBaseUrl: null })).toMatchObject({
      status: 'failed',
      code: 'no_capacity',
      queue_position: null,
    })
    give(false)
    await settle()
    expect(did).toEqual(['left', 'settled', 'freed'])
  })

  test('cancelled while its session is made, it ends the session that comes too late', async () => {
    const { provision, give, found, opened, session, did, settle } = begin()
    give(false)
    found.resolve()
    await settle()
    provision.cancel()
    await settle()
    expect(provision.record({ baseUrl: '', socketBaseUrl: null })).toMatchObject({
      status: 'cancelled',
      stage: 'failed',
      code: 'cancelled',
    })
    opened.resolve(session)
    await settle()
    expect(did).toEqual(['left', 'settled', 'ended'])
  })
})
