// The program as packages other than npm's contain it: for one architecture, with a Node.
import { execFile } from 'node:child_process'
import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { nodeFor } from './node.js'

const warm = fileURLToPath(new URL('../warm.js', import.meta.url))

/** Copies the program to `app` for an architecture; `kind` is how `bax update` says it is installed. */
export async function treeFor(arch, program, app, kind) {
  const runtime = join(app, 'runtime')
  const others = new RegExp(String.raw`^(?:agent|launcher)-(?!${arch}$)`)
  await cp(program, app, { recursive: true, filter: (path) => !others.test(basename(path)) })
  await cp(await nodeFor(arch), runtime, { recursive: true })
  await writeFile(join(app, 'installation'), `${kind}\n`)
  await keepCode(arch, join(app, 'dist'), join(runtime, 'node'))
}

/** Replaces the code that V8 kept, which another Node or processor ignores. Another processor compiles at each start. */
async function keepCode(arch, dist, node) {
  const kept = (await readdir(dist)).filter((name) => name.endsWith('.cache'))
  await Promise.all(kept.map((name) => rm(join(dist, name))))
  if (arch !== process.arch) return
  const program = `const { warm } = await import(${JSON.stringify(pathToFileURL(warm).href)}); await warm(${JSON.stringify(dist)})`
  await promisify(execFile)(node, ['--input-type=module', '--eval', program])
}
