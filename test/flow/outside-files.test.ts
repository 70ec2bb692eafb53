/** Files in a checkout of others: links to devices and pipes neither block commands nor fill the memory. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { launcher as native } from '../../scripts/native.js'
import { type BuiltBax, buildBax, processEnv } from '../support/cli.ts'
import { titled } from '../support/needs.ts'
import { waitUntil } from '../support/wait.ts'

const run = promisify(execFile)

let built: BuiltBax
let state: string
let folder: string

beforeAll(async () => {
  built = await buildBax()
  state = await built.stateDir()
})
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'bax-outside-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))
afterAll(() => built?.close())

const bax = (...argv: string[]) => built.run(argv, { cwd: folder, env: { BAX_STATE_DIR: state } })

describe.skipIf(process.platform === 'win32')('instead of a file', () => {
  /** Puts something at a path that is no file. */
  const instead = [
    ['an endless device', (path: string) => symlink('/dev/zero', path)],
    ['a pipe', (path: string) => run('mkfifo', [path])],
    ['a file of the kernel', (path: string) => symlink('/proc/kmsg', path)],
  ] as const

  test.each(instead)('%s is refused as project file', async (kind, put) => {
    await put(join(folder, '.bax.json'))
    const { code, stderr } = await bax('session', 'list')
    const why = kind === 'a file of the kernel' ? 'is not JSON' : 'it is not a regular file'
    expect([code, stderr]).toEqual([2, expect.stringMatching(new RegExp(`\\.bax\\.json.*${why}`))])
  })

  test.each(instead.slice(0, 2))('%s is refused as script and as stored page', async (_, put) => {
    await put(join(folder, 'other.yaml'))
    await put(join(folder, 'page.html'))
    await writeFile(join(folder, 'main.yaml'), 'steps:\n  - include: other.yaml\n')
    const included = await bax('run', 'main.yaml', '--check')
    expect(included).toMatchObject({ code: 2 })
    expect(included.stderr).toContain('cannot read other.yaml: it is not a regular file')
    expect(await bax('run', '.', '--check')).toMatchObject({ code: 2 })
    const extracted = await bax('extract', '.')
    expect(extracted).toMatchObject({ code: 2, stderr: expect.stringContaining('has no HTML files') })
  })

  test('a large project file is refused', async () => {
    await writeFile(join(folder, '.bax.json'), `{"json": true${' '.repeat(2 * 1024 * 1024)}}`)
    const { code, stderr } = await bax('session', 'list')
    expect([code, stderr]).toEqual([2, expect.stringContaining('it is larger than 1 MiB')])
  })
})

test.skipIf(process.platform === 'win32')('scripts that include each other through links are circular', async () => {
  await symlink('.', join(folder, 'here'))
  await writeFile(join(folder, 'main.yaml'), 'steps:\n  - include: here/main.yaml\n  - include: here/main.yaml\n')
  const { code, stderr } = await bax('run', 'main.yaml', '--check')
  expect([code, stderr]).toEqual([2, expect.stringContaining('circular include: main.yaml -> here/main.yaml')])
})

const noNamespace = await run('unshare', ['--mount', 'true']).then(
  () => null,
  (error: Error) => `no mount namespace can be created here: ${error.message.split('\n')[0]}`,
)
const noLauncher =
  process.platform === 'linux' && (await native.compile([process.arch])).length === 0
    ? null
    : 'there is no C compiler for the launcher'

describe.skipIf(noNamespace ?? noLauncher)(titled('paths of the caller', noNamespace ?? noLauncher), () => {
  beforeAll(async () => {
    expect(await built.run(['session', 'create'], { env: { BAX_STATE_DIR: state } })).toMatchObject({ code: 0 })
  })

  /** Runs a command through the launcher with no Node to fall back to; resolves with its exit code. */
  async function launched(argv: readonly string[], wrapper: readonly string[] = []): Promise<number> {
    const [program, ...args] = [...wrapper, built.launcher, ...argv]
    const env = { ...processEnv, PATH: '/nonexistent', BAX_STATE_DIR: state }
    const [code] = await once(spawn(program!, args, { cwd: folder, env, stdio: 'ignore' }), 'close')
    return code
  }
  const line = ['do', 'evaluate', '1', '-o']

  test('are not used by an engine that sees other mounts', async () => {
    await waitUntil(async () => (await launched(['--version'])) === 0)
    await mkdir(join(folder, 'out'))
    expect(await launched([...line, 'out/value'])).toBe(0)
    expect(await launched([...line, 'out/value'], ['/usr/bin/unshare', '--mount'])).toBe(3)
  })

  test('are not used by an engine when they lead to files of the calling process', async () => {
    await symlink('/dev', join(folder, 'devices'))
    await symlink('devices/stdout', join(folder, 'output'))
    await waitUntil(async () => (await launched(['--version'])) === 0)
    for (const path of ['output', 'devices/stdout', join(folder, 'output')])
      expect(await launched([...line, path]), path).toBe(3)
  })
})
