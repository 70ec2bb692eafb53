/** Shell sessions through the API, once per location, on the Docker of this machine. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { Frame } from '../../src/core/operation/call.ts'
import { follow } from '../../src/client/client.ts'
import type { Client } from './client.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { ExecResult } from '../../src/core/shapes/shell/exec.ts'
import type { ShellSession } from '../../src/core/shapes/shell/session.ts'
import { nameOf, shellConfig, testImages } from './docker.ts'
import { homeNames, type Homes, openHomes, usualHomes } from './homes.ts'

type Fields = Record<string, unknown>
export type AnyFrame = Frame & Fields

export const busybox = testImages[0]!
export const debian = testImages[1]!
/** The small image, unless `BAX_TEST_IMAGE=default` selects the default one. */
const defaultImage = process.env['BAX_TEST_IMAGE'] === 'default' ? debian : busybox

export interface GivenShell {
  readonly homes: () => Homes
  readonly client: () => Client
  readonly transport: () => Transport
  /** Returns the ID of the session shared by the tests of a location. */
  id(): string
  /** Creates another session. */
  create(input?: Fields): Promise<ShellSession>
  /** Runs a command line in the shared session, or in that of `more`. */
  sh(command: string, more?: Fields): Promise<ExecResult>
  /** Returns all frames of an exec. */
  stream(body: Fields, options?: { signal?: AbortSignal; onFrame?: (frame: AnyFrame) => void }): Promise<AnyFrame[]>
}

interface ShellOptions {
  readonly image?: (typeof testImages)[number]
  /** Options of the shared session. */
  readonly session?: Fields
  /** Locations of the engine. */
  readonly homes?: readonly (typeof homeNames)[number][]
}

/** Runs the same tests in each location; without Docker or the image they are skipped with the reason. */
export function inEveryShell(
  tests: (given: GivenShell) => void,
  { image = defaultImage, session = {}, homes: names = usualHomes }: ShellOptions = {},
): void {
  describe.skipIf(image.absent !== null)(nameOf(image), () => {
    describe.each(names)('%s', (home) => {
      let homes: Homes
      let shared: string
      const client = () => homes.clients[home]
      const create = (input: Fields = {}) => client().createShell({ image: image.image, ...input } as never)
      beforeAll(async () => {
        homes = await openHomes({ shell: { ...shellConfig, warm: 0 } })
        shared = (await create(session)).session_id
      })
      afterAll(() => homes?.close())

      tests({
        homes: () => homes,
        client,
        transport: () => homes.transports[home],
        id: () => shared,
        create,
        sh: (command, more = {}) =>
          client().shellExec({ session_id: shared, command, ...more } as never) as Promise<ExecResult>,
        async stream(body, { signal, onFrame } = {}) {
          const frames: AnyFrame[] = []
          const input = { session_id: shared, ...body }
          const options = signal ? { signal } : {}
          for await (const frame of follow(homes.transports[home], 'POST /shell/exec/stream', input, options)) {
            frames.push(frame as AnyFrame)
            onFrame?.(frame as AnyFrame)
          }
          return frames
        },
      })
    })
  })
}

/** Returns the exact bytes in the frames of one stream. */
export const bytesOf = (frames: readonly AnyFrame[], type = 'stdout'): Buffer =>
  Buffer.concat(
    frames
      .filter((frame) => frame.type === type)
      .map(({ data, encoding }) => Buffer.from(String(data), encoding as BufferEncoding)),
  )

/** Returns the exact bytes of a result's stdout. */
export const stdoutOf = ({ stdout, stdout_encoding }: ExecResult): Buffer => Buffer.from(stdout, stdout_encoding)
