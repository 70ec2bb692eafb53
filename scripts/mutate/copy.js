/** Copies a checkout: its files as they are, and its packages as hard links. */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { copyFile, link, mkdir, readdir, readlink, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Folders of `node_modules` that programs write to. */
const caches = /^\.(?:cache|vite|experimental|bax-bench)/

/** Copies the files that git knows or would add, and `node_modules`. */
export async function copyCheckout(from, to) {
  const listed = await promisify(execFile)('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: from,
    maxBuffer: 64 * 1024 * 1024,
  })
  for (const file of listed.stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(to, file)), { recursive: true })
    // Files that are deleted but not committed are missing.
    await copyFile(join(from, file), join(to, file)).catch(unless('ENOENT'))
  }
  await linkTree(join(from, 'node_modules'), join(to, 'node_modules'))
}

async function linkTree(from, to) {
  await mkdir(to, { recursive: true })
  const entries = (await readdir(from, { withFileTypes: true })).filter(({ name }) => !caches.test(name))
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await linkTree(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else await link(source, target).catch(() => copyFile(source, target, constants.COPYFILE_FICLONE))
  }
}

const unless = (code) => (error) => {
  if (error.code !== code) throw error
}
