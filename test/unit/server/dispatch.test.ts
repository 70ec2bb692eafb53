import { beforeEach, describe, expect, test, vi } from 'vitest'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import { allowancesOf } from '../../../src/core/access/quota.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import type { Directory } from '../../../src/core/fleet.ts'
import { onSession } from '../../../src/core/operation/placement.ts'
import { Dispatcher, type Work } from '../../../src/server/gateway/dispatch.ts'
import { LostWorker } from '../../../src/server/gateway/worker-requests.ts'

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
  const find = vi.fn<Directory['find']>()
  let dispatcher: Dispatcher
  beforeEach(() => {
    find.mockReset().mockImplementation(async (id) => ({ id, kind: 'session', owner: null, worker }) as never)
    dispatcher = new Dispatcher({ find } as Partial<Directory> as Directory, allowancesOf({}))
  })
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

describe('a request whose worker is lost', () => {
  const workers = ['wrk_1', 'wrk_2'].map((id) => ({ id, url: `http://127.0.0.1/${id}` }))

  /** Runs a request on workers, the first of which is lost after or before it was sent; returns those that got it. */
  async function dispatched(runs: Parameters<Dispatcher['dispatch']>[0], sent: boolean) {
    const free = [...workers]
    const directory: Partial<Directory> = {
      reserve: async () => ({ id: 'rsv_1', kind: 'session', worker: free.shift()! }),
      release: async () => {},
      leastLoaded: async () => ({ worker: free.shift()!, done: () => {} }),
    }
    const tried: string[] = []
    const run: Work<string>['run'] = async ({ id }) => {
      tried.push(id)
      if (id === 'wrk_1') throw new LostWorker(new Error('lost'), sent)
      return { as: 'done', value: 'response of the worker' }
    }
    const dispatcher = new Dispatcher(directory as Directory, allowancesOf({}))
    const work = { ...workOf({}, {}), run }
    const code = await dispatcher.dispatch(runs, work).then(
      () => null,
      (error: BaxError) => error.code,
    )
    return { tried, code }
  }

  const placements = {
    'creates an object': { on: 'new', slot: 'session' },
    'must run once': { on: 'any', label: 'render', once: () => true },
    'may run twice': { on: 'any', label: 'render' },
  } as const

  test.each(Object.entries(placements))('and that %s runs on another one unless it was sent', async (name, runs) => {
    const repeated = { tried: ['wrk_1', 'wrk_2'], code: null }
    expect(await dispatched(runs, false)).toEqual(repeated)
    const once = { tried: ['wrk_1'], code: 'worker_lost' }
    expect(await dispatched(runs, true)).toEqual(name === 'may run twice' ? repeated : once)
  })
})
