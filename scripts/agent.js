// Compiles the agent of shell sessions (src/engine/shell/agent/*.c) statically, for both architectures of containers.
// Node built-ins only. Compiled once per source: a build copies the results from node_modules/.bax-agent.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'src/engine/shell/agent')
const kept = join(root, 'node_modules', '.bax-agent')
const language = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-pthread']
const flags = [...language, '-O2', '-static', '-s']

/** Architectures of containers, and the compilers that support them, best first. */
export const architectures = {
  x64: ['x86_64-linux-gnu-gcc', 'x86_64-linux-musl-gcc'],
  arm64: ['aarch64-linux-gnu-gcc', 'aarch64-linux-musl-gcc'],
}

const sources = (ending) =>
  readdirSync(folder)
    .filter((file) => ending.test(file))
    .toSorted()
    .map((file) => join(folder, file))

const name = (arch) => `agent-${arch}`
function keyOf() {
  const hash = createHash('sha256').update(flags.join(' '))
  for (const file of sources(/\.[ch]$/)) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}
const keptFile = (arch) => join(kept, `${keyOf()}-${arch}`)

/** Returns whether the agent for an architecture has been compiled from the current source. */
export const isCompiled = (arch) => existsSync(keptFile(arch))

/** Compiles what is missing; returns the architectures that no compiler on this machine supports. */
export async function compileAgents(wanted = Object.keys(architectures)) {
  const missing = []
  for (const arch of wanted) if (!isCompiled(arch) && !(await compile(arch))) missing.push(arch)
  return missing
}

/** Copies compiled agents into a build; returns the missing architectures. */
export function copyAgents(outdir) {
  const missing = []
  mkdirSync(outdir, { recursive: true })
  for (const arch of Object.keys(architectures)) {
    if (isCompiled(arch)) copyFileSync(keptFile(arch), join(outdir, name(arch)))
    else missing.push(arch)
  }
  return missing
}

/** Compiles the agent with custom flags, for tests. */
export async function compileWith(compiler, ownFlags, file) {
  const outcome = await run(compiler, [...language, ...ownFlags, '-o', file, ...sources(/\.c$/)])
  if (outcome?.code !== 0)
    throw new Error(`${compiler} could not compile the agent:\n${outcome?.text ?? 'it is not there'}`)
}

async function compile(arch) {
  mkdirSync(kept, { recursive: true })
  const native = process.platform === 'linux' && process.arch === arch ? ['cc', 'gcc', 'clang'] : []
  const file = keptFile(arch)
  const fresh = `${file}.${process.pid}`
  for (const compiler of [...native, ...architectures[arch]]) {
    const outcome = await run(compiler, [...flags, '-o', fresh, ...sources(/\.c$/)])
    if (outcome === null) continue
    if (outcome.code !== 0) throw new Error(`${compiler} could not compile the agent:\n${outcome.text}`)
    renameSync(fresh, file)
    dropOlder(arch)
    return true
  }
  return false
}

/** Removes the programs of earlier sources. */
function dropOlder(arch) {
  const current = `${keyOf()}-${arch}`
  for (const file of readdirSync(kept)) {
    if (file.endsWith(`-${arch}`) && file !== current) rmSync(join(kept, file), { force: true })
  }
}

/** Returns null if there is no such program. */
async function run(program, args) {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (part) => (text += part))
    child.on('error', (error) => (error.code === 'ENOENT' ? resolve(null) : reject(error)))
    child.on('close', (code) => resolve({ code, text }))
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = await compileAgents()
  if (missing.length > 0) {
    process.stderr.write(
      `no compiler for ${missing.join(', ')}: ${missing.map((arch) => architectures[arch][0]).join(', ')}\n`,
    )
    process.exitCode = 1
  }
}
