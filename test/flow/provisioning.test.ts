import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes

beforeAll(async () => {
  homes = await openHomes({ pool: { contextsPerBrowser: 2, browsers: 2, warm: 1 } })
})
afterAll(() => homes.close())

const order = ['provisioning', 'scaling', 'worker_found', 'creating', 'ready']

describe.each(usualHomes)('provisioning (%s)', (home) => {
  const client = (): Client => homes.clients[home]
  const create = (input: Parameters<Client['createSession']>[0] = {}) =>
    client().createSession({ headless: true, ...input })
  const close = (session_id: string) => client().closeSession({ session_id })
  /** Creates sessions in every slot of the first browser. */
  const fillBrowser = async () => {
    const made = [await create(), await create()]
    expect(made.map(({ status }) => status)).toEqual(['ready', 'ready'])
    return made.map(({ session_id }) => session_id!)
  }
  /** Creates sessions in every slot of all browsers. */
  const fillAll = async () => {
    const ids = await fillBrowser()
    while (ids.length < 4) {
      const { session_id, provision_id } = await create()
      ids.push(session_id ?? (await ready(provision_id!)).session_id!)
    }
    return ids
  }
  const ready = async (provision_id: string) => {
    let record = await client().pollProvision({ provision_id })
    await waitUntil(async () => {
      record = await client().pollProvision({ provision_id })
      return record.status !== 'provisioning'
    })
    return record
  }
  afterEach(async () => {
    const { sessions } = await client().listSessions({})
    await Promise.all(sessions.map(({ session_id }) => close(session_id)))
  })

  test('returns a session at once if a running browser has a free slot', async () => {
    const created = await create()
    expect(created.status).toBe('ready')
    expect(created).not.toHaveProperty('provision_id')
  })

  test('returns 202 if all slots are taken, and starts another browser stage by stage', async () => {
    const own = await openHomes({ pool: { contextsPerBrowser: 1, browsers: 2 } })
    try {
      const first = await own.clients[home].createSession({ headless: true })
      const response = await own.transports[home].send({
        method: 'POST',
        path: '/sessions',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ headless: true, requested_name: 'second' }),
      })
      expect(response.status).toBe(202)
      const answer = JSON.parse(await response.text()) as { status: string; provision_id: string }
      expect(answer).toEqual({ status: 'provisioning', provision_id: expect.stringMatching(/^prv_/) })
      const { provision_id } = answer
      const early = await own.clients[home].getProvision({ provision_id })
      expect(early).toMatchObject({
        provision_id,
        session_id: null,
        frame_token: null,
        sse_url: null,
        error: null,
        code: null,
      })
      let record = early
      await waitUntil(async () => {
        const next = await own.clients[home].pollProvision({ provision_id })
        expect(order.indexOf(next.stage)).toBeGreaterThanOrEqual(order.indexOf(record.stage))
        record = next
        return next.status === 'ready'
      })
      expect(record.stages.map(({ stage }) => stage)).toEqual(order)
      const times = record.stages.map(({ at }) => Date.parse(at))
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(record).toMatchObject({ stage: 'ready', queue_position: null, name: 'second' })
      expect(record.frame_token).toMatch(/^ft_/)
      expect(record.sse_url).toContain(record.session_id!)
      expect(await valueOf(own.clients[home], record.session_id!, '1 + 1')).toBe(2)
      const [a, b] = await Promise.all(
        [first.session_id!, record.session_id!].map((session_id) => own.clients[home].getSession({ session_id })),
      )
      expect(a!.worker_id).not.toBe(b!.worker_id)
    } finally {
      await own.close()
    }
  })

  test('queues requests if all browsers are full, and gives a freed slot to the first', async () => {
    const ids = await fillAll()
    const first = await create()
    const second = await create()
    const position = async (provision_id: string) => (await client().getProvision({ provision_id })).queue_position
    expect([await position(first.provision_id!), await position(second.provision_id!)]).toEqual([1, 2])
    expect((await client().getEngineStatus({})).provisions).toBe(2)
    await close(ids[0]!)
    const done = await ready(first.provision_id!)
    expect(done.status).toBe('ready')
    expect(await position(second.provision_id!)).toBe(1)
    await close(done.session_id!)
    expect((await ready(second.provision_id!)).status).toBe('ready')
  })

  test('removes a cancelled provision from the queue, and releases its name', async () => {
    const ids = await fillAll()
    const { provision_id } = await create({ requested_name: 'waits' })
    expect(await failureOf(create({ requested_name: 'waits' }))).toMatchObject({ code: 'conflict' })
    await client().cancelProvision({ provision_id: provision_id! })
    const record = await ready(provision_id!)
    expect(record).toMatchObject({ status: 'cancelled', stage: 'failed', session_id: null, queue_position: null })
    await close(ids[0]!)
    const next = await create({ requested_name: 'waits' })
    expect(next.status).toBe('ready')
  })

  test('closing all sessions also cancels those that wait, which get none of the freed slots', async () => {
    const ids = await fillAll()
    const { provision_id } = await create()
    const batch = client().runCommands({ commands: [{ command: 'get_url' }] })
    await waitUntil(async () => (await client().getEngineStatus({})).provisions === 2)
    const closed = await client().closeSessions({})
    expect(closed).toMatchObject({ total: 4, cancelled: 2 })
    expect(closed.sessions.map(({ session_id }) => session_id).toSorted()).toEqual(ids.toSorted())
    expect(closed.provisions).toContainEqual({ provision_id })
    expect(await ready(provision_id!)).toMatchObject({ status: 'cancelled', session_id: null })
    expect(await batch).toMatchObject({ code: 'cancelled' })
    expect((await client().listSessions({})).total).toBe(0)
  })

  test('a batch without a session waits for a slot', async () => {
    const ids = await fillAll()
    const batch = client().runCommands({ commands: [{ command: 'evaluate', data: { expression: '6 * 7' } }] })
    await waitUntil(async () => (await client().getEngineStatus({})).provisions === 1)
    await close(ids[0]!)
    expect(await batch).toMatchObject({ success: true, steps_completed: 1 })
  })

  test('a disconnected caller leaves the queue', async () => {
    await fillAll()
    const controller = new AbortController()
    const batch = client().runCommands(
      { commands: [{ command: 'evaluate', data: { expression: '1' } }] },
      { signal: controller.signal },
    )
    await waitUntil(async () => (await client().getEngineStatus({})).provisions === 1)
    controller.abort()
    await batch.catch(() => {})
    await waitUntil(async () => (await client().getEngineStatus({})).provisions === 0)
  })

  test('a killed browser frees slots for queued requests', async () => {
    await fillAll()
    const { provision_id } = await create()
    const { browsers } = await client().getEngineStatus({})
    process.kill(browsers[0]!.pid, 'SIGKILL')
    const record = await ready(provision_id!)
    expect(record.stages.map(({ stage }) => stage)).toEqual(order)
    expect(await valueOf(client(), record.session_id!, '1 + 1')).toBe(2)
  })

  test.each(['pollProvision', 'getProvision', 'cancelProvision'] as const)(
    '%s returns 404 for an unknown provision',
    async (name) => {
      expect(await failureOf(client()[name]({ provision_id: 'prv_unknown' }))).toMatchObject({
        code: 'provision_not_found',
        status: 404,
      })
    },
  )
})
