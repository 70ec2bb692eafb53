/** Requests of reads that are signed as those of a bot (Web Bot Auth), verified by other implementations of RFC 9421. */
import { createPublicKey, verify } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpbis } from 'http-message-signatures'
import { verify as verifyBot } from 'web-bot-auth'
import { verifierFromJWK } from 'web-bot-auth/crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import type { Client } from '../support/client.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { failureOf } from '../support/session-steps.ts'

type Message = Parameters<typeof httpbis.verifyMessage>[1]

const directoryPath = '/.well-known/http-message-signatures-directory'
let folder: string
let botKeyFile: string
let net: PrivateNet
let homes: Homes
let client: Client
let made: { key_id: string; agent: string; file: string }

/** Requests for pages, in order. */
const seen: { url: string; headers: Record<string, string> }[] = []
const page =
  (html: string) =>
  ({ url, headers }: IncomingMessage, response: ServerResponse) => {
    seen.push({ url: `http://${headers.host}${url}`, headers: headers as Record<string, string> })
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Page</title><main>${html}</main>`)
  }
const movedTo = (host: string) => (_: IncomingMessage, response: ServerResponse) =>
  response.writeHead(302, { location: `http://${host}:${net.site.port}/b` }).end()

const run = (...argv: string[]) =>
  bax(argv, { env: { BAX_STATE_DIR: join(folder, 'state'), BAX_BOT_KEY_FILE: botKeyFile } })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-'))
  botKeyFile = join(folder, 'keys', 'bot.json')
  const { code, stdout, stderr } = await run('key', 'bot', '--agent', 'https://bot.example/about', '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  made = JSON.parse(stdout)
  net = await openPrivateNet({
    '/': page('<h1>Start</h1><a href="/a">A</a><script src="/code.js"></script>'),
    '/a': page('<h1>A</h1>'),
    '/b': page('<h1>B</h1>'),
    '/code.js': page(''),
    '/moved': movedTo('other.open.test'),
    '/moved-away': movedTo('site.example'),
  })
  const { lookup } = net.config
  // A name of the internet, which leads to this machine here.
  const withPublic: typeof lookup = (host, ...more) =>
    lookup!(host === 'site.example' ? 'site.open.test' : host, ...more)
  const allowPrivate = ['127.0.0.1', ...net.config.allowPrivate!]
  homes = await openHomes({ allowPrivate, lookup: withPublic, botKeyFile })
  client = homes.clients.http
})
beforeEach(() => void (seen.length = 0))
afterAll(async () => {
  await homes?.close()
  await net?.close()
  await rm(folder, { recursive: true, force: true })
})

async function publishedKey(): Promise<JsonWebKey & { readonly kid: string }> {
  const response = await fetch(`${homes.baseUrl}${directoryPath}`)
  return ((await response.json()) as { keys: [JsonWebKey & { kid: string }] }).keys[0]
}

/** Verifies a signature with the published key, as a site would; returns whether it is valid for the components. */
async function isSigned(message: Message, tag: string, requiredFields: string[], request?: Message) {
  const published = await publishedKey()
  const key = createPublicKey({ key: published as never, format: 'jwk' })
  const config = {
    requiredFields,
    requiredParams: ['created', 'expires', 'keyid', 'tag'],
    all: true,
    keyLookup: async ({ keyid, tag: given }: { keyid?: string; tag?: string }) =>
      keyid === published.kid && given === tag
        ? { id: keyid!, algs: ['ed25519'], verify: async (data: Buffer, sent: Buffer) => verify(null, data, key, sent) }
        : null,
  }
  return request
    ? httpbis.verifyMessage(config, message as never, request as never)
    : httpbis.verifyMessage(config, message as never)
}

const areSigned = () =>
  Promise.all(
    seen.map(async ({ url, headers }) => {
      const message = { method: 'GET', url, headers }
      const isValid = await isSigned(message, 'web-bot-auth', ['@authority', 'signature-agent'])
      // Fails for an invalid one.
      await verifyBot(message, await verifierFromJWK(await publishedKey()))
      return isValid && headers['signature-agent'] === '"https://bot.example"'
    }),
  )

