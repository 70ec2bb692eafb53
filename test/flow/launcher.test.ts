/** The native launcher: commands in warm processes of the engine, with the same result as in a process of Node. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { spawn as spawnTerminal } from '@lydell/node-pty'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { version } from '../../src/core/version.ts'
import { launcher as native } from '../../scripts/native.js'
import { type BuiltBax, buildBax, type CliOptions } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { isRunning } from '../support/session-steps.ts'
import { type Site, serveSite } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { article } from '../support/web.ts'

let built: BuiltBax
let site: Site
let state: string
let folder: string
let session: string

/** Called when a page requests `/started`. */
let started = () => {}

/** Flags with which a command runs in a command worker rather than in the engine: it writes a file of its caller. */
const inWorker = ['-o', 'value.txt']

/**
 * Starts a command that waits for an element for longer than a test may take, and resolves when the session runs it.
 * `flags` decide where it runs.
 */
async function startWaiting(flags: readonly string[] = []) {
  const isWaiting = new Promise<void>((resolve) => (started = resolve))
  const wait = ['wait-for-element', '#never', '--timeout-ms', '300000', '-s', session]
  const line = ['do', 'evaluate', 'fetch("/started").then(() => 1)', ...flags, 'then', ...wait]
  await untilWarm()
  const running = built.start(line, { launched: true, cwd: folder, env: warm() })
  const early = running.ended.then(({ code, stderr }) => {
    throw new Error(`the command ended with ${code}: ${stderr}`)
  })
  await Promise.race([isWaiting, early])
  // The tests await the end themselves.
  early.catch(() => {})
  return running
}

/** Waits until a warm process takes commands. */
const untilWarm = () => waitUntil(async () => (await launch(['--version'])).code === 0)

/** Environment in which there is no Node to fall back to. */
const warm = () => ({ BAX_STATE_DIR: state, PATH: '/nonexistent' })
const launch = (argv: readonly string[], options: CliOptions = {}) =>
  built.run(argv, { cwd: folder, ...options, launched: true, env: { ...warm(), ...options.env } })
const inNode = (argv: readonly string[], options: CliOptions = {}) =>
  built.run(argv, { cwd: folder, ...options, launched: false, env: { BAX_STATE_DIR: state, ...options.env } })
const engineState = async () => JSON.parse(await readFile(join(state, 'engine.json'), 'utf8')) as { pid: number }

/** Starts an engine with one session, and waits until a warm process takes commands. */
async function startEngine(): Promise<void> {
  state = await built.stateDir()
  const { stdout } = await inNode(['session', 'create', '--start-url', `${site.url}/article`])
  session = stdout.trim()
  await untilWarm()
}

beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({
    '/article': article,
    '/started': (_, response) => {
      started()
      response.end()
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'bax-test-launcher-'))
  await startEngine()
})
afterAll(async () => {
  await built?.close()
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Why there is no launcher; null if there is one. */
const noLauncher =
  process.platform === 'linux' && (await native.compile([process.arch])).length === 0
    ? null
    : 'skipped, there is no C compiler for the launcher'

const withoutTimes = (text: string) => text.replaceAll(/\d+ ms/g, 'N ms')

/** Removes values that differ between calls. */
const stable = (text: string) =>
  text
    .replaceAll(/"(duration_ms|uptime_secs|memory_bytes|idle_secs)":\d+/g, '"$1":0')
    .replaceAll(/"(?:request_id|observation_id|last_used_at|expires_at|scrape_id|cached_at|created_at)":"[^"]*"/g, '""')
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')

describe.skipIf(noLauncher)(`a command in a warm process${noLauncher ? `: ${noLauncher}` : ''}`, () => {
  const lines: readonly (readonly string[])[] = [
    [],
    ['--help'],
    ['--version'],
    ['help', 'do'],
    ['do', '--help'],
    ['do', 'click', '--help'],
    ['session', '--help'],
    ['session', 'list'],
    ['session', 'list', '--json'],
    ['session', 'lst'],
    ['clik'],
    ['--nonsense'],
    ['do', 'get-title'],
    ['do', 'get-title', '--json'],
    ['do', 'get_text', 'h1', 'then', 'get-title', '--json'],
    ['do', 'click', '#missing', '--timeout-ms', '50'],
    ['do', 'evaluate', '"ü".repeat(300000)'],
    ['do', 'evaluate', '1', '-o', 'out/value.txt'],
    ['do', 'nonsense'],
    ['do', '-'],
    ['observe'],
    ['observe', '--json'],
    ['session', 'log', 'ses_missing'],
    ['profile', 'list'],
    ['relay', 'list', '--json'],
    ['relay', 'show', 'nothing'],
    ['shell', 'list'],
    ['shell', 'exec', 'true'],
    ['api', 'GET', '/sessions/none'],
    ['key', 'list'],
    ['engine', 'status', '--json', '--nonsense'],
    ['search', '--help'],
    ['scrape', 'http://127.0.0.1:1/'],
    ['scrape', 'nothing-here:'],
    ['completion', 'bash'],
    ['complete', 'bash', '--', 'bax', 'ses'],
  ]
  test.each(lines.map((line) => [line.join(' '), line] as const))(
    'has the output of a process: bax %s',
    async (_, line) => {
      const env = { BAX_SESSION: session }
      const stdin = line.at(-1) === '-' ? '[{"command":"get_title"},{"command":"get_title"}]' : ''
      const [node, launched] = [await inNode(line, { env, stdin }), await launch(line, { env, stdin })]
      expect([launched.code, stable(launched.stdout), stable(launched.stderr)]).toEqual([
        node.code,
        stable(node.stdout),
        stable(node.stderr),
      ])
    },
  )

  test('scrapes with the engine', async () => {
    const line = ['scrape', `${site.url}/article`, '--timeout', '30000']
    expect((await launch(line)).stdout).toBe((await inNode(line)).stdout)
  })

  test('has the environment, the working folder and the umask of its caller, and no other', async () => {
    const runs = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const cwd = await mkdtemp(join(folder, 'caller-'))
        await writeFile(join(cwd, 'number.js'), `${index}`)
        const env = { BAX_SESSION: index % 2 === 0 ? session : 'ses_missing' }
        const line = ['do', 'evaluate', `${index} * 1000`, '-o', 'value.txt']
        // More callers than warm processes may have to use Node.
        const { code } = await launch(line, { cwd, env: { ...env, PATH: process.env['PATH'] } })
        const value = code === 0 ? await readFile(join(cwd, 'value.txt'), 'utf8') : undefined
        return [index, code, value]
      }),
    )
    expect(runs).toEqual(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 === 0 ? [index, 0, `${index * 1000}\n`] : [index, expect.any(Number), undefined],
      ),
    )
    expect(runs.filter(([, code]) => code === 0)).toHaveLength(4)
  })

  test('reads 20 MB of standard input and writes 20 MB of output', async () => {
    const stdin = `${' '.repeat(20 * 1024 * 1024)}[{"command":"get_title"}]`
    expect(await launch(['do', '-', '-s', session], { stdin })).toMatchObject({ code: 0, stdout: 'How deltas grow\n' })
    const large = await launch(['do', 'evaluate', `"y".repeat(${20 * 1024 * 1024})`, '-s', session])
    expect(large.stdout.length).toBe(20 * 1024 * 1024 + 1)
  })

  test('knows the terminal of its caller', async () => {
    const inTerminal = async (program: string, argv: readonly string[], env: Record<string, string>) => {
      // The last output can be lost when a terminal closes, so that it stays open after the command.
      const script = '"$@"; printf "\\0"; read -r line'
      const options = { cols: 60, rows: 20, cwd: folder, env }
      const terminal = spawnTerminal('/bin/sh', ['-c', script, 'sh', program, ...argv], options)
      let text = ''
      await new Promise<void>((resolve) => {
        terminal.onData((chunk) => {
          text += chunk
          if (text.endsWith('\0')) resolve()
        })
      })
      terminal.kill()
      return text.slice(0, -1)
    }
    const line = ['do', 'click', '#missing', '--timeout-ms', '50', '-s', session]
    const env = { BAX_STATE_DIR: state, BAX_CONFIG: noConfig, HOME: process.env['HOME']! }
    const launched = await inTerminal(built.launcher, line, { ...env, PATH: '/nonexistent' })
    expect(launched).toContain('\u001B[31merror:')
    expect(withoutTimes(launched)).toBe(withoutTimes(await inTerminal(process.execPath, [built.program, ...line], env)))
    const table = ['session', 'list']
    expect(await inTerminal(built.launcher, table, { ...env, PATH: '/nonexistent' })).toBe(
      await inTerminal(process.execPath, [built.program, ...table], env),
    )
  })

  const places: [place: string, flags: readonly string[]][] = [
    ['the engine', []],
    ['a command worker', inWorker],
  ]
  test.each(places)('is interrupted by ^C with exit code 130 in %s', async (_, flags) => {
    const { child, ended } = await startWaiting(flags)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 130 })
    expect(await launch(['do', 'get-title', '-s', session])).toMatchObject({ code: 0 })
  })

  test.each(places)('is aborted in %s if its launcher is killed', async (_, flags) => {
    const { child, ended } = await startWaiting(flags)
    child.kill('SIGKILL')
    await ended
    // The session runs one batch at a time: this one would wait for the other.
    expect(await launch(['do', 'get-title', '-s', session])).toMatchObject({ code: 0 })
  })
})

