/** Sessions that wait for a worker, with real browsers, through the API of a gateway. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

describe.skipIf(noRedis)(titled('a fixed set of one worker with one slot', noRedis), () => {
  let fleet: TestFleet
  beforeAll(async () => {
    fleet = await startFleet([{ sessions: 1 }])
  })
  afterAll(() => fleet.close())
  const client = () => fleet.gateway.client
  afterEach(async () => {
    await client().closeSessions({})
  })
  const ended = async (provision_id: string) => {
    let record = await client().pollProvision({ provision_id })
    await waitUntil(async () => {
      record = await client().pollProvision({ provision_id })
      return record.status !== 'provisioning'
    })
    return record
  }

  /** Returns the stages in the event log of a session. */
  const stagesIn = async (session_id: string) => {
    const { events } = await client().getSessionLog({ session_id })
    return events.filter(({ type }) => type === 'provision.stage').map(({ data }) => data)
  }

  test('a second session waits until the first one ends', async () => {
    const first = await client().createSession({})
    expect(first.status).toBe('ready')
    const second = await client().createSession({ requested_name: 'second' })
    expect(second).toEqual({ status: 'provisioning', provision_id: expect.stringMatching(/^prv_/) })
    const provision_id = second.provision_id!
    expect(await client().pollProvision({ provision_id })).toMatchObject({ stage: 'provisioning', queue_position: 1 })
    await client().closeSession({ session_id: first.session_id! })
    const record = await ended(provision_id)
    expect(record).toMatchObject({ status: 'ready', name: 'second', queue_position: null, error: null })
    expect(record.stages.map(({ stage }) => stage)).toEqual([
      'provisioning',
      'scaling',
      'worker_found',
      'creating',
      'ready',
    ])
    expect(record.sse_url).toBe(`${fleet.gateway.url}/stream/sse?session_id=${record.session_id}`)
    const session_id = record.session_id!
    // A moment after the session is ready.
    await waitUntil(async () => (await stagesIn(session_id)).length === record.stages.length)
    expect(await stagesIn(session_id)).toEqual(record.stages)
    expect(await client().getSession({ session_id: 'second' })).toMatchObject({
      session_id: record.session_id,
      status: 'ready',
    })
  })

  test('commands without a session wait for theirs', async () => {
    const first = await client().createSession({})
    const result = client().runCommands({ commands: [{ command: 'get_url' }] })
    await waitUntil(async () => (await fleet.redis.client.zcard('bax:provisions:deadlines')) === 1)
    await client().closeSession({ session_id: first.session_id! })
    expect(await result).toMatchObject({ success: true, steps_completed: 1 })
  })

  test('a cancelled one gets no session', async () => {
    const first = await client().createSession({})
    const { provision_id } = await client().createSession({})
    await client().cancelProvision({ provision_id: provision_id! })
    expect(await ended(provision_id!)).toMatchObject({ status: 'cancelled', code: 'cancelled', session_id: null })
    await client().closeSession({ session_id: first.session_id! })
    expect((await client().createSession({})).status).toBe('ready')
  })

  test('closing all sessions also cancels those that wait, which get none of the freed slots', async () => {
    const { session_id } = await client().createSession({})
    const { provision_id } = await client().createSession({})
    const batch = client().runCommands({ commands: [{ command: 'get_url' }] })
    await waitUntil(async () => (await fleet.redis.client.zcard('bax:provisions:deadlines')) === 2)
    const { sessions, ...closed } = await client().closeSessions({})
    expect(sessions).toMatchObject([{ session_id }])
    expect(closed).toEqual({
      total: 1,
      cancelled: 2,
      provisions: [{ provision_id }, { provision_id: expect.stringMatching(/^prv_/) }],
    })
    expect(await batch).toMatchObject({ code: 'cancelled' })
    expect(await ended(provision_id!)).toMatchObject({ status: 'cancelled', session_id: null })
    expect((await client().listSessions({})).total).toBe(0)
  })

  test('another worker serves those that wait', async () => {
    await client().createSession({})
    const { provision_id } = await client().createSession({})
    const second = await fleet.addWorker({ sessions: 1 })
    const record = await ended(provision_id!)
    expect(record.status).toBe('ready')
    expect(await client().getSession({ session_id: record.session_id! })).toMatchObject({
      worker_id: expect.any(String),
    })
    await client().closeSessions({})
    await second.stop()
  })
})
