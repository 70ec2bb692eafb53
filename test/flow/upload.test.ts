/** Uploads: type_text on a file field takes paths, as in WebDriver. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inEveryHome } from '../support/commands.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'

const page = '<!doctype html><input id=one type=file hidden><input id=many type=file multiple>'
const contents = (id: string) =>
  `Promise.all([...document.querySelector('#${id}').files].map(async (file) => [file.name, await file.text()]))`

let folder: string
let paths: string[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-upload-'))
  paths = ['a.txt', 'b.txt'].map((name) => join(folder, name))
  await Promise.all(paths.map((path, index) => writeFile(path, `file ${index}`)))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Sends files as soon as they are selected, and shows the answer, which takes some time. */
const sender = `<!doctype html><input type=file><button onclick="input.click()">Attach</button><p></p><script>
  const input = document.querySelector('input')
  input.onchange = async () => {
    const answer = await fetch('/take', { method: 'POST', body: input.files[0] })
    input.value = ''
    document.querySelector('p').textContent = await answer.text()
  }</script>`
/** Sends a file in three parts, one after the other. */
const parts = `<!doctype html><input type=file><p></p><script>
  document.querySelector('input').onchange = async () => {
    for (const part of [1, 2, 3]) await fetch('/take', { method: 'POST', body: 'part ' + part })
    document.querySelector('p').textContent = 'all taken'
  }</script>`
const take = (request: IncomingMessage, response: ServerResponse) =>
  void request.resume().on('end', () => setTimeout(() => response.end('taken'), 500))

/** Sends its form, and shows the answer, as soon as a file is selected. */
const form =
  '<!doctype html><form method=post action=/next enctype=multipart/form-data><input type=file name=f onchange="this.form.submit()"></form>'
const next = (request: IncomingMessage, response: ServerResponse) => {
  let body = ''
  request.on('data', (part: Buffer) => (body += part.toString()))
  const name = () => /filename="([^"]*)"/.exec(body)?.[1]
  request.on('end', () => response.setHeader('content-type', 'text/html').end(`<title>Got ${name()}</title>`))
}

const never = `<!doctype html><input type=file onchange="fetch('/silent', { method: 'POST', body: 'x' })">`
const silent = (request: IncomingMessage) => void request.resume()

inEveryHome(
  {
    '/': page,
    '/never': never,
    '/silent': silent,
    '/sender': sender,
    '/parts': parts,
    '/take': take,
    '/form': form,
    '/next': next,
  },
  (given) => {
    test('succeeds when the page leaves with the files', async () => {
      await given.open('/form')
      const { files } = await given.do('upload_files', { selector: 'input', files: [paths[0]!] })
      expect(files).toEqual(['a.txt'])
      expect(await given.value('get_title')).toBe('Got a.txt')
    })

    test.each(['input', 'button'])('waits until the page has sent the files: %s', async (selector) => {
      await given.open('/sender')
      await given.do('upload_files', { selector, files: [paths[0]!] })
      expect(await given.value('get_text', { selector: 'p' })).toBe('taken')
    })

    test('waits until the page has sent all parts of a file', async () => {
      await given.open('/parts')
      await given.do('upload_files', { selector: 'input', files: [paths[0]!] })
      expect(await given.value('get_text', { selector: 'p' })).toBe('all taken')
    })

    test('warns when the page has not sent the files in time', async () => {
      await given.open('/never')
      const data = { selector: 'input', files: [paths[0]!], timeout_ms: 1500 }
      const { results } = await given.run([['upload_files', data]])
      expect(results).toMatchObject([
        { success: true, warning: expect.stringContaining('was still sending the files') as string },
      ])
    })

    test('type_text adds a file to a field, visible or hidden', async () => {
      await given.open('/')
      await given.do('type_text', { selector: '#one', text: paths[0] })
      expect(await given.evaluate(contents('one'))).toEqual([['a.txt', 'file 0']])
    })

    test('type_text adds several files, one path per line', async () => {
      await given.open('/')
      await given.do('type_text', { selector: '#many', text: paths.join('\n') })
      expect(await given.evaluate(contents('many'))).toEqual([
        ['a.txt', 'file 0'],
        ['b.txt', 'file 1'],
      ])
    })

    test('reports a path that is relative or does not exist', async () => {
      await given.open('/')
      const relative = await given.fails('type_text', { selector: '#one', text: 'a.txt' })
      expect(relative).toMatchObject({
        code: 'invalid_data',
        error: 'the session has no file "a.txt" to upload',
      })
      const absent = await given.fails('type_text', { selector: '#one', text: join(folder, 'none.txt') })
      expect(absent).toMatchObject({ code: 'invalid_data' })
      expect(absent.error).toContain('none.txt')
    })
  },
)

describe('an engine with writeAnywhere off', () => {
  let homes: Homes
  let site: Site
  beforeAll(async () => {
    ;[homes, site] = await Promise.all([openHomes({ writeAnywhere: false }), serveSite({ '/': page })])
  })
  afterAll(async () => {
    await homes?.close()
    await site?.close()
  })

  test('does not upload files of its machine, or write outside the session folder', async () => {
    const upload = { command: 'type_text', data: { selector: '#one', text: '/etc/passwd' } }
    const save = { command: 'screenshot', data: { full_page: false, path: '../../page.png' } }
    const { results } = await homes.clients.http.runCommands({
      continue_on_error: true,
      commands: [{ command: 'navigate_to', data: { url: site.url } }, upload, save],
    })
    expect(results.map(({ success, code }) => [success, code])).toEqual([
      [true, undefined],
      [false, 'invalid_data'],
      [false, 'invalid_data'],
    ])
  })
})
