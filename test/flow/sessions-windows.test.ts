/** Sessions with windows, on a virtual display. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { missingPrograms, noFullBrowser, testUnless } from '../support/needs.ts'
import { valueOf } from '../support/session-steps.ts'
import { tied } from '../support/tied.ts'

const windowTest = testUnless(noFullBrowser ?? missingPrograms('Xvfb'))

let display: ChildProcess
let homes: Homes

beforeAll(async () => {
  // It selects a free display number, and writes it when it is ready.
  display = spawn(...tied('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp']), { stdio: ['ignore', 'pipe', 'ignore'] })
  const [number] = (await once(display.stdout!, 'data')) as [Buffer]
  vi.stubEnv('DISPLAY', `:${number.toString().trim()}`)
  homes = await openHomes({ display: true })
})
afterAll(async () => {
  await homes.close()
  vi.unstubAllEnvs()
  display.kill()
  await once(display, 'exit')
})

windowTest('disable_automation_detection hides navigator.webdriver in a window too', async () => {
  const client = homes.clients.embedded
  const kinds: unknown[] = []
  for (const disable_automation_detection of [false, true]) {
    const { session_id } = await client.createSession({ disable_automation_detection })
    expect(await client.getSession({ session_id: session_id! })).toMatchObject({ headless: false })
    kinds.push(await valueOf(client, session_id!, 'navigator.webdriver'))
  }
  expect(kinds).toEqual([true, false])
  const { browsers } = await client.getEngineStatus({})
  expect(browsers.map(({ kind }) => kind)).toEqual(['headful', 'headful-stealth'])
})
