/** Manages local Docker images, including the two that bax builds itself. */
import type Dockerode from 'dockerode'
import type { Readable } from 'node:stream'
import { BaxError } from '../../../core/errors/errors.ts'
import { imagePattern, isImageReference } from '../../../core/config/image-reference.ts'
import { type OwnImage, ownImages, type ShellImage } from '../container.ts'
import type { DockerConnection } from '../docker/connection.ts'
import { derivedRepository, dropReplaced } from '../docker/derived-image.ts'
import { dockerError, ignoreStatuses, statusOf } from '../docker/errors.ts'
import { makeBusybox } from './busybox-image.ts'
import { makeDebian, shellDebian } from './debian-image.ts'
import type { ToolRun } from './tool.ts'

type Progress = Pick<ToolRun, 'report' | 'signal'>

export class LocalImages {
  readonly #connect: () => Promise<DockerConnection>
  readonly #allowed: ReadonlySet<string> | undefined

  /** @param allowed Allowed names; undefined allows every local image. */
  constructor(connect: () => Promise<DockerConnection>, allowed: readonly string[] | undefined) {
    this.#connect = connect
    this.#allowed = allowed && new Set([...allowed, ...Object.values(ownImages)].map(fullName))
  }

  /** Lists local images that sessions may use: bax's own and those on the allow-list. */
  async list(): Promise<ShellImage[]> {
    const { docker } = await this.#connect()
    const images = await translated('listing images', docker.listImages())
    return images
      .flatMap(({ RepoTags, Id: id, Size: sizeBytes, Created }) =>
        (RepoTags ?? [])
          .filter((name) => this.#isAllowed(name))
          .map((name) => ({ name, id, sizeBytes, createdAt: new Date(Created * 1000).toISOString() })),
      )
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
  }

  /** @throws BaxError `image_not_found` (hint: how to build or pull it); never pulls. */
  async find(name: string): Promise<ShellImage> {
    if (!this.#isAllowed(name)) throw this.#notFound(name)
    const { docker } = await this.#connect()
    const found = await translated('inspecting an image', ignoreStatuses([404], docker.getImage(name).inspect()))
    const tags = found?.RepoTags ?? []
    const isDerived = tags.length > 0 && tags.every((tag) => tag.startsWith(`${derivedRepository}:`))
    if (!found || isDerived) throw this.#notFound(name)
    return factsOf(name, found)
  }

  /** Pulls from a registry. @throws BaxError `image_not_found` if the registry is unreachable or lacks the image. */
  async pull(name: string, { report, signal }: Progress): Promise<ShellImage> {
    if (!this.#isAllowed(name)) throw this.#notFound(name)
    const { docker } = await this.#connect()
    try {
      const stream = (await docker.pull(fullName(name), { ...(signal && { abortSignal: signal }) })) as Readable
      await finished(docker, stream, report)
    } catch (error) {
      signal?.throwIfAborted()
      const failure = dockerError(error, 'pulling an image')
      // Docker reports the answers of the registry like its own errors.
      const isOfRegistry = failure.code === 'internal_error' || statusOf(error) !== undefined
      if (!isOfRegistry || failure.code === 'no_space') throw failure
      throw new BaxError('image_not_found', `cannot pull ${name}: ${(error as Error).message.trim()}`, {
        hint: 'check the name, and that the registry is reachable from the machine of Docker',
        cause: error,
      })
    }
    return this.find(name)
  }

  /**
   * Builds one of bax's own images on this machine (`default`: Debian with Python, Node, git; `busybox`: 2 MB).
   * @throws BaxError `image_failed` with the missing tool, or the last lines of its output.
   */
  async build(which: OwnImage, progress: Progress): Promise<ShellImage> {
    const { docker, architecture } = await this.#connect()
    if (process.platform !== 'linux' || architecture !== process.arch)
      throw new BaxError(
        'image_failed',
        `building images needs Linux on the architecture of Docker (${architecture})`,
        {
          hint: 'use a public image: `docker pull python:3.12-slim` and `--image python:3.12-slim`',
        },
      )
    const name = ownImages[which]
    const previous = await translated('inspecting an image', ignoreStatuses([404], docker.getImage(name).inspect()))
    const take = (archive: Readable) => importImage(docker, name, archive)
    if (which === 'busybox') await take(await makeBusybox())
    else await makeDebian(shellDebian, progress, take)
    const built = await this.find(name)
    if (previous && previous.Id !== built.id)
      await translated('removing the previous image', dropReplaced(docker, previous.Id))
    return built
  }

  #isAllowed(name: string): boolean {
    if (!isImageReference(name) || fullName(name).startsWith(`${derivedRepository}:`)) return false
    return this.#allowed === undefined || this.#allowed.has(fullName(name))
  }

  #notFound(name: string): BaxError {
    const [own] = Object.entries(ownImages).find(([, image]) => image === fullName(name)) ?? []
    const denied = this.#allowed !== undefined && !this.#allowed.has(fullName(name))
    let hint = denied ? 'run "bax shell image list"' : `run "bax shell image list", or "docker pull ${name}"`
    if (own) hint = `run "bax shell image build${own === 'default' ? '' : ` --which ${own}`}"`
    const message = denied ? `the image ${name} is not allowed here` : `no image ${name} on this machine`
    return new BaxError('image_not_found', message, { hint })
  }
}

/** Adds the default tag: `python` becomes `python:latest`. */
function fullName(name: string): string {
  const [, , tag, digest] = imagePattern.exec(name) ?? []
  return tag === undefined && digest === undefined ? `${name}:latest` : name
}

const factsOf = (name: string, { Id, Size, Created }: Dockerode.ImageInspectInfo): ShellImage => ({
  name: fullName(name),
  id: Id,
  sizeBytes: Size,
  createdAt: new Date(Created).toISOString(),
})

async function translated<T>(action: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw dockerError(error, action)
  }
}

async function importImage(docker: Dockerode, name: string, archive: Readable): Promise<void> {
  const [repo, tag] = name.split(':')
  const changes = ['WORKDIR /workspace', 'USER 1000:1000', 'ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin']
  const importing = docker.importImage(archive, { repo, tag, changes, message: 'made by bax' })
  const done = importing.then((stream) => finished(docker, stream as Readable))
  await translated('importing an image', done)
}

/** Reports Docker's progress until the end; rejects on an error in it. */
async function finished(docker: Dockerode, stream: Readable, report?: (line: string) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null) => (error ? reject(error) : resolve()),
      ({ status, id }: { status?: string; id?: string }) => status && report?.(id ? `${id}: ${status}` : status),
    )
  })
}
