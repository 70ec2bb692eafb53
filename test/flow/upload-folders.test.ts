/** Uploads of folders, and files that are dropped on elements. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, upload } from '../../src/client/client.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import type { SessionFile, SessionFileList } from '../../src/core/shapes/session-files.ts'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const script = `
  const got = []
  const walk = async (entry) => {
    if (entry.isFile) return entry.file(async (file) => got.push(entry.fullPath + '=' + await file.text()))
    entry.createReader().readEntries((inner) => inner.forEach(walk))
  }
  const on = (id, type, listener) => document.getElementById(id)?.addEventListener(type, listener)
  for (const id of ['zone', 'deaf', 'careless', 'closed', 'send']) on(id, 'dragover', (event) => event.preventDefault())
  on('closed', 'dragover', (event) => { event.dataTransfer.dropEffect = 'none' })
  on('zone', 'drop', (event) => {
    event.preventDefault()
    got.push(String(event.isTrusted))
    for (const item of event.dataTransfer.items) walk(item.webkitGetAsEntry())
  })
  on('deaf', 'drop', (event) => event.preventDefault())
  on('send', 'drop', (event) => {
    event.preventDefault()
    location = '/sent?' + event.dataTransfer.files[0].name
  })
  addEventListener('dragenter', () => { shy.style.pointerEvents = 'auto' })
  on('shy', 'dragover', (event) => event.preventDefault())
  on('shy', 'drop', (event) => { event.preventDefault(); got.push(event.dataTransfer.files[0].name) })
  // The input is shown for drags only.
  on('editor', 'dragenter', () => document.getElementById('late') || document.getElementById('editor').insertAdjacentHTML('beforeend',
    '<input type=file multiple id=late style="position:absolute; inset:0; opacity:0">'))`
const zones = ['zone', 'deaf', 'careless', 'closed', 'send', 'plain']
const page = `<!doctype html><title>Upload</title>
  <input id=folder type=file webkitdirectory><button id=pick onclick="folder.click()">Choose a folder</button>
  <input id=one type=file><input id=many type=file multiple>
  ${zones.map((id) => `<div id=${id} style="height:30px">${id}</div>`).join('')}
  <div id=shy style="pointer-events:none">shy</div><div id=hidden style="margin-bottom:-20px; height:20px">covered</div><div id=lid style="position:relative; height:20px">lid</div>
  <div id=editor style="position:relative; height:30px">Text</div>
  <iframe id=frame src=/inner style="margin-top:1500px"></iframe><script>${script}</script>`
const inner = `<body style="margin:0"><div id=zone style="height:60px">zone</div><script>${script}</script>`

/** Limit of the files of a session. */
const quotaBytes = 1_000_000

