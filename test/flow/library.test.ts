/** The library, as the package has it: the examples of the guide, compiled and run in a project that has installed it. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { titled } from '../support/needs.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { type Example, readExamples } from '../support/readme.ts'
import { exampleSite } from '../support/readme-site.ts'
import { type ConnectedBrowser, connectBrowser } from '../support/relay.ts'
import { serveBax, type Served, servedWithinMs } from '../support/served.ts'
import { debian } from '../support/shell.ts'
import type { Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const tsc = join(root, 'node_modules/typescript/bin/tsc')

const examples = (await readExamples()).filter(({ section, language }) => section === 'library' && language === 'ts')

/** Expected output of an example, by a part of its text. */
const expected: Record<string, RegExp> = {
  'bax.crawl(': /\/ \d+\n.*\/docs\/ \d+\n.*\/docs\/guide\/ \d+\n$/,
  'bax.map(': /^Example Domain 1\n\[\s+'.*\/docs\/',\s+'.*\/docs\/guide\/'\s+\]\n$/,
  "'red shoes'": /^red shoes http:.*q=red\+shoes\n$/,
  'runCommands(': /link "Toaster"[^]*\[ 'click true', 'get_title true' \]\nToaster\n$/,
  'getByRole(': /^Docs http:.*\/docs\/\n$/,
  'session.events(': /^\d+ page\.loaded\n$/,
  'uploadFile(': /^1 some notes\n$/,
  'instanceof BaxError': /^element_not_found no element matches "?#missing"?.* false\nTimeoutError\n$/,
  'shells.create(': /^NAME,CENTS\nTOTAL,12\n\n\n[123\n]+$/,
  'sessions.list(': /^\d+ Example Domain\n$/,
  'embedded: true': /^Example Domain Example Domain\n$/,
  'relays.get(': /^Example Domain Example Domain\n$/,
}

const nameOf = ({ text }: Example): string => Object.keys(expected).find((part) => text.includes(part)) ?? 'unknown'

let site: Site
let served: Served
let foreign: ForeignBrowser
let laptop: ConnectedBrowser
/** Folder of the project. */
let project: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  const located = locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  const [{ path: BAX_BROWSER }] = [
    await located,
    ([site, served, foreign] = await Promise.all([exampleSite(), serveBax(), startForeignBrowser()])),
  ]
  const { token } = await served.request('POST', '/relay/tokens', {})
  laptop = await connectBrowser({ browser: foreign.url, engine: served.url, token: String(token), name: 'laptop' })
  const { PATH, HOME, DOCKER_HOST } = process.env
  env = {
    PATH,
    HOME,
    ...(DOCKER_HOST && { DOCKER_HOST }),
    BAX_BROWSER,
    BAX_API_KEY: served.key,
    BAX_STATE_DIR: await served.built.stateDir(),
  }
  project = await createProject(dirname(dirname(served.built.program)))
}, servedWithinMs)
afterAll(async () => {
  await laptop.stop()
  await Promise.all([foreign.close(), served.close(), site.close()])
  await rm(project, { recursive: true })
}, servedWithinMs)

/** Creates a project with the examples, and the files of the package `built` that npm would install. */
async function createProject(built: string): Promise<string> {
  const cache = join(root, 'node_modules/.cache')
  // Inside the checkout, so that the packages that the library needs are found.
  const folder = await mkdtemp(join(cache, 'bax-library-'))
  const installed = join(folder, 'node_modules/bax')
  await mkdir(installed, { recursive: true })
  for (const name of ['package.json', 'README.md', 'LICENSE']) await cp(join(root, name), join(built, name))
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: built,
  })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  await run('tar', ['xzf', join(folder, filename), '-C', installed, '--strip-components', '1'])
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const local = (text: string) =>
    text.replaceAll('https://bax.example.com', served.url).replaceAll('https://example.com', site.url)
  for (const [at, { text }] of examples.entries()) await writeFile(join(folder, `example${at}.ts`), local(text))
  return folder
}

