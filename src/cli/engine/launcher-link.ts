/**
 * Lets the link of `bax` on the PATH lead to the native launcher. Package managers create it to `bin/bax.js`, which a shell
 * has to read first. Installing or removing the package replaces or removes the link whatever it leads to.
 */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, readlink, realpath, rename, rm, symlink } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { systemReason } from '../../core/errors/system-errors.ts'
import { succeeds } from '../../core/succeeds.ts'
import { version } from '../../core/version.ts'
import type { Io } from '../io.ts'

/** Maximum number of links that Linux follows in a path. */
const mostLinks = 40
/** Timeout of `bax --version`, in milliseconds; it may start Node. */
const versionMs = 20_000

interface Outcome {
  /** Links that lead to the launcher now. */
  readonly linked: readonly string[]
  /** Reasons for links that were not changed. */
  readonly failures: readonly string[]
}

/** Changes the links of this installation; leaves checkouts and scripts of package managers as they are. */
export async function linkLauncher({
  host,
  env,
  cwd,
  signal,
}: Pick<Io, 'host' | 'env' | 'cwd' | 'signal'>): Promise<Outcome> {
  const { launcher } = host
  if (launcher === undefined || !(await isThere(launcher, constants.X_OK))) return { linked: [], failures: [] }
  const root = dirname(dirname(launcher))
  // The build of a checkout can be deleted, and is created again by the script.
  if (await isThere(join(root, 'scripts'))) return { linked: [], failures: [] }
  const folders = new Set((env['PATH'] ?? '').split(delimiter).filter(Boolean))
  const found = await Promise.all([...folders].map((folder) => linkToScript(resolve(cwd, folder, 'bax'), root)))
  const linked: string[] = []
  const failures: string[] = []
  for (const link of new Set(found.filter((path) => path !== undefined))) {
    const fresh = `${link}.${host.pid}`
    try {
      await symlink((await readlink(link)).replace(/bin\/bax\.js$/, `dist/${basename(launcher)}`), fresh)
      const { stdout } = await promisify(execFile)(fresh, ['--version'], {
        cwd,
        env: { ...env },
        timeout: versionMs,
        signal,
      })
      if (!stdout.includes(version)) throw new Error(`the launcher answers ${JSON.stringify(stdout)}`)
      await rename(fresh, link)
      linked.push(link)
    } catch (error) {
      await rm(fresh, { force: true })
      signal.throwIfAborted()
      failures.push(`${link} starts bax through a shell: ${systemReason(error as Error)}`)
    }
  }
  return { linked, failures }
}

/** Follows the links at a path to the one whose target is the script of this package. */
async function linkToScript(path: string, root: string): Promise<string | undefined> {
  for (let links = 0; links < mostLinks; links += 1) {
    // Another file, or none.
    const target = await readlink(path).catch(() => undefined)
    if (target === undefined) return undefined
    const next = resolve(await realpath(dirname(path)), target)
    if (next.endsWith('/bin/bax.js') && (await isSame(dirname(dirname(next)), root))) return path
    path = next
  }
  return undefined
}

const isSame = async (path: string, other: string) =>
  (await isThere(path)) && (await realpath(path)) === (await realpath(other))

const isThere = (path: string, mode?: number) => succeeds(access(path, mode))