describe.skipIf(noLauncher)('Node runs a command instead', () => {
  const usesNode = async (argv: readonly string[], options: CliOptions = {}) => {
    const without = await launch(argv, options)
    expect(without).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot start node') })
    return launch(argv, { ...options, env: { ...options.env, PATH: process.env['PATH'] } })
  }

  test('without an engine', async () => {
    const env = { BAX_STATE_DIR: join(folder, 'no-engine') }
    expect(await usesNode(['--version'], { env })).toMatchObject({ code: 0 })
  })

  test('from the package, if it contains a Node', async () => {
    const runtime = join(dirname(dirname(built.launcher)), 'runtime')
    onTestFinished(() => rm(runtime, { recursive: true }))
    await mkdir(runtime)
    await symlink(process.execPath, join(runtime, 'node'))
    const env = { BAX_STATE_DIR: join(folder, 'no-engine') }
    expect(await launch(['--version'], { env })).toMatchObject({ code: 0, stdout: `${version}\n` })
  })

  test('if another engine is named', async () => {
    expect(await usesNode(['session', 'list', '--server', 'http://127.0.0.1:1'])).toMatchObject({ code: 3 })
    expect(await usesNode(['session', 'list', '--state-dir', join(folder, 'other')])).toMatchObject({ code: 0 })
    const env = { BAX_SERVER: 'http://127.0.0.1:1' }
    expect(await usesNode(['session', 'list'], { env })).toMatchObject({ code: 3 })
  })

  test('if settings of Node differ', async () => {
    expect(await usesNode(['session', 'list'], { env: { NODE_OPTIONS: '--no-warnings' } })).toMatchObject({ code: 0 })
  })

  test('if it owns the terminal or ends the engine', async () => {
    expect(await usesNode(['engine', 'logs'])).toMatchObject({ code: 0 })
  })

  test('if an argument names a file of the calling process', async () => {
    expect(await usesNode(['do', 'evaluate', '1', '-s', session, '-o', '/dev/null'])).toMatchObject({ code: 0 })
    expect(await usesNode(['api', 'POST', '/commands', '--data=@/dev/null'])).toMatchObject({ code: 2 })
  })

  test('if the build was replaced', async () => {
    const id = join(dirname(built.program), 'build-id')
    const before = await readFile(id, 'utf8')
    try {
      await writeFile(id, 'another')
      expect(await usesNode(['session', 'list'])).toMatchObject({ code: 0 })
    } finally {
      await writeFile(id, before)
    }
  })

  test('if the engine does not accept it in time, which it cannot do later', async () => {
    const count = (expression: string) => ['do', 'evaluate', expression, '-s', session]
    expect(await launch(count('globalThis.calls = 0'))).toMatchObject({ code: 0 })
    const { pid } = await engineState()
    process.kill(pid, 'SIGSTOP')
    const ended = launch(count('calls++')).finally(() => process.kill(pid, 'SIGCONT'))
    // There is no Node.
    expect(await ended).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot start node') })
    expect(await launch(count('calls'))).toMatchObject({ code: 0, stdout: '0\n' })
  })

  test.skipIf(process.getuid?.() !== 0)('if the socket belongs to another user', async () => {
    const foreign = await mkdtemp(join(tmpdir(), 'bax-test-foreign-'))
    await chmod(foreign, 0o777)
    const program = `require('net').createServer((s) => s.on('error', () => {}).end('A')).listen('${foreign}/cli.sock', () => console.log('up'))`
    const other = spawn(process.execPath, ['-e', program], { uid: 65_534, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(other.stdout, 'data')
      await usesNode(['--version'], { env: { BAX_STATE_DIR: foreign } })
    } finally {
      other.kill()
      await rm(foreign, { recursive: true, force: true })
    }
  })

  test('if its working folder was deleted', async () => {
    const gone = join(folder, 'gone')
    await mkdir(gone)
    const script = `cd ${gone} && rmdir ${gone} && exec ${built.launcher} --version`
    const env = { BAX_STATE_DIR: state, PATH: process.env['PATH'] }
    const { status, stderr } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env })
    expect([status, stderr.split('\n')[0]]).toEqual([2, 'error: the working folder no longer exists'])
  })
})

