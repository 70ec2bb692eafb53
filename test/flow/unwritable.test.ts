/** Write errors in the CLI: they name the file and the cause, set the exit code, and never show a stack. */
import { spawn } from 'node:child_process'
import { execFile } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { serveSite, type Site } from '../support/site.ts'
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.ts'

const noFull = existsSync('/dev/full') ? null : 'there is no /dev/full'
const noDisk = await noSmallDisk()

let built: BuiltBax
let site: Site
let stateDir: string

beforeAll(async () => {
  built = await buildBax()
  stateDir = await built.stateDir()
  site = await serveSite({ '/': '<!doctype html><title>Page</title><main><h1>Page</h1><p>Some words.</p></main>' })
}, 120_000)
afterAll(async () => {
  await site?.close()
  await built?.close()
})

/** Runs the program with one of its outputs going to a full device. */
function full(argv: readonly string[], output: 1 | 2): Promise<{ code: number | null; rest: string }> {
  const device = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [built.program, ...argv], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      BAX_CONFIG: noConfig,
      BAX_STATE_DIR: stateDir,
    },
    stdio: ['ignore', output === 1 ? device : 'pipe', output === 2 ? device : 'pipe'],
  })
  let rest = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (rest += String(chunk)))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      closeSync(device)
      resolve({ code, rest })
    }),
  )
}

describe.skipIf(noFull !== null)(`a full output${noFull ? `: skipped, ${noFull}` : ''}`, () => {
  test('fails the command with one sentence and exit code 7', async () => {
    for (const argv of [
      ['--help'],
      ['scrape', site.url],
      ['scrape', site.url, '--json', '--render', 'http'],
      ['key', 'list', '--json', '--embedded'],
    ])
      expect(await full(argv, 1), argv.join(' ')).toEqual({
        code: 7,
        rest: 'error: cannot write to standard output: no space left on the device\n',
      })
  }, 60_000)

  test('on standard error does not change the exit code', async () => {
    expect(await full(['scrap'], 2)).toEqual({ code: 2, rest: '' })
  })
})

describe.skipIf(noDisk !== null)(`a disk${noDisk ? `: skipped, ${noDisk}` : ''}`, () => {
  let disk: SmallDisk
  beforeEach(async () => void (disk = await mountSmallDisk(1)))
  afterEach(() => disk?.close())

  const bax = (argv: readonly string[], env: Record<string, string> = {}) =>
    built.run(argv, { env: { BAX_STATE_DIR: join(disk.path, 'state'), ...env } })

  test('that is full is reported with the file, like a missing temporary folder', async () => {
    await bax(['key', 'create', 'first', '--embedded'])
    await disk.fill()
    const key = await bax(['key', 'create', 'x', '--embedded'])
    expect(key.code).toBe(7)
    expect(key.stderr).toMatch(
      /^error: cannot write \/\S+\/state\/\S+: no space left on the device\nhint: free some space/,
    )
    const missing = join(disk.path, 'none')
    const scrape = await built.run(['scrape', site.url, '--render', 'browser', '--embedded'], { env: { BAX_STATE_DIR: stateDir, TMPDIR: missing } }) // prettier-ignore
    expect(scrape).toMatchObject({ code: 7, stdout: '' })
    expect(scrape.stderr).toMatch(new RegExp(`^error: cannot write ${missing}/\\S+: no such file or folder\\n`))
  }, 60_000)

  test('that is read-only is reported with the file', async () => {
    await bax(['key', 'create', 'first', '--embedded'])
    await promisify(execFile)('mount', ['-o', 'remount,ro', disk.path])
    const { code, stderr } = await bax(['key', 'create', 'x', '--embedded'])
    expect(code).toBe(7)
    expect(stderr).toMatch(/^error: cannot write \/\S+\/state\/\S+: the file system is read-only\n$/)
    const json = await bax(['profile', 'save', 'x', '--embedded', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ success: false, code: 'internal_error', error: expect.stringContaining('read-only') }) // prettier-ignore
    expect(json.code).toBe(7)
  })
})
