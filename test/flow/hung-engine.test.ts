/** Engines and servers that do not respond, and commands that only take long. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { bax, type BuiltBax, buildBax } from '../support/cli.ts'

const engine = limits.engine as { quietMs: number; unresponsiveMs: number }
const usual = { ...engine }

let built: BuiltBax
let env: Record<string, string>

beforeAll(async () => {
  built = await buildBax()
  env = { BAX_STATE_DIR: await built.stateDir() }
  expect(await built.run(['session', 'create', '--name', 'shop'], { env })).toMatchObject({ code: 0 })
})
afterEach(() => void Object.assign(engine, usual))
afterAll(() => built?.close())

describe.skipIf(process.platform === 'win32')('a local engine', () => {
  test('that responds to others lets a command take its time', async () => {
    Object.assign(engine, { quietMs: 10 })
    const wait = ['do', '-s', 'shop', 'wait-for-element', '#never', '--timeout-ms', '1500']
    const { stderr } = await bax(wait, { env })
    expect(stderr).toContain('#never')
    expect(stderr).not.toContain('did not respond')
  })

  test.each([
    ['session', 'list'],
    ['session', 'create'],
    ['session', 'watch', 'shop'],
    ['engine', 'stop'],
  ])('that was stopped fails the command `bax %s %s` after a limit', async (...argv) => {
    const { pid } = JSON.parse(await readFile(join(env['BAX_STATE_DIR']!, 'engine.json'), 'utf8')) as { pid: number }
    Object.assign(engine, { quietMs: 20, unresponsiveMs: 1000 })
    process.kill(pid, 'SIGSTOP')
    try {
      expect(await bax(argv, { env })).toMatchObject({
        code: 3,
        stderr: `waiting for the local engine (process ${pid}), which does not respond\nerror: the local engine (process ${pid}) did not respond for 1 s\nhint: if it was stopped, continue it with "kill -CONT ${pid}"; end it with "kill -KILL ${pid}"\n`,
      })
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  })
})

test.skipIf(process.platform === 'win32')('a server that was stopped fails a command after a limit', async () => {
  const server = built.start(['serve', '--port', '0'], { env: { BAX_STATE_DIR: await built.stateDir() } })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('bax is listening on http://'))![0]
  const calls = { env: { BAX_SERVER: url } }
  Object.assign(engine, { quietMs: 20, unresponsiveMs: 1000 })
  server.child.kill('SIGSTOP')
  try {
    for (const argv of [
      ['session', 'list'],
      ['scrape', 'https://example.com'],
      ['session', 'watch', 'shop'],
    ]) {
      expect(await bax(argv, calls), argv.join(' ')).toMatchObject({
        code: 3,
        stderr: `waiting for the server ${url}, which does not respond\nerror: the server ${url} did not respond for 1 s\nhint: check the server, and the network between you and it\n`,
      })
    }
  } finally {
    server.child.kill('SIGCONT')
  }
  Object.assign(engine, usual)
  expect(await bax(['session', 'list'], calls)).toMatchObject({ code: 0 })
  server.child.kill('SIGTERM')
  await server.ended
})
