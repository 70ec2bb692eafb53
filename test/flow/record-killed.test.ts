/** `bax record` that is ended by signals: the script stays, and nothing else does. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectToSession } from '../support/recorder.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitFor } from '../support/wait.ts'

let built: BuiltBax
let homes: Homes
let site: Site
let folder: ScriptFolder
beforeAll(async () => {
  ;[built, homes, folder] = await Promise.all([buildBax(), openHomes(), scriptFolder()])
  site = await serveSite({ '/': '<!doctype html><title>Page</title><button>One</button><button>Two</button>' })
}, servedWithinMs)
afterAll(async () => {
  await Promise.all([homes?.close(), site?.close(), built?.close(), folder?.close()])
})

describe('a killed recording', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGKILL', null],
  ] as const)('leaves a complete script and no session after %s', async (signal, code) => {
    const client = homes.clients.http
    const file = join(folder.path, signal, 'flow.yaml')
    const running = built.start(['record', site.url, '-o', file], {
      cwd: folder.path,
      env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir },
    })
    await running.waitForStderr('recording (')
    const [session] = (await client.listSessions({})).sessions
    const { session_id } = session!
    const { browser, page } = await connectToSession(homes, session_id)
    await page.getByText('One').click()
    await page.getByText('Two').click()
    await waitFor('both steps', async () => (await readFile(file, 'utf8')).includes('"Two"'))
    await browser.close()
    running.child.kill(signal)
    const ended = await running.ended
    if (code !== null) expect(ended.code).toBe(code)
    const { steps } = parse(await readFile(file, 'utf8')) as { steps: Record<string, unknown>[] }
    expect(steps.map((step) => Object.values(step)[0])).toEqual([
      site.url,
      'role=button[name="One"]',
      'role=button[name="Two"]',
    ])
    // After SIGKILL, the session ends because its stream of events has no reader left.
    await waitFor('the end of the session', async () => (await client.listSessions({})).sessions.length === 0)
    expect(await readdir(join(folder.path, signal))).toEqual(['flow.yaml'])
  })
})