const childrenOf = async (pid: number) =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)

/** Returns the PIDs of the command workers. */
async function commandWorkers(): Promise<number[]> {
  const children = await childrenOf((await engineState()).pid)
  const lines = await Promise.all(
    // Another child may end meanwhile.
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  )
  return children.filter((_, at) => lines[at]!.includes('command-worker'))
}

describe.skipIf(noLauncher)('a short command', () => {
  const usesWorker = async (argv: readonly string[], options: CliOptions = {}) => {
    await untilWarm()
    await Promise.all(
      (await commandWorkers()).map(async (worker) => {
        process.kill(worker, 'SIGKILL')
        await waitUntil(() => !isRunning(worker))
      }),
    )
    const { code } = await launch(argv, { ...options, env: { BAX_SESSION: session, ...options.env } })
    return [code, (await commandWorkers()).length > 0]
  }

  test.each([
    'get-title',
    'session list',
    'click h1',
    'fill #none x --timeout-ms 50',
    'observe --json',
    'step hover h1',
    'open /article --json',
    'session log ses_missing',
  ])('runs inside the engine, without another process: %s', async (line) => {
    expect((await usesWorker(line.replace('/article', `${site.url}/article`).split(' ')))[1]).toBe(false)
  })

  test.each([
    'screenshot -o page.png',
    'get-title -o title.txt',
    'get-title --output=title.txt',
    'pdf',
    'do -',
    'api POST /commands --data=@body.json',
    'upload h1 title.txt',
    'step screenshot -o page.png',
    'step hover h1 --include=snapshot,screenshot',
    'observe --include snapshot,screenshot',
    'har stop',
    'run missing.yaml',
  ])('with a file of its caller does not: %s', async (line) => {
    const [, isWorker] = await usesWorker(line.split(' '), { stdin: '[]' })
    expect(isWorker || line.startsWith('run')).toBe(true)
  })

  test('in the folder of a settings file, or with settings of its own, does not', async () => {
    const project = await mkdtemp(join(folder, 'project-'))
    await writeFile(join(project, '.bax.json'), '{"json": true}')
    const below = join(project, 'deep', 'er')
    await mkdir(below, { recursive: true })
    // On a busy machine, a worker that starts too slowly leaves the command to Node, of which there is none.
    const runs = (options: CliOptions) => expect.poll(() => usesWorker(['get-title'], options)).toEqual([0, true])
    for (const cwd of [project, below]) await runs({ cwd })
    expect(JSON.parse((await launch(['get-title', '-s', session], { cwd: below })).stdout)).toHaveProperty(
      'success',
      true,
    )
    const config = join(project, 'own.json')
    await writeFile(config, '{"content_boundaries": true}')
    for (const env of [{ BAX_CONFIG: config }, { TZ: 'Asia/Tokyo' }]) await runs({ env })
  })

  test('that cannot write its output fails in the engine as elsewhere', async () => {
    const results = ['get-title', 'get-title -o out.txt then get-title'].map((line) =>
      spawnSync('/bin/sh', ['-c', `exec "$0" "$@" >/dev/full`, built.launcher, ...line.split(' '), '-s', session], {
        encoding: 'utf8',
        cwd: folder,
        env: { HOME: process.env['HOME'], BAX_CONFIG: noConfig, ...warm() },
      }),
    )
    for (const { status, stderr } of results)
      expect([status, stderr]).toEqual([7, expect.stringContaining('no space left on the device')])
  })
})

describe.skipIf(noLauncher)('a warm process that is killed', () => {
  test('is reported as such', async () => {
    const { ended } = await startWaiting(inWorker)
    for (const worker of await commandWorkers()) process.kill(worker, 'SIGKILL')
    expect(await ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        'the process of the local engine that ran the command ended before the command was done',
      ),
    })
    await untilWarm()
  })
})

describe.skipIf(noLauncher)('an engine that is killed', () => {
  test('ends its commands with a message, and leaves no process behind', async () => {
    const { pid } = await engineState()
    const { ended } = await startWaiting()
    const workers = await childrenOf(pid)
    process.kill(pid, 'SIGKILL')
    expect(await ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the local engine ended before the command was done'),
    })
    await waitUntil(() => workers.every((worker) => !isRunning(worker)))
    await startEngine()
  })
})
