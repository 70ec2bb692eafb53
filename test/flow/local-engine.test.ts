import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeState } from '../../src/core/state/state-file.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { upgradeHalfOpen } from '../support/half-open.ts'
import { testUnless } from '../support/needs.ts'
import { isRunning } from '../support/session-steps.ts'
import { noSmallDisk } from '../support/small-disk.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
beforeAll(async () => {
  built = await buildBax()
})
afterAll(() => built.close())

const noDisk = await noSmallDisk()

function isUnmounted(folder: string): boolean {
  try {
    execFileSync('umount', [folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

interface State {
  readonly pid: number
  readonly version: string
  readonly socket: string
}

const stateOf = async (folder: string) => {
  const { $bax: _, $check: __, ...state } = JSON.parse(await readFile(join(folder, 'engine.json'), 'utf8'))
  return state as State
}
const env = (folder: string, more: Record<string, string> = {}) => ({ env: { BAX_STATE_DIR: folder, ...more } })
const create = (folder: string, ...flags: string[]) =>
  built.run(['session', 'create', '--headless', ...flags], env(folder))

const sessionsOf = async (folder: string) => {
  const { stdout } = await built.run(['session', 'list', '--json'], env(folder))
  return JSON.parse(stdout).sessions as { session_id: string; worker_id: string }[]
}

describe('the local engine', () => {
  test('six concurrent first commands start one engine and six sessions', async () => {
    const folder = await built.stateDir()
    const created = await Promise.all(Array.from({ length: 6 }, () => create(folder)))
    expect(created.map(({ code, stderr }) => [code, stderr])).toEqual(created.map(() => [0, '']))
    const ids = created.map(({ stdout }) => stdout.trim())
    expect(new Set(ids).size).toBe(6)
    expect((await sessionsOf(folder)).map(({ session_id }) => session_id).toSorted()).toEqual(ids.toSorted())
    const log = await readFile(join(folder, 'engine.log'), 'utf8')
    expect(log.match(/ started \{"pid"/g)).toHaveLength(1)
  })

  test('denies other users access to the state folder, its files and the socket', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'bax-modes-'))
    const folder = join(parent, 'state')
    await mkdir(folder, { mode: 0o755 })
    try {
      expect((await create(folder)).code).toBe(0)
      const mode = async (name: string) => ((await stat(join(folder, name))).mode & 0o777).toString(8)
      expect(await mode('')).toBe('700')
      for (const name of ['engine.json', 'engine.sock', 'engine.log', 'engine.key'])
        expect([name, await mode(name)]).toEqual([name, '600'])
    } finally {
      await built.run(['engine', 'stop'], env(folder))
      await rm(parent, { recursive: true })
    }
  })

  test('`engine status` prints pid, version, socket and sessions, and exits 3 if none runs', async () => {
    const folder = await built.stateDir()
    const none = await built.run(['engine', 'status'], env(folder))
    expect([none.code, none.stdout]).toEqual([3, ''])
    expect(none.stderr).toContain('error: no local engine is running')
    expect(existsSync(join(folder, 'engine.json'))).toBe(false)

    await create(folder)
    const { code, stdout } = await built.run(['engine', 'status', '--json'], env(folder))
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ...(await stateOf(folder)),
      home: 'local',
      sessions: 1,
      socket: join(folder, 'engine.sock'),
    })
  })

  test('`engine stop` ends the process, its sessions and its files', async () => {
    const folder = await built.stateDir()
    await create(folder)
    const { pid } = await stateOf(folder)
    const { code } = await built.run(['engine', 'stop'], env(folder))
    expect(code).toBe(0)
    await waitUntil(() => !isRunning(pid))
    expect(existsSync(join(folder, 'engine.json'))).toBe(false)
    expect(existsSync(join(folder, 'engine.sock'))).toBe(false)
    expect((await built.run(['engine', 'stop'], env(folder))).code).toBe(3)
    const logs = await built.run(['engine', 'logs', '--lines', '1'], env(folder))
    expect(logs.stdout).toMatch(/ ended \{"pid":\d+\}\n$/)
  })

  test('`engine stop` ends it while a rejected websocket is kept half-open', async () => {
    const folder = await built.stateDir()
    const created = await create(folder, '--json')
    const { cdp_url } = JSON.parse(created.stdout) as { cdp_url: string }
    const { status, socket } = await upgradeHalfOpen(new URL('/nothing/here', cdp_url).href)
    expect(status).toBe(404)
    expect(await built.run(['engine', 'stop'], env(folder))).toMatchObject({ code: 0, stdout: '', stderr: '' })
    socket.destroy()
  })

  test('SIGTERM ends it cleanly', async () => {
    const folder = await built.stateDir()
    await create(folder)
    const { pid } = await stateOf(folder)
    process.kill(pid, 'SIGTERM')
    await waitUntil(() => !isRunning(pid))
    expect(existsSync(join(folder, 'engine.sock'))).toBe(false)
    expect(await readFile(join(folder, 'engine.log'), 'utf8')).toContain('received SIGTERM')
  })

  test('reports a session as lost after kill -9, and the next command starts a new engine', async () => {
    const folder = await built.stateDir()
    const id = (await create(folder)).stdout.trim()
    const { pid } = await stateOf(folder)
    process.kill(pid, 'SIGKILL')
    await waitUntil(() => !isRunning(pid))

    const lost = await built.run(['do', '-s', id, 'get-title'], env(folder))
    expect(lost.code).toBe(5)
    expect(lost.stdout).toBe('')
    expect(lost.stderr).toContain(`error: the engine that held session ${id} has died`)
    expect(lost.stderr).toContain('bax session create')

    const next = await create(folder)
    expect([next.code, next.stderr]).toEqual([0, ''])
    expect((await stateOf(folder)).pid).not.toBe(pid)
  })

  test('replaces a stale socket and a damaged state file', async () => {
    const folder = await built.stateDir()
    const socket = join(folder, 'engine.sock')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    // A dead process leaves a socket file without a listener; closing would remove the file.
    const left = `${socket}.left`
    await rm(left, { force: true })
    await link(socket, left)
    await new Promise((resolve) => server.close(resolve))
    await link(left, socket)
    await writeFile(join(folder, 'engine.json'), '{"pid":1,')
    expect((await create(folder)).code).toBe(0)
    expect(await sessionsOf(folder)).toHaveLength(1)
  })

  test('ends after the idle time without a session, and not before', async () => {
    const folder = await built.stateDir()
    const idle = env(folder, { BAX_IDLE_EXIT_SECS: '3' })
    const id = (await built.run(['session', 'create', '--headless'], idle)).stdout.trim()
    const { pid } = await stateOf(folder)
    await pause(4000)
    expect(isRunning(pid)).toBe(true)
    await built.run(['session', 'close', id], idle)
    await waitUntil(() => !isRunning(pid))
    expect(await readFile(join(folder, 'engine.log'), 'utf8')).toContain('{"reason":"idle"}')
    expect((await readdir(folder)).filter((name) => name.startsWith('engine.sock'))).toEqual([])
    expect((await built.run(['session', 'create', '--headless'], idle)).code).toBe(0)
  })

  test.each<[string, (folder: string) => Promise<unknown>]>([
    ['is deleted', (folder) => rm(folder, { recursive: true })],
    ['is renamed', (folder) => rename(folder, `${folder}-moved`)],
    ['loses its socket', (folder) => rm(join(folder, 'engine.sock'))],
  ])('ends with its browsers when its folder %s, and does not affect the next engine', async (_, change) => {
    const folder = await built.stateDir()
    expect((await create(folder)).code).toBe(0)
    const { pid } = await stateOf(folder)
    const browsers = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)
    expect(browsers).not.toEqual([])
    await change(folder)
    // Start a second engine on the same path while the first one may still be running.
    expect((await create(folder)).code).toBe(0)
    const next = await stateOf(folder)
    expect(next.pid).not.toBe(pid)
    await waitUntil(() => !isRunning(pid))
    await waitUntil(() => !browsers.some(isRunning))
    expect(await sessionsOf(folder)).toHaveLength(1)
    await rm(`${folder}-moved`, { recursive: true, force: true })
  })

  test('writes a deleted lock key again, and ends if the key has changed', async () => {
    const folder = await built.stateDir()
    expect((await create(folder)).code).toBe(0)
    const { pid } = await stateOf(folder)
    const key = join(folder, 'engine.key')
    const before = await readFile(key, 'utf8')
    await rm(key)
    await waitUntil(() => existsSync(key))
    expect(await readFile(key, 'utf8')).toBe(before)
    expect(await sessionsOf(folder)).toHaveLength(1)
    await writeFile(key, 'f'.repeat(64))
    await waitUntil(() => !isRunning(pid))
    expect((await create(folder)).code).toBe(0)
  })

  test('writes a damaged state file again', async () => {
    const folder = await built.stateDir()
    expect((await create(folder)).code).toBe(0)
    const before = await stateOf(folder)
    await writeFile(join(folder, 'engine.json'), '{"pid":1,')
    await waitUntil(async () => (await readFile(join(folder, 'engine.json'), 'utf8')).includes('"socket"'))
    expect(await stateOf(folder)).toEqual(before)
    expect(await sessionsOf(folder)).toHaveLength(1)
  })

  describe('of another version', () => {
    const changeState = async (folder: string) => {
      const state = await stateOf(folder)
      await writeState(join(folder, 'engine.json'), { ...state, version: '0.0.1' })
      return state.pid
    }

    test('is replaced if it has no sessions', async () => {
      const folder = await built.stateDir()
      const id = (await create(folder)).stdout.trim()
      await built.run(['session', 'close', id], env(folder))
      const old = await changeState(folder)
      expect((await create(folder)).code).toBe(0)
      expect((await stateOf(folder)).pid).not.toBe(old)
      await waitUntil(() => !isRunning(old))
    })

    test('is named in the error if it has sessions, and can be stopped', async () => {
      const folder = await built.stateDir()
      await create(folder)
      const old = await changeState(folder)
      const { code, stderr } = await create(folder)
      expect(code).toBe(3)
      expect(stderr).toContain('the local engine is bax 0.0.1 and holds 1 session; this is bax')
      expect(stderr).toContain('bax engine stop')
      expect(isRunning(old)).toBe(true)
      expect((await built.run(['engine', 'stop'], env(folder))).code).toBe(0)
      await waitUntil(() => !isRunning(old))
    })
  })

  describe('with another browser setting', () => {
    const absent = ['do', 'get-title', '--browser', '/nonexistent/chromium']

    test('is replaced if it has no sessions, so that a mistyped path is not kept', async () => {
      const folder = await built.stateDir()
      expect((await built.run(absent, env(folder))).code).toBe(3)
      expect(await built.run(['do', 'get-title'], env(folder))).toMatchObject({ code: 0, stdout: '\n' })
    })

    test('is named in the error if it has sessions, which stay open', async () => {
      const folder = await built.stateDir()
      const id = (await create(folder)).stdout.trim()
      const { code, stderr } = await built.run(absent, env(folder))
      expect(code).toBe(3)
      expect(stderr).toContain('holds 1 session; this command names /nonexistent/chromium\n')
      expect((await built.run(['do', '-s', id, 'get-title'], env(folder))).code).toBe(0)
    })
  })

  describe('reports in one sentence why it cannot start:', () => {
    test('a state folder that is a file', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'bax-bad-'))
      const file = join(folder, 'state')
      await writeFile(file, '')
      const { code, stdout, stderr } = await create(file)
      await rm(folder, { recursive: true })
      expect([code, stdout]).toEqual([3, ''])
      expect(stderr).toBe(
        `error: cannot use the state folder ${file}: it is not a folder\n` +
          'hint: choose another folder with --state-dir or BAX_STATE_DIR\n',
      )
    })

    test('a state folder that cannot be created', async () => {
      const { code, stderr } = await create('/proc/bax-state')
      expect(code).toBe(3)
      expect(stderr).toContain('error: cannot use the state folder /proc/bax-state: ')
      expect(stderr.trim().split('\n')).toHaveLength(2)
    })

    test('a folder shared by all users', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'bax-shared-'))
      await chmod(folder, 0o1777)
      const { code, stderr } = await create(folder)
      await rm(folder, { recursive: true })
      expect(code).toBe(3)
      expect(stderr).toContain(`the state folder ${folder} is shared by all users`)
    })

    testUnless(noDisk)('a full disk', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'bax-full-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', folder])
      try {
        const filler = join(folder, 'filler')
        await writeFile(filler, Buffer.alloc(512 * 1024)).catch((error) => expect(error.code).toBe('ENOSPC'))
        const { code, stdout, stderr } = await create(folder)
        expect([code, stdout]).toEqual([7, ''])
        expect(stderr).toContain(`error: the disk that holds the state folder ${folder} is full\n`)
        await rm(filler)
        expect((await create(folder)).code).toBe(0)
        await built.run(['engine', 'stop'], env(folder))
      } finally {
        // The folder stays in use until the process is gone.
        await waitUntil(() => isUnmounted(folder))
        await rm(folder, { recursive: true })
      }
    })

    test('a missing browser', async () => {
      const folder = await built.stateDir()
      const { code, stderr } = await built.run(['session', 'create', '--browser', '/nonexistent/chromium'], env(folder))
      expect(code).toBe(3)
      expect(stderr).toContain('/nonexistent/chromium')
      expect(stderr).toContain('hint: ')
    })

    test('an engine program that exits immediately', async () => {
      const folder = await built.stateDir()
      await mkdir(join(folder, 'engine.log'))
      const { code, stderr } = await create(folder)
      expect(code).not.toBe(0)
      expect(stderr).toMatch(/^error: .*\n/)
      await rm(join(folder, 'engine.log'), { recursive: true })
    })
  })

  test('keeps the socket in the runtime folder if the path of the state folder is long', async () => {
    const runtime = await mkdtemp(join(tmpdir(), 'bax-run-'))
    const folder = join(await built.stateDir(), 'long'.repeat(30))
    const long = env(folder, { XDG_RUNTIME_DIR: runtime })
    const { code, stderr } = await built.run(['session', 'create', '--headless'], long)
    expect([code, stderr]).toEqual([0, ''])
    expect((await stateOf(folder)).socket.startsWith(join(runtime, 'bax'))).toBe(true)
    expect((await built.run(['engine', 'stop'], long)).code).toBe(0)
    await rm(runtime, { recursive: true })
  })

  test('is not started by read-only commands', async () => {
    const folder = await built.stateDir()
    const list = await built.run(['session', 'list', '--json'], env(folder))
    expect([list.code, JSON.parse(list.stdout)]).toEqual([0, { sessions: [], total: 0 }])
    const show = await built.run(['session', 'show', 'shop'], env(folder))
    expect(show.code).toBe(5)
    expect(existsSync(join(folder, 'engine.json'))).toBe(false)
  })
})