let homes: Homes
let site: Site
let folder: string
let session: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-folders-'))
  for (const path of ['photos/2026', 'other/photos', 'linked', 'empty/nothing', 'secrets'])
    await mkdir(join(folder, path), { recursive: true })
  await Promise.all([
    writeFile(join(folder, 'photos/a.txt'), 'A'),
    writeFile(join(folder, 'photos/2026/ä b.txt'), 'B'),
    writeFile(join(folder, 'photos/.hidden'), 'H'),
    writeFile(join(folder, 'other/photos/a.txt'), 'another A'),
    writeFile(join(folder, 'secrets/key.txt'), 'secret'),
    writeFile(join(folder, 'single.txt'), 'S'),
    writeFile(join(folder, 'linked/own.txt'), 'own'),
    symlink('../secrets', join(folder, 'linked/out')),
  ])
  ;[homes, site] = await Promise.all([
    openHomes({ writeAnywhere: false, downloadBytes: quotaBytes }),
    serveSite({ '/': page, '/inner': inner, '/sent': '<title>Sent</title>' }),
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

const cli = (argv: string[]) =>
  bax([...argv, '--server', homes.baseUrl], { cwd: folder, env: { BAX_SESSION: session } })
async function run(command: string, data: object): Promise<CommandResult> {
  const { results } = await homes.clients.http.runCommands({
    session_id: session,
    commands: [{ command, data }] as never,
  })
  return results[0]!
}
const valueIn = (expression: string) => valueOf(homes.clients.http, session, expression)
const selected = async (id: string) => {
  const files = `Promise.all([...${id}.files].map(async (file) => [file.webkitRelativePath || file.name, await file.text()]))`
  return ((await valueIn(files)) as [string, string][]).toSorted()
}
const photos = [
  ['photos/.hidden', 'H'],
  ['photos/2026/ä b.txt', 'B'],
  ['photos/a.txt', 'A'],
]
const put = (name: string, inFolder: string, content: string) =>
  upload(
    homes.transports.http,
    'PUT /sessions/{session_id}/files/{name}',
    { session_id: session, name, folder: inFolder },
    (async function* () {
      yield Buffer.from(content)
    })(),
  ) as Promise<SessionFile>
const stored = async () => {
  const { files } = (await call(homes.transports.http, 'GET /sessions/{session_id}/files', {
    session_id: session,
  })) as SessionFileList
  return files.map(({ name }) => name).toSorted()
}

describe('a folder', () => {
  test('is selected with its paths in an input that takes folders, and by a chooser', async () => {
    const done = await cli(['upload', '#folder', 'photos', '--json'])
    expect(done.code, done.stderr).toBe(0)
    expect(await selected('folder')).toEqual(photos)
    expect(await stored()).toEqual(photos.map(([name]) => name))
    await valueIn('folder.value = ""')
    expect((await cli(['upload', '#pick', './photos/'])).code).toBe(0)
    expect(await selected('folder')).toEqual(photos)
    // The same files are stored once.
    expect(await stored()).toHaveLength(3)
  })

  test('does not mix with another one of the same name, which a page may still read', async () => {
    await cli(['upload', '#folder', 'photos'])
    await valueIn('void (globalThis.before = [...folder.files])')
    expect((await cli(['upload', '#folder', 'other/photos'])).code).toBe(0)
    expect(await selected('folder')).toEqual([['photos/a.txt', 'another A']])
    const before = await valueIn('Promise.all(before.map((file) => file.text()))')
    expect((before as string[]).toSorted()).toEqual(['A', 'B', 'H'])
  })

  test('is uploaded by a script, and over HTTP file by file', async () => {
    await writeFile(
      join(folder, 'flow.yaml'),
      `session: { session_id: ${session} }\nsteps:\n  - upload_files: { selector: '#folder', files: [photos] }\n`,
    )
    const done = await cli(['run', 'flow.yaml'])
    expect(done.stderr + done.stdout).toContain('1 passed')
    expect(await selected('folder')).toEqual(photos)
    expect(await put('x.txt', 'docs/deep', 'X')).toMatchObject({ name: 'docs/deep/x.txt' })
    const result = await run('upload_files', { selector: '#folder', files: ['docs/deep/x.txt'] })
    expect(result).toMatchObject({ success: true, data: { files: ['docs/deep/x.txt'] } })
    expect(await selected('folder')).toEqual([['docs/deep/x.txt', 'X']])
  })

  test('is sent to the session first, also with another name, and selected later', async () => {
    expect((await cli(['session', 'upload', 'photos'])).stdout.split('\n').toSorted()).toEqual([
      '',
      ...(await stored()),
    ])
    expect(await stored()).toEqual(photos.map(([name]) => name))
    expect((await cli(['upload', '#folder', 'session:photos'])).code).toBe(0)
    expect(await selected('folder')).toEqual(photos)
    const renamed = await cli(['session', 'upload', 'photos/2026', 'album', '--folder', 'old', '--json'])
    expect(JSON.parse(renamed.stdout)).toMatchObject({ files: [{ name: 'old/album/ä b.txt' }] })
    expect((await cli(['upload', '#folder', 'session:old'])).code).toBe(0)
    expect(await selected('folder')).toEqual([['old/album/ä b.txt', 'B']])
    expect((await cli(['session', 'upload', 'empty'])).stderr).toContain('is a folder without files')
  })

  test('that the session has gives the latest file of each path, also by a folder in it', async () => {
    await cli(['session', 'upload', 'photos'])
    await cli(['upload', '#folder', 'other/photos'])
    expect(await stored()).toContain('photos/a (2).txt')
    const latest = [...photos.slice(0, 2), ['photos/a.txt', 'another A']]
    for (const name of ['session:photos', 'session:photos/']) {
      expect(await cli(['upload', '#folder', name])).toMatchObject({ code: 0, stderr: '' })
      expect(await selected('folder')).toEqual(latest)
    }
    expect((await cli(['upload', '#folder', 'session:photos/2026'])).code).toBe(0)
    expect(await selected('folder')).toEqual([['photos/2026/ä b.txt', 'B']])
    // The first file again: it is the latest one, and stored once.
    await cli(['upload', '#folder', 'photos'])
    expect(await stored()).toHaveLength(4)
    await cli(['upload', '#folder', 'session:photos'])
    expect(await selected('folder')).toEqual(photos)
  })

  test('that does not fit into the session names the files that were stored', async () => {
    const content = 'x'.repeat(quotaBytes * 0.4)
    await mkdir(join(folder, 'large'))
    await Promise.all(['1', '2', '3'].map((name) => writeFile(join(folder, 'large', name), content)))
    const { code, stdout } = await cli(['session', 'upload', 'large', '--json'])
    expect(code).not.toBe(0)
    const error = JSON.parse(stdout) as { details: { stored: string[] } }
    expect(error).toMatchObject({ code: 'no_space', details: { stored: [expect.any(String), expect.any(String)] } })
    expect(error.details.stored.toSorted()).toEqual(await stored())
  })

  test('with a name that is not UTF-8, or without a name in the session, is refused', async () => {
    const bytes = Buffer.concat([Buffer.from(join(folder, 'bytes/')), Buffer.from([0x61, 0xff])])
    await mkdir(join(folder, 'bytes'))
    await writeFile(bytes, 'x')
    expect((await cli(['session', 'upload', 'bytes'])).stderr).toContain(
      `error: cannot read ${join(folder, 'bytes/a')}`,
    )
    expect((await cli(['session', 'upload', 'photos', ''])).stderr).toContain('error: [name] must not be empty')
    expect(await stored()).toEqual([])
  })

  test('gives its files to an input for several files', async () => {
    expect((await cli(['upload', '#many', 'photos'])).code).toBe(0)
    expect(await selected('many')).toEqual([
      ['.hidden', 'H'],
      ['a.txt', 'A'],
      ['ä b.txt', 'B'],
    ])
    expect((await cli(['upload', '#one', 'photos'])).stderr).toContain('#one accepts one file, not 3')
  })

  test('is refused with links, without files, and beside other files', async () => {
    const errorOf = async (...argv: string[]) => {
      const { code, stderr } = await cli(['upload', ...argv])
      return code === 0 ? 'success' : stderr
    }
    expect(await errorOf('#folder', 'linked')).toContain(`${join(folder, 'linked/out')} is a symbolic link`)
    expect(await errorOf('#folder', 'empty')).toContain(`${join(folder, 'empty')} is a folder without files`)
    expect(await stored()).toEqual([])
    expect(await errorOf('#folder', 'single.txt')).toContain('#folder accepts a folder, not single files')
    expect(await errorOf('#folder', 'photos', 'linked/own.txt')).toContain('#folder accepts a folder, not single files')
    await expect(put('x.txt', '../out', 'X')).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(put('x.txt', '/etc', 'X')).rejects.toMatchObject({ code: 'invalid_request' })
    const absolute = await run('upload_files', { selector: '#folder', files: [join(folder, 'photos')] })
    expect(absolute).toMatchObject({ success: false, code: 'invalid_data' })
  })

  test('leaves the disk with its files', async () => {
    await cli(['upload', '#folder', 'photos'])
    await call(homes.transports.http, 'DELETE /sessions/{session_id}/files/{name}', {
      session_id: session,
      name: 'photos/a.txt',
    })
    expect(
      await valueIn(`[...folder.files].find(({ name }) => name === 'a.txt').text().then(() => true, () => false)`),
    ).toBe(false)
    const result = await run('upload_files', { selector: '#folder', files: ['photos/a.txt'] })
    expect(result).toMatchObject({ success: false, error: 'the session has no file "photos/a.txt" to upload' })
  })
})

describe('dropped files', () => {
  const got = (expression = 'got') => valueIn(`[...${expression}].sort()`) as Promise<string[]>

  test('reach an element without an input, with folders', async () => {
    const done = await cli(['upload', '#zone', 'single.txt', 'photos'])
    expect(done.code, done.stderr).toBe(0)
    const expected = ['/photos/.hidden=H', '/photos/2026/ä b.txt=B', '/photos/a.txt=A', '/single.txt=S', 'true']
    await waitUntil(async () => (await got()).length === expected.length)
    expect(await got()).toEqual(expected)
  })

  test('reach an input that appears for the drag, and a frame out of view', async () => {
    const done = await cli(['upload', '#editor', 'single.txt', '--drop'])
    expect(done.code, done.stderr).toBe(0)
    expect(await selected('late')).toEqual([['single.txt', 'S']])
    expect((await cli(['upload', 'frame=#frame >> #zone', 'single.txt', '--drop'])).code).toBe(0)
    await waitUntil(async () => (await got('frame.contentWindow.eval("got")')).includes('/single.txt=S'))
  })

  test('reach an element that takes the pointer only during a drag, but none that stays covered', async () => {
    const done = await cli(['upload', '#shy', 'single.txt', '--drop'])
    expect(done.code, done.stderr).toBe(0)
    expect(await got()).toEqual(['single.txt'])
    const covered = await cli(['upload', '#hidden', 'single.txt', '--drop', '--timeout-ms', '700'])
    expect(covered.stderr).toContain('error: #hidden is covered by div#lid')
  })

  test('may lead to another page', async () => {
    expect((await cli(['upload', '#send', 'single.txt', '--drop'])).code).toBe(0)
    await waitUntil(async () => (await valueIn('document.title')) === 'Sent')
  })

  test('fail when the page does not take them', async () => {
    const errorOf = async (id: string) => (await cli(['upload', id, 'single.txt', '--drop'])).stderr
    expect(await errorOf('#plain')).toContain('#plain does not accept dropped files')
    expect(await errorOf('#closed')).toContain('#closed does not accept dropped files')
    for (const id of ['#deaf', '#careless'])
      expect(await errorOf(id)).toContain(`the files were dropped on ${id}, but the page did not take them`)
    const { tabs } = await homes.clients.http.observe({ session_id: session, include: ['tabs'] })
    expect(tabs!.map(({ url }) => url)).toEqual([`${site.url}/`])
  })
})

test('a local engine selects a folder of this machine, without links', async () => {
  const local = await openHomes()
  try {
    const run = async (path: string) => {
      const { results } = await local.clients.unix.runCommands({
        commands: [
          { command: 'navigate_to', data: { url: site.url } },
          { command: 'upload_files', data: { selector: '#folder', files: [join(folder, path)] } },
        ],
      })
      return results[1]!
    }
    expect(await run('photos')).toMatchObject({
      success: true,
      data: { files: expect.arrayContaining(photos.map(([name]) => name)) },
    })
    expect(await run('linked')).toMatchObject({ success: false, error: expect.stringContaining('is a symbolic link') })
  } finally {
    await local.close()
  }
})
