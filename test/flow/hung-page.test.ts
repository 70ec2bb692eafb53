/** A page that hangs, with a shorter limit for commands without a timeout of their own. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

vi.mock('../../src/core/limits/limits.ts', async (original) => {
  const { limits, ...rest } = await original<typeof import('../../src/core/limits/limits.ts')>()
  return { ...rest, limits: { ...limits, command: { ...limits.command, evaluateMs: 3000 } } }
})

let homes: Homes
let site: Site
beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/busy': '<title>Busy</title><script>onload = () => setTimeout(() => { while (true); }, 50)</script>',
    }),
  ])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

test('commands have 30 seconds by default', async () => {
  const { limits } = await vi.importActual<typeof import('../../src/core/limits/limits.ts')>(
    '../../src/core/limits/limits.ts',
  )
  expect(limits.command.evaluateMs).toBe(30_000)
})

test('a short timeout on a page that hangs ends the batch after that time', async () => {
  const client = homes.clients.http
  const { session_id } = await client.createSession({ headless: true, start_url: `${site.url}/busy` })
  const { results } = await client.runCommands({
    session_id: session_id!,
    continue_on_error: true,
    commands: [command('wait_for_element', { selector: 'h2', timeout_ms: 500 }), command('get_title')],
  })
  expect(results[1]).toMatchObject({
    code: 'timeout',
    error: 'get_title timed out after 3000 ms: the page does not answer',
  })
})
