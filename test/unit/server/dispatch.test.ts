import { describe, expect, test, vi } from 'vitest'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import { allowancesOf } from '../../../src/core/access/quota.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import type { Directory } from '../../../src/core/fleet.ts'
import { onSession } from '../../../src/core/operation/placement.ts'
import { Dispatcher, type Work } from '../../../src/server/gateway/dispatch.ts'

const worker = { id: 'wrk_1', url: 'http://127.0.0.1:1' }
const invalid = new BaxError('invalid_request', 'colour is not a known field')

/** Work whose input is invalid unless `input` is given. */
function workOf(fields: Record<string, unknown>, input?: Record<string, unknown>) {
  const work: Work<string> = {
    fields,
    input: () => {
      if (!input) throw invalid
      return input
    },
    caller: keylessCaller,
    hasToken: false,
    run: async () => ({ as: 'done', value: 'response of the worker' }),
  }
  return work
}

describe('a request for an object', () => {
  const find = vi.fn<Directory['find']>(async (id) => ({ id, kind: 'session', owner: null, worker }) as never)
  const dispatcher = new Dispatcher({ find } as Partial<Directory> as Directory, allowancesOf({}))
  const session = { session_id: 'ses_1' }

  test('is validated before the object is looked up', async () => {
    await expect(dispatcher.dispatch(onSession, workOf(session))).rejects.toBe(invalid)
    expect(find).not.toHaveBeenCalled()
  })

  test('is validated by the worker once the gateway knows the object', async () => {
    await dispatcher.dispatch(onSession, workOf(session, session))
    const sent = await dispatcher.dispatch(onSession, workOf(session))
    expect(sent).toEqual({ on: 'worker', value: 'response of the worker' })
    expect(find).toHaveBeenCalledOnce()
  })

  test('is validated by the gateway if its field holds no text', async () => {
    await expect(dispatcher.dispatch(onSession, workOf({ session_id: ['ses_1'] }))).rejects.toBe(invalid)
  })
})

describe('a request for any worker', () => {
  const render = { on: 'any', label: 'render' } as const

  test('is validated by its worker, and by the gateway if there is none', async () => {
    const done = vi.fn<() => void>()
    const leastLoaded = vi.fn<Directory['leastLoaded']>(async () => ({ worker, done }))
    const dispatcher = new Dispatcher({ leastLoaded } as Partial<Directory> as Directory, allowancesOf({}))
    expect(await dispatcher.dispatch(render, workOf({}))).toEqual({ on: 'worker', value: 'response of the worker' })
    expect(done).toHaveBeenCalledOnce()
    leastLoaded.mockResolvedValue(undefined)
    await expect(dispatcher.dispatch(render, workOf({}))).rejects.toBe(invalid)
    await expect(dispatcher.dispatch(render, workOf({}, {}))).rejects.toMatchObject({ code: 'no_capacity' })
  })
})
