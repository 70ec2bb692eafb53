/** The server in its image, run like in the guide: built from this checkout, with its own container and network. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildImage } from '../../scripts/image/build.js'
import { request, type Answer } from './server.ts'
import { waitUntil } from './wait.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Returns the output of Docker's CLI. */
export const docker = async (...args: string[]): Promise<string> => (await run('docker', args)).stdout.trim()

/** Returns why the image cannot be built here; null if it can. */
export async function noServerImage(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'skipped, debootstrap is for root: run `sudo npx vitest …` or `sudo npm test`'
  const daemon = await docker('version').then(
    () => null,
    (error: Error) => error,
  )
  if (daemon) return 'skipped, no Docker answers: run `npm run setup`, which says why'
  const tool = await run('debootstrap', ['--version']).then(
    () => null,
    (error: Error) => error,
  )
  return tool && 'skipped, debootstrap is not installed: run `npm run setup`'
}

/** Same options as in the guide. */
const sandboxFlags = [
  '--security-opt',
  `seccomp=${root}scripts/image/seccomp.json`,
  '--security-opt',
  'no-new-privileges',
  '--cap-drop',
  'ALL',
  '--read-only',
  '--tmpfs',
  '/tmp',
]

export interface ImagedServer {
  readonly container: string
  /** Address of this machine that only containers reach. */
  readonly gateway: string
  /** Creates a key on the machine, without the server. */
  makeKey(name: string, ...scopes: string[]): Promise<string>
  /** Starts the server for the first time, with additional flags. */
  run(...flags: string[]): Promise<void>
  /** Starts the stopped container again. */
  restart(): Promise<void>
  /** `http://127.0.0.1:PORT`; the port changes at each start. */
  url(): string
  request(key: string | null, method: string, path: string, body?: object): Promise<Answer>
  /** Removes everything that was created. */
  close(): Promise<void>
}

/** Builds the image; its Debian base takes a minute or two, once per machine. */
export async function serverImage(): Promise<ImagedServer> {
  const name = `bax-test-${randomBytes(6).toString('hex')}`
  const runFlags = [...sandboxFlags, '--network', name, '-v', `${name}:/var/lib/bax`]
  await buildImage({ names: [name] })
  await docker('network', 'create', name)
  await docker('volume', 'create', name)
  let url = ''
  const sendToServer: ImagedServer['request'] = (key, method, path, body) =>
    request(url, method, path, body, key === null ? {} : { 'x-api-key': key })
  const ready = async () => {
    url = `http://${await docker('port', name, '4100/tcp')}`
    // Docker accepts connections before the server does, and may leave the first ones without a response.
    const answer = () => fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) })
    await waitUntil(() =>
      answer().then(
        ({ ok }) => ok,
        () => false,
      ),
    )
  }
  return {
    container: name,
    gateway: await docker('network', 'inspect', '--format', '{{(index .IPAM.Config 0).Gateway}}', name),
    makeKey: (who, ...scopes) =>
      docker('run', '--rm', ...runFlags, name, 'key', 'create', who, '--scopes', scopes.join(), '--embedded'),
    async run(...flags) {
      const serve = ['serve', '--host', '0.0.0.0', ...flags]
      await docker('run', '--detach', '--name', name, ...runFlags, '--publish', '127.0.0.1::4100', name, ...serve)
      await ready()
    },
    async restart() {
      await docker('start', name)
      await ready()
    },
    url: () => url,
    request: sendToServer,
    async close() {
      await docker('rm', '--force', name).catch(() => {})
      await docker('volume', 'rm', name)
      await docker('network', 'rm', name)
      await docker('rmi', name)
    },
  }
}
