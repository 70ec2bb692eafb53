/** Keys as an operator uses them: created on the machine, checked by the server, revoked while it runs. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
let stateDir: string
let url: string
let running: ReturnType<BuiltBax['start']>
const secrets: string[] = []

/** Runs a command on the machine itself, without a server. */
const runLocally = (...argv: string[]) => built.run(argv, { env: { BAX_STATE_DIR: stateDir } })
/** Runs a command on another machine. */
const runRemotely = (key: string | undefined, ...argv: string[]) =>
  built.run(argv, { env: { BAX_SERVER: url, ...(key && { BAX_API_KEY: key }) } })

async function makeKey(...argv: string[]): Promise<string> {
  const { stdout, code } = await runLocally('key', 'create', ...argv)
  expect(code).toBe(0)
  secrets.push(stdout.trim())
  return stdout.trim()
}

beforeAll(async () => {
  built = await buildBax()
  stateDir = await built.stateDir()
  await makeKey('boss', '--scopes', 'admin')
  running = built.start(['serve', '--host', '0.0.0.0', '--port', '0', '--log-level', 'debug'], {
    env: { BAX_STATE_DIR: stateDir },
  })
  const port = /http:\/\/0\.0\.0\.0:(\d+)/.exec(await running.waitForStderr('bax is listening on http://'))![1]
  url = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  running.child.kill('SIGTERM')
  const { stderr } = await running.ended
  await built.close()
  // The log contains no secrets.
  for (const secret of secrets) expect(stderr).not.toContain(secret)
  expect(stderr).not.toMatch(/bax_[\w-]{43}|ft_[\w-]{43}/)
})

describe('`bax serve` with keys, on every address', () => {
  test('accepts any Host, as the key protects it', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const headers = { host: 'bax.example.com', 'x-api-key': secrets[0]! }
      request(`${url}/v1/keys`, { headers }, (response) => resolve(response.resume().statusCode!))
        .on('error', reject)
        .end()
    })
    expect(answer).toBe(200)
  })

  test('publishes the key of its bot to everyone', async () => {
    const { stdout } = await runLocally('key', 'bot', '--agent', 'https://bot.example', '--json')
    const directory = await fetch(`${url}/.well-known/http-message-signatures-directory`)
    expect(await directory.json()).toMatchObject({ keys: [{ kid: JSON.parse(stdout).key_id }] })
  })

  test('rejects a missing or wrong key; the CLI exits with 4', async () => {
    const none = await runRemotely(undefined, 'session', 'list')
    expect([none.code, none.stderr]).toEqual([
      4,
      expect.stringMatching(/^error: a key is required\nhint: .*BAX_API_KEY/),
    ])
    const wrong = await runRemotely('bax_wrong', 'session', 'list')
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('unknown key')])
  })
})

test('a key created on the machine works at once within its scopes, until it is revoked', async () => {
  const key = await makeKey('ci', '--scopes', 'browser', '--expires', '30d')
  expect((await runRemotely(key, 'session', 'list', '--json')).stdout).toContain('"sessions":[]')
  const denied = await runRemotely(key, 'key', 'list')
  expect([denied.code, denied.stderr]).toEqual([4, expect.stringContaining('lacks the scope admin')])
  const listed = JSON.parse((await runRemotely(secrets[0], 'key', 'list', '--json')).stdout) as {
    keys: { name: string }[]
  }
  expect(listed.keys.find(({ name }) => name === 'ci')).toMatchObject({ last_used_at: expect.any(String) })

  expect(await runLocally('key', 'revoke', 'ci')).toMatchObject({ code: 0, stdout: '' })
  const revoked = await runRemotely(key, 'session', 'list')
  expect([revoked.code, revoked.stderr]).toEqual([4, expect.stringContaining('the key has been revoked')])
})

test('the scope admin allows creating and revoking keys remotely; revoking a key closes its connections', async () => {
  const made = await runRemotely(secrets[0], 'key', 'create', 'far', '--json')
  const { key, key_id } = JSON.parse(made.stdout) as { key: string; key_id: string }
  secrets.push(key)
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const session = (await (await post('/sessions', {})).json()) as { session_id: string; frame_token: string }
  secrets.push(session.frame_token)
  const ends: string[] = []
  const address = `${url.replace('http', 'ws')}/sessions/${session.session_id}/cdp`
  const byKey = new WebSocket(address, { headers: { authorization: `Bearer ${key}` } })
  const byToken = new WebSocket(`${address}?token=${session.frame_token}`)
  byKey.on('close', () => ends.push('key'))
  byToken.on('close', () => ends.push('token'))
  await Promise.all([byKey, byToken].map((socket) => new Promise((resolve) => socket.once('open', resolve))))
  const followed = await fetch(`${url}/stream/sse?session_id=${session.session_id}`, { headers: { 'x-api-key': key } })
  const streamed = followed.text().then(() => ends.push('stream'))

  expect((await runRemotely(secrets[0], 'key', 'revoke', key_id)).code).toBe(0)
  await waitUntil(() => ends.length === 3)
  await streamed
  expect(ends.toSorted()).toEqual(['key', 'stream', 'token'])
  // Its browser context closes meanwhile.
  const sessions = async () => JSON.parse((await runRemotely(secrets[0], 'session', 'list', '--json')).stdout)
  await expect.poll(sessions).toMatchObject({ sessions: [] })
})
