/** Write errors in the CLI: they name the file and the cause, set the exit code, and never show a stack. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { launcher as native } from '../../scripts/native.js'
import { type BuiltBax, buildBax, processEnv } from '../support/cli.ts'
import { serveSite, type Site } from '../support/site.ts'
import { servedWithinMs } from '../support/served.ts'
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { waitUntil } from '../support/wait.ts'

const noFull = existsSync('/dev/full') ? null : 'there is no /dev/full'
const noDisk = await noSmallDisk()
const noLauncher =
  process.platform === 'linux' && (await native.compile([process.arch])).length === 0
    ? null
    : 'there is no C compiler for the launcher'

let built: BuiltBax
let site: Site
let stateDir: string
/** `bin/bax.js` beside a build without a launcher. */
let script: string

/** More than fits on the small disk. */
const large = `<!doctype html><title>Large</title><pre>${'x'.repeat(2 * 1024 * 1024)}</pre>`
const page = () => ['scrape', `${site.url}/large`, '--render', 'http', '--formats', 'rawHtml']

beforeAll(async () => {
  built = await buildBax()
  stateDir = await built.stateDir()
  const plain = join(dirname(built.program), 'plain')
  await cp(join(dirname(built.program), '../bin'), join(plain, 'bin'), { recursive: true })
  await mkdir(join(plain, 'dist'))
  await writeFile(join(plain, 'dist/main.js'), `require(${JSON.stringify(built.program)})`)
  await writeFile(join(plain, 'dist/package.json'), '{"type":"commonjs"}')
  script = join(plain, 'bin/bax.js')
  site = await serveSite({
    '/': '<!doctype html><title>Page</title><main><h1>Page</h1><p>Some words.</p></main>',
    '/large': large,
  })
  const file = join(dirname(script), 'large')
  await writeFile(file, large)
  const env = { BAX_STATE_DIR: stateDir }
  expect(await built.run(['session', 'create', '--name', 'default'], { env })).toMatchObject({ code: 0 })
  expect(await built.run(['session', 'upload', file], { env })).toMatchObject({ code: 0 })
}, servedWithinMs)
afterAll(async () => {
  await site?.close()
  await built?.close()
})