describe('a signed request', () => {
  test.each(['http', 'browser'] as const)('of a page that is read by %s', async (render) => {
    await client.scrape({ url: `${net.url}/`, render, sign: true })
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(render === 'http' ? ['/'] : ['/', '/code.js'])
    expect(await areSigned()).toEqual(seen.map(() => true))
  })

  test('of every page of a crawl, and of single requests', async () => {
    await client.crawl({ url: `${net.url}/`, render: 'http', sign: true, ignore_robots: true })
    await client.sendRequest({ url: `${net.url}/a`, sign: true })
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(['/', '/a', '/a'])
    expect(await areSigned()).toEqual([true, true, true])
  })

  test('after a redirect is signed for the new host', async () => {
    await client.scrape({ url: `${net.url}/moved`, render: 'http', sign: true })
    expect(seen.map(({ url }) => new URL(url).hostname)).toEqual(['other.open.test'])
    expect(await areSigned()).toEqual([true])
  })

  test.each(['http', 'browser'] as const)('is not made in the clear for a host of the internet: %s', async (render) => {
    const port = net.site.port
    const direct = await client.scrape({ url: `http://site.example:${port}/a`, render, sign: true })
    const redirected = await client.scrape({ url: `${net.url}/moved-away`, render, sign: true })
    const warning = `requests to http://site.example:${port} were not signed: only https requests are`
    for (const answer of [direct, redirected]) expect(answer.warning).toContain(warning)
    expect(seen.map(({ url }) => url)).toEqual(['a', 'b'].map((path) => `http://site.example:${port}/${path}`))
    expect(seen.flatMap(({ headers }) => Object.keys(headers)).filter((name) => name.startsWith('signature'))).toEqual(
      [],
    )
  })

  test('is not valid for another host, nor for another agent', async () => {
    await client.scrape({ url: `${net.url}/a`, render: 'http', sign: true })
    const [{ url, headers }] = seen as [(typeof seen)[0]]
    const fields = ['@authority', 'signature-agent']
    const elsewhere = { method: 'GET', url: 'http://elsewhere.test/a', headers }
    expect(await isSigned(elsewhere, 'web-bot-auth', fields)).toBe(false)
    const asOther = { method: 'GET', url, headers: { ...headers, 'signature-agent': '"https://other.example"' } }
    expect(await isSigned(asOther, 'web-bot-auth', fields)).toBe(false)
  })

  test('is made on request only', async () => {
    await client.scrape({ url: `${net.url}/a`, render: 'http', max_age: 0 })
    expect(Object.keys(seen[0]!.headers).filter((name) => name.startsWith('signature'))).toEqual([])
  })
})

test('the directory has the public key, and is signed for the agent', async () => {
  const response = await fetch(`${homes.baseUrl}${directoryPath}`)
  expect(response.headers.get('content-type')).toBe('application/http-message-signatures-directory+json')
  const text = await response.text()
  expect(JSON.parse(text)).toEqual({
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: made.key_id, use: 'sig' }],
  })
  expect(text).not.toContain(JSON.parse(await readFile(botKeyFile, 'utf8')).d)
  const request = { method: 'GET', url: `https://bot.example${directoryPath}`, headers: {} }
  const answer = { status: 200, headers: Object.fromEntries(response.headers) }
  expect(await isSigned(answer as never, 'http-message-signatures-directory', ['@authority'], request)).toBe(true)
})

describe('`bax key bot`', () => {
  test('creates a key that only its user can read, once', async () => {
    expect(made).toMatchObject({ agent: 'https://bot.example', directory: `https://bot.example${directoryPath}` })
    expect((await stat(botKeyFile)).mode & 0o777).toBe(0o600)
    expect((await run('key', 'bot')).stdout).toContain(`key_id: ${made.key_id}\n`)
    expect(await run('key', 'bot', '--agent', 'https://other.example')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`error: there is a key in ${botKeyFile}\nhint: `),
    })
  })

  test.each(['http://bot.example', 'bot.example', ''])('refuses the agent %j', async (agent) => {
    const { code, stderr } = await run('key', 'bot', '--agent', agent)
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--agent') })
  })

  test('is for the machine that sends the requests', async () => {
    const { code, stderr } = await run('key', 'bot', '--server', 'http://127.0.0.1:1')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('without --server') })
  })
})

describe.skipIf(isFleet)('without a usable key', () => {
  const scrapeWith = async (file: string | undefined) => {
    const own = await openHomes({ ...net.config, ...(file !== undefined && { botKeyFile: file }) })
    try {
      const { status } = await fetch(`${own.baseUrl}${directoryPath}`)
      return [await failureOf(own.clients.http.scrape({ url: `${net.url}/a`, sign: true })), status] as const
    } finally {
      await own.close()
    }
  }

  test('a read is refused, and nothing is published', async () => {
    const [error, status] = await scrapeWith(undefined)
    expect(error).toMatchObject({ code: 'invalid_request', message: 'sign needs the key of a bot' })
    expect([status, seen]).toEqual([404, []])
  })

  test('the error is for the operator, who sees the file', async () => {
    const damaged = join(folder, 'damaged.json')
    await writeFile(damaged, '{"kty": "OKP"}')
    for (const [file, message] of [
      [damaged, `${damaged} is no key of a bot`],
      [join(folder, 'missing.json'), `cannot read ${join(folder, 'missing.json')}: no such file or folder`],
    ] as const) {
      const [error, status] = await scrapeWith(file)
      expect(error).toMatchObject({ code: 'engine_failed', message: 'the server cannot use its own files' })
      expect([JSON.stringify(error).includes(folder), status, seen]).toEqual([false, 503, []])
      const { code, stderr } = await bax(['key', 'bot'], { env: { BAX_STATE_DIR: folder, BAX_BOT_KEY_FILE: file } })
      expect([code, stderr]).toEqual([3, expect.stringContaining(`error: ${message}\nhint: create a key`)])
    }
  })
})
