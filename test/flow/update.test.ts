/** `bax update`, with npm and a registry on this machine. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { version } from '../../src/core/version.ts'
import { createCa, noOpenssl } from '../support/certificates.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { testUnless } from '../support/needs.ts'
import { freePort } from '../support/ports.ts'
import { type Site, serveSite } from '../support/site.ts'

const [major] = version.split('.').map(Number) as [number]
const [next, later, preview] = [`${major}.10.0`, `${major + 1}.9.0`, `${major + 2}.0.0-rc.1`]

let built: BuiltBax
let registry: Site
let home: string
/** Facts of the package in the registry; none if it has none. */
let published: object | undefined
beforeAll(async () => {
  ;[built, home] = await Promise.all([buildBax(), mkdtemp(join(tmpdir(), 'bax-update-'))])
  registry = await serveSite({
    '/bax': (_, response) => {
      response.statusCode = published ? 200 : 404
      response.setHeader('content-type', 'application/json').end(JSON.stringify(published ?? {}))
    },
  })
})
afterAll(async () => {
  await Promise.all([built?.close(), registry?.close()])
  await rm(home, { recursive: true, force: true })
})

const update = (url: string, ...argv: string[]) =>
  built.run(['update', ...argv], { env: { HOME: home, npm_config_registry: url }, cwd: home })

const packageOf = (versions: readonly string[], latest: string) => ({
  name: 'bax',
  'dist-tags': { latest },
  versions: Object.fromEntries(versions.map((one) => [one, { name: 'bax', version: one }])),
  time: Object.fromEntries(versions.map((one, index) => [one, `2026-12-0${index + 1}T08:00:00.000Z`])),
})

test('lists newer versions up to the newest release, in their order', async () => {
  published = packageOf([version, later, next, preview], later)
  const { code, stdout } = await update(registry.url)
  expect(code).toBe(0)
  expect(stdout).toBe(`newer than bax ${version}:\n  ${next}  2026-12-03\n  ${later}  2026-12-02\n`)
  const json = await update(registry.url, '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    version,
    releases: [{ version: next }, { version: later, published: '2026-12-02T08:00:00.000Z' }],
  })
})

test('reports that this is the newest version', async () => {
  published = packageOf([version, preview], version)
  expect(await update(registry.url)).toMatchObject({ code: 0, stdout: `bax ${version} is the newest version\n` })
})

test.each([
  ['>=0.0.0', [version], '>=0.0.0'],
  ['v99.0.0\n', [version, 'v99.0.0\n'], version],
])('prints no commands with %j, which is no version', async (invalid, versions, latest) => {
  published = packageOf(versions, latest)
  const { code, stdout, stderr } = await update(registry.url)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`error: the registry of npm has an invalid version of bax: ${JSON.stringify(invalid)}\n`)
})

test('prints no text of a registry as a time', async () => {
  published = { ...packageOf([version, later], later), time: { [later]: '\u001B[2J 2026' } }
  expect(await update(registry.url)).toMatchObject({ code: 0, stdout: `newer than bax ${version}:\n  ${later}\n` })
})

test('asks no registry of the project that runs it as a script', async () => {
  published = packageOf([version], version)
  const project = `http://127.0.0.1:${await freePort()}/`
  await writeFile(join(home, '.npmrc'), `registry=${registry.url}/\n`)
  const env = { HOME: home, npm_config_registry: project, npm_lifecycle_event: 'test' }
  const { code, stdout } = await built.run(['update'], { env, cwd: home })
  await rm(join(home, '.npmrc'))
  expect([code, stdout]).toEqual([0, `bax ${version} is the newest version\n`])
})

test('reports a registry that has no bax', async () => {
  published = undefined
  expect(await update(registry.url)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('the registry of npm has no package bax'),
  })
})

test('reports a registry that cannot be reached', async () => {
  const { code, stdout, stderr } = await update(`http://127.0.0.1:${await freePort()}/`)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^error: the registry of npm cannot be asked: ECONNREFUSED .*\nhint: connect to the internet/)
})

test.each([401, 403])('advises to log in to a registry that answers %i', async (status) => {
  const refusing = await serveSite({ '/bax': (_, response) => response.writeHead(status).end('{}') })
  const { code, stderr } = await update(`${refusing.url}/`)
  await refusing.close()
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`: E${status} .*\nhint: run "npm login"`))])
})

testUnless(noOpenssl)(
  'advises to name the certificate of a registry, or a proxy, whose issuer is unknown',
  async () => {
    const server = createServer(createCa(home).issue('registry', 'IP:127.0.0.1'), (_, response) => response.end('{}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { code, stderr } = await update(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    server.close()
    expect(code).toBe(1)
    expect(stderr).toMatch(/: UNABLE_TO_VERIFY_LEAF_SIGNATURE .*\nhint: name the certificate of your proxy or registry: "npm config set cafile FILE"/) // prettier-ignore
  },
)

test('reports that npm is missing', async () => {
  const result = await built.run(['update'], { env: { HOME: home, PATH: '/nonexistent' }, cwd: home })
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('npm is not installed') })
})
