import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeManifest } from '../../src/operations/manifest.ts'
import { startFleet, type TestFleet } from '../support/fleet.ts'
import { titled } from '../support/needs.ts'
import { noRedis } from '../support/redis.ts'
import { type OpenTui, openTui } from '../support/tui.tsx'

describe.skipIf(noRedis)(titled('the fleet screen', noRedis), () => {
  const manifest = makeManifest()
  let fleet: TestFleet
  let tui: OpenTui
  beforeAll(async () => {
    // Without slots for sessions, which would need browsers.
    fleet = await startFleet([{ sessions: 0 }, { sessions: 0, labels: ['browser', 'render'] }])
  })
  afterAll(() => fleet.close())
  afterEach(() => tui.close())
  const open = (columns = 80) =>
    openTui({ transport: fleet.gateway.transport, manifest, stateDir: fleet.folder, columns, rows: 30 })

  test('shows workers with their load, queues, waiting sessions with their stage, and the scaler', async () => {
    const { provision_id } = await fleet.gateway.client.createSession({})
    tui = open(130)
    await tui.waitForText('7 Fleet')
    tui.press('7')
    const text = await tui.waitForText('2 workers; scaler: none')
    for (const { id } of fleet.workers) expect(text).toMatch(new RegExp(`${id} +ready +0/0 +\\d/\\d+`))
    expect(text).toMatch(/BEAT BUILD +LABELS/)
    expect(text).toMatch(/0\/4 +\d+s source +browser, render, shell, relay/)
    expect(text).toMatch(/0\/4 +\d+s source +browser, render *\n/)
    expect(text).toMatch(/QUEUE +WAITING +ACTIVE +DELAYED +FAILED +OLDEST/)
    expect(text).toMatch(/provisions +1 +\d +0 +0 +\d+s/)
    expect(text).toMatch(/crawls +0 +0 +0 +0 +-/)
    expect(text).toMatch(new RegExp(`${provision_id} +provisioning +\\d+s`))
    await fleet.gateway.client.cancelProvision({ provision_id: provision_id! })
    await expect.poll(tui.text, { timeout: 10_000 }).not.toContain('PROVISION')
  })

  test('shows everything about a worker, also on a narrow terminal', async () => {
    tui = open()
    await tui.waitForText('7 Fleet')
    tui.press('7')
    await tui.waitForText(fleet.workers[0]!.id)
    expect(tui.text()).not.toContain('LABELS')
    tui.press('enter')
    expect(await tui.waitForText(/labels +browser, render, shell, relay/)).toMatch(/build +source/)
    tui.press('escape')
    await tui.waitForText('2 workers')
  })

  test('drains a worker after a confirmation', async () => {
    tui = open()
    await tui.waitForText('7 Fleet')
    tui.press('7')
    const { id } = fleet.workers[0]!
    await tui.waitForText(`› ${id}`)
    tui.press('x')
    await tui.waitForText(`Drain ${id}? It gets no new work`)
    tui.press('n')
    await tui.waitForText('2 workers;')
    tui.press('x')
    await tui.waitForText(`Drain ${id}?`)
    tui.press('y')
    await tui.waitForText(`worker ${id} gets no new work`)
    await tui.waitForText('2 workers, 1 draining')
    expect(tui.text()).toMatch(new RegExp(`${id} +draining`))
  })

  test('reports that Redis is away, instead of only the last state', async () => {
    tui = open()
    await tui.waitForText('7 Fleet')
    tui.press('7')
    await tui.waitForText('2 workers')
    await fleet.redis.kill()
    await tui.waitForText('Redis does not answer')
    await fleet.redis.start()
    await tui.waitForText('2 workers')
  })
})
