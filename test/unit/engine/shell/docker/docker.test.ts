import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDocker } from '../../../../../src/engine/shell/docker/connection.ts'
import type { DockerContainer } from '../../../../../src/engine/shell/docker/docker-container.ts'
import { addressOf, usualSockets } from '../../../../../src/engine/shell/docker/endpoints.ts'
import { engineIdentity, isAlive } from '../../../../../src/engine/shell/docker/engine-identity.ts'
import { dockerError } from '../../../../../src/engine/shell/docker/errors.ts'
import { createOptions } from '../../../../../src/engine/shell/docker/host-config.ts'
import { kindOf, WarmPool } from '../../../../../src/engine/shell/docker/warm-pool.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'bax-docker-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const spec = {
  sessionId: 'sh_1',
  image: 'x',
  network: 'none' as const,
  outputMounts: ['/output', '/plots'],
  limits: {
    memoryMb: 100,
    cpus: 0.5,
    pids: 10,
    workspaceMb: 20,
    outputMb: 30,
    tmpMb: 5,
    workspaceFiles: 2000,
    outputFiles: 3000,
    tmpFiles: 500,
  },
}

describe('endpoint of Docker', () => {
  test('is taken from DOCKER_HOST, with nothing added from the environment', async () => {
    const none = { host: undefined, port: undefined, socketPath: undefined }
    expect(await addressOf('unix:///run/d.sock', {})).toEqual({ ...none, protocol: 'http', socketPath: '/run/d.sock' })
    expect(await addressOf('tcp://box:4000', {})).toEqual({ ...none, protocol: 'http', host: 'box', port: 4000 })
    expect(await addressOf('box:2376', {})).toMatchObject({ protocol: 'https', host: 'box', port: 2376 })
    expect(await addressOf('ssh://me@box', { sshAgent: '/agent' })).toMatchObject({
      protocol: 'ssh',
      host: 'box',
      port: 22,
      username: 'me',
      sshOptions: { agent: '/agent' },
    })
    await Promise.all(['ca', 'cert', 'key'].map((name) => writeFile(join(folder, `${name}.pem`), name)))
    expect(await addressOf('tcp://box', { dockerCertPath: folder })).toMatchObject({
      protocol: 'https',
      port: 2376,
      ca: 'ca',
      cert: 'cert',
      key: 'key',
    })
  })

  test('is rejected if it is not a Docker URL', async () => {
    for (const wrong of ['ftp://box', 'http://', 'tcp://['])
      await expect(addressOf(wrong, {}), wrong).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('defaults to existing sockets, else to the system socket', async () => {
    await writeFile(join(folder, 'docker.sock'), '')
    const found = await usualSockets({ home: folder, runtimeDir: folder })
    expect(found).toContain(`unix://${join(folder, 'docker.sock')}`)
    const last = await usualSockets({ home: '/nonexistent', runtimeDir: '/nonexistent' })
    expect(last.length).toBeGreaterThan(0)
  })

  test('is rejected if its version is too old or its system unsupported', async () => {
    const facts = { Version: '1', ApiVersion: '1.40', Os: 'linux', Arch: 'amd64' }
    const server = createServer((_, response) => response.end(JSON.stringify(facts)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const dockerHost = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
    await expect(connectDocker({ dockerHost })).rejects.toMatchObject({
      code: 'docker_unavailable',
      message: expect.stringContaining('API version 1.40'),
    })
    facts.ApiVersion = '1.52'
    facts.Os = 'windows'
    await expect(connectDocker({ dockerHost })).rejects.toMatchObject({ message: expect.stringContaining('windows') })
    facts.Os = 'linux'
    expect(await connectDocker({ dockerHost })).toMatchObject({
      kind: 'docker',
      architecture: 'x64',
      endpoint: dockerHost,
    })
    await new Promise((resolve) => server.close(resolve))
    await expect(connectDocker({ dockerHost })).rejects.toMatchObject({
      code: 'docker_unavailable',
      message: expect.stringContaining(dockerHost),
    })
  })
})

describe('client of Docker', () => {
  const facts = { Version: '1', ApiVersion: '1.52', Os: 'linux', Arch: 'amd64' }
  const listening = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  test('does not follow redirects', async () => {
    const visits: string[] = []
    const elsewhere = createServer((request, response) => {
      visits.push(request.url!)
      response.end('{}')
    })
    const port = await listening(elsewhere)
    let location = ''
    const daemon = createServer((request, response) => {
      if (request.url === '/version') return response.end(JSON.stringify(facts))
      visits.push(...(request.url === '/images/a/json' ? [] : [request.url!]))
      return response.writeHead(301, { location }).end()
    })
    const { docker } = await connectDocker({ dockerHost: `tcp://127.0.0.1:${await listening(daemon)}` })
    for (location of [
      `http://127.0.0.1:${port}/x`,
      `//127.0.0.1:${port}/x`,
      '/etc',
      'http://etc',
      'ftp://x',
      'javascript:x',
      '\t',
    ])
      await expect(docker.getImage('a').inspect(), location).rejects.toMatchObject({ statusCode: 301 })
    expect(visits).toEqual([])
    for (const server of [elsewhere, daemon]) await new Promise((resolve) => server.close(resolve))
  })

  test('fails when a response is aborted', async () => {
    const daemon = createServer((request, response) => {
      if (request.url === '/version') return response.end(JSON.stringify(facts))
      response.writeHead(200, { 'content-length': 100 })
      return response.write('{', () => response.destroy())
    })
    const { docker } = await connectDocker({ dockerHost: `tcp://127.0.0.1:${await listening(daemon)}` })
    const failure = await docker
      .getImage('a')
      .inspect()
      .catch((error: unknown) => error)
    expect(dockerError(failure, 'looking')).toMatchObject({ code: 'docker_unavailable' })
    await new Promise((resolve) => daemon.close(resolve))
  })
})

describe('identity of an engine', () => {
  test('is the same for all engines of a folder, even when started concurrently', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => engineIdentity(join(folder, 'state'))))
    expect(new Set(all.map(({ engine }) => engine)).size).toBe(1)
    expect((await engineIdentity(join(folder, 'other'))).engine).not.toBe(all[0]!.engine)
  })

  test('shows whether its process is still running', async () => {
    const { owner } = await engineIdentity(folder)
    const [host, boot, pid, started] = owner.split('/')
    expect(host).toBe(hostname())
    expect(isAlive(owner)).toBe(true)
    expect(isAlive(`${host}/${boot}/${pid}/${Number(started) + 1}`)).toBe(false)
    expect(isAlive(`${host}/another-boot/${pid}/${started}`)).toBe(false)
    expect(isAlive(`${host}/${boot}/4194305/1`)).toBe(false)
    // Owners that cannot be checked from here count as running.
    expect(isAlive(`another-machine/${boot}/4194305/1`)).toBe(true)
    expect(isAlive('nonsense')).toBe(true)
  })
})

describe('options for Docker', () => {
  const options = (changes = {}) =>
    createOptions({
      spec,
      image: 'sha256:1',
      volumes: ['/data'],
      network: 'none',
      labels: {},
      podman: false,
      ...changes,
    })

  test('limit size and files of every writable folder, and add them to the memory', () => {
    const { Tmpfs, Memory } = options().HostConfig!
    expect(Object.keys(Tmpfs!).toSorted()).toEqual(['/data', '/dev/shm', '/output', '/plots', '/tmp', '/workspace'])
    expect(Tmpfs!['/plots']).toBe('rw,exec,nosuid,nodev,size=30m,mode=0755,nr_inodes=3000,uid=1000,gid=1000')
    const folders = 64 + 20 + 30 + 30 + 5 + 5
    expect(Memory).toBe((100 + folders) * 1024 * 1024)
    const many = { ...spec, limits: { ...spec.limits, workspaceFiles: 1_000_000 } }
    const files = 1000 + 1_000_000 + 3000 + 3000 + 500 + 500
    expect(options({ spec: many }).HostConfig!.Memory).toBe((50 + folders) * 1024 * 1024 + files * 1536)
  })

  test('omit the owner of mounts for Podman, which does not support it', () => {
    expect(options({ podman: true }).HostConfig!.Tmpfs!['/workspace']).toBe('rw,exec,nosuid,nodev,size=20m,mode=1777')
  })
})

describe('errors of Docker', () => {
  test('are translated', () => {
    const answer = (statusCode: number, message: string) =>
      Object.assign(new Error('x'), { statusCode, json: { message } })
    expect(dockerError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'looking')).toMatchObject({
      code: 'docker_unavailable',
    })
    expect(dockerError(answer(500, 'write: no space left on device'), 'looking')).toMatchObject({ code: 'no_space' })
    expect(dockerError(answer(500, 'boom'), 'looking')).toMatchObject({
      code: 'docker_unavailable',
      message: 'Docker reported an error while looking: boom',
    })
    expect(dockerError(new Error('ours'), 'looking')).toMatchObject({ code: 'internal_error' })
  })
})

