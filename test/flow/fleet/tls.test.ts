/** Workers with certificates of a private CA, which openssl makes here. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Check } from '../../../src/cli/checks.ts'
import { createCa, noOpenssl, type TestCa } from '../../support/certificates.ts'
import { bax } from '../../support/cli.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { failureOf } from '../../support/session-steps.ts'
import { serveSite, type Site } from '../../support/site.ts'

const absent = noOpenssl ?? noRedis

describe.skipIf(absent)(titled('workers with TLS', absent), () => {
  let folder: string
  let ca: TestCa
  let fleet: TestFleet
  let site: Site
  /** A gateway that trusts the CA; the one of the fleet does not. */
  let gateway: TestFleet['gateway']
  let trusted: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-test-tls-'))
    ca = createCa(folder)
    fleet = await startFleet([])
    site = await serveSite({ '/': '<title>Page</title><p>Some text of the page.</p>' })
    gateway = await fleet.addGateway(undefined, ca.file)
    const { cert, key } = ca.issue('worker', 'IP:127.0.0.1')
    trusted = (await fleet.addWorker({ tls: { cert, key } })).id
  })
  afterAll(async () => {
    await fleet.close()
    await site.close()
    await rm(folder, { recursive: true })
  })
  const status = async (...argv: string[]) => bax(['fleet', 'status', '--server', gateway.url, ...argv])
  const workerChecks = async (...argv: string[]) => {
    const run = ['doctor', '--json', '--fleet', fleet.redis.url, ...argv]
    const { stdout } = await bax(run, { env: { BAX_STATE_DIR: folder } })
    return (JSON.parse(stdout) as { checks: Check[] }).checks.filter(({ name }) => name.startsWith('worker'))
  }

  test('serve requests, streams and websockets, with the URLs of the gateway', async () => {
    const [worker] = JSON.parse((await status('--json')).stdout).workers
    expect(worker).toMatchObject({ url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:/), unreachable: null })
    const { client } = gateway
    const created = await client.createSession({ start_url: `${site.url}/` })
    const session_id = created.session_id!
    expect(created.sse_url).toMatch(new RegExp(`^${gateway.url}/stream/sse`))
    expect(created.cdp_url).toMatch(new RegExp(`^${gateway.url.replace('http', 'ws')}/sessions/`))
    const { results } = await client.runCommands({ session_id, commands: [{ command: 'get_title' }] })
    expect(results[0]!.data).toMatchObject({ result: { value: 'Page' } })
    const events = fetch(`${gateway.url}/stream/sse?session_id=${session_id}&replay=all`).then((answer) =>
      answer.text(),
    )
    const cdp = new WebSocket(`${created.cdp_url}?token=${created.frame_token}`)
    await once(cdp, 'open')
    cdp.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }))
    const [answer] = await once(cdp, 'message')
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { product: expect.stringContaining('Chrome') } })
    await client.closeSession({ session_id })
    expect(await events).toContain('session.closed')
    expect((await client.scrape({ url: `${site.url}/` })).data!.markdown).toContain('Some text of the page.')
  })

  test('do not answer plain HTTP', async () => {
    const [worker] = (await gateway.engine.fleet!.status()).workers
    await expect(fetch(worker!.url.replace('https:', 'http:'))).rejects.toThrow('fetch failed')
  })

  test('a gateway without their CA cannot use them, and says why', async () => {
    const reason = /^its certificate is not trusted \(.+\): pass the certificate of its CA with --fleet-ca$/
    const { workers, warning } = await fleet.gateway.engine.fleet!.status()
    expect(workers).toMatchObject([{ worker_id: trusted, state: 'ready', unreachable: expect.stringMatching(reason) }])
    expect(warning).toContain(`${trusted} at ${workers[0]!.url} cannot be reached: its certificate is not trusted`)
    expect(await failureOf(fleet.gateway.client.createSession({}))).toMatchObject({
      code: 'worker_lost',
      message: 'the worker could not be reached',
    })
    // Its slots are free again.
    expect((await fleet.gateway.engine.fleet!.status()).workers[0]!.sessions.used).toBe(0)
    expect(await workerChecks()).toMatchObject([{ ok: false, found: expect.stringContaining('is not trusted') }])
    expect(await workerChecks('--fleet-ca', ca.file)).toMatchObject([
      { ok: true, found: expect.stringContaining(trusted) },
    ])
  })

  test('a gateway with another secret is refused, which the status reports', async () => {
    const secretFile = await fleet.admitOther()
    const stranger = await fleet.addGateway(secretFile, ca.file)
    const { workers } = await stranger.engine.fleet!.status()
    expect(workers[0]!.unreachable).toBe(
      `the worker ${trusted} refuses this gateway: the signature of the gateway is not valid: use the same secret file for all gateways and workers`,
    )
    await stranger.stop()
    const doctor = (file: string) => workerChecks('--fleet-ca', ca.file, '--secret-file', file)
    expect(await doctor(fleet.secretFile)).toMatchObject([{ ok: true }])
    expect(await doctor(secretFile)).toMatchObject([
      { ok: false, found: expect.stringContaining('refuses this gateway') },
    ])
  })

  test('a certificate for another name is refused', async () => {
    const { cert, key } = ca.issue('other', 'DNS:other.example')
    const other = await fleet.addWorker({ tls: { cert, key }, labels: ['shell'] })
    const { stdout, stderr } = await status('--json')
    const found = JSON.parse(stdout).workers.find(({ worker_id }: { worker_id: string }) => worker_id === other.id)
    expect(found.unreachable).toContain("IP: 127.0.0.1 is not in the cert's list")
    expect(stderr).toBe('')
    expect((await status()).stderr).toContain(`warning: ${other.id} at ${found.url} cannot be reached`)
    await other.stop()
  })

  describe('flags', () => {
    const access = () => ['--fleet', 'redis://127.0.0.1:1', '--secret-file', fleet.secretFile]
    const errorOf = async (...argv: string[]) => {
      const { code, stderr } = await bax(argv, { env: { BAX_STATE_DIR: folder } })
      expect(code).toBe(2)
      return stderr.split('\n')[0]
    }
    const worker = (...argv: string[]) => errorOf('worker', ...access(), ...argv)

    test('of a worker name the file that is missing or unusable', async () => {
      const one = ca.issue('one', 'IP:127.0.0.1')
      const two = ca.issue('two', 'IP:127.0.0.1')
      const text = join(folder, 'text.pem')
      await writeFile(text, 'no certificate')
      const missing = join(folder, 'missing.pem')
      expect(await worker('--tls-cert', one.certFile)).toBe('error: --tls-cert needs --tls-key')
      expect(await worker('--name', 'a\nb')).toBe(
        'error: --name "a\\nb" is not valid: must not contain control characters',
      )
      expect(await worker('--tls-key', one.keyFile)).toBe('error: --tls-key needs --tls-cert')
      expect(await worker('--tls-cert', missing, '--tls-key', one.keyFile)).toBe(
        `error: cannot read --tls-cert ${missing}: no such file or folder`,
      )
      expect(await worker('--tls-cert', one.certFile, '--tls-key', missing)).toBe(
        `error: cannot read --tls-key ${missing}: no such file or folder`,
      )
      expect(await worker('--tls-cert', text, '--tls-key', one.keyFile)).toBe(
        `error: --tls-cert ${text} has no PEM certificate`,
      )
      expect(await worker('--tls-cert', one.certFile, '--tls-key', text)).toBe(
        `error: --tls-key ${text} has no PEM private key without a passphrase`,
      )
      expect(await worker('--tls-cert', one.certFile, '--tls-key', two.keyFile)).toBe(
        `error: --tls-key ${two.keyFile} does not match the certificate in --tls-cert ${one.certFile}`,
      )
      const both = ['--tls-cert', one.certFile, '--tls-key', one.keyFile]
      expect(await worker(...both, '--advertise', 'http://10.0.0.7:4200')).toBe(
        'error: --advertise must be an https URL (the worker has a --tls-cert) without a path, not "http://10.0.0.7:4200"',
      )
    })

    test('of a gateway name the file of the CA, and need a fleet', async () => {
      const serve = (...argv: string[]) => errorOf('serve', '--port', '0', ...argv)
      const missing = join(folder, 'missing.pem')
      expect(await serve('--fleet-ca', ca.file)).toBe('error: --fleet-ca needs --fleet')
      expect(await serve('--secret-file', fleet.secretFile)).toBe('error: --secret-file needs --fleet')
      expect(await serve(...access(), '--fleet-ca', missing)).toBe(
        `error: cannot read --fleet-ca ${missing}: no such file or folder`,
      )
      expect(await serve(...access(), '--fleet-ca', fleet.secretFile)).toBe(
        `error: --fleet-ca ${fleet.secretFile} has no PEM certificate`,
      )
    })
  })
})
