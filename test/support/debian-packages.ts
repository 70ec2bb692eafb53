/** Packages of Debian that are unpacked into temporary folders, not installed. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Downloads packages once per machine, and unpacks them into a fresh folder, which it returns. */
export async function unpackPackages(name: string, packages: readonly string[]): Promise<string> {
  const key = createHash('sha256').update(packages.join()).digest('hex').slice(0, 12)
  const store = join(tmpdir(), `bax-test-${name}-${key}`)
  if (!existsSync(store)) {
    const fresh = await mkdtemp(`${store}-`)
    await run('apt-get', ['download', '-qq', ...packages], { cwd: fresh })
    await run('mv', ['-T', fresh, store])
  }
  const root = await mkdtemp(join(tmpdir(), `bax-test-${name}-`))
  for (const file of await readdir(store)) await run('dpkg', ['-x', join(store, file), root])
  return root
}

/**
 * Returns packages with those that they depend on and that are not installed, in alphabetical order; undefined if one
 * is unknown.
 */
export async function withDependencies(packages: readonly string[]): Promise<string[] | undefined> {
  const simulate = () => run('apt-get', ['install', '-s', '-qq', '--no-install-recommends', '--reinstall', ...packages])
  const { stdout } = await simulate().catch(async () => {
    await run('apt-get', ['update', '-qq']).catch(() => {})
    return simulate().catch(() => ({ stdout: '' }))
  })
  const names = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!)
  return names.length === 0 ? undefined : names.toSorted()
}
