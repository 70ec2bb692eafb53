import { expect, test } from 'vitest'
import { EventLog } from '../../../src/core/events/events.ts'
import { FrameTokens } from '../../../src/engine/browser/links/frame-tokens.ts'
import { type ControlLock, controlLockOf, type Person } from '../../../src/engine/browser/live/control-lock.ts'
import { Handoff } from '../../../src/engine/browser/live/handoff.ts'
import type { LiveSession } from '../../../src/engine/browser/ports/session.ts'
import { privacyOf } from '../../../src/engine/browser/privacy/privacy.ts'
import { CommandQueue } from '../../../src/engine/browser/session/command-queue.ts'

/** A session without a page, of which a recording ends when `endRecording` is called. */
function recordedSession() {
  let [resolve, reject] = [() => {}, (_error: Error) => {}]
  const promise = new Promise<void>((...functions) => ([resolve, reject] = functions))
  const recording = { promise, resolve, reject }
  const session = {
    sessionId: 'ses_1',
    name: null,
    browserContext: {},
    events: new EventLog(),
    tokens: new FrameTokens(),
    queue: new CommandQueue(),
    ended: new AbortController().signal,
    dialogs: { hold: () => () => {} },
    hold: () => () => {},
    use: (work: () => Promise<unknown>) => work(),
  } as unknown as LiveSession
  const began = new Promise<void>((begin) =>
    privacyOf(session.browserContext).beforeBegin(() => {
      begin()
      return promise
    }),
  )
  const input = { session_id: 'ses_1', reason: 'log in', timeout_secs: 60 }
  const handoff = new Handoff({
    session,
    input,
    url: 'http://x/',
    before: undefined,
    onChange: () => {},
    notify: undefined,
    warning: undefined,
  })
  return { session, handoff, began, recording, lock: controlLockOf(session) }
}

/** A viewer, with every state of the control that it was shown. */
function viewer(lock: ControlLock) {
  const holders: boolean[] = []
  const person: Person = {
    gone: new AbortController().signal,
    onControl: () => holders.push(lock.holder === person),
    onDialog: () => {},
  }
  lock.watch(person)
  return { person, holders }
}

test.each(['declined', 'withdrawn', 'expired', 'returned', 'met'] as const)(
  'a viewer gets no control when the handoff is %s while a recording ends',
  async (status) => {
    const { session, handoff, began, recording, lock } = recordedSession()
    const { person, holders } = viewer(lock)
    const taken = lock.take(person)
    await began
    handoff.finish(status)
    expect(handoff.record.ended_at).toBeNull()
    recording.resolve()
    await taken
    await handoff.settled
    expect(handoff.record).toMatchObject({ status, ended_at: expect.any(String) })
    expect(holders).not.toContain(true)
    expect(privacyOf(session.browserContext).active).toBe(false)
    const types = session.events.since(0).map(({ type }) => type)
    expect(types).toEqual(['handoff.requested', `handoff.${status === 'met' ? 'returned' : status}`])
  },
)

test('a handoff that has ended is settled when the recording cannot end', async () => {
  const { handoff, began, recording, lock } = recordedSession()
  const { person, holders } = viewer(lock)
  const taken = lock.take(person)
  await began
  handoff.finish('withdrawn')
  recording.reject(new Error('the disk is full'))
  await expect(taken).rejects.toThrow('the disk is full')
  await handoff.settled
  expect(handoff.record.status).toBe('withdrawn')
  expect(holders).not.toContain(true)
})

test('a handoff stays open when the recording cannot end', async () => {
  const { handoff, recording, lock } = recordedSession()
  recording.reject(new Error('the disk is full'))
  await expect(lock.take(viewer(lock).person)).rejects.toThrow('the disk is full')
  expect(handoff.record.status).toBe('waiting')
  handoff.finish('declined')
  await handoff.settled
  expect(handoff.record.status).toBe('declined')
})
