/** Files of a session: uploads, downloads, and their use in file inputs. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, download, upload } from '../../src/client/client.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import type { SessionFile, SessionFileList } from '../../src/core/shapes/session-files.ts'
import { bax } from '../support/cli.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { testUnless } from '../support/needs.ts'
import { connectBrowser } from '../support/relay.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const quota = 100_000
const page = `<!doctype html><title>Files</title>
  <input id=one type=file hidden><label id=label for=one>Photo</label>
  <input id=many type=file multiple><input id=off type=file disabled>
  <button id=pick onclick="many.click()">Choose files</button><button id=plain>Nothing</button>
  <a id=get href=/report>Report</a><a id=save href=/report download>Save</a><a id=next href=/next>Next</a>
  <button id=export onclick="Object.assign(document.body.appendChild(document.createElement('a')), { href: window.URL.createObjectURL(new Blob(['%PDF-report'])), download: 'report.pdf' }).click()">Export</button>
  <a id=slow href=/slow>Slow</a><a id=broken href=/broken>Broken</a>`

let homes: Homes
let site: Site
let folder: string
let session: string
/** Ends the download of /slow. */
let finish = () => {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-files-'))
  await mkdir(join(folder, 'other'))
  await Promise.all([
    writeFile(join(folder, 'photo.png'), 'a photo'),
    writeFile(join(folder, 'other/photo.png'), 'another photo'),
    writeFile(join(folder, '.hidden'), 'hidden'),
  ])
  const attach = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` })
  ;[homes, site] = await Promise.all([
    openHomes({ writeAnywhere: false, downloadBytes: quota }),
    serveSite({
      '/': page,
      '/next': '<title>Next</title>',
      '/report': (_request, response) => response.writeHead(200, attach('report.pdf')).end('%PDF-report'),
      '/slow': (_request, response) => {
        response
          .writeHead(200, { ...attach('slow.txt'), 'content-type': 'application/octet-stream' })
          .write('begun, '.repeat(1000))
        finish = () => response.end('done')
      },
      '/broken': (_request, response) => {
        response.writeHead(200, { ...attach('broken.txt'), 'content-length': '1000' }).write('cut')
        setTimeout(() => response.destroy(), 50)
      },
    }),
  ])
})
beforeEach(async () => {
  session = (await homes.clients.http.createSession({ start_url: site.url })).session_id!
})
afterEach(() => homes.clients.http.closeSessions())
afterAll(async () => {
  await homes?.close()
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

const transport = () => homes.transports.http
const put = (name: string, content: string, more: object = {}, id = session) =>
  upload(
    transport(),
    'PUT /sessions/{session_id}/files/{name}',
    { session_id: id, name, ...more },
    bytes(content),
  ) as Promise<SessionFile>
async function* bytes(text: string) {
  yield Buffer.from(text)
}
const list = async (id = session) =>
  ((await call(transport(), 'GET /sessions/{session_id}/files', { session_id: id })) as SessionFileList).files
const names = async (id = session) => (await list(id)).map(({ name }) => name)
const remove = (name: string) =>
  call(transport(), 'DELETE /sessions/{session_id}/files/{name}', { session_id: session, name })
async function read(name: string): Promise<string> {
  const { bytes } = await download(transport(), 'GET /sessions/{session_id}/files/{name}', {
    session_id: session,
    name,
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
async function run(command: string, data: object): Promise<CommandResult> {
  const { results } = await homes.clients.http.runCommands({
    session_id: session,
    commands: [{ command, data }] as never,
  })
  return results[0]!
}
const cli = (argv: string[]) =>
  bax([...argv, '--server', homes.baseUrl], { cwd: folder, env: { BAX_SESSION: session } })
const selected = (id: string) =>
  valueOf(
    homes.clients.http,
    session,
    `Promise.all([...document.querySelector('#${id}').files].map(async (file) => [file.name, await file.text()]))`,
  )

describe('the files of a session', () => {
  test('are uploaded, listed, downloaded and deleted', async () => {
    const stored = await put('notes.txt', 'first')
    expect(stored).toMatchObject({ name: 'notes.txt', size: 5, type: 'text/plain', source: 'upload' })
    expect(await list()).toEqual([stored])
    expect(await read('notes.txt')).toBe('first')
    expect(await put('notes.txt', 'second')).toMatchObject({ name: 'notes.txt', size: 6 })
    expect(await read('notes.txt')).toBe('second')
    await remove('notes.txt')
    expect(await list()).toEqual([])
    expect(await failureOf(read('notes.txt'))).toMatchObject({ code: 'file_not_found', status: 404 })
    expect(await failureOf(remove('notes.txt') as Promise<unknown>)).toMatchObject({ code: 'file_not_found' })
  })

  test('get a number without overwrite, unless the content is the same', async () => {
    expect((await put('a.txt', 'one', { overwrite: false })).name).toBe('a.txt')
    expect((await put('a.txt', 'two', { overwrite: false })).name).toBe('a (2).txt')
    expect((await put('a.txt', 'one', { overwrite: false })).name).toBe('a.txt')
    // Oldest first: the last upload is the latest file.
    expect(await names()).toEqual(['a (2).txt', 'a.txt'])
  })

  test.each(['..', '.', '../x', 'a/b', 'a\\b', 'x'.repeat(256)])('cannot be named %j', async (name) => {
    expect(await failureOf(put(name, 'x'))).toMatchObject({
      code: expect.stringMatching(/invalid_request|route_not_found/),
    })
    expect(await list()).toEqual([])
  })

  test('may have any other name', async () => {
    for (const name of ['ä ö.txt', "it's 100%.txt", '.env', '%2e%2e', '...']) {
      await put(name, name)
      expect(await read(name)).toBe(name)
      await remove(name)
    }
  })

  test('are limited by a quota, which also holds while a file is received', async () => {
    await put('half.bin', 'x'.repeat(quota / 2))
    expect(await failureOf(put('more.bin', 'x'.repeat(quota / 2 + 1)))).toMatchObject({ code: 'no_space', status: 507 })
    expect(await names()).toEqual(['half.bin'])
    await put('more.bin', 'x'.repeat(quota / 2))
    const saved = await run('screenshot', { path: 'shot.png' })
    expect(saved).toMatchObject({ success: false, code: 'no_space' })
  })

  test('include screenshots with a path, whose result has the name of the file', async () => {
    const result = await run('screenshot', { path: 'shots/page.png' })
    expect(result.data).toMatchObject({ path: 'shots/page.png' })
    expect(await list()).toMatchObject([{ name: 'shots/page.png', source: 'screenshot', type: 'image/png' }])
    expect((await read('shots/page.png')).slice(1, 4)).toBe('PNG')
  })

  test('are removed with the session', async () => {
    const { session_id } = await homes.clients.http.createSession({})
    await put('a.txt', 'x', {}, session_id)
    await homes.clients.http.closeSession({ session_id: session_id! })
    expect(await failureOf(list(session_id))).toMatchObject({ code: 'session_closed' })
  })
})

test('an upload fails when its session ends first', async () => {
  const { session_id } = await homes.clients.http.createSession({})
  let end = () => {}
  const closed = new Promise<void>((resolve) => (end = resolve))
  let begin = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  async function* slow() {
    yield Buffer.from('begun')
    begin()
    await closed
    yield Buffer.from('late')
  }
  const sent = upload(transport(), 'PUT /sessions/{session_id}/files/{name}', { session_id, name: 'late.txt' }, slow())
  const error = failureOf(sent as Promise<unknown>)
  await begun
  await homes.clients.http.closeSession({ session_id: session_id! })
  end()
  expect(await error).toMatchObject({ code: expect.stringMatching(/session_closed|session_not_found/) })
})

describe('upload_files', () => {
  beforeEach(async () => {
    await put('a.txt', 'A')
    await put('b.txt', 'B')
  })

  test('selects files of the session by their names', async () => {
    expect(await run('upload_files', { selector: '#one', files: ['a.txt'] })).toMatchObject({
      data: { files: ['a.txt'] },
    })
    expect(await selected('one')).toEqual([['a.txt', 'A']])
    await run('upload_files', { selector: '#many', files: ['a.txt', 'b.txt'] })
    expect(await selected('many')).toEqual([
      ['a.txt', 'A'],
      ['b.txt', 'B'],
    ])
    await run('type_text', { selector: '#one', text: 'b.txt' })
    expect(await selected('one')).toEqual([['b.txt', 'B']])
  })

  test('accepts the label of an input, and a button that opens a file chooser', async () => {
    expect(await run('upload_files', { selector: '#label', files: ['a.txt'] })).toMatchObject({ success: true })
    expect(await selected('one')).toEqual([['a.txt', 'A']])
    const result = await run('upload_files', { selector: '#pick', files: ['a.txt', 'b.txt'] })
    expect(result).toMatchObject({ success: true, data: { files: ['a.txt', 'b.txt'] } })
  })

  test('reports why files cannot be selected', async () => {
    const errorOf = async (selector: string, ...files: string[]) => {
      const { success, code, error } = await run('upload_files', { selector, files })
      return [success, code, error]
    }
    expect(await errorOf('#one', 'a.txt', 'b.txt')).toEqual([false, 'invalid_data', '#one accepts one file, not 2'])
    expect(await errorOf('#off', 'a.txt')).toEqual([false, 'not_editable', '#off is disabled'])
    expect(await errorOf('#one', 'none.txt')).toEqual([
      false,
      'invalid_data',
      'the session has no file "none.txt" to upload',
    ])
    expect(await errorOf('#one', '/etc/passwd')).toMatchObject([false, 'invalid_data', expect.any(String)])
    expect(await errorOf('#plain', 'a.txt')).toEqual([
      false,
      'action_failed',
      '#plain is not a file input, a click on it opens no file chooser, and it does not accept dropped files',
    ])
  })

  test('uploads local files first when it is typed', async () => {
    const done = await cli(['upload', '#one', './photo.png'])
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(await selected('one')).toEqual([['photo.png', 'a photo']])
    expect((await cli(['upload', '#many', 'photo.png', 'other/photo.png', '.hidden'])).code).toBe(0)
    // The page sees the names of the local files.
    expect(await selected('many')).toEqual([
      ['photo.png', 'a photo'],
      ['photo.png', 'another photo'],
      ['.hidden', 'hidden'],
    ])
    expect(await names()).toEqual(['a.txt', 'b.txt', 'photo.png', 'photo (2).png', '.hidden'])
    expect((await cli(['upload', '#one', 'session:photo (2).png'])).code).toBe(0)
    expect(await selected('one')).toEqual([['photo.png', 'another photo']])
  })

  test('fails before anything is sent if a local file is missing', async () => {
    const failed = await cli(['do', 'click', '#next', 'then', 'upload', '#one', 'photo.png', 'none.png'])
    expect(failed.code).toBe(2)
    expect(failed.stderr).toContain(`cannot read ${join(folder, 'none.png')}`)
    expect(await valueOf(homes.clients.http, session, 'document.title')).toBe('Files')
  })

  test('uploads the files of a script', async () => {
    const script = `session: { session_id: ${session} }\nsteps:\n  - upload_files: { selector: '#one', files: [other/photo.png] }\n`
    await writeFile(join(folder, 'flow.yaml'), script)
    const done = await cli(['run', 'flow.yaml'])
    expect(done.stderr + done.stdout).toContain('1 passed')
    expect(await selected('one')).toEqual([['photo.png', 'another photo']])
  })
})

describe('a download that a command starts', () => {
  const completed = { name: 'report.pdf', url: expect.any(String), state: 'completed', size: 11 }

  test.each(['#get', '#save', '#export'])('is awaited and reported by a click on %s', async (selector) => {
    const result = await run('click', { selector })
    expect(result).toMatchObject({ success: true, downloads: [completed] })
    expect(await list()).toContainEqual(expect.objectContaining({ name: 'report.pdf', source: 'download', size: 11 }))
    expect(await read('report.pdf')).toBe('%PDF-report')
  })

  test('is reported by a navigation, which fails because there is no page', async () => {
    const result = await run('navigate_to', { url: `${site.url}/report` })
    expect(result).toMatchObject({ success: false, code: 'navigation_aborted', downloads: [completed] })
  })

  test('is not reported by later commands, or by other navigations', async () => {
    expect(await run('click', { selector: '#get' })).toMatchObject({ downloads: [completed] })
    expect(await run('navigate_to', { url: site.url })).not.toHaveProperty('downloads')
    const result = await run('click', { selector: '#next' })
    expect(result.downloads).toBeUndefined()
    expect(await valueOf(homes.clients.http, session, 'document.title')).toBe('Next')
  })

  test('that fails is reported with the reason', async () => {
    const { downloads } = await run('click', { selector: '#broken' })
    expect(downloads).toMatchObject([{ name: 'broken.txt', state: 'failed', error: expect.any(String) }])
    expect(await names()).not.toContain('broken.txt')
  })

  test('is in progress when the batch ends first, and complete later', async () => {
    const { results } = await homes.clients.http.runCommands({
      session_id: session,
      commands: [{ command: 'click', data: { selector: '#slow' } }],
      timeout_ms: 5000,
    })
    expect(results[0]).toMatchObject({ success: true, downloads: [{ name: 'slow.txt', state: 'in_progress' }] })
    finish()
    await expect.poll(names).toContain('slow.txt')
    expect(await read('slow.txt')).toMatch(/^begun, .*done$/)
  })

  test('is fetched by name from the command line', async () => {
    const clicked = await cli(['click', '#get'])
    expect(clicked).toMatchObject({ code: 0, stdout: '' })
    expect(clicked.stderr).toBe('downloaded report.pdf (11 bytes): bax session download report.pdf\n')
    const saved = await cli(['session', 'download', 'report.pdf', '-o', 'copy.pdf'])
    expect(saved.stdout.trim()).toBe(join(folder, 'copy.pdf'))
    expect(await readFile(join(folder, 'copy.pdf'), 'utf8')).toBe('%PDF-report')
    expect((await cli(['session', 'upload', 'photo.png', 'new.png'])).stdout).toBe('new.png\n')
    expect((await cli(['session', 'files'])).stdout).toMatch(/new\.png +7 +upload/)
    expect((await cli(['session', 'remove-file', 'new.png'])).code).toBe(0)
    expect(await names()).not.toContain('new.png')
    expect((await cli(['session', 'download', 'new.png'])).code).toBe(5)
  })
})

const noSocket = isFleet ? 'a fleet has no unix socket' : null

describe('a relay session', () => {
  testUnless(noSocket)('refuses what needs files of the session, and returns PDFs and screenshots', async () => {
    const foreign = await startForeignBrowser()
    const connected = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock` })
    try {
      const client = homes.clients.unix
      const session_id = connected.id
      await waitUntil(async () => (await client.getRelay({ id: session_id })).active_target_id !== null)
      const http = 'GET /sessions/{session_id}/files'
      const error = await failureOf(call(homes.transports.unix, http, { session_id }))
      expect(error).toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('a relay session has no files'),
      })
      const { results } = await client.runCommands({
        session_id,
        continue_on_error: true,
        commands: [
          { command: 'navigate_to', data: { url: site.url } },
          { command: 'upload_files', data: { selector: '#one', files: ['a.txt'] } },
          { command: 'start_har' },
          { command: 'start_video' },
          { command: 'screenshot', data: { annotate: true, format: 'webp' } },
          { command: 'print_to_pdf' },
        ],
      })
      expect(results.map(({ success, code }) => (success ? true : code))).toEqual([
        true,
        'unsupported',
        'unsupported',
        'unsupported',
        true,
        true,
      ])
      expect(results[1]!.error).toBe('uploads are not supported through the relay')
      expect(results[2]!.error).toBe('a relay session cannot be recorded: it has no files')
    } finally {
      await connected.stop()
      await foreign.close()
    }
  })
})
