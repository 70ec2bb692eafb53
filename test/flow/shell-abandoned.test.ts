/** Containers that a killed engine has left to engines of other state folders on the same Docker. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AbandonedContainers } from '../../src/engine/shell/docker/abandoned.ts'
import { connectDocker } from '../../src/engine/shell/docker/connection.ts'
import { labels } from '../../src/engine/shell/docker/engine-identity.ts'
import { nameOf, otherClient, ownSession, shellConfig, testImages } from '../support/docker.ts'
import { makeHostProgram } from '../support/host-process.ts'
import { startShellHost } from '../support/shell-host.ts'
import { waitUntil } from '../support/wait.ts'

const busybox = testImages[0]!
const abandonedMs = 500
const notStarted = ownSession('sh_not_started')

/** Starts a proxy to the socket of Docker that passes everything on, except requests to start a container. */
async function withholdStarts(path: string): Promise<{ close(): void }> {
  const { endpoint } = await connectDocker(shellConfig)
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(endpoint.replace('unix://', ''))
    for (const socket of [near, far]) open.add(socket.on('error', () => {}))
    near.on('data', (bytes) => void (/^POST \S+\/start /.test(String(bytes)) || far.write(bytes)))
    near.on('close', () => far.destroy())
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

const source = `
import { createContainers } from './src/engine/shell/docker/containers.ts'
import { smallContainer } from './test/support/docker.ts'
const { image, sessionId, dockerHost } = JSON.parse(process.argv[2])
const containers = createContainers({ stateDir, home: 'local', log: () => {}, shell: { dockerHost, warm: 1 } })
process.send('begun')
await containers.create(smallContainer(image, { sessionId }))
`

test.skipIf(busybox.absent !== null)(
  `a container that its engine was killed before it started is removed, and those of living engines stay, ${nameOf(busybox)}`,
  async () => {
    const { image } = busybox
    const client = await otherClient()
    const folder = await mkdtemp(join(tmpdir(), 'bax-docker-'))
    const socket = join(folder, 'docker.sock')
    const [proxy, living, program] = await Promise.all([
      withholdStarts(socket),
      startShellHost(image),
      makeHostProgram(source),
    ])
    const labelled = (label: string) =>
      client.listContainers({ all: true, filters: JSON.stringify({ label: [label] }) })
    try {
      const { process: doomed } = await program.start([
        JSON.stringify({ image, sessionId: notStarted, dockerHost: `unix://${socket}` }),
      ])
      const session = `${labels.session}=${notStarted}`
      await waitUntil(async () => (await labelled(session)).length === 1)
      doomed.kill('SIGKILL')
      const [left] = await labelled(session)
      const [kept] = await labelled(`${labels.session}=${ownSession('sh_killed')}`)
      const engineOf = (one: typeof left) => `${labels.engine}=${one!.Labels[labels.engine]}`
      const sweeper = (label: string) => new AbandonedContainers({ docker: client, log: () => {}, label, abandonedMs })
      const [ofDoomed, ofLiving] = [sweeper(engineOf(left)), sweeper(engineOf(kept))]
      // Not the first time that it is seen.
      expect(await ofDoomed.sweep()).toEqual([])
      let removed: string[] = []
      await waitUntil(async () => (removed = await ofDoomed.sweep()).length > 0)
      expect(removed).toEqual([left!.Id])
      expect(await labelled(session)).toEqual([])
      const seen = performance.now()
      expect(await ofLiving.sweep()).toEqual([])
      await waitUntil(() => performance.now() - seen > 2 * abandonedMs)
      expect(await ofLiving.sweep()).toEqual([])
      // The one of the session, and the warm one.
      expect((await labelled(engineOf(kept))).map(({ State }) => State)).toEqual(['running', 'running'])
    } finally {
      proxy.close()
      await Promise.all([living.close(), program.close()])
      await rm(folder, { recursive: true, force: true })
    }
  },
)
