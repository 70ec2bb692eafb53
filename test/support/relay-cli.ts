/** `bax relay` in processes, with a browser that is not started by bax. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type BuiltBax, buildBax, type CliResult, type Running } from './cli.ts'
import { type ForeignBrowser, startForeignBrowser } from './foreign-browser.ts'
import { serveSite, type Site } from './site.ts'
import { waitUntil } from './wait.ts'

/** Variables with which a command reaches an engine. */
export type Env = Readonly<Record<string, string>>

export interface RelayCli {
  readonly built: BuiltBax
  readonly foreign: ForeignBrowser
  /** Working folder of the processes, empty at the beginning of each test. */
  readonly folder: string
  /** Starts a process that ends with the test. */
  start(argv: readonly string[], env: Env): Running
  run(argv: readonly string[], env: Env, stdin?: string): Promise<CliResult>
  /** Resolves with the connector once it is connected and the engine has its tab. */
  connect(env: Env, ...flags: string[]): Promise<Running>
  /** Returns the relay session of the connector. */
  laptop(env: Env): Promise<Record<string, unknown>>
  cdp(env: Env, ...words: string[]): Promise<CliResult>
  navigateTo(env: Env, path: string): Promise<CliResult>
  /** Resolves once a page of the browser has the title. */
  titleIs(title: string): Promise<void>
  /** Returns the variables of a local engine, which its first command starts. */
  localEngine(): Promise<Env>
  /** Starts a server that ends with the file; returns its variables, with a relay token. */
  server(): Promise<Env>
}

/** Sets up a build, a site and a browser for the tests of a file. */
export function relayCli(): RelayCli {
  let built: BuiltBax
  let site: Site
  let foreign: ForeignBrowser
  let folder: string
  const running: Running[] = []
  const servers: Running[] = []
  const end = async (processes: Running[]) => {
    for (const { child, ended } of processes.splice(0)) {
      child.kill('SIGTERM')
      await ended
    }
  }
  beforeAll(async () => {
    ;[built, site, foreign] = await Promise.all([
      buildBax(),
      serveSite({
        '/': '<title>Home</title><h1>Home</h1><button onclick="document.title = `Pressed`">Press</button>',
        '/noisy':
          '<title>Noisy</title><script>console.error("it broke", "Bearer abcdefghijkl")</script><img src="/x?token=s3cret">',
      }),
      startForeignBrowser(),
    ])
  })
  afterAll(async () => {
    await foreign.close()
    await site.close()
    await end(servers)
    await built.close()
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-test-relay-'))
  })
  afterEach(async () => {
    await end(running)
    await rm(folder, { recursive: true, force: true })
  })
  const run: RelayCli['run'] = (argv, env, stdin) =>
    built.run(argv, { env, cwd: folder, ...(stdin !== undefined && { stdin }) })
  const start: RelayCli['start'] = (argv, env) => {
    const one = built.start(argv, { env, cwd: folder })
    running.push(one)
    return one
  }
  const cdp: RelayCli['cdp'] = (env, ...words) => run(['cdp', '-s', 'laptop', ...words], env)
  const laptop: RelayCli['laptop'] = async (env) =>
    JSON.parse((await run(['relay', 'show', 'laptop', '--json'], env)).stdout) as Record<string, unknown>
  return {
    get built() {
      return built
    },
    get foreign() {
      return foreign
    },
    get folder() {
      return folder
    },
    start,
    run,
    cdp,
    laptop,
    async connect(env, ...flags) {
      const connector = start(['relay', 'connect', '--name', 'laptop', ...flags], env)
      await connector.waitForStderr('^C disconnects the browser')
      await waitUntil(async () => (await laptop(env))['active_target_id'] !== null)
      return connector
    },
    navigateTo: (env, path) => cdp(env, 'Page.navigate', JSON.stringify({ url: site.url + path })),
    titleIs: (title) => waitUntil(async () => (await foreign.titles()).includes(title)),
    localEngine: async () => ({ BAX_STATE_DIR: await built.stateDir() }),
    async server() {
      const server = built.start(['serve', '--port', '0'], { env: { BAX_STATE_DIR: await built.stateDir() } })
      servers.push(server)
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('http://127.0.0.1:'))![0]
      const { stdout } = await built.run(['relay', 'tokens', 'create', '--name', 'laptop'], {
        env: { BAX_SERVER: address },
      })
      return { BAX_SERVER: address, BAX_RELAY_TOKEN: stdout.trim() }
    },
  }
}
