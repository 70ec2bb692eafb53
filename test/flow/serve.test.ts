import { spawn } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { upgradeHalfOpen } from '../support/half-open.ts'
import { freePort } from '../support/ports.ts'
import { serve as startServer } from '../support/server.ts'

let built: BuiltBax
beforeAll(async () => {
  built = await buildBax()
})
afterAll(() => built.close())

/** Starts a server on a free port; returns it with the URL that it printed. */
async function serve(...flags: string[]) {
  const folder = await built.stateDir()
  const running = built.start(['serve', '--port', '0', '--allow-private', '127.0.0.1', ...flags], {
    env: { BAX_STATE_DIR: folder },
  })
  const printed = await running.waitForStderr('bax is listening on http://')
  return { ...running, url: /http:[^\s"]+/.exec(printed)![0] }
}

describe('`bax serve`', () => {
  test('prints its URL, responds over HTTP, and ends cleanly at SIGTERM', async () => {
    const folder = await built.stateDir()
    const port = await freePort()
    const running = built.start(['serve', '--port', String(port), '--allow-private', '127.0.0.1'], {
      env: { BAX_STATE_DIR: folder },
    })
    await running.waitForStderr(`bax is listening on http://127.0.0.1:${port}"`)
    const server = { env: { BAX_STATE_DIR: folder, BAX_SERVER: `http://127.0.0.1:${port}` } }
    const created = await built.run(['session', 'create', '--headless'], server)
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const status = JSON.parse((await built.run(['engine', 'status', '--json'], server)).stdout)
    expect(status).toMatchObject({ home: 'server', sessions: 1, pid: running.child.pid })

    const stop = await built.run(['engine', 'stop'], server)
    expect(stop.code).toBe(4)
    expect(stop.stderr).toMatch(/^error: /)

    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stdout: '' })
    expect((await built.run(['session', 'list'], server)).code).toBe(3)
  })

  test('exits with 130 on ^C', async () => {
    const running = await serve()
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
  })

  test('ends at SIGTERM while clients keep rejected and open websockets half-open', async () => {
    const running = await serve('--drain-secs', '1')
    const created = await fetch(`${running.url}/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"headless": true}',
    })
    const { cdp_url, frame_token } = (await created.json()) as { cdp_url: string; frame_token: string }
    const opened = await upgradeHalfOpen(`${cdp_url}?token=${frame_token}`)
    const refused = await upgradeHalfOpen(`${running.url}/nothing/here`)
    expect([opened.status, refused.status]).toEqual([101, 404])
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
    for (const { socket } of [opened, refused]) socket.destroy()
  })

  test('listens on the IPv6 loopback address too', async () => {
    const running = await serve('--host', '::1')
    expect(running.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    const { code } = await built.run(['session', 'list', '--server', running.url])
    expect(code).toBe(0)
    running.child.kill()
    await running.ended
  })

  test.each(['0.0.0.0', '192.168.1.5', 'example.com', '::'])('rejects %s without keys', async (host) => {
    const { code, stderr } = await built.run(['serve', '--host', host], {
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    expect(code).toBe(2)
    expect(stderr).toContain(
      `error: serving on ${host} needs an API key: without one only loopback addresses are allowed\nhint: `,
    )
  })

  test('reports a busy port in one sentence', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stdout, stderr } = await built.run(['serve', '--port', String(port)], {
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    other.close()
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toBe(
      `error: 127.0.0.1:${port} is in use by another program\n` +
        'hint: choose another port with --port, or stop the program that uses it\n',
    )
  })

  test('rejects other Host headers unless --allow-host lists them', async () => {
    const ask = ({ url }: { url: string }, host: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(`${url}/healthz`, { headers: { host } }, (response) => {
          response.resume()
          resolve(response.statusCode!)
        })
        sent.on('error', reject).end()
      })
    const closed = await serve()
    expect([await ask(closed, 'localhost'), await ask(closed, 'bax.test')]).toEqual([200, 403])
    closed.child.kill()
    const open = await serve('--allow-host', 'BAX.test')
    expect(await ask(open, 'bax.test:4100')).toBe(200)
    open.child.kill()
    await Promise.all([closed.ended, open.ended])
  })

  test('--allow-private allows the given addresses, and requires a valid range', async () => {
    const site = createServer((_, response) => response.setHeader('content-type', 'text/plain').end('hi'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.2', resolve))
    const { port } = site.address() as AddressInfo
    const scrape = ({ url }: { url: string }) => built.run(['scrape', `http://127.0.0.2:${port}/`, '--server', url])
    const closed = await serve()
    const refused = await scrape(closed)
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([4, '', expect.stringContaining('URL blocked')])
    closed.child.kill()
    const open = await serve('--allow-private', '127.0.0.2/32', '--allow-private', 'fd00::/8')
    expect(await scrape(open)).toMatchObject({ code: 0, stdout: 'hi\n' })
    open.child.kill()
    site.close()
    await Promise.all([closed.ended, open.ended])
    const { code, stderr } = await built.run(['serve', '--allow-private', '10.0.0.0/33'])
    expect(code).toBe(2)
    expect(stderr).toBe(
      'error: --allow-private "10.0.0.0/33" is not an address range\n' +
        'hint: write it as 10.0.0.0/8, fd00::/8, or a single address such as 192.168.1.5\n',
    )
  })

  test('--port requires a valid port', async () => {
    expect((await built.run(['serve', '--port', '70000'])).code).toBe(2)
    expect((await built.run(['serve', '--port', 'many'])).code).toBe(2)
  })
})

describe('the process', () => {
  test('succeeds when its output is closed early', async () => {
    const running = built.start(['openapi'], { env: { BAX_STATE_DIR: await built.stateDir() } })
    running.child.stdout!.destroy()
    const { code, stderr } = await running.ended
    expect([code, stderr]).toEqual([0, ''])
  })

  test('exits with 130 on ^C during a hanging command, and cancels its request', async () => {
    const env = { env: { BAX_STATE_DIR: await built.stateDir() } }
    await built.run(['session', 'create', '--headless', '--use'], env)
    const watch = built.start(
      ['session', 'watch', '-s', await chosen(env), '--replay', 'all', '--types', 'command.started'],
      env,
    )
    const hung = built.start(['do', 'evaluate', 'new Promise(() => {})'], env)
    await new Promise<void>((resolve) => watch.child.stdout!.once('data', () => resolve()))
    hung.child.kill('SIGINT')
    expect(await hung.ended).toMatchObject({ code: 130, stdout: '' })
    expect((await built.run(['do', 'evaluate', '1 + 1'], env)).stdout).toBe('2\n')
    watch.child.kill('SIGINT')
    expect((await watch.ended).code).toBe(130)
  })

  test('reports an internal error in one sentence with exit code 7, and logs the stack', async () => {
    const folder = await built.stateDir()
    const broken = join(dirname(built.program), '..', 'broken')
    await cp(dirname(built.program), broken, { recursive: true })
    await writeFile(join(broken, 'manifest.json'), '{')
    const child = spawn(process.execPath, [join(broken, 'main.js'), 'session', 'list'], {
      env: { BAX_STATE_DIR: folder, BAX_CONFIG: noConfig },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += chunk))
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(7)
    expect(stderr).toMatch(/^error: internal error: .+\nhint: .+\n$/)
    expect(stderr).toContain(`hint: see ${folder}/bax.log for details`)
    expect(await readFile(`${folder}/bax.log`, 'utf8')).toContain('    at ')
  })
})

const chosen = async (env: { env: Record<string, string> }) => (await built.run(['session', 'use'], env)).stdout.trim()

/** Raises an unhandled rejection or an uncaught exception on a signal. */
const failing = `
  process.on('SIGWINCH', () => void Promise.reject(new Error('unheard')))
  process.on('SIGUSR2', () => setImmediate(() => { throw new Error('broken out') }))`

test('an unhandled rejection does not end the server; an uncaught exception ends it cleanly', async () => {
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(failing)}` }
  const running = await startServer(built, [], { env })
  running.child.kill('SIGWINCH')
  await running.waitForLog(({ cause }) => /^Error: unheard\n +at /.test(String(cause)))
  const created = await running.request('POST', '/sessions', { headless: true })
  expect(created.status).toBeLessThan(300)
  running.child.kill('SIGUSR2')
  await running.waitForLog(({ cause }) => String(cause).includes('broken out'))
  await running.waitForLog(({ message }) => message === 'ended')
  expect((await running.ended).code).toBe(7)
})
