/** A source checkout that prepares itself: one set-up at a time, and builds that running engines keep. */
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { place } from '../../scripts/checkout-build.js'
import { copyCheckout } from '../../scripts/mutate/copy.js'
import { processEnv } from '../support/cli.ts'
import { tied } from '../support/tied.ts'
import { waitUntil } from '../support/wait.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

let folder: string
let checkout: string
let env: Record<string, string>

/** Installs the packages of this checkout as npm does: it removes all of them first. */
const npm = (place: string) => `#!/bin/sh
mkdir ${place}/running || echo overlap >> ${place}/log
echo "$1" >> ${place}/log
rm -rf node_modules
if [ -e ${place}/gate ]; then read -r line < ${place}/gate; fi
cp -al ${place}/packages node_modules
rmdir ${place}/running
`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-checkout-'))
  checkout = join(folder, 'checkout')
  await copyCheckout(root, checkout)
  await rm(join(checkout, 'node_modules/.bax-stamp'), { force: true })
  await rename(join(checkout, 'node_modules'), join(folder, 'packages'))
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/npm'), npm(folder))
  await chmod(join(folder, 'bin/npm'), 0o755)
  env = {
    ...processEnv,
    PATH: `${join(folder, 'bin')}:${processEnv.PATH}`,
    BAX_STATE_DIR: join(folder, 'state'),
    DOCKER_HOST: 'unix:///nonexistent',
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function start(argv: readonly string[], program = join(checkout, 'bin/bax.js'), leading: readonly string[] = []) {
  const child = spawn(...tied(process.execPath, [...leading, program, ...argv]), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  child.stdout!.on('data', (chunk) => (text.stdout += String(chunk)))
  child.stderr!.on('data', (chunk) => (text.stderr += String(chunk)))
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...text })),
  )
  return { child, text, ended }
}

const installs = async () => (await readFile(join(folder, 'log'), 'utf8').catch(() => '')).split('\n').filter(Boolean)

const needsLinux = process.platform === 'linux' ? null : 'the lock of other systems cannot be inherited'

// Each test continues with the checkout of the one before.
describe.skipIf(needsLinux !== null)('a checkout', { shuffle: false }, () => {
  test('is set up once by commands that start together, also after an installation was killed', async () => {
    await run('mkfifo', [join(folder, 'gate')])
    const killed = start(['--version'])
    await waitUntil(async () => (await installs()).length === 1)
    killed.child.kill('SIGKILL')
    // The output of npm stays open, so that the end of its parent must be observed by other means.
    await waitUntil(() => killed.child.signalCode === 'SIGKILL')
    const both = [start(['--version']), start(['--version'])]
    const isWaiting = ({ text }: (typeof both)[number]) => text.stderr.includes('waiting for another set-up')
    await waitUntil(() => both.every(isWaiting))
    expect(await installs()).toEqual(['ci'])
    const gate = await open(join(folder, 'gate'), 'w')
    await rm(join(folder, 'gate'))
    await gate.close()
    const ended = await Promise.all(both.map((one) => one.ended))
    for (const one of ended) expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    expect(await installs()).toEqual(['ci', 'ci'])
    expect(
      ended
        .map(({ stderr }) => stderr)
        .join('')
        .match(/bax setup: building/g),
    ).toHaveLength(1)
  })

  test('needs no set-up when only the time of its lock file or the version of Node changes', async () => {
    const now = new Date()
    await utimes(join(checkout, 'package-lock.json'), now, now)
    const other = join(folder, 'other.cjs')
    await writeFile(
      other,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, modules: '999' } })",
    )
    expect(await start(['--version'], undefined, ['--require', other]).ended).toMatchObject({ code: 0, stderr: '' })
    expect(await installs()).toHaveLength(2)
  })

  test('keeps the build and the packages of a running engine', async () => {
    expect(await start(['session', 'create']).ended).toMatchObject({ code: 0 })
    const before = join(checkout, await readlink(join(checkout, 'dist')), 'main.js')
    try {
      await appendFile(join(checkout, 'package-lock.json'), '\n')
      await appendFile(join(checkout, 'src/guide/tabs.md'), '\nOne more line.\n')
      expect(await start(['--version']).ended).toMatchObject({ code: 0 })
      expect(await installs()).toHaveLength(3)
      expect(join(checkout, await readlink(join(checkout, 'dist')), 'main.js')).not.toBe(before)
      await rm(join(checkout, 'node_modules'), { recursive: true })
      // These use packages and files that the engine has not loaded before.
      expect(await start(['shell', 'create'], before).ended).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('Docker'),
      })
      const page = 'data:text/html,<h1>Title</h1>'
      expect(await start(['do', 'navigate-to', page, 'then', 'get-content'], before).ended).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Title'),
      })
    } finally {
      await start(['engine', 'stop'], before).ended
    }
  })

  test('installs packages once when builds fail, and builds with them afterwards', async () => {
    const before = (await installs()).length
    const main = join(checkout, 'src/main.ts')
    const source = await readFile(main)
    const longAgo = new Date(0)
    await appendFile(join(checkout, 'package-lock.json'), '\n')
    await appendFile(main, '\n}\n')
    for (let attempt = 0; attempt < 2; attempt++) {
      const failed = { code: 3, stdout: '', stderr: expect.stringContaining('the build failed') }
      expect(await start(['--version']).ended).toMatchObject(failed)
    }
    expect(await installs()).toHaveLength(before + 1)
    // The last build is newer than this source, but has the packages of before.
    await writeFile(main, source)
    await utimes(main, longAgo, longAgo)
    const built = { code: 0, stderr: expect.stringContaining('building') }
    expect(await start(['--version']).ended).toMatchObject(built)
    expect(await start(['--version']).ended).toMatchObject({ code: 0, stderr: '' })
    expect(await installs()).toHaveLength(before + 1)
  })
})

