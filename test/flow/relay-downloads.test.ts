/** Downloads in a relayed browser, which saves the files itself. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ConnectedBrowser, connectBrowser } from '../support/relay.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const attach = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` })
const page = `<!doctype html><title>Files</title><a id=get href=/report>Report</a><a id=save href=/report download>Save</a>
  <a id=broken href=/broken>Broken</a><a id=next href=/next>Next</a>`

let homes: Homes
let site: Site
let foreign: Awaited<ReturnType<typeof startForeignBrowser>>
let connected: ConnectedBrowser
beforeAll(async () => {
  ;[homes, site, foreign] = await Promise.all([
    openHomes(),
    serveSite({
      '/': page,
      '/next': '<title>Next</title>',
      '/report': (_request, response) => response.writeHead(200, attach('report.pdf')).end('%PDF-report'),
      '/broken': (_request, response) => {
        response.writeHead(200, { ...attach('broken.txt'), 'content-length': '1000' }).write('cut')
        setTimeout(() => response.destroy(), 50)
      },
    }),
    startForeignBrowser({ full: true }),
  ])
  connected = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock` })
  await waitUntil(async () => (await homes.clients.unix.getRelay({ id: connected.id })).active_target_id !== null)
})
afterAll(async () => {
  await connected?.stop()
  await homes?.close()
  await foreign?.close()
  await site?.close()
})

const run = async (selector: string) => {
  const commands = [command('navigate_to', { url: site.url }), command('click', { selector })]
  const { results } = await homes.clients.unix.runCommands({ session_id: connected.id, commands })
  expect(results.map(({ error }) => error)).toEqual([undefined, undefined])
  return results[1]!
}

const saved = (name: string) => ({ name, url: expect.any(String), saved_by: 'user' })
const completed = { ...saved('report.pdf'), state: 'completed', size: 11 }

test.each(['#get', '#save'])('a click on %s reports the file that the browser has saved', async (selector) => {
  expect(await run(selector)).toMatchObject({ success: true, downloads: [completed] })
  expect(await readFile(join(foreign.folder, 'Downloads/report.pdf'), 'utf8')).toBe('%PDF-report')
})

test('a download that fails, and a click without one, are reported as such', async () => {
  const { downloads } = await run('#broken')
  expect(downloads).toEqual([{ ...saved('broken.txt'), state: 'failed', error: expect.any(String) }])
  expect(await run('#next')).not.toHaveProperty('downloads')
})

test('the command line says where the file is, and that it is none of the session', async () => {
  const cli = (argv: string[]) =>
    bax([...argv, '-s', connected.id], {
      cwd: foreign.folder,
      env: { BAX_STATE_DIR: homes.stateDir, BAX_SERVER: homes.baseUrl },
    })
  expect((await cli(['open', site.url])).code).toBe(0)
  const { code, stderr } = await cli(['click', '#get'])
  expect([code, stderr]).toEqual([0, "the user's browser saved report.pdf (11 bytes) in its own download folder\n"])
  const files = await cli(['session', 'files'])
  expect(files.stderr).toContain('a relay session has no files: they belong to the user of the browser')
})
