/** Applications that people use every day, driven by one-liners. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { missingForPhp } from '../support/debian-php.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type Roundcube, startRoundcube } from '../support/roundcube.ts'

const reason = missingForPhp()

let homes: Homes
let folder: string
beforeAll(async () => {
  homes = await openHomes()
})
afterAll(() => homes.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-driven-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Runs command lines on a new session, each of which must succeed. */
async function lines(...all: readonly string[][]): Promise<void> {
  const { session_id } = await homes.clients.http.createSession({ headless: true })
  const options = { cwd: folder, env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir } }
  for (const argv of all) {
    const { code, stderr } = await bax([...argv, '-s', session_id!], options)
    expect([argv, code, code === 0 ? '' : stderr]).toEqual([argv, 0, ''])
  }
  await homes.clients.http.closeSession({ session_id: session_id! })
}

describe.skipIf(reason)(`Roundcube${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let app: Roundcube
  beforeAll(async () => {
    app = await startRoundcube()
  })
  afterAll(() => app.close())
  beforeEach(async () => {
    await app.mail.empty()
    await writeFile(join(folder, 'minutes.txt'), 'We met.')
  })

  /** The message was sent, and its copy in Sent was deleted. */
  async function check(): Promise<void> {
    const [message] = app.mail.sent
    expect(message).toContain('Subject: Minutes of Monday')
    expect(message).toContain('To: bob@example.com')
    expect(message).toContain(Buffer.from('We met.').toString('base64'))
    expect(message).toMatch(/Dear Bob,\s+here they are/)
    expect(message).toContain('X-Priority: 2')
    const stored = async () => [await app.mail.messages('.Sent'), await app.mail.messages('.Trash')]
    // The page moves it after the click.
    await expect.poll(stored, { timeout: 30_000 }).toEqual([0, 1])
  }

  test('one-liners write a message with a file, and delete its copy', async () => {
    await lines(
      ['open', app.url],
      ['fill-form', JSON.stringify({ Username: app.user, Password: app.password })],
      ['click', 'role=button[name="Login"]'],
      // The scripts of the page have started then, and react to clicks.
      ['wait', 'text=No messages found'],
      ['click', 'role=button[name="Compose"]'],
      [
        'fill-form',
        JSON.stringify({
          To: 'bob@example.com',
          Subject: 'Minutes of Monday',
          'Message Body': 'Dear Bob,\nhere they are',
          Priority: 'High',
        }),
      ],
      ['upload-files', 'role=button[name="Attach a file"]', 'minutes.txt'],
      ['click', 'role=button[name="Send"]'],
      ['click', 'role=link[name="Sent"]'],
      ['click', 'role=link[name="Minutes of Monday"]'],
      ['wait', 'frame=#messagecontframe >> text=here they are'],
      ['click', 'role=button[name="Delete"]'],
      ['wait', 'text=Mailbox is empty'],
    )
    await check()
  })
})
