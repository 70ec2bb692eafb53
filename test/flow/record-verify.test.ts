/** A recorded script is replayed in a new session, and marked where it does not hold. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { startRecording } from '../support/recorder.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let folder: ScriptFolder
/** Whether the last ticket is still for sale. */
let isLeft = true
/** Logins that have arrived at the server. */
const logins: string[] = []

beforeAll(async () => {
  ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
  site = await serveSite({
    '/tickets': (_request, response) => {
      response.setHeader('content-type', 'text/html')
      const button = isLeft
        ? `<button onclick="fetch('/buy').then(() => (document.title = 'Bought'))">Buy</button>`
        : '<p>Sold out</p>'
      response.end(`<!doctype html><title>Tickets</title><button>Show</button>${button}<button>Leave</button>`)
    },
    '/buy': (_request, response) => {
      isLeft = false
      response.end()
    },
    '/login': `<!doctype html><title>Login</title><label>Password <input type=password></label>
      <button onclick="fetch('/in?' + document.querySelector('input').value).then(() => (document.title = 'In'))">Enter</button>`,
    '/in': (request, response) => {
      logins.push(request.url!)
      response.end()
    },
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await folder.close()
})

const sessions = async () => (await homes.clients.http.listSessions({})).sessions

describe('a recording', () => {
  test('is replayed at the end, and marked where it does not hold', async () => {
    const recording = await startRecording(homes, folder.path, [`${site.url}/tickets`, '--verify'], 'tickets.yaml')
    for (const name of ['Show', 'Buy', 'Leave']) await recording.page.getByRole('button', { name }).click()
    await recording.contains('Leave')
    await recording.page.waitForFunction(`document.title === 'Bought'`)
    const { code, stderr } = await recording.end()
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        'warning: step 3 does not hold when it is replayed: - click: role=button[name="Buy"]: no element matches',
      ),
    ])
    const script = await recording.script()
    expect(script).toMatch(
      /# does not hold when it is replayed: no element matches .*\(element_not_found\)\n {2}- click: role=button\[name="Buy"\]/,
    )
    expect(script).toMatch(
      /# not verified from here on: the step before failed\n {2}- click: role=button\[name="Leave"\]/,
    )
    expect(script.match(/#/g)).toHaveLength(2)
    expect(await sessions()).toEqual([])
  })

  test('is replayed up to a step that needs what is missing here', async () => {
    const record = async (file: string, flags: string[], env?: Record<string, string>) => {
      const recording = await startRecording(homes, folder.path, [`${site.url}/login`, ...flags], file, env)
      await recording.page.getByLabel('Password').fill('s3cret')
      await recording.page.getByRole('button').click()
      await recording.contains('Enter')
      await recording.page.waitForFunction(`document.title === 'In'`)
      const ended = await recording.end()
      return { ...ended, script: await recording.script() }
    }
    const without = await record('without.yaml', ['--verify'])
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'warning: only 1 of 3 steps were verified: the environment variable PASSWORD is not set',
      ) as string,
    })
    expect(without.script).toMatch(
      /# not verified from here on: the environment variable PASSWORD is not set\n {2}- fill:/,
    )
    const complete = await record('complete.yaml', ['--verify'], { PASSWORD: 'other' })
    expect(complete).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('verified: 3 steps can be replayed') as string,
    })
    expect(complete.script).not.toContain('#')
    expect(complete.stderr + complete.script).not.toContain('other')
    const refused = await record('refused.yaml', ['--no-verify'], { PASSWORD: 'other' })
    expect(refused.stderr).not.toContain('verif')
    expect(logins).toEqual(['/in?s3cret', '/in?s3cret', '/in?other', '/in?s3cret'])
  })
})
