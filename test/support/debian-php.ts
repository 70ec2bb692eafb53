/** PHP applications from Debian's packages on PHP's own server. They are unpacked into a temporary folder, not installed. */
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unpackPackages } from './debian-packages.ts'
import { freePort } from './ports.ts'
import { tied } from './tied.ts'
import { waitUntil } from './wait.ts'

const run = promisify(execFile)

/** PHP and the extensions of all applications. */
const php = ['php-cli', 'php-xml', 'php-mbstring', 'php-gd', 'php-intl', 'php-sqlite3']

/** Returns why PHP applications cannot run here, or undefined if they can. */
export function missingForPhp(): string | undefined {
  if (!existsSync('/usr/bin/apt-get')) return 'the application comes from Debian packages and there is no apt-get here'
  if (process.getuid?.() !== 0 && !existsSync('/usr/bin/php'))
    return 'PHP is not installed and only root may install it'
  return undefined
}

/** Downloads packages once per machine and unpacks them into a fresh folder; installs the missing extensions of PHP. */
export async function unpackPhp(name: string, packages: readonly string[], extension: string): Promise<string> {
  const modules = existsSync('/usr/bin/php') ? (await run('php', ['-m'])).stdout : ''
  if (!modules.split('\n').includes(extension)) {
    await run('apt-get', ['update', '-qq'])
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...php], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  return unpackPackages(name, packages)
}

/** An application that is served from its package, with one user. */
export interface ServedApplication {
  readonly url: string
  readonly password: string
  /** Folders of everything that the application stores. */
  readonly folders: readonly string[]
  close(): Promise<void>
}

/** Serves a folder below `root`; closing removes `root`. */
export async function servePhp(
  root: string,
  { folder, page, settings = [] }: { readonly folder: string; readonly page: string; readonly settings?: string[] },
): Promise<Pick<ServedApplication, 'url' | 'close'>> {
  const url = `http://127.0.0.1:${await freePort()}`
  const flags = ['display_errors=0', 'opcache.enable=0', ...settings].flatMap((setting) => ['-d', setting])
  const server = spawn(...tied('php', [...flags, '-S', new URL(url).host, '-t', join(root, folder)]), {
    stdio: 'ignore',
  })
  const answers = () =>
    fetch(`${url}/${page}`).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitUntil(answers)
  return {
    url,
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGTERM')
      await ended
      await rm(root, { recursive: true, force: true })
    },
  }
}
