/** `bax uninstall`, and what a stopped engine leaves behind. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { spawn } from '@lydell/node-pty'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acquireLock } from '../../src/core/process/process-lock.ts'
import { stateLock } from '../../src/core/state/state-dir.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { isRunning } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
let folder: string
beforeAll(async () => {
  built = await buildBax()
  folder = await mkdtemp(join(tmpdir(), 'bax-un-'))
})
afterAll(async () => {
  await built?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Folders of a user, and bax for that user. */
async function userNamed(name: string) {
  const [home, temporary] = [join(folder, name, 'home'), join(folder, name, 'tmp')]
  await Promise.all([mkdir(home, { recursive: true }), mkdir(temporary, { recursive: true })])
  const env = {
    HOME: home,
    TMPDIR: temporary,
    XDG_DATA_HOME: undefined,
    XDG_CACHE_HOME: undefined,
    XDG_CONFIG_HOME: undefined,
    BAX_CONFIG: undefined,
  }
  const bax = (...argv: string[]) => built.run(argv, { env, cwd: temporary })
  const files = async () =>
    (await readdir(home, { recursive: true, withFileTypes: true }))
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name: file }) => join(parentPath, file))
  return { home, temporary, env, bax, files }
}

test.skipIf(process.platform !== 'linux')('an engine that is stopped leaves only the folder of its data', async () => {
  const { home, temporary, bax, files } = await userNamed('stopped')
  expect(await bax('session', 'create')).toMatchObject({ code: 0 })
  expect(await bax('do', 'get-content')).toMatchObject({ code: 0 })
  expect((await readdir(temporary)).length).toBeGreaterThan(0)
  expect(await bax('engine', 'stop')).toMatchObject({ code: 0 })
  expect(await readdir(temporary)).toEqual([])
  const data = join(home, '.local/share/bax')
  const outside = (await files()).filter((path) => !path.startsWith(`${data}/`))
  expect(outside).toEqual([])
  expect((await readdir(data)).filter((name) => name.endsWith('.sock') || name === 'engine.json')).toEqual([])
})