test('every example of the guide has an expected output', () => {
  expect(examples.map(nameOf).toSorted()).toEqual(Object.keys(expected).toSorted())
})

describe.each([
  ['nodenext', 'nodenext'],
  ['bundler', 'esnext'],
])('with moduleResolution %s', (moduleResolution, module) => {
  test(
    'the examples compile',
    async () => {
      const compilerOptions = {
        target: 'es2022',
        module,
        moduleResolution,
        strict: true,
        skipLibCheck: false,
        types: ['node'],
        outDir: moduleResolution,
      }
      await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      const compiled = run(process.execPath, [tsc], { cwd: project })
      // Errors of the compiler are on standard output.
      const { stdout } = await compiled.catch((error: { stdout: string }) => error)
      expect(stdout).toBe('')
    },
    servedWithinMs,
  )
})

describe('the examples run as the guide says', () => {
  const needs = (part: string) => (part === 'shells.create(' ? debian.absent : null)

  for (const [at, example] of examples.entries()) {
    const part = nameOf(example)
    test.skipIf(needs(part) !== null)(titled(part, needs(part)), async () => {
      const file = join('nodenext', `example${at}.js`)
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: project, env })
      expect(stdout).toMatch(expected[part]!)
      expect(stderr).toBe('')
    })
  }
})

