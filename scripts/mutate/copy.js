/** Copies a checkout: its files as they are, and its packages as hard links. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { linkTree } from '../link-tree.js'

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
  await linkTree(join(from, 'node_modules'), join(to, 'node_modules'), (name) => caches.test(name))
}

const unless = (code) => (error) => {
  if (error.code !== code) throw error
}
