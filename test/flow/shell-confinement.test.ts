/** Confinement of a container, and how it ends when its engine, Docker or another program ends it. */
import type Docker from 'dockerode'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ShellContainer } from '../../src/engine/shell/interface.ts'
import { connectDocker } from '../../src/engine/shell/docker/connection.ts'
import { dropReplaced } from '../../src/engine/shell/docker/derived-image.ts'
import { labels } from '../../src/engine/shell/docker/engine-identity.ts'
import {
  nameOf,
  openContainers,
  otherClient,
  podman,
  sh,
  shellConfig,
  ownSession,
  smallContainer,
  testImages,
} from '../support/docker.ts'
import { startShellHost } from '../support/shell-host.ts'
import { waitFor } from '../support/wait.ts'

const [busybox, full] = testImages

/** Returns the containers that Docker lists for an engine, or all with one of our labels. */
const ofEngine = (client: Docker, label: string) =>
  client.listContainers({ all: true, filters: JSON.stringify({ label: [label] }) })

async function inspectOf(client: Docker, sessionId: string) {
  const [found] = await ofEngine(client, `${labels.session}=${sessionId}`)
  return client.getContainer(found!.Id).inspect()
}

/** Runs a command in another container on the same bridge without our rules, to show that they are needed. */
async function unfenced(client: Docker, image: string, network: string, command: string): Promise<string> {
  const Cmd = ['sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | ${command}`]
  const container = await client.createContainer({ Image: image, Cmd, HostConfig: { NetworkMode: network } })
  try {
    await container.start()
    await container.wait()
    return (await container.logs({ stdout: true, stderr: true, follow: false })).toString()
  } finally {
    await container.remove({ force: true })
  }
}

describe.skipIf(busybox!.absent)(`a container, ${nameOf(busybox!)}`, () => {
  const { image } = busybox!
  let opened: Awaited<ReturnType<typeof openContainers>>
  let client: Docker
  beforeAll(async () => {
    client = await otherClient()
    opened = await openContainers()
  })
  afterAll(() => opened?.close())

  describe('without a network', () => {
    let box: ShellContainer
    beforeAll(async () => {
      box = await opened.containers.create(smallContainer(image, { sessionId: ownSession('sh_confined') }))
    })

    test('is created with every confinement option', async () => {
      const { Config, HostConfig, Mounts } = await inspectOf(client, ownSession('sh_confined'))
      expect(HostConfig).toMatchObject({
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        CapAdd: null,
        SecurityOpt: ['no-new-privileges'],
        Privileged: false,
        ReadonlyRootfs: true,
        AutoRemove: true,
        PidMode: '',
        // Own IPC namespace; /dev/shm is a folder with limits like the others.
        IpcMode: 'none',
        UsernsMode: '',
        Binds: null,
        LogConfig: { Type: 'none' },
        NanoCpus: 1_000_000_000,
      })
      // The limit plus the size of the folders in memory: /workspace, /output, /tmp and /dev/shm.
      expect(HostConfig.Memory).toBe((128 + 64 + 32 + 16 + 64) * 1024 * 1024)
      expect(HostConfig.MemorySwap).toBe(HostConfig.Memory)
      expect(Config).toMatchObject({ User: '1000:1000', StdinOnce: true })
      expect([Mounts, HostConfig.Devices ?? [], HostConfig.PortBindings ?? {}]).toEqual([[], [], {}])
    })

    test('runs as an unprivileged user', async () => {
      const { stdout } = await sh(box, 'id -u; grep -E "^(Cap...|NoNewPrivs|Seccomp):" /proc/self/status')
      expect(stdout.replaceAll('\t', ' ')).toBe(
        ['1000', ...['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => `${name}: 0000000000000000`)].join(
          '\n',
        ) + '\nNoNewPrivs: 1\nSeccomp: 2\n',
      )
    })

    test('can only write to its own folders', async () => {
      const { stdout } = await sh(
        box,
        'for d in / /bin /etc /usr /proc/sys/kernel /sys/fs/cgroup /dev; do (echo x > $d/written) 2>/dev/null && echo $d; done; for d in /workspace /output /tmp /dev/shm; do echo x > $d/written && echo ok $d; done',
      )
      expect(stdout).toBe('ok /workspace\nok /output\nok /tmp\nok /dev/shm\n')
    })

    test('only has a loopback interface', async () => {
      expect((await sh(box, 'ls /sys/class/net')).stdout).toBe('lo\n')
      expect((await sh(box, 'nc -w 2 192.0.2.1 80')).stderr).toMatch(/unreachable/)
    })

    test('cannot mount, change its host name, enter namespaces or see the kernel log', async () => {
      for (const command of [
        'mount -t tmpfs x /tmp',
        'hostname other',
        'unshare -U true',
        'unshare -n true',
        'dmesg',
        'mknod /tmp/d b 8 0',
        'chroot / true',
        'swapoff -a',
      ])
        expect((await sh(box, command)).code, command).not.toBe(0)
    })

    test('file operations do not follow links out of an output mount', async () => {
      await sh(
        box,
        'ln -s /etc /output/etc; ln -s /etc/passwd /output/passwd; mkfifo /output/fifo; mkdir /output/d; echo in > /output/d/file',
      )
      for (const path of ['etc/passwd', 'passwd', '../etc/passwd', '/etc/passwd', 'd/../../etc/passwd'])
        await expect(box.files.read(path, { beneath: '/output' }), path).rejects.toMatchObject({
          name: 'ContainerError',
        })
      await expect(box.files.read('fifo', { beneath: '/output' })).rejects.toMatchObject({ code: 'ENXIO' })
      expect((await box.files.read('d/file', { beneath: '/output' })).data.toString()).toBe('in\n')
    })

    test('never reads a file outside, however fast a program swaps it for a link', async () => {
      const loop =
        'echo mine > /output/real; while :; do ln -sfn /etc/passwd /output/x; mv -f /output/x /output/swap; echo mine > /output/x; mv -f /output/x /output/swap; done'
      const swapping = await box.exec({ argv: ['sh', '-c', loop], cwd: '/', env: {}, stdin: 'none' })
      const seen = new Set<string>()
      await waitFor('both answers', async () => {
        try {
          seen.add((await box.files.read('swap', { beneath: '/output' })).data.toString())
        } catch (error) {
          seen.add((error as { code: string }).code)
        }
        return seen.has('mine\n') && seen.has('ELOOP')
      })
      for (let round = 0; round < 500; round++)
        seen.add(
          await box.files.read('swap', { beneath: '/output' }).then(
            ({ data }) => data.toString(),
            ({ code }) => code as string,
          ),
        )
      swapping.kill('now')
      await swapping.exit
      expect([...seen].filter((answer) => !['mine\n', '', 'ELOOP', 'ENOENT'].includes(answer))).toEqual([])
    })

    test('gets no disk of the host through a volume declared by its image', async () => {
      const [repo, tag] = ['bax-test-volume', ownSession('of')]
      const name = `${repo}:${tag}`
      const base = await opened.containers.images.find(image)
      const made = await client.createContainer({ Image: base.id, Cmd: ['true'], Volumes: { '/data': {} } })
      await made.commit({ repo, tag })
      await made.remove({ force: true, v: true })
      try {
        const volumed = await opened.containers.create(smallContainer(name, { sessionId: ownSession('sh_volume') }))
        expect((await sh(volumed, 'mount | grep " /data "; echo x > /data/f; cat /data/f')).stdout).toMatch(
          /^tmpfs on \/data .*size=16384k.*\nx\n$/,
        )
        expect((await inspectOf(client, ownSession('sh_volume'))).Mounts).toEqual([])
        await volumed.remove()
      } finally {
        await dropReplaced((await connectDocker(shellConfig)).docker, (await client.getImage(name).inspect()).Id)
      }
    })

    test('only uses local images: a missing one is reported and not pulled', async () => {
      await expect(opened.containers.create(smallContainer('no/such:image'))).rejects.toMatchObject({
        code: 'image_not_found',
      })
      const derived = (await client.listImages())
        .flatMap(({ RepoTags }) => RepoTags ?? [])
        .find((name) => name.startsWith('bax-agent:'))
      await expect(opened.containers.create(smallContainer(derived!))).rejects.toMatchObject({
        code: 'image_not_found',
      })
      const strict = await openContainers({
        shell: { ...(process.env['DOCKER_HOST'] && { dockerHost: process.env['DOCKER_HOST'] }), images: ['other:1'] },
      })
      const names = (await strict.containers.images.list()).map(({ name }) => name)
      expect(names.every((name) => name.startsWith('bax-shell:'))).toBe(true)
      await strict.close()
    })
  })

  describe('with a network', () => {
    let box: ShellContainer
    let neighbour: ShellContainer
    let server: Server
    let port: number
    beforeAll(async () => {
      server = createServer((_, response) => response.end('the engine'))
      await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
      port = (server.address() as AddressInfo).port
      const bridged = (sessionId: string) =>
        opened.containers.create(smallContainer(image, { sessionId, network: 'bridge' }))
      ;[box, neighbour] = await Promise.all([bridged(ownSession('sh_bridged')), bridged(ownSession('sh_neighbour'))])
    })
    afterAll(() => server?.close())

    const ask = (address: string, at = 80) => sh(box, `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${address} ${at}`)
    const addressOf = async (sessionId: string) =>
      Object.values((await inspectOf(client, sessionId)).NetworkSettings.Networks)[0]!

    test('has an interface and a route to the internet', async () => {
      expect((await sh(box, 'ls /sys/class/net')).stdout).toBe('eth0\nlo\n')
      expect((await sh(box, 'ip route')).stdout).toMatch(/^default via /m)
      // A public address is routed: it is not reported as unreachable at once.
      expect((await sh(box, 'ip route get 1.1.1.1')).stdout).toMatch(/via /)
    })

    test('cannot reach the host through its gateway or any other address', async () => {
      const { Gateway, NetworkID } = await addressOf(ownSession('sh_bridged'))
      expect(await unfenced(client, image, NetworkID, `nc -w 5 ${Gateway} ${port}`)).toContain('the engine')
      const own = Object.values(networkInterfaces())
        .flatMap((list) => list ?? [])
        .filter(({ family, internal }) => family === 'IPv4' && !internal)
        .map(({ address }) => address)
      expect(own.length).toBeGreaterThan(0)
      for (const address of new Set([Gateway, ...own])) {
        const ran = await ask(address, port)
        expect(ran.stdout, address).toBe('')
        expect(ran.stderr, address).toMatch(/unreachable/)
      }
    })

    test('cannot reach metadata, private or link-local addresses', async () => {
      for (const address of [
        '169.254.169.254',
        '169.254.170.2',
        '100.100.100.200',
        '10.0.0.1',
        '172.17.0.1',
        '192.168.1.1',
      ])
        expect((await ask(address)).stderr, address).toMatch(/unreachable/)
      expect((await sh(box, 'ping -c 1 -W 1 fe80::1%eth0; ping6 -c 1 -W 1 fd00:ec2::254')).code).not.toBe(0)
    })

    test('cannot reach another session, or be reached by it', async () => {
      const { IPAddress } = await addressOf(ownSession('sh_neighbour'))
      const listening = await neighbour.exec({
        argv: ['sh', '-c', 'echo up; exec nc -l -p 8000'],
        cwd: '/',
        env: {},
        stdin: 'none',
      })
      await listening.stdout[Symbol.asyncIterator]().next()
      const ran = await sh(box, `echo hello | nc -w 2 ${IPAddress} 8000`)
      expect(ran.code).not.toBe(0)
      expect(ran.stderr).toMatch(/unreachable/)
      listening.kill('now')
      expect(await listening.exit).toMatchObject({ stdoutBytes: 3 })
    })

    test('cannot remove its fence', async () => {
      for (const command of [
        'ip rule del priority 200',
        'ip rule flush',
        'ip route add 172.16.0.0/12 dev eth0',
        'ip addr add 10.1.1.1/8 dev eth0',
      ])
        expect((await sh(box, command)).code, command).not.toBe(0)
      expect((await sh(box, 'ip rule')).stdout).toMatch(/^200:\s+from all to 172\.16\.0\.0\/12 .*unreachable/m)
    })

    test('leaves no helper container behind', async () => {
      const { Config } = await inspectOf(client, ownSession('sh_bridged'))
      const running = await ofEngine(client, `${labels.engine}=${Config.Labels[labels.engine]}`)
      expect(running.every(({ Labels }) => Labels[labels.session]?.startsWith('sh_'))).toBe(true)
      expect(running.every(({ State }) => State === 'running')).toBe(true)
    })
  })

  describe('when it is lost', () => {
    const lost = { name: 'BaxError', code: 'session_lost' }
    const begin = async (sessionId: string) => {
      const box = await opened.containers.create(smallContainer(image, { sessionId }))
      const exec = await box.exec({ argv: ['sh', '-c', 'echo up; exec sleep 777'], cwd: '/', env: {}, stdin: 'none' })
      const output = exec.stdout[Symbol.asyncIterator]()
      await output.next()
      return { box, exec, output, id: (await inspectOf(client, sessionId)).Id }
    }

    test('removed externally: running programs fail with session_lost and without an exit status', async () => {
      const { box, exec, output, id } = await begin(ownSession('sh_removed'))
      await client.getContainer(id).remove({ force: true })
      await expect(exec.exit).rejects.toMatchObject(lost)
      await expect(output.next()).rejects.toMatchObject(lost)
      expect(await box.died).toMatchObject({ reason: 'exited' })
      await expect(sh(box, 'true')).rejects.toMatchObject(lost)
      await expect(box.files.info('/')).rejects.toMatchObject(lost)
    })

    test('paused externally: fails the same way within 5 s, and is removed', async () => {
      const { box, exec, id } = await begin(ownSession('sh_paused'))
      const before = performance.now()
      await client.getContainer(id).pause()
      await expect(exec.exit).rejects.toMatchObject(lost)
      // The documented maximum: two checks and an inspection.
      expect(performance.now() - before).toBeLessThan(5000)
      expect(await box.died).toMatchObject({ reason: 'paused' })
      await waitFor(
        'its removal',
        async () => (await ofEngine(client, `${labels.session}=${ownSession('sh_paused')}`)).length === 0,
      )
    })

    test('a pending read of a file fails, too', async () => {
      const box = await opened.containers.create(smallContainer(image, { sessionId: ownSession('sh_reading') }))
      await sh(box, 'head -c 8000000 /dev/zero > /workspace/large')
      const { data } = await box.files.readStream('/workspace/large')
      const pieces = data[Symbol.asyncIterator]()
      await pieces.next()
      await client.getContainer((await inspectOf(client, ownSession('sh_reading'))).Id).kill()
      await expect(
        (async () => {
          for (let next = await pieces.next(); !next.done; next = await pieces.next()) continue
        })(),
      ).rejects.toMatchObject(lost)
    })

    test('removed by us: can be repeated, and Docker no longer has it', async () => {
      const { box, exec, id } = await begin(ownSession('sh_ended'))
      await Promise.all([box.remove(), box.remove()])
      await expect(exec.exit).rejects.toMatchObject(lost)
      await expect(client.getContainer(id).inspect()).rejects.toMatchObject({ statusCode: 404 })
      expect(box.end).toMatchObject({ reason: 'removed' })
    })
  })

  describe('when its engine ends', () => {
    test('regularly: nothing is left, including warm containers', async () => {
      const engine = await openContainers({ home: 'local' })
      await engine.containers.create(smallContainer(image, { sessionId: ownSession('sh_first') }))
      await waitFor('the warm one', async () => (await engine.containers.status()).warm === 1)
      const { Config } = await inspectOf(client, ownSession('sh_first'))
      const label = `${labels.engine}=${Config.Labels[labels.engine]}`
      expect(await ofEngine(client, label)).toHaveLength(2)
      await engine.close()
      expect(await ofEngine(client, label)).toEqual([])
    })

    test('by SIGKILL with a running program: its containers exit', async () => {
      const host = await startShellHost(image)
      const { Config } = await inspectOf(client, ownSession('sh_killed'))
      const label = `${labels.engine}=${Config.Labels[labels.engine]}`
      expect(await ofEngine(client, label)).toHaveLength(2)
      host.process.kill('SIGKILL')
      await waitFor('their end', async () => (await ofEngine(client, label)).length === 0)
      await host.close()
    })

    test('the next engine of its folder removes leftovers, but not other containers', async () => {
      const host = await startShellHost(image)
      const { Id, Config } = await inspectOf(client, ownSession('sh_killed'))
      const engine = Config.Labels[labels.engine]!
      // A paused container cannot notice; a container of another engine and one without an owner label stay.
      await client.getContainer(Id).pause()
      const foreign = { Image: image, Cmd: ['sleep', '777'] }
      const others = await Promise.all([
        client.createContainer(foreign),
        client.createContainer({ ...foreign, Labels: { [labels.engine]: 'another', [labels.owner]: 'x//1/1' } }),
        client.createContainer({
          ...foreign,
          Labels: {
            [labels.engine]: engine,
            [labels.owner]: Config.Labels[labels.owner]!.replace(/^[^/]*/, 'elsewhere'),
          },
        }),
      ])
      try {
        host.process.kill('SIGKILL')
        await waitFor('the death of the host', () => host.process.exitCode !== null || host.process.signalCode !== null)
        const next = await openContainers({ stateDir: host.stateDir })
        await next.containers.status()
        expect(await ofEngine(client, `${labels.session}=${ownSession('sh_killed')}`)).toEqual([])
        for (const other of others) expect((await other.inspect()).State.Status).toBe('created')
        await next.close()
      } finally {
        await Promise.all(others.map((other) => other.remove({ force: true })))
        await host.close()
      }
    })

    test('a running engine of the same folder keeps its containers', async () => {
      const box = await opened.containers.create(smallContainer(image, { sessionId: ownSession('sh_kept') }))
      const second = await openContainers({ stateDir: opened.stateDir })
      await second.containers.status()
      await second.close()
      expect(await sh(box, 'echo here')).toMatchObject({ stdout: 'here\n' })
      await box.remove()
    })
  })

  test('is removed once it is created if the caller has canceled', async () => {
    const controller = new AbortController()
    const creation = opened.containers.create(
      smallContainer(image, { sessionId: ownSession('sh_given_up') }),
      controller.signal,
    )
    controller.abort(new Error('given up'))
    await expect(creation).rejects.toThrow('given up')
    const third = await opened.containers.create(smallContainer(image, { sessionId: ownSession('sh_third') }))
    await waitFor(
      'its removal',
      async () => (await ofEngine(client, `${labels.session}=${ownSession('sh_given_up')}`)).length === 0,
    )
    await third.remove()
  })
})

describe.skipIf(full!.absent)(`the system's calls, ${nameOf(full!)}`, () => {
  test('that bypass the network rules or exploited kernels are blocked', async () => {
    const opened = await openContainers()
    const box = await opened.containers.create(smallContainer(full!.image))
    const program = `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
for number in (425, 426, 427):
    print(libc.syscall(number, 1, 0), os.strerror(ctypes.get_errno()))
for family in (40, 17):
    try: print(socket.socket(family, socket.SOCK_STREAM if family == 40 else socket.SOCK_RAW))
    except OSError as error: print(error.strerror)
print(socket.socket(socket.AF_INET).family.name, socket.socket(socket.AF_UNIX).family.name)
`
    const refused = 'Operation not permitted\n'
    const ran = await sh(box, '', { argv: ['python3', '-c', program] })
    expect(ran.stdout).toBe(`${`-1 ${refused}`.repeat(3)}${refused.repeat(2)}AF_INET AF_UNIX\n`)
    await opened.close()
  })
})

describe('without Docker', () => {
  test('reports the endpoint it tried and what to start', async () => {
    const { createContainers } = await import('../../src/engine/shell/docker/containers.ts')
    const stateDir = await mkdtemp(join(tmpdir(), 'bax-test-'))
    const shell = { dockerHost: 'unix:///nowhere/docker.sock' }
    const nowhere = createContainers({ stateDir, home: 'embedded', log: () => {}, shell })
    await expect(nowhere.status()).rejects.toMatchObject({
      code: 'docker_unavailable',
      message: 'cannot reach Docker at unix:///nowhere/docker.sock (no such socket)',
      hint: expect.stringContaining('DOCKER_HOST'),
    })
    await nowhere.close()
    await rm(stateDir, { recursive: true })
  })
})

describe.skipIf('absent' in podman)(`on Podman${'absent' in podman ? `: ${podman.absent}` : ''}`, () => {
  test('a program runs, and the container is removed', async () => {
    const { endpoint } = podman as { endpoint: string }
    const opened = await openContainers({ shell: { dockerHost: endpoint } })
    await opened.containers.images.build('busybox', {})
    const box = await opened.containers.create(smallContainer('bax-shell:busybox'))
    expect(await sh(box, 'id -u; cat', { stdin: Buffer.from('in') })).toMatchObject({ stdout: '1000\nin', code: 0 })
    await opened.close()
  })
})