describe.skipIf(process.platform !== 'linux')('bax uninstall', () => {
  test('stops the engine, lists and removes all that bax created, and names what is left', async () => {
    const { home, temporary, bax, files } = await userNamed('whole')
    const [settings, mine] = [join(home, '.config/bax/config.json'), join(home, '.cursor/mcp.json')]
    await Promise.all([
      write(settings, '{}'),
      write(join(home, '.cache/bax/browsers/portable/chrome'), 'a browser'),
      write(mine, '{"mcpServers": {"bax": {"command": "bax"}}}'),
    ])
    expect(await bax('session', 'create')).toMatchObject({ code: 0 })
    const data = join(home, '.local/share/bax')
    const { pid } = JSON.parse(await readFile(join(data, 'engine.json'), 'utf8')) as { pid: number }
    const { code, stdout, stderr } = await bax('uninstall', '--yes')
    expect(code).toBe(0)
    const removed = [join(home, '.cache/bax'), data, settings]
    expect(stdout).toBe(removed.map((path) => `removed ${path}\n`).join(''))
    for (const path of [`(process ${pid})`, ...removed]) expect(stderr).toContain(path)
    expect(stderr).toContain(`left: the MCP server "bax" in ${mine}`)
    expect(await files()).toEqual([mine])
    expect(await readdir(join(home, '.config'))).toEqual([])
    expect(await readdir(temporary)).toEqual([])
    await waitUntil(() => !isRunning(pid))
    expect(await bax('uninstall')).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to remove') })
  })

  test('keeps data and settings with --keep-data', async () => {
    const { home, bax, files } = await userNamed('kept')
    await write(join(home, '.config/bax/config.json'), '{}')
    await write(join(home, '.cache/bax/browsers/portable/chrome'), 'a browser')
    await write(join(home, '.local/share/bax/profiles/mine.json'), '{}')
    const { code, stdout } = await bax('uninstall', '--yes', '--keep-data', '--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { removed: [{ path: join(home, '.cache/bax'), bytes: 9 }] }])
    expect((await files()).map((path) => path.slice(home.length)).toSorted()).toEqual([
      '/.config/bax/config.json',
      '/.local/share/bax/profiles/mine.json',
    ])
  })

  test('removes data after an engine that was killed', async () => {
    const { home, bax, files } = await userNamed('killed')
    expect(await bax('session', 'create')).toMatchObject({ code: 0 })
    const state = join(home, '.local/share/bax/engine.json')
    const { pid } = JSON.parse(await readFile(state, 'utf8')) as { pid: number }
    process.kill(pid, 'SIGKILL')
    await waitUntil(() => !isRunning(pid))
    expect(await bax('uninstall', '--yes')).toMatchObject({ code: 0 })
    expect(await files()).toEqual([])
  })

  test('asks in a terminal, and removes nothing without a yes', async () => {
    const { home, temporary, env, bax, files } = await userNamed('asked')
    await write(join(home, '.local/share/bax/profiles/mine.json'), '{}')
    expect(await bax('uninstall')).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') })
    const answer = (text: string) =>
      new Promise<number>((resolve) => {
        const defined = Object.entries({ ...process.env, ...env }).filter(([, value]) => value !== undefined)
        const terminal = spawn(process.execPath, [built.program, 'uninstall'], {
          cwd: temporary,
          env: Object.fromEntries(defined) as Record<string, string>,
        })
        let shown = ''
        terminal.onData((data) => {
          shown += data
          if (!shown.endsWith('[y/N] ')) return
          shown = ''
          terminal.write(text)
        })
        terminal.onExit(({ exitCode }) => resolve(exitCode))
      })
    expect(await answer('\r')).toBe(1)
    expect(await answer('no\r')).toBe(1)
    expect(await files()).toHaveLength(1)
    expect(await answer('y\r')).toBe(0)
    expect(await files()).toEqual([])
  })

  test.each([
    ['the home folder', (home: string) => home],
    ['a folder around it', (home: string) => join(home, '..')],
    ['a folder that all users share', () => tmpdir()],
  ])('never removes %s, even if a setting names it', async (name, pathIn) => {
    const { home, env, files } = await userNamed(`wrong ${name}`)
    await write(join(home, 'letter.txt'), 'text')
    const wrong = { ...env, BAX_STATE_DIR: pathIn(home) }
    const result = await built.run(['uninstall', '--yes'], { env: wrong, cwd: home })
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('is not removed') })
    expect(await files()).toEqual([join(home, 'letter.txt')])
  })

  test.each(['name', 'link to'])('removes only what bax has created from folders that settings %s', async (how) => {
    const { home, temporary, env, files } = await userNamed(`shared ${how}`)
    const [cache, notes] = [join(home, '.cache'), join(home, 'notes')]
    const theirs = [
      join(cache, 'browsers/theirs/chrome'),
      join(cache, 'fonts/list'),
      join(notes, 'keys/house.json'),
      join(notes, 'letter.txt'),
    ]
    const ours = [
      join(cache, 'browsers/portable-147.0.0/chrome'),
      join(notes, 'bot-key.json'),
      join(notes, 'crawls/crl_1/pages.ndjson'),
      join(notes, 'engine.log.1'),
      join(notes, 'keys/key_1.json'),
      join(notes, 'keys/used/key_1'),
    ]
    await Promise.all([...theirs, ...ours].map((path) => write(path, 'text')))
    const named = how === 'name' ? notes : join(home, 'link')
    if (named !== notes) await symlink(notes, named)
    const settings = { ...env, BAX_CACHE_DIR: cache, BAX_STATE_DIR: named }
    const { code, stdout, stderr } = await built.run(['uninstall', '--yes'], { env: settings, cwd: temporary })
    expect([code, stdout]).toEqual([0, `removed bax's files in ${cache}\nremoved bax's files in ${named}\n`])
    for (const path of ['browsers', 'fonts'].map((name) => join(cache, name)))
      expect(stderr).toContain(`left: ${path}\n`)
    for (const path of ['keys', 'letter.txt'].map((name) => join(notes, name)))
      expect(stderr).toContain(`left: ${path}\n`)
    expect((await files()).filter((path) => path !== named).toSorted()).toEqual(theirs)
    expect(await readdir(notes)).toEqual(expect.not.arrayContaining(['crawls']))
  })

  test('removes everything that a session leaves in a folder that a setting names', async () => {
    const { home, temporary, env, files } = await userNamed('named')
    const settings = { ...env, BAX_STATE_DIR: join(home, 'state') }
    expect(await built.run(['session', 'create'], { env: settings, cwd: temporary })).toMatchObject({ code: 0 })
    expect(await built.run(['do', 'get-content'], { env: settings, cwd: temporary })).toMatchObject({ code: 0 })
    expect(await built.run(['uninstall', '--yes'], { env: settings, cwd: temporary })).toMatchObject({ code: 0 })
    expect([await files(), await readdir(home)]).toEqual([[], []])
  })

  test('removes the data that the usual folder links to, and the link', async () => {
    const { home, bax, files } = await userNamed('linked')
    const profile = join(home, 'disk/profiles/01234567-0123-4123-8123-0123456789ab.json')
    await write(profile, 'secret')
    await mkdir(join(home, '.local/share'), { recursive: true })
    await symlink(join(home, 'disk'), join(home, '.local/share/bax'))
    const { code, stdout } = await bax('uninstall', '--yes', '--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { removed: [{ bytes: 6 }], left: [] }])
    expect([await files(), await readdir(join(home, '.local/share'))]).toEqual([[], []])
  })

  test.each([
    ['the data', { XDG_CACHE_HOME: 'all', XDG_DATA_HOME: 'all' }],
    ['the settings', { XDG_CACHE_HOME: 'all', XDG_CONFIG_HOME: 'link' }],
  ])('never removes %s with --keep-data, even if they are in the cache folder', async (name, folders) => {
    const { home, temporary, env, files } = await userNamed(`overlap ${name}`)
    const mine = [join(home, 'all/bax/config.json'), join(home, 'all/bax/profiles/mine.json')]
    await Promise.all(mine.map((path) => write(path, '{}')))
    await symlink(join(home, 'all'), join(home, 'link'))
    const named = Object.fromEntries(Object.entries(folders).map(([key, folder]) => [key, join(home, folder)]))
    const result = await built.run(['uninstall', '--yes', '--keep-data'], { env: { ...env, ...named }, cwd: temporary })
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('is not removed: it contains') })
    expect((await files()).filter((path) => !path.endsWith('/link')).toSorted()).toEqual(mine)
  })

  test('removes nothing while an engine that cannot be stopped yet holds the folder', async () => {
    const { home, bax, files } = await userNamed('starting')
    const data = join(home, '.local/share/bax')
    await write(join(data, 'profiles/mine.json'), '{}')
    const lock = await acquireLock(await stateLock(data, { platform: process.platform, nodeVersion: process.version }))
    lock!.publish('{"state": "ready"}')
    const { code, stderr } = await bax('uninstall', '--yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: a local engine that cannot be stopped uses')])
    expect(await files()).toHaveLength(2)
    await lock!.release()
    expect(await bax('uninstall', '--yes')).toMatchObject({ code: 0 })
    expect(await files()).toEqual([])
  })

  test('lists the key and the copies of settings that stay', async () => {
    const { home, temporary, env, files } = await userNamed('elsewhere')
    const left = [join(home, '.cursor/mcp.json.before-bax'), join(home, 'keys/bot.json')]
    await Promise.all(left.map((path) => write(path, '{}')))
    const { code, stderr } = await built.run(['uninstall', '--yes'], {
      env: { ...env, BAX_BOT_KEY_FILE: left[1] },
      cwd: temporary,
    })
    expect(code).toBe(0)
    for (const path of left) expect(stderr).toContain(`left: ${path}\n`)
    expect((await files()).toSorted()).toEqual(left)
  })
})

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
