/** Cost of a shell session compared with `docker exec`, a cold container compared with a warm one, and throughput. */
import Docker from 'dockerode'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../../src/core/engine.ts'
import { execInput, execStreamInput } from '../../src/core/shapes/shell/exec.ts'
import { shellSessionInput } from '../../src/core/shapes/shell/session.ts'
import { createEngine } from '../../src/engine/index.ts'
import { ArtifactCapture } from '../../src/engine/shell/artifacts/capture.ts'
import { ArtifactStore } from '../../src/engine/shell/artifacts/store.ts'
import { connectDocker } from '../../src/engine/shell/docker/connection.ts'
import { createContainers } from '../../src/engine/shell/docker/containers.ts'
import { labels } from '../../src/engine/shell/docker/engine-identity.ts'
import { call } from './engines.ts'
import { ms, msTitle, ratio, run, type Table, timing, withSpread } from './measure.ts'

const image = 'bax-shell:default'
const dockerHost = process.env['DOCKER_HOST']

interface Bench {
  readonly engine: Engine
  readonly docker: Docker
  /** `unix:///…` */
  readonly endpoint: string
  readonly session: string
  /** Docker's ID of the session's container. */
  readonly container: string
}

export async function measure(): Promise<Table[]> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const shell = { ...(dockerHost && { dockerHost }), warm: 1 }
  const engine = createEngine({
    home: 'server',
    stateDir,
    cacheDir: stateDir,
    display: false,
    writeAnywhere: true,
    log: () => {},
    shell,
  })
  try {
    const { docker, endpoint } = await connectDocker(shell)
    const { session_id: session } = await engine.shells.sessions.create(shellSessionInput.parse({ image }), call)
    const filters = JSON.stringify({ label: [`${labels.session}=${session}`] })
    const [found] = await docker.listContainers({ filters })
    const bench: Bench = { engine, docker, endpoint, session, container: found!.Id }
    return [
      await roundTrip(bench),
      await throughput(bench),
      await creation(bench),
      await output(bench),
      await capture(shell),
    ]
  } finally {
    await engine.close()
    await rm(stateDir, { recursive: true, force: true })
  }
}

const command = 'true'
const viaEngine = ({ engine, session }: Bench) =>
  engine.shells.execs.run(execInput.parse({ session_id: session, command }), call)

/** Like a client of Docker's API: create, start, read to the end, inspect. */
async function execThroughApi({ docker, container }: Bench): Promise<void> {
  const exec = await docker
    .getContainer(container)
    .exec({ Cmd: ['bash', '-c', command], AttachStdout: true, AttachStderr: true })
  const stream = await exec.start({ hijack: true, stdin: false })
  stream.resume()
  await new Promise<void>((resolve) => stream.on('end', resolve))
  await exec.inspect()
}

async function roundTrip(bench: Bench): Promise<Table> {
  const { endpoint, container } = bench
  const bax = 'bax shell exec (engine call)'
  const api = 'docker exec through its API'
  const cli = 'docker exec in the terminal'
  const cases = {
    [api]: () => execThroughApi(bench),
    [cli]: () => run('docker', ['--host', endpoint, 'exec', container, 'bash', '-c', command]),
    [bax]: () => viaEngine(bench),
  }
  const times = await inBlocks(cases, 8, 10)
  return {
    title: 'A command in a shell session, to its exit code',
    note: 'Artifacts are looked for after each: nothing had changed.',
    columns: [msTitle, "to docker exec's API"],
    rows: [api, cli, bax].map((name) => ({
      name,
      cells: [ms(times[name]!), ratio(times[name]!, times[api]!, ...(name === bax ? [0.067] : []))],
    })),
  }
}

/**
 * Measures every case in blocks, in turn. Docker keeps cleaning up after an exec that has returned, which must not
 * affect the next case: the first run of each block is not counted.
 */
async function inBlocks(cases: Record<string, () => Promise<unknown>>, blocks: number, each: number) {
  const all = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]))
  for (let block = 0; block < blocks; block++) {
    for (const [name, one] of Object.entries(cases)) {
      for (let round = 0; round <= each; round++) {
        const start = performance.now()
        await one()
        if (round > 0) all.get(name)!.push(performance.now() - start)
      }
    }
  }
  return Object.fromEntries([...all].map(([name, measured]) => [name, timing(measured)]))
}

async function throughput(bench: Bench): Promise<Table> {
  const eight = async (one: () => Promise<unknown>, each: number) => {
    const start = performance.now()
    await Promise.all(Array.from({ length: 8 }, async () => void (await times(each, one))))
    return (8 * each * 1000) / (performance.now() - start)
  }
  await eight(() => viaEngine(bench), 5)
  const perSecond = { api: [] as number[], bax: [] as number[] }
  for (let round = 0; round < 5; round++) {
    perSecond.api.push(await eight(() => execThroughApi(bench), 4))
    perSecond.bax.push(await eight(() => viaEngine(bench), 40))
  }
  const [api, bax] = [timing(perSecond.api), timing(perSecond.bax)]
  const gain = bax.median / api.median
  return {
    title: 'Eight at the same time',
    columns: ['commands a second, median (quartiles)', "to docker exec's API"],
    rows: [
      { name: 'docker exec through its API', cells: [withSpread(api, 0), '1x'] },
      {
        name: 'bax shell exec (engine call)',
        cells: [withSpread(bax, 0), `${gain.toFixed(1)}x (at least 20x${gain < 20 ? ', MISSED' : ''})`],
      },
    ],
  }
}

