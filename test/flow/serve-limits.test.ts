/** Requests that `bax serve` accepts and rejects, and its end while clients and commands hang. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { upgradeHalfOpen } from '../support/half-open.ts'
import { serve } from '../support/server.ts'

let built: BuiltBax
beforeAll(async () => {
  built = await buildBax()
})
afterAll(() => built.close())

describe('`bax serve`', () => {
  test('ends at SIGTERM while clients keep rejected and open websockets half-open', async () => {
    const running = await serve(built, ['--drain-secs', '1'])
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
    const running = await serve(built, ['--host', '::1'])
    expect(running.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    const { code } = await built.run(['session', 'list', '--server', running.url])
    expect(code).toBe(0)
    running.child.kill()
    await running.ended
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
    const closed = await serve(built)
    expect([await ask(closed, 'localhost'), await ask(closed, 'bax.test')]).toEqual([200, 403])
    closed.child.kill()
    const open = await serve(built, ['--allow-host', 'BAX.test'])
    expect(await ask(open, 'bax.test:4100')).toBe(200)
    open.child.kill()
    await Promise.all([closed.ended, open.ended])
  })

  test('--verify-tls refuses to accept any certificate', async () => {
    const scrape = ({ url }: { url: string }) =>
      built.run(['scrape', 'https://127.0.0.1:9/', '--insecure', '--server', url])
    const strict = await serve(built, ['--verify-tls'])
    const refused = await scrape(strict)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('error: --insecure is not allowed')])
    strict.child.kill()
    const usual = await serve(built)
    const { code, stderr } = await scrape(usual)
    expect([code, stderr]).toEqual([4, expect.stringContaining('URL blocked')])
    usual.child.kill()
    await Promise.all([strict.ended, usual.ended])
  })

  test('--allow-private allows the given addresses, and requires a valid range', async () => {
    const site = createServer((_, response) => response.setHeader('content-type', 'text/plain').end('hi'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.2', resolve))
    const { port } = site.address() as AddressInfo
    const scrape = ({ url }: { url: string }) => built.run(['scrape', `http://127.0.0.2:${port}/`, '--server', url])
    const closed = await serve(built)
    const refused = await scrape(closed)
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([4, '', expect.stringContaining('URL blocked')])
    closed.child.kill()
    const open = await serve(built, ['--allow-private', '127.0.0.2/32', '--allow-private', 'fd00::/8'])
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
})

describe('the process', () => {
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
})

const chosen = async (env: { env: Record<string, string> }) => (await built.run(['session', 'use'], env)).stdout.trim()

/** Raises an unhandled rejection or an uncaught exception on a signal. */
const failing = `
  process.on('SIGWINCH', () => void Promise.reject(new Error('unheard')))
  process.on('SIGUSR2', () => setImmediate(() => { throw new Error('broken out') }))`

test('an unhandled rejection does not end the server; an uncaught exception ends it cleanly', async () => {
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(failing)}` }
  const running = await serve(built, [], { env })
  running.child.kill('SIGWINCH')
  await running.waitForLog(({ cause }) => /^Error: unheard\n +at /.test(String(cause)))
  const created = await running.request('POST', '/sessions', { headless: true })
  expect(created.status).toBeLessThan(300)
  running.child.kill('SIGUSR2')
  await running.waitForLog(({ cause }) => String(cause).includes('broken out'))
  await running.waitForLog(({ message }) => message === 'ended')
  expect((await running.ended).code).toBe(7)
})
