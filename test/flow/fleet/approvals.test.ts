/** Actions that wait for a person in sessions on several workers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../support/client.ts'
import { waitingApprovals } from '../../support/approvals.ts'
import { bax } from '../../support/cli.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'
import { command } from '../../support/session-steps.ts'
import { serveSite, type Site } from '../../support/site.ts'

describe.skipIf(noRedis)(titled('approvals of a fleet', noRedis), () => {
  let fleet: TestFleet
  let site: Site
  let client: Client

  beforeAll(async () => {
    // One session for each worker.
    ;[fleet, site] = await Promise.all([
      startFleet([{ sessions: 1 }, { sessions: 1 }]),
      serveSite({ '/': '<!doctype html><title>Shop</title>' }),
    ])
    client = fleet.gateway.client
  }, servedWithinMs)
  afterAll(async () => {
    await fleet?.close()
    await site?.close()
  })

  const waiting = () => waitingApprovals(client)
  const change = async (session_id: string, to: string) =>
    (
      await client.runCommands({
        session_id,
        commands: [command('evaluate', { expression: `document.title = "${to}"` })],
      })
    ).results[0]!
  const titleOf = async (session_id: string) =>
    (await client.runCommands({ session_id, commands: [command('get_title')] })).results[0]!.data

  test('are listed together, and each is decided on its own worker', async () => {
    const create = () => client.createSession({ start_url: `${site.url}/`, confirm: ['eval'] })
    const sessions = [await create(), await create()] as const
    const ids = sessions.map(({ session_id }) => session_id!) as [string, string]
    expect((await client.getFleet({})).workers).toMatchObject([{ sessions: { used: 1 } }, { sessions: { used: 1 } }])
    const running = ids.map((id) => change(id, `of ${id}`))
    await expect.poll(async () => (await waiting()).length).toBe(2)
    const listed = await waiting()
    expect(listed.map(({ session_id }) => session_id).toSorted()).toEqual([...ids].toSorted())
    const idOf = (session: string) => listed.find(({ session_id }) => session_id === session)!.approval_id
    // Another gateway finds it, too; the ID of one session is unknown in the other.
    const other = await fleet.addGateway()
    const foreign = { session_id: ids[1], approval_id: idOf(ids[0]) }
    await expect(other.client.approveAction(foreign)).rejects.toMatchObject({ code: 'approval_not_found' })
    const decided = await bax(['approve', idOf(ids[0]), '--server', other.url])
    expect(decided).toMatchObject({ code: 0, stderr: `approved: eval ${idOf(ids[0])}\n` })
    expect(await running[0]).toMatchObject({ success: true, data: { result: { value: `of ${ids[0]}` } } })
    expect(await waiting()).toMatchObject([{ session_id: ids[1], kind: 'eval' }])
    const rejected = await bax(['approve', idOf(ids[1]), '--reject', '--server', fleet.gateway.url])
    expect(rejected).toMatchObject({ code: 0, stderr: `rejected: eval ${idOf(ids[1])}\n` })
    expect(await running[1]).toMatchObject({ success: false, code: 'rejected' })
    expect(await waiting()).toEqual([])
    expect(await Promise.all(ids.map(titleOf))).toMatchObject([
      { result: { value: `of ${ids[0]}` } },
      { result: { value: 'Shop' } },
    ])
  })
})