test('a session ends with a process that is killed', async () => {
  const program = `
    import { connect } from 'bax'
    const bax = await connect()
    console.log((await bax.sessions.create()).id)`
  await writeFile(join(project, 'killed.js'), program)
  const child = spawn(process.execPath, ['killed.js'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [id] = (await once(child.stdout, 'data')) as [Buffer]
  child.kill('SIGKILL')
  const listed = async () => (await served.built.run(['session', 'list', '--json'], { env })).stdout
  expect(await listed()).toContain(id.toString().trim())
  await waitUntil(async () => !(await listed()).includes(id.toString().trim()))
})

test('what a connection created ends with it, and what it found stays', async () => {
  const program = `
    import { connect } from 'bax'
    const [one, two] = [await connect(), await connect()]
    const [kept, created] = [await one.sessions.create(), await two.sessions.create()]
    await two.sessions.get(kept.id)
    const unread = two.crawl({ url: '${site.url}', limit: 3 })
    await unread.next()
    const { value } = await created.events({ replay: 'all' }).next()
    const waiting = created.waitForElement('#never').catch((error) => error.code)
    await two.close()
    const { sessions } = await one.sessions.list()
    const { crawls } = await one.listCrawls()
    console.log(sessions.map(({ session_id }) => session_id === kept.id), await waiting, value.seq, crawls[0].status)
    await one.close()`
  await writeFile(join(project, 'owned.js'), program)
  const own = { ...env, BAX_STATE_DIR: await served.built.stateDir() }
  const { stdout } = await run(process.execPath, ['owned.js'], { cwd: project, env: own })
  expect(stdout).toMatch(/^\[ true \] session_closed 1 (?:cancelled|completed)\n$/)
})

test('the metrics of a server are text', async () => {
  const program = `
    import { connect } from 'bax'
    const bax = await connect(${JSON.stringify({ server: served.url, key: served.key })})
    console.log(await bax.metrics())
    await bax.close()`
  await writeFile(join(project, 'metrics.js'), program)
  const { stdout } = await run(process.execPath, ['metrics.js'], { cwd: project, env })
  expect(stdout).toMatch(/^bax_requests_in_flight \d+$/m)
})

test.each([
  [`{ server: 'http://127.0.0.1:1' }`, `bax.health()`, 'engine_unreachable cannot reach the engine'],
  [`{ server, key: 'wrong' }`, `bax.sessions.list()`, 'unauthorized '],
  [`{ server, key }`, `bax.scrape({ url, format: ['html'] })`, 'invalid_request format is not a known field'],
  [`{ server, key }`, `bax.scrape({ url: 'http://nonexistent.invalid' })`, 'dns_failed '],
  [`{ server, key }`, `bax.sessions.get('nobody')`, 'session_not_found '],
  [`{}`, `bax.sessions.create().then((session) => session.scrollTo(0, 100))`, 'invalid_request scrollTo takes options'],
  [`{}`, `bax.sessions.create().then((session) => session.click())`, 'invalid_request selector is required'],
  [`{ sever: server }`, `bax.health()`, 'invalid_request sever is not an option of connect (did you mean "server"?)'],
  [`{ server: '' }`, `bax.health()`, 'invalid_request server must not be empty'],
  [`{ server: 'foo bar' }`, `bax.health()`, 'invalid_request server is not a URL: "foo bar"'],
  [`{ server, embedded: true }`, `bax.health()`, 'invalid_request server and embedded exclude each other'],
  [`{ embedded: 'yes' }`, `bax.health()`, 'invalid_request embedded must be a boolean, not "yes"'],
  [`{}`, `bax.close().then(() => bax.health())`, 'cancelled the connection was closed'],
])('the error of connect(%s): %s', async (options, call, error) => {
  const program = `
    import { BaxError, connect } from 'bax'
    const [server, key, url] = ${JSON.stringify([served.url, served.key, site.url])}
    let bax
    try {
      bax = await connect(${options})
      await ${call}
    } catch (error) {
      if (error instanceof BaxError) console.log(error.constructor.name, error.code, error.message)
    }
    await bax?.close()`
  await writeFile(join(project, 'fails.js'), program)
  const { stdout } = await run(process.execPath, ['fails.js'], { cwd: project, env })
  const start = `BaxError ${error}`
  expect(stdout.slice(0, start.length)).toBe(start)
})

test.each(['{}', '{ embedded: true }'])(
  'reports the reason of a caller that gives up, with connect(%s)',
  async (options) => {
    const program = `
    import { connect } from 'bax'
    const bax = await connect(${options})
    const session = await bax.sessions.create()
    const leaving = () => {
      const controller = new AbortController()
      return { signal: controller.signal, leave: () => controller.abort(new Error('given up')) }
    }
    const report = (work) => work.catch((error) => console.log(error.message))
    const [following, reading, sending] = [leaving(), leaving(), leaving()]
    await report((async () => {
      for await (const event of session.events({ replay: 'all' }, following)) following.leave()
    })())
    await session.uploadFile({ name: 'large' }, Buffer.alloc(50_000_000))
    await report((async () => {
      const { bytes } = await session.downloadFile({ name: 'large' }, reading)
      for await (const piece of bytes) reading.leave()
    })())
    async function* stalled() {
      yield Buffer.from('some')
      sending.leave()
      await new Promise(() => {})
    }
    await report(session.uploadFile({ name: 'stalled' }, stalled(), sending))
    async function* broken() {
      yield Buffer.from('some')
      throw new Error('broken source')
    }
    await report(session.uploadFile({ name: 'broken' }, broken()))
    const { files } = await session.listFiles()
    console.log(files.map(({ name }) => name))
    await bax.close()`
    await writeFile(join(project, 'leaves.js'), program)
    const { stdout } = await run(process.execPath, ['leaves.js'], { cwd: project, env })
    expect(stdout).toBe(`${'given up\n'.repeat(3)}broken source\n[ 'large' ]\n`)
  },
)

test('a call of an engine whose program files were replaced fails with that reason', async () => {
  const program = `
    import { rename } from 'node:fs/promises'
    import { connect } from 'bax'
    const bax = await connect()
    await bax.sessions.list()
    await rename('node_modules/bax/dist', 'node_modules/bax/replaced')
    await bax.shells.create().catch(({ code, message, hint }) => console.log(code, message, hint))
    await rename('node_modules/bax/replaced', 'node_modules/bax/dist')
    await bax.close()`
  await writeFile(join(project, 'replaced.js'), program)
  const own = { ...env, BAX_STATE_DIR: await served.built.stateDir() }
  const { stdout } = await run(process.execPath, ['replaced.js'], { cwd: project, env: own })
  expect(stdout).toMatch(/^engine_failed the program files of bax were replaced .* "bax engine stop"/)
})