/** Runs a command with redirections of the shell, such as `>&-`; resolves with its exit code and what is still read. */
async function redirected(program: readonly string[], argv: readonly string[], redirections: string, env = {}) {
  const child = spawn('/bin/sh', ['-c', `exec "$@" ${redirections}`, 'sh', ...program, ...argv], {
    env: { ...processEnv, BAX_STATE_DIR: stateDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let rest = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (rest += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, rest }
}

const unwritten = (reason: string) => ({ code: 7, rest: `error: cannot write to standard output: ${reason}\n` })

describe.each([
  ['a process of Node', noFull, () => [process.execPath, built.program], {}],
  // There is no Node to fall back to.
  ['a warm process', noFull ?? noLauncher, () => [built.launcher], { PATH: '/nonexistent' }],
] as const)('an output of %s', (_, missing, programOf, env) => {
  const bax = (argv: readonly string[], redirections: string) => redirected(programOf(), argv, redirections, env)

  beforeAll(async () => {
    if (!missing && 'PATH' in env) await waitUntil(async () => (await bax(['--version'], '')).code === 0)
  })

  test.skipIf(missing)(
    'that is full fails the command with one sentence and exit code 7',
    async () => {
      for (const argv of [
        ['--help'],
        ['help', 'errors'],
        ['scrape', site.url],
        ['scrape', site.url, '--json', '--render', 'http'],
        ['key', 'list', '--json'],
        ['api', 'GET', '/sessions'],
      ])
        expect(await bax(argv, '> /dev/full'), argv.join(' ')).toEqual(unwritten('no space left on the device'))
      // It runs in a process of Node in any case, and may be interrupted before it ends.
      if (!('PATH' in env)) {
        const { code, rest } = await bax(['crawl', site.url, '--render', 'http', '--ndjson'], '> /dev/full')
        expect(code).toBe(7)
        expect(rest).toContain(unwritten('no space left on the device').rest)
      }
      expect(await bax(['scrap', '--json'], '> /dev/full')).toMatchObject({ code: 7 })
    },
    servedWithinMs,
  )

  test.skipIf(missing)('that is full and receives messages only changes the exit code of success', async () => {
    expect(await bax(['scrap'], '2> /dev/full')).toEqual({ code: 2, rest: '' })
    expect(await bax(['key', 'list'], '2> /dev/full')).toEqual({ code: 7, rest: '' })
    expect(await bax(['--version'], '2> /dev/full')).toMatchObject({ code: 0 })
  })

  test.skipIf(missing)('that nobody reads does not', async () => {
    const unread = ['/bin/sh', '-c', '{ "$@"; echo $? >&2; } | true', 'sh', ...programOf()]
    for (const argv of [page(), ['session', 'download', 'large', '-o', '-']])
      expect((await redirected(unread, argv, '', env)).rest, argv.join(' ')).toBe('0\n')
  })

  test.skipIf(missing ?? noDisk)('on a disk that takes a part of the result', async () => {
    const disk = await mountSmallDisk(1)
    try {
      expect(await bax(page(), `> ${disk.path}/page`)).toEqual(unwritten('no space left on the device'))
      const saved = [...page(), '-o', `${disk.path}/saved`]
      const failure = {
        code: 7,
        rest: `error: cannot write ${disk.path}/saved: no space left on the device\nhint: free some space and repeat the command\n`,
      }
      await rm(`${disk.path}/page`)
      expect(await bax(saved, '')).toEqual(failure)
      expect(await readdir(disk.path)).toEqual([])
      await writeFile(`${disk.path}/saved`, 'earlier')
      expect(await bax(saved, '')).toEqual(failure)
      expect(await readdir(disk.path)).toEqual(['saved'])
      expect(await readFile(`${disk.path}/saved`, 'utf8')).toBe('earlier')
    } finally {
      await disk.close()
    }
  })
})

describe.each([
  ['the launcher', noLauncher, () => [built.launcher], { PATH: '/nonexistent' }],
  ['the launcher without an engine', noLauncher, () => [built.launcher], { BAX_STATE_DIR: '/nonexistent' }],
  ['the script without a launcher', process.platform === 'win32' ? 'there is no sh' : null, () => [script], {}],
] as const)('streams that are closed before the start of %s', (_, missing, programOf, env) => {
  const bax = (argv: readonly string[], redirections: string) => redirected(programOf(), argv, redirections, env)

  beforeAll(async () => {
    if (!missing && 'PATH' in env) await waitUntil(async () => (await bax(['--version'], '')).code === 0)
  })

  test.skipIf(missing)('are empty, and fail the command when something is written to them', async () => {
    expect(await bax(['do', '-'], '<&-')).toMatchObject({
      code: 2,
      rest: expect.stringContaining('standard input is not JSON'),
    })
    expect(await bax(['--version'], '>&-')).toEqual(unwritten('it is closed'))
    expect(await bax(['--version'], '<&- >&-')).toEqual(unwritten('it is closed'))
    expect(await bax(['--version'], '>&- 2>&-')).toEqual({ code: 7, rest: '' })
    expect(await bax(['--version'], '2>&-')).toMatchObject({ code: 0, rest: expect.stringContaining('.') })
    expect(await bax(['scrap'], '2>&-')).toEqual({ code: 2, rest: '' })
  })
})

describe.skipIf(noDisk !== null)(`a disk${noDisk ? `: skipped, ${noDisk}` : ''}`, () => {
  let disk: SmallDisk
  beforeEach(async () => void (disk = await mountSmallDisk(1)))
  afterEach(() => disk?.close())

  const bax = (argv: readonly string[], env: Record<string, string> = {}) =>
    built.run(argv, { env: { BAX_STATE_DIR: join(disk.path, 'state'), ...env } })

  test(
    'that is full is reported with the file, like a missing temporary folder',
    async () => {
      await bax(['key', 'create', 'first', '--embedded'])
      await disk.fill()
      const key = await bax(['key', 'create', 'x', '--embedded'])
      expect(key.code).toBe(7)
      expect(key.stderr).toMatch(
        /^error: cannot write \/\S+\/state\/\S+: no space left on the device\nhint: free some space/,
      )
      const missing = join(disk.path, 'none')
      const scrape = await built.run(['scrape', site.url, '--render', 'browser', '--embedded'], {
        env: { BAX_STATE_DIR: stateDir, TMPDIR: missing },
      })
      expect(scrape).toMatchObject({ code: 7, stdout: '' })
      expect(scrape.stderr).toMatch(new RegExp(`^error: cannot write ${missing}/\\S+: no such file or folder\\n`))
    },
    servedWithinMs,
  )

  test('that is read-only is reported with the file', async () => {
    await bax(['key', 'create', 'first', '--embedded'])
    await promisify(execFile)('mount', ['-o', 'remount,ro', disk.path])
    const { code, stderr } = await bax(['key', 'create', 'x', '--embedded'])
    expect(code).toBe(7)
    expect(stderr).toMatch(/^error: cannot write \/\S+\/state\/\S+: the file system is read-only\n$/)
    const json = await bax(['profile', 'save', 'x', '--embedded', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      success: false,
      code: 'internal_error',
      error: expect.stringContaining('read-only'),
    })
    expect(json.code).toBe(7)
  })
})
