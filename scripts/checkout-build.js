// The build of a source checkout: `dist` is a link to a folder of its own for each build, and is replaced in one step.
// Running engines and servers keep their build and its packages while others are built or installed.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, readlink, rename, rm, stat, symlink, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { linkTree } from './link-tree.js'
import { takeLock } from './checkout-lock.js'

/** Prefix of these folders, which lie beside `dist`, where a build finds the sources and `bin`. */
const prefix = '.dist-'

/** Time that builds are kept where their use cannot be determined, in milliseconds. */
const keptMs = 7 * 24 * 3_600_000

/** Moves a fresh build into place; an equal one is used again. */
export async function place(root, fresh) {
  const packages = await runtimePackages(root)
  const folder = join(root, `${prefix}${await hashOf(fresh, JSON.stringify(packages))}`)
  // Another build could remove the folder before `dist` links to it.
  const lock = await takeLock(root, 'build')
  try {
    if (!existsSync(folder)) {
      // Packages inside a package have entries of their own.
      for (const [path] of packages)
        await linkTree(join(root, path), join(fresh, path), (name) => name === 'node_modules')
      await rename(fresh, folder)
    }
    // Mark a reused build as newer than its sources.
    const now = new Date()
    await utimes(join(folder, 'manifest.json'), now, now)
    const before = await readlink(join(root, 'dist')).catch(() => '')
    await switchTo(root, basename(folder))
    await removeUnused(root, new Set([basename(folder), basename(before)]))
  } finally {
    lock.release()
  }
}

/** Makes `dist` a link to the folder. */
async function switchTo(root, name) {
  const [current, next, old] = [join(root, 'dist'), join(root, `dist.new-${process.pid}`), join(root, 'dist.old')]
  await rm(next, { force: true })
  await symlink(name, next, 'junction')
  const found = await lstat(current).catch(() => undefined)
  // A build for a package is a folder. Windows replaces no link.
  if (found?.isDirectory()) {
    await rm(old, { recursive: true, force: true })
    await rename(current, old)
  } else if (process.platform === 'win32') await rm(current, { force: true })
  await rename(next, current)
  await rm(old, { recursive: true, force: true })
}

/** Returns the paths and versions of the packages that a build loads, from the lock file. */
async function runtimePackages(root) {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional && existsSync(join(root, path)))
    .map(([path, { version, integrity }]) => [path, version, integrity])
}

/** Returns the name of a build: the same for equal contents. */
async function hashOf(folder, packages) {
  const hash = createHash('sha256').update(packages)
  const names = await readdir(folder, { recursive: true })
  for (const name of names.toSorted()) {
    // Caches of V8 differ from run to run.
    if (name.endsWith('.cache') || (await stat(join(folder, name))).isDirectory()) continue
    hash.update(`\0${name}\0`).update(await readFile(join(folder, name)))
  }
  return hash.digest('hex').slice(0, 16)
}

/** Removes builds that no process uses. */
async function removeUnused(root, kept) {
  const names = (await readdir(root)).filter((name) => name.startsWith(prefix) && !kept.has(name))
  if (names.length === 0) return
  const used = await usedFolders()
  for (const name of names) {
    const folder = join(root, name)
    const built = await stat(join(folder, 'manifest.json')).catch(() => undefined)
    const isUsed = used ? used.has(folder) : built && Date.now() - built.mtimeMs < keptMs
    if (!isUsed) await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Returns the folders that processes have open, as `src/main.ts` has that of its build; undefined when it cannot be
 * determined: without `/proc`, and when a process of another user may run a build of the checkout.
 */
async function usedFolders() {
  if (process.platform !== 'linux') return undefined
  const used = new Set()
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // Processes end meanwhile. Of those of other users, only the command line can be read, which may be relative.
    const open = await readdir(`/proc/${pid}/fd`).catch(() => undefined)
    if (!open && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('bax')) return undefined
    for (const fd of open ?? []) used.add(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => undefined))
  }
  return used
}
