/** Images with our agent in them, made once from each image and kept by the Docker that has it. */
import type Dockerode from 'dockerode'
import type { DockerConnection } from './connection.ts'
import { agentBinary } from './agent-binary.ts'
import { unless } from './faults.ts'
import { agentPath } from './host-config.ts'
import { tar } from './tar.ts'

/** Repository of derived images; sessions cannot name them. */
export const derivedRepository = 'bax-agent'

export interface DerivedImage {
  readonly id: string
  /** `KEY=value` that the image gives to its programs. */
  readonly env: readonly string[]
  readonly volumes: readonly string[]
}

/**
 * The image with the agent that belongs to `baseId`. Both parts of its name are hashes, so one that is there is right.
 * `ours`: labels of the container that it is made with.
 */
export async function derivedImage(
  { docker, architecture }: DockerConnection,
  baseId: string,
  ours: Record<string, string>,
): Promise<DerivedImage> {
  const agent = await agentBinary(architecture)
  const tag = `${baseTag(baseId)}-${agent.hash}`
  const name = `${derivedRepository}:${tag}`
  const found = await unless([404], docker.getImage(name).inspect())
  if (found) return factsOf(found)
  const container = await docker.createContainer({
    Image: baseId,
    Labels: ours,
    Entrypoint: [agentPath],
    Cmd: [],
    User: '0:0',
  })
  try {
    const path = agentPath.slice(1)
    // Never started: only then is the archive call safe, and only there is the root writable.
    await container.putArchive(
      await tar([
        { path: path.slice(0, path.lastIndexOf('/')), mode: 0o755 },
        { path, content: agent.bytes, mode: 0o755 },
      ]),
      { path: '/' },
    )
    await container.commit({
      repo: derivedRepository,
      tag,
      comment: 'bax: an image and the agent of shell sessions',
      pause: false,
    })
  } finally {
    await container.remove({ force: true, v: true })
  }
  // Those with an earlier agent.
  await dropDerived(docker, (base, hash) => base === baseTag(baseId) && hash !== agent.hash)
  return factsOf(await docker.getImage(name).inspect())
}

const factsOf = ({ Id, Config }: Dockerode.ImageInspectInfo): DerivedImage => ({
  id: Id,
  env: Config.Env ?? [],
  volumes: Object.keys(Config.Volumes ?? {}),
})

/** Removes derived images whose own image is no more; one that a container runs from stays. */
export async function dropStale({ docker }: DockerConnection): Promise<void> {
  const images = await docker.listImages()
  const bases = new Set(images.map(({ Id }) => baseTag(Id)))
  await dropDerived(docker, (base) => !bases.has(base))
}

/** Removes an image that its name was taken from, and what was derived from it; what is in use stays. */
export async function dropReplaced({ docker }: DockerConnection, id: string): Promise<void> {
  await dropDerived(docker, (base) => base === baseTag(id))
  await unless([404, 409], docker.getImage(id).remove())
}

/** An engine that still wants one makes it again. */
async function dropDerived(docker: Dockerode, unwanted: (base: string, agent: string) => boolean): Promise<void> {
  const names = (await docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? [])
  for (const name of names) {
    const [repository, tag = ''] = name.split(':')
    const [base = '', agent = ''] = tag.split('-')
    if (repository === derivedRepository && unwanted(base, agent))
      await unless([404, 409], docker.getImage(name).remove())
  }
}

const baseTag = (id: string) => id.replace(/^sha256:/, '').slice(0, 24)
