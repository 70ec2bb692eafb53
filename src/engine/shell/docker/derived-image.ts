/** Derives images that contain the agent, created once per base image and kept in Docker. */
import type Dockerode from 'dockerode'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import type { OwnersOfImage } from '../agent/files.ts'
import type { DockerConnection } from './connection.ts'
import { ignoreStatuses } from './errors.ts'
import { agentPath } from './host-config.ts'
import { tar } from './tar.ts'

/** Repository of derived images; not available to sessions. */
export const derivedRepository = 'bax-agent'

/** Image with the agent, and state shared by all of its containers. */
export interface DerivedImage extends OwnersOfImage {
  readonly id: string
  readonly env: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  /** Cached paths of programs; null if not found. */
  readonly programs: Map<string, string | null>
}

/**
 * Returns the image with the agent for `baseId`. Its tag consists of two hashes, so an existing one is current.
 * @param own Labels of the temporary container.
 */
export async function derivedImage(
  { docker, architecture }: DockerConnection,
  baseId: string,
  own: Record<string, string>,
): Promise<DerivedImage> {
  const agent = await agentBinary(architecture)
  const tag = `${baseTag(baseId)}-${agent.hash}`
  const name = `${derivedRepository}:${tag}`
  const found = await ignoreStatuses([404], docker.getImage(name).inspect())
  if (found) return factsOf(found)
  const container = await docker.createContainer({
    Image: baseId,
    Labels: own,
    Entrypoint: [agentPath],
    Cmd: [],
    User: '0:0',
  })
  try {
    const path = agentPath.slice(1)
    // The container is never started: only then is the archive call safe and the root writable.
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
  // Remove images with an earlier agent.
  await dropDerived(docker, (base, hash) => base === baseTag(baseId) && hash !== agent.hash)
  return factsOf(await docker.getImage(name).inspect())
}

const factsOf = ({ Id, Config }: Dockerode.ImageInspectInfo): DerivedImage => ({
  id: Id,
  env: Object.fromEntries(
    (Config.Env ?? []).map((item) => {
      const at = item.indexOf('=')
      return [item.slice(0, at), item.slice(at + 1)]
    }),
  ),
  volumes: Object.keys(Config.Volumes ?? {}),
  programs: new Map(),
})

/** Removes derived images whose base image no longer exists, unless they are in use. */
export async function dropStale(docker: Dockerode): Promise<void> {
  const images = await docker.listImages()
  const bases = new Set(images.map(({ Id }) => baseTag(Id)))
  await dropDerived(docker, (base) => !bases.has(base))
}

/** Removes an image that has lost its name, and the images derived from it, unless they are in use. */
export async function dropReplaced(docker: Dockerode, id: string): Promise<void> {
  await dropDerived(docker, (base) => base === baseTag(id))
  await ignoreStatuses([404, 409], docker.getImage(id).remove())
}

/** Removes derived images; an engine that still needs one creates it again. */
async function dropDerived(docker: Dockerode, isObsolete: (base: string, agent: string) => boolean): Promise<void> {
  const names = (await docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? [])
  for (const name of names) {
    const [repository, tag = ''] = name.split(':')
    const [base = '', agent = ''] = tag.split('-')
    if (repository === derivedRepository && isObsolete(base, agent))
      await ignoreStatuses([404, 409], docker.getImage(name).remove())
  }
}

const baseTag = (id: string) => id.replace(/^sha256:/, '').slice(0, 24)

/** Yields the folders to search: beside the bundle, or the build output of a checkout. */
function* folders(): Generator<string> {
  yield join(import.meta.dirname, 'agent')
  for (let at = import.meta.dirname, above = dirname(at); at !== above; at = above, above = dirname(at))
    yield join(above, 'dist', 'agent')
}

/** Loads the compiled agent; `hash` is the start of its SHA-256. @throws BaxError `feature_disabled` in a source checkout without a compiled agent. */
async function agentBinary(architecture: DockerConnection['architecture']): Promise<{ bytes: Buffer; hash: string }> {
  for (const folder of folders()) {
    try {
      const bytes = await readFile(join(folder, `agent-${architecture}`))
      return { bytes, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new BaxError('feature_disabled', `the agent of shell sessions is not compiled for ${architecture}`, {
    hint: 'run `npm run setup` in the checkout; it needs a C compiler',
  })
}