async function times(count: number, one: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < count; round++) await one()
}

/** A container of a new kind is created; one of a known kind is taken from the pool. */
async function creation({ engine }: Bench): Promise<Table> {
  const cold: number[] = []
  const warm: number[] = []
  const timed = async (into: number[], input: object) => {
    const start = performance.now()
    const { session_id: id } = await engine.shells.sessions.create(shellSessionInput.parse({ image, ...input }), call)
    await engine.shells.execs.run(execInput.parse({ session_id: id, command }), call)
    into.push(performance.now() - start)
    await engine.shells.sessions.delete(id, call)
  }
  for (let round = 0; round < 5; round++) {
    await timed(cold, { limits: { pids: 100 + round } })
    // The pool refills after the session that emptied it.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    await timed(warm, {})
    await new Promise((resolve) => setTimeout(resolve, 2500))
  }
  const [of, to] = [timing(warm), timing(cold)]
  return {
    title: 'A new session, to the end of its first command',
    columns: [msTitle, 'to a cold one'],
    rows: [
      { name: 'cold', cells: [ms(to), '1x'] },
      { name: 'from the warm pool', cells: [ms(of), ratio(of, to, 0.2)] },
    ],
  }
}

/** Streams 100 MB of standard output, and measures the memory growth of the engine. */
async function output({ engine, session }: Bench): Promise<Table> {
  const megabytes = 100
  const input = execStreamInput.parse({
    session_id: session,
    command: `head -c ${megabytes}000000 /dev/zero | tr '\\0' x`,
  })
  const rates: number[] = []
  let growth = 0
  for (let round = 0; round < 5; round++) {
    const before = process.memoryUsage.rss()
    const start = performance.now()
    let bytes = 0
    for await (const frame of await engine.shells.execs.stream(input, { ...call, since: undefined })) {
      if (frame.type === 'stdout') bytes += (frame as unknown as { data: string }).data.length
      growth = Math.max(growth, process.memoryUsage.rss() - before)
    }
    if (bytes !== megabytes * 1e6) throw new Error(`${bytes} bytes came`)
    rates.push(megabytes / ((performance.now() - start) / 1000))
  }
  const rate = timing(rates)
  const grown = growth / 1024 / 1024
  return {
    title: `${megabytes} MB of standard output, streamed`,
    columns: ['MB/s, median (quartiles)', "growth of the engine's memory"],
    rows: [
      {
        name: 'bax shell exec, frames (engine call)',
        cells: [
          `${withSpread(rate, 0)} (at least 100${rate.median < 100 ? ', MISSED' : ''})`,
          `${grown.toFixed(0)} MB (under 64 MB${grown >= 64 ? ', MISSED' : ''})`,
        ],
      },
    ],
  }
}

/** The check of the output mount after each command, with a hundred unchanged files. */
async function capture(shell: { dockerHost?: string }): Promise<Table> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const containers = createContainers({ home: 'embedded', stateDir, log: () => {}, shell })
  const store = new ArtifactStore(stateDir)
  try {
    await store.start()
    const { limits } = shellSessionInput.parse({})
    const box = await containers.create({
      sessionId: 'sh_bench',
      image,
      network: 'none',
      outputMounts: ['/output'],
      limits: {
        memoryMb: limits.memory_mb,
        cpus: limits.cpus,
        pids: limits.pids,
        workspaceMb: 64,
        outputMb: 64,
        tmpMb: 64,
        workspaceFiles: limits.workspace_files,
        outputFiles: limits.output_files,
        tmpFiles: limits.tmp_files,
      },
    })
    for (let index = 0; index < 100; index++) await box.files.write(`/output/${index}`, Buffer.from(`file ${index}`))
    const about = { id: 'sh_bench', owner: null, mounts: ['/output'], endsBy: new Date(Date.now() + 60_000) }
    const artifacts = new ArtifactCapture(about, store, { log: () => {} })
    const first = await artifacts.scan(box.files, null)
    const times: number[] = []
    for (let round = 0; round < 100; round++) {
      const start = performance.now()
      if ((await artifacts.scan(box.files, null)) !== null) throw new Error('something has changed')
      times.push(performance.now() - start)
    }
    const duration = timing(times)
    return {
      title: 'The look for artifacts after a command',
      columns: [msTitle],
      rows: [
        {
          name: `${first?.files} files, none changed`,
          cells: [`${ms(duration)} (under 3${duration.median >= 3 ? ', MISSED' : ''})`],
        },
      ],
    }
  } finally {
    await containers.close()
    await rm(stateDir, { recursive: true, force: true })
  }
}
