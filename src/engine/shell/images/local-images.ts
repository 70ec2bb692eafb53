/** Images that Docker has on its machine, and the two that bax makes itself. */
import type Dockerode from 'dockerode'
import type { Readable } from 'node:stream'
import { BaxError } from '../../../core/errors/errors.ts'
import { imagePattern, isImageReference } from '../../../core/config/image-reference.ts'
import { type OwnImage, ownImages, type ShellImage, type ShellImages } from '../container.ts'
import type { DockerConnection } from '../docker/connection.ts'
import { derivedRepository, dropReplaced } from '../docker/derived-image.ts'
import { dockerFault, unless } from '../docker/faults.ts'
import { makeBusybox } from './busybox-image.ts'
import { makeDebian, shellDebian } from './debian-image.ts'

interface Options {
  readonly connect: () => Promise<DockerConnection>
  /** Names that may be used; undefined allows every local image. */
  readonly allowed: readonly string[] | undefined
}

type Progress = Parameters<ShellImages['build']>[1]

export class LocalImages implements ShellImages {
  readonly #connect: Options['connect']
  readonly #allowed: ReadonlySet<string> | undefined

  constructor({ connect, allowed }: Options) {
    this.#connect = connect
    this.#allowed = allowed && new Set([...allowed, ...Object.values(ownImages)].map(fullName))
  }

  async list(): Promise<ShellImage[]> {
    const { docker } = await this.#connect()
    const images = await guarded('listing images', docker.listImages())
    return images
      .flatMap((image) => (image.RepoTags ?? []).map((name) => ({ name, image })))
      .filter(({ name }) => this.#mayUse(name))
      .map(({ name, image }) => ({
        name,
        id: image.Id,
        sizeBytes: image.Size,
        createdAt: new Date(image.Created * 1000).toISOString(),
      }))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
  }

  async find(name: string): Promise<ShellImage> {
    if (!this.#mayUse(name)) throw this.#absent(name)
    const { docker } = await this.#connect()
    const found = await guarded('looking for an image', unless([404], docker.getImage(name).inspect()))
    if (
      !found ||
      (found.RepoTags?.every((tag) => tag.startsWith(`${derivedRepository}:`)) === true && found.RepoTags.length > 0)
    )
      throw this.#absent(name)
    return factsOf(name, found)
  }

  async pull(name: string, { report, signal }: Progress): Promise<ShellImage> {
    if (!this.#mayUse(name)) throw this.#absent(name)
    const { docker } = await this.#connect()
    try {
      const stream = (await docker.pull(fullName(name), { ...(signal && { abortSignal: signal }) })) as Readable
      await followed(docker, stream, report)
    } catch (error) {
      signal?.throwIfAborted()
      const fault = dockerFault(error, 'pulling an image')
      if (fault.code !== 'internal_error') throw fault
      throw new BaxError('image_not_found', `${name} could not be pulled: ${(error as Error).message.trim()}`, {
        hint: 'see whether the name is right and the registry can be reached from the machine that Docker runs on',
        cause: error,
      })
    }
    return this.find(name)
  }

  async build(which: OwnImage, progress: Progress): Promise<ShellImage> {
    const connection = await this.#connect()
    const { docker, architecture } = connection
    if (process.platform !== 'linux' || architecture !== process.arch)
      throw new BaxError(
        'image_failed',
        `images are made on Linux and for its own architecture; Docker runs ${architecture} here`,
        {
          hint: 'use a public image: `docker pull python:3.12-slim` and `--image python:3.12-slim`',
        },
      )
    const name = ownImages[which]
    const before = await guarded('looking for an image', unless([404], docker.getImage(name).inspect()))
    const take = (archive: Readable) => importImage(docker, name, archive)
    if (which === 'busybox') await take(await makeBusybox())
    else await makeDebian(shellDebian, progress, take)
    const made = await this.find(name)
    if (before && before.Id !== made.id) await guarded('removing the image before', dropReplaced(connection, before.Id))
    return made
  }

  #mayUse(name: string): boolean {
    if (!isImageReference(name) || fullName(name).startsWith(`${derivedRepository}:`)) return false
    return this.#allowed === undefined || this.#allowed.has(fullName(name))
  }

  #absent(name: string): BaxError {
    const [own] = Object.entries(ownImages).find(([, image]) => image === fullName(name)) ?? []
    const refused = this.#allowed !== undefined && !this.#allowed.has(fullName(name))
    return new BaxError(
      'image_not_found',
      refused ? `the image ${name} may not be used here` : `there is no image ${name} on this machine`,
      {
        hint: own
          ? `make it: \`bax shell image build${own === 'default' ? '' : ` --which ${own}`}\``
          : refused
            ? 'see `bax shell image list`'
            : `\`bax shell image list\` has those that are there; another is pulled by \`docker pull ${name}\``,
      },
    )
  }
}

/** `python` is `python:latest`. */
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

async function guarded<T>(doing: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw dockerFault(error, doing)
  }
}

async function importImage(docker: Dockerode, name: string, archive: Readable): Promise<void> {
  const [repo, tag] = name.split(':')
  const changes = ['WORKDIR /workspace', 'USER 1000:1000', 'ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin']
  try {
    const stream = (await docker.importImage(archive, { repo, tag, changes, message: 'made by bax' })) as Readable
    await followed(docker, stream)
  } catch (error) {
    throw dockerFault(error, 'importing an image')
  }
}

/** Follows Docker's progress to its end; a line with an error is one. */
async function followed(docker: Dockerode, stream: Readable, report?: (line: string) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null) => (error ? reject(error) : resolve()),
      ({ status, id }: { status?: string; id?: string }) => status && report?.(id ? `${id}: ${status}` : status),
    )
  })
}
