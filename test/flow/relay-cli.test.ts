import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Env, relayCli } from '../support/relay-cli.ts'
import { testConnected, testDriving } from '../support/relay-cli-tests.ts'

const given = relayCli()
const { run, server, start } = given

describe('a browser connected to the local engine', () => {
  let env: Env
  beforeAll(async () => {
    env = await given.localEngine()
  })
  testDriving(given, () => env)
  testConnected(given, () => env)
})

describe('a browser connected to `bax serve`', () => {
  let env: Env
  beforeAll(async () => {
    env = await server()
  })
  testDriving(given, () => env)
})

describe('invalid input', () => {
  test.each([
    [[], 2, 'pass --cdp http://127.0.0.1:9222, --running NAME or --launch'],
    [['--cdp', 'http://127.0.0.1:1', '--launch'], 2, '--cdp and --launch exclude each other'],
    [['--running', 'chrom'], 2, '--running must be one of chrome, chromium, edge, not "chrom"'],
    [['--launch', '--policy', 'readonly'], 2, '--policy must be one of'],
    [['--launch', '--events', 'console,networks'], 2, '--events must be one of'],
    [['--launch', '--bodies', 'all'], 2, '--bodies must be one of text'],
    [['--launch', '--max-events-per-sec', '0'], 2, '--max-events-per-sec must be a whole number'],
    [['--launch', '--approve-timeout', 'soon'], 2, '--approve-timeout must be 1 to 3600 seconds'],
    [['--cdp', 'http://192.0.2.1:9222'], 2, 'add --allow-remote-cdp'],
    [['--cdp', 'ftp://127.0.0.1:9222'], 2, '--cdp is not a browser URL'],
    [['--launch', '--embedded'], 2, 'an embedded engine ends with its command'],
    [['--launch', '--token-file', 'none'], 2, 'none'],
    [['--cdp', 'http://127.0.0.1:1'], 3, 'nothing answers at http://127.0.0.1:1'],
    [['--cdp', 'ws://127.0.0.1:1/devtools/browser/x'], 3, 'nothing answers at ws://127.0.0.1:1'],
    [['--running', 'edge'], 3, 'edge does not allow debugging'],
    [['--launch', '--server', 'http://127.0.0.1:1'], 3, 'engine'],
  ] as const)('%j exits with %d and prints %j', async (flags, code, text) => {
    const env = await given.localEngine()
    const connector = start(['relay', 'connect', ...flags], env)
    if (text === 'engine') {
      // The server may come back, so the connector retries until it is stopped.
      await connector.waitForStderr('reconnecting')
      connector.child.kill('SIGINT')
      return
    }
    expect(await connector.ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) })
    // Nothing that cannot work starts an engine.
    expect(await readdir(env['BAX_STATE_DIR']!)).toEqual([])
  })

  test('an invalid token is rejected without retries, and never shown', async () => {
    const { BAX_SERVER } = await server()
    const env = { BAX_SERVER: BAX_SERVER!, BAX_RELAY_TOKEN: 'rlt_thisIsNotTheToken' }
    const { code, stdout, stderr } = await run(['relay', 'connect', '--cdp', given.foreign.url], env)
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(stderr).toContain('the relay token is not valid')
    expect(stderr).not.toContain('rlt_')
  })
})