describe('warm pool', () => {
  /** Part of a container that the pool uses. */
  const container = (answers = true) => {
    const made = {
      end: null as object | null,
      removed: 0,
      answers: async () => answers,
      remove: async () => void made.removed++,
    }
    return made
  }
  const pool = (size = 1, failed: (error: unknown) => void = () => {}) =>
    new WarmPool({ size, kinds: 2, idleMs: 60_000, failed })
  const as = (made: ReturnType<typeof container>) => async () => made as unknown as DockerContainer

  test('keeps one container of a requested kind, and returns it once', async () => {
    const kept = pool()
    const one = container()
    expect(await kept.take('a')).toBeUndefined()
    kept.keep('a', as(one))
    await new Promise(setImmediate)
    expect(kept.count).toBe(1)
    expect(await kept.take('a')).toBe(one)
    expect(await kept.take('a')).toBeUndefined()
    expect(await kept.take('b')).toBeUndefined()
    await kept.close()
    expect(one.removed).toBe(0)
  })

  test('does not return containers that have ended or do not respond', async () => {
    const kept = pool(2)
    const all = [container(false), Object.assign(container(), { end: {} })]
    const rest = [...all]
    kept.keep('a', () => as(rest.pop()!)())
    await new Promise(setImmediate)
    expect(await kept.take('a')).toBeUndefined()
    await kept.close()
    expect(all.map(({ removed }) => removed)).toEqual([1, 1])
  })

  test('drops the least recently used kind, and all at close', async () => {
    const kept = pool()
    const all = [container(), container(), container()]
    for (const [index, made] of all.entries()) {
      kept.keep(`kind ${index}`, as(made))
      await new Promise(setImmediate)
    }
    expect(all.map(({ removed }) => removed)).toEqual([1, 0, 0])
    await kept.close()
    expect(all.map(({ removed }) => removed)).toEqual([1, 1, 1])
    kept.keep('late', () => Promise.reject(new Error('never asked')))
    expect(kept.count).toBe(0)
  })

  test('removes a container created after close, and reports one that fails', async () => {
    const failures: unknown[] = []
    const kept = pool(1, (error) => failures.push(error))
    const late = container()
    let come!: (value: DockerContainer) => void
    kept.keep('a', () => new Promise<DockerContainer>((resolve) => (come = resolve)))
    kept.keep('b', () => Promise.reject(new Error('no image')))
    const closing = kept.close()
    come(late as unknown as DockerContainer)
    await closing
    expect(late.removed).toBe(1)
    expect(failures).toEqual([new Error('no image')])
  })

  test('distinguishes kinds by everything that cannot be changed later', () => {
    const kind = (changes = {}) => kindOf('sha256:1', { ...spec, ...changes })
    expect(kind({ sessionId: 'sh_2' })).toBe(kind())
    expect(kind({ limits: Object.fromEntries(Object.entries(spec.limits).toReversed()) })).toBe(kind())
    for (const changes of [{ network: 'bridge' }, { outputMounts: [] }, { limits: { ...spec.limits, pids: 11 } }])
      expect(kind(changes)).not.toBe(kind())
  })
})
