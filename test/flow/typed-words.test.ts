/** Typing errors, and words of other tools: they work, or the message says what to do. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'

const page = `<!doctype html><title>Shop</title><h1>Tea</h1><input id=q aria-label=Search>
<div id=b style="position: absolute; top: 200px; left: 0; width: 40px; height: 30px; background: tan"></div>
<button id=delete onclick="document.title = confirm('Delete?') ? 'Deleted' : 'Kept'">Delete</button>`

let homes: Homes
let site: Site
let folder: string
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/': page,
    '/slow': () => {
      // Never responds.
    },
    '/away': (_, response) => void response.writeHead(302, { location: 'http://hidden.invalid/' }).end(),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-words-'))
  return () => rm(folder, { recursive: true, force: true })
})

const run = (...argv: string[]) =>
  bax(argv, { cwd: folder, env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: join(folder, 'state') } })

test('open after close reports nothing', async () => {
  await run('open', site.url)
  await run('close')
  expect(await run('open', site.url)).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('a command without a page says that none is open', async () => {
  const failed = await run('do', '--new-session', 'click', 'h1')
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('error: no element matches h1: no page is open [element_not_found]')
  expect(failed.stderr).toContain('hint: open one first: navigate-to, or "bax open URL"')
})

test('an answer without a dialog says for which dialogs it is kept', async () => {
  await run('open', site.url)
  const kept = 'no dialog is open: the next confirm, prompt or beforeunload dialog of this session will be'
  expect((await run('dialog', 'dismiss')).stderr).toBe(`${kept} dismissed, once\n`)
  const accepted = `${kept} accepted, once; this replaces the answer given before\n`
  expect((await run('dialog', 'accept')).stderr).toBe(accepted)
  expect(await run('click', '#delete')).toMatchObject({ code: 0, stderr: '' })
  expect((await run('get', 'title')).stdout).toBe('Deleted\n')
  // The answer is used already when the batch ends.
  const both = await run('do', 'dialog', 'accept', 'then', 'click', '#delete')
  expect(both).toMatchObject({ code: 0, stderr: '' })
  await run('close')
  await run('open', site.url, '--dialogs', 'ask')
  expect((await run('dialog', 'accept')).stderr).toContain('the next alert, confirm, prompt or beforeunload dialog')
  await run('close')
})

test('a host name without an address is named, unless a redirect leads there', async () => {
  const failures = [
    await run('open', 'http://nowhere.invalid/'),
    await run('scrape', 'http://nowhere.invalid/', '--render', 'http'),
    await run('scrape', 'http://nowhere.invalid/', '--render', 'browser'),
  ]
  for (const { code, stderr } of failures) {
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: the host name nowhere\.invalid could not be resolved \(E\w+\)/)
    expect(stderr).toContain(
      'hint: check the host name and the network connection; where the web is reached through a proxy',
    )
  }
  const redirected = [
    await run('open', `${site.url}/away`),
    await run('scrape', `${site.url}/away`, '--render', 'http'),
    await run('scrape', `${site.url}/away`, '--render', 'browser'),
  ]
  for (const { code, stderr } of redirected) {
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: a host name could not be resolved \(E\w+\)/)
    expect(stderr).not.toMatch(/hidden|127\.0\.0\.1/)
  }
})

test('the path of a file is not opened as a URL', async () => {
  for (const path of ['./page.html', 'page.html', '../page', '/tmp/page.html', '~/page.html', 'C:\\page.html'])
    for (const command of [['open'], ['scrape'], ['crawl'], ['map'], ['session', 'create']]) {
      const { code, stderr } = await run(...command, path)
      expect([command, path, code]).toEqual([command, path, 2])
      expect(stderr).toContain(`is the path of a file, not a URL: ${JSON.stringify(path)}`)
      expect(stderr).toContain('hint: to open a local file, serve its folder')
    }
  for (const command of ['open', 'scrape', 'crawl']) {
    const { code, stderr } = await run(command, 'file:///tmp/page.html')
    expect([command, code]).toEqual([command, 4])
    expect(stderr).toMatch(/^error: URL blocked.*\nhint: to open a local file, serve its folder.*"bax extract"\n$/)
  }
})

const noUrls = ['http://exa mple', 'ht!tp://x', 'http//x', 'http:/x', '://x', 'x y', 'http://http://x.example', 'x..y']
test('text that is not a URL is named with its word or flag, and nothing is looked up', async () => {
  for (const url of noUrls)
    for (const command of ['open', 'scrape', 'crawl', 'map', 'read', 'request', 'do navigate-to']) {
      const { code, stderr } = await run(...command.split(' '), url)
      expect([command, code, stderr]).toEqual([
        command,
        2,
        expect.stringContaining(`error: <url> is not a URL: ${JSON.stringify(url)}\n`),
      ])
    }
  expect((await run('session', 'create', '--cdp-url', 'http:/x')).stderr).toContain(
    'error: --cdp-url is not a URL: "http:/x"\n',
  )
})

test('the exit code of a command is that of its error', async () => {
  await run('open', site.url)
  expect(await run('wait', '--text', 'nothing', '--timeout-ms', '50')).toMatchObject({ code: 6 })
  expect(await run('goto', `${site.url}/slow`, '--timeout-ms', '200')).toMatchObject({ code: 6 })
  expect(await run('open', `${site.url}/slow?again`, '--timeout-ms', '200')).toMatchObject({ code: 6 })
  await run('close')
  await run('open', site.url)
  expect(await run('click', '#none', '--timeout-ms', '500')).toMatchObject({ code: 1 })
  await run('close')
})

test('a screenshot of an element is a new file, and no file is named like its selector', async () => {
  await run('open', site.url)
  const { code, stdout } = await run('screenshot', '#b')
  expect(code).toBe(0)
  const image = await readFile(join(folder, stdout.trim()))
  expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([40, 30])
  expect(await readdir(folder)).toEqual([stdout.trim()])
  expect(await run('pdf', '#b')).toMatchObject({ code: 2, stderr: expect.stringContaining('"#b" is a selector') })
  const pdf = await run('pdf')
  expect((await readFile(join(folder, pdf.stdout.trim()))).subarray(0, 5).toString()).toBe('%PDF-')
})

test('a recording without a file is named, with the command that fetches it', async () => {
  await run('open', site.url)
  await run('har', 'start')
  const { stdout, stderr } = await run('har', 'stop')
  expect(stdout).toMatch(/\.har\n$/)
  expect(stderr).toBe(`saved in the session's files: bax session download ${stdout}`)
})

test('a text in the place of the selector is pointed out', async () => {
  await run('open', site.url)
  const { code, stderr } = await run('fill', 'hello', '#q', '--timeout-ms', '0')
  expect(code).toBe(1)
  expect(stderr).toContain('hint: the selector comes first: #q, then "hello"')
})

test('--headed is the opposite of --headless', async () => {
  const { code, stdout } = await run('open', '--new-session', '--headed', '--json')
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ status: 'ready' })])
  expect(await run('open', '--headed', '--headless', '--new-session')).toMatchObject({ code: 0 })
  expect(await run('open', '--no-headless', '--new-session')).toMatchObject({ code: 0 })
  await run('close', '--all')
})

test('--headed without a display says so each time', async () => {
  for (const url of [site.url, site.url]) {
    const { code, stderr } = await run('open', url, '--headed', '-s', 'window')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('this machine has no display') })
  }
  const other = await run('open', site.url, '--headed', '--locale', 'de-DE', '-s', 'window')
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('with other settings: --locale\n') })
  await run('close', '--all')
})

test('a page that does not load is a timeout each time, and another page can be opened', async () => {
  const slow = (...more: string[]) => run('open', `${site.url}/slow`, '--timeout-ms', '800', ...more)
  for (const { code, stderr } of [await slow(), await slow(), await slow()])
    expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('did not answer within 800 ms') })
  expect(await run('open', site.url)).toMatchObject({ code: 0 })
  await slow()
  expect(await run('reload')).toMatchObject({ code: 0 })
  await slow()
  expect(await run('open', `${site.url}/?again`)).toMatchObject({ code: 0 })
  await run('close', '--all')
})
