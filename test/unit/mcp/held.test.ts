import { describe, expect, test } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { HeldSessions } from '../../../src/mcp/held.ts'
import { Handles } from '../../../src/mcp/stateless/handles.ts'

/** Sessions whose creation a test completes, and the IDs of those that have ended. */
function held(create: () => Promise<string> = counter()) {
  const ended: string[] = []
  const sessions = new HeldSessions('session', create, async (id) => void ended.push(id))
  return { sessions, ended }
}

function counter(): () => Promise<string> {
  let count = 0
  return async () => `ses_${(count += 1)}`
}

describe('sessions of a connection', () => {
  test('whose end fails are ended again, and reported if that fails, too', async () => {
    const failures = [new BaxError('worker_lost', 'the worker is lost'), new BaxError('internal_error', 'a bug')]
    const attempts: string[] = []
    const sessions = new HeldSessions('session', counter(), async (id) => {
      attempts.push(id)
      const failure = id === 'ses_1' ? failures.shift() : undefined
      if (failure) throw failure
    })
    await sessions.open()
    await sessions.open('shop')
    await expect(sessions.close()).rejects.toThrow('could not end the session ses_1 (a bug)')
    expect(attempts).toEqual(['ses_1', 'ses_2', 'ses_1'])
  })

  test('are created once for each name', async () => {
    const { sessions } = held()
    expect(await Promise.all([sessions.open(), sessions.open(), sessions.open('shop')])).toEqual([
      'ses_1',
      'ses_1',
      'ses_2',
    ])
    expect(await sessions.list()).toEqual([
      { name: 'default', id: 'ses_1' },
      { name: 'shop', id: 'ses_2' },
    ])
  })

  test('end with it, also one that is still being created', async () => {
    let finish = (_id: string) => {}
    const { sessions, ended } = held(() => new Promise((resolve) => (finish = resolve)))
    const opening = sessions.open()
    const closing = sessions.close()
    finish('ses_late')
    await closing
    expect(await opening).toBe('ses_late')
    expect(ended).toEqual(['ses_late'])
    expect(() => sessions.open('other')).toThrow('the connection has ended')
  })

  test('are created again after a failure', async () => {
    let fails = true
    const { sessions } = held(async () => {
      if (fails) throw new Error('no browser')
      return 'ses_1'
    })
    await expect(sessions.open()).rejects.toThrow('no browser')
    fails = false
    expect(await sessions.open()).toBe('ses_1')
  })

  test('are limited in number', async () => {
    const { sessions } = held()
    for (let at = 0; at < limits.mcp.held; at += 1) await sessions.open(`session ${at}`)
    expect(() => sessions.open('one more')).toThrow(`the connection has ${limits.mcp.held} sessions`)
  })

  test('can be forgotten one by one, while another one is still being created', async () => {
    const count = counter()
    const { sessions, ended } = held(() => (sessions.find('shop') ? new Promise(() => {}) : count()))
    const id = await sessions.open('shop')
    void sessions.open('slow')
    sessions.forget(id)
    await expect.poll(() => sessions.find('shop')).toBeUndefined()
    expect(ended).toEqual([])
    expect(await sessions.open('shop')).toBe('ses_2')
  })
})

describe('sessions that a client names by their IDs', () => {
  /** The sessions of one call, whose process holds those of all calls. */
  function handles() {
    const count = counter()
    const made: boolean[] = []
    const ended: string[] = []
    const end = async (id: string) => void ended.push(id)
    const create = (isHandle: boolean) => (made.push(isHandle), count())
    const holder = new HeldSessions('session', create, end)
    const call = () => new Handles({ field: 'session', creator: 'browser_open', holder, create: count, end })
    return { call, holder, made, ended }
  }

  test('are held as such, until they are forgotten or ended', async () => {
    const { call, holder, made, ended } = handles()
    const ids: string[] = []
    for (let at = 0; at < limits.mcp.held; at += 1) ids.push(await call().open())
    expect(made).toEqual(ids.map(() => true))
    expect(() => call().open()).toThrow(`the connection has ${limits.mcp.held} sessions`)
    call().forget(ids[3]!)
    await expect.poll(async () => (await holder.list()).length).toBe(limits.mcp.held - 1)
    await call().open()
    expect(ended).toEqual([])
    expect((await holder.list()).map(({ id }) => id)).toEqual([...ids.toSpliced(3, 1), `ses_${limits.mcp.held + 1}`])
  })

  test('are not held when the call that created them fails', async () => {
    const { call, holder, ended } = handles()
    const failing = call()
    const id = await failing.open()
    await failing.close()
    expect(ended).toEqual([id])
    expect(await holder.list()).toEqual([])
  })
})
