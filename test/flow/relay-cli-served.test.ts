/** `bax relay` as in relay-cli.test.ts, with a server; names, launched browsers and keys. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { markedProcesses } from '../support/processes.ts'
import { type Env, relayCli } from '../support/relay-cli.ts'
import { testConnected, testNames } from '../support/relay-cli-tests.ts'
import { waitUntil } from '../support/wait.ts'

const given = relayCli()
const { cdp, connect, run, start } = given

describe('a browser connected to the local engine', () => {
  let env: Env
  beforeAll(async () => {
    env = await given.localEngine()
  })
  testNames(given, () => env)
})

describe('a browser connected to `bax serve`', () => {
  let env: Env
  beforeAll(async () => {
    env = await given.server()
  })
  testConnected(given, () => env)
  testNames(given, () => env)
})

describe('`bax relay connect --launch`', () => {
  test('launches a browser that ends with it, on ^C and on SIGKILL', async () => {
    const env = { BAX_STATE_DIR: await given.built.stateDir(), TMPDIR: given.folder }
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const connector = await connect(env, '--launch')
      expect((await cdp(env, 'Browser.getVersion', '--field', 'product')).stdout).toMatch(/^\S*Chrome\//)
      expect((await readdir(given.folder)).filter((entry) => entry.startsWith('bax-browser-'))).toHaveLength(1)
      connector.child.kill(signal)
      await connector.ended
      await waitUntil(async () => !(await readdir(given.folder)).some((entry) => entry.startsWith('bax-browser-')))
      // Its profile is on the command line; the folder is in the environment of the engine, too.
      await waitUntil(async () => (await markedProcesses(join(given.folder, 'bax-browser-'))).length === 0)
      await run(['relay', 'stop', 'laptop'], env)
    }
  })
})

test('`relay connect` uses the API key of the server', async () => {
  const env = { BAX_STATE_DIR: await given.built.stateDir() }
  const { stdout } = await run(['key', 'create', 'ops', '--scopes', 'admin', '--embedded'], env)
  const server = start(['serve', '--port', '0'], env)
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('http://127.0.0.1:'))![0]
  const refused = await run(['relay', 'connect', '--cdp', given.foreign.url], { BAX_SERVER: address })
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  await connect({ BAX_SERVER: address, BAX_API_KEY: stdout.trim() }, '--cdp', given.foreign.url)
})