describe.skipIf(needsLinux !== null)('the folder of a build', () => {
  let checkout: string
  beforeAll(async () => {
    checkout = join(folder, 'small')
    await mkdir(join(checkout, 'node_modules/used'), { recursive: true })
    await writeFile(join(checkout, 'node_modules/used/index.js'), 'used')
    const packages = { '': {}, 'node_modules/used': { version: '1.0.0' }, 'node_modules/tool': { dev: true } }
    await writeFile(join(checkout, 'package-lock.json'), JSON.stringify({ packages }))
  })

  /** Builds, and returns the name of the folder. */
  async function build(content: string): Promise<string> {
    const fresh = join(checkout, '.dist.new')
    await mkdir(fresh)
    await writeFile(join(fresh, 'manifest.json'), content)
    await place(checkout, fresh)
    await rm(fresh, { recursive: true, force: true })
    expect(await readFile(join(checkout, 'dist/manifest.json'), 'utf8')).toBe(content)
    return readlink(join(checkout, 'dist'))
  }
  const folders = async () => (await readdir(checkout)).filter((name) => name.startsWith('.dist-'))

  test('has its packages, replaces a folder, and is kept while it is used', async () => {
    await mkdir(join(checkout, 'dist'))
    const first = await build('1')
    expect(await build('1')).toBe(first)
    expect(await readFile(join(checkout, first, 'node_modules/used/index.js'), 'utf8')).toBe('used')
    const used = await open(join(checkout, first))
    const [second, third] = [await build('2'), await build('3')]
    expect((await folders()).toSorted()).toEqual([first, second, third].toSorted())
    await used.close()
    const fourth = await build('4')
    expect((await folders()).toSorted()).toEqual([third, fourth].toSorted())
    expect(existsSync(join(checkout, second))).toBe(false)
  })

  test('is complete after builds that run at the same time', async () => {
    const script = `
      import { mkdir, writeFile } from 'node:fs/promises'
      import { place } from ${JSON.stringify(new URL('../../scripts/checkout-build.js', import.meta.url).href)}
      const fresh = process.argv[1] + '/.fresh-' + process.pid
      await mkdir(fresh)
      await writeFile(fresh + '/manifest.json', process.argv[2])
      await place(process.argv[1], fresh)`
    const contents = ['equal', 'equal', 'other', 'equal', 'other']
    const run = (content: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, checkout, content])
    await Promise.all(contents.map(run))
    expect(contents).toContain(await readFile(join(checkout, 'dist/manifest.json'), 'utf8'))
    expect(await readFile(join(checkout, 'dist/node_modules/used/index.js'), 'utf8')).toBe('used')
  })
})
