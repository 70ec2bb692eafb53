// Copies the program with its production packages, as npm would install it.
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from './build.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds into `<app>/dist`, and copies the rest of the package, and the packages that it needs, beside it. */
export async function packageTree(app) {
  await build(join(app, 'dist'))
  for (const name of ['bin', 'package.json', 'README.md', 'LICENSE'])
    await cp(join(root, name), join(app, name), { recursive: true })
  const { stdout } = await promisify(execFile)('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root })
  for (const path of stdout.trim().split('\n').slice(1)) {
    await cp(path, join(app, relative(root, path)), {
      recursive: true,
      // Packages inside a package have separate entries; `.bin` is only for interactive use.
      filter: (source) => !/\/(?:node_modules|\.bin)(?:\/|$)/.test(source.slice(path.length)),
    })
  }
}
