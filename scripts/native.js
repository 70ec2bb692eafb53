// Compiles the native programs: the agent of shell sessions (src/agent) and the launcher (src/launcher).
// They are static, for both architectures. Node built-ins only. Each is compiled once per source and kept in
// node_modules/.bax-native, from where builds copy it.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const kept = join(root, 'node_modules', '.bax-native')
const language = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-pthread']
const flags = [...language, '-O2', '-static', '-s']

/** Architectures and the compilers that can build programs for them, best first. */
export const architectures = {
  x64: ['x86_64-linux-gnu-gcc', 'x86_64-linux-musl-gcc'],
  arm64: ['aarch64-linux-gnu-gcc', 'aarch64-linux-musl-gcc'],
}

class NativeProgram {
  #name
  #folder

  constructor(name, folder) {
    this.#name = name
    this.#folder = join(root, folder)
  }

  #sources(ending) {
    return readdirSync(this.#folder)
      .filter((file) => ending.test(file))
      .toSorted()
      .map((file) => join(this.#folder, file))
  }

  #keptFile(arch) {
    const hash = createHash('sha256').update(flags.join(' '))
    for (const file of this.#sources(/\.[ch]$/)) hash.update(readFileSync(file))
    return join(kept, `${this.#name}-${hash.digest('hex').slice(0, 16)}-${arch}`)
  }

  /** Checks if the program has been compiled from the current sources. */
  isCompiled(arch) {
    return existsSync(this.#keptFile(arch))
  }

  /** Compiles what is missing; returns the architectures for which this machine has no compiler. */
  async compile(wanted = Object.keys(architectures)) {
    const missing = []
    for (const arch of wanted) if (!this.isCompiled(arch) && !(await this.#compileFor(arch))) missing.push(arch)
    return missing
  }

  /** Copies the compiled programs into a folder, as `<name>-<architecture>`. */
  copy(outdir) {
    mkdirSync(outdir, { recursive: true })
    for (const arch of Object.keys(architectures)) {
      if (this.isCompiled(arch)) copyFileSync(this.#keptFile(arch), join(outdir, `${this.#name}-${arch}`))
    }
  }

  /** Compiles the program with other flags, for tests. */
  async compileWith(compiler, ownFlags, file) {
    const outcome = await run(compiler, [...language, ...ownFlags, '-o', file, ...this.#sources(/\.c$/)])
    if (outcome?.code !== 0)
      throw new Error(`${compiler} cannot compile the ${this.#name}:\n${outcome?.text ?? 'it is not installed'}`)
  }

  async #compileFor(arch) {
    mkdirSync(kept, { recursive: true })
    const native = process.platform === 'linux' && process.arch === arch ? ['cc', 'gcc', 'clang'] : []
    const file = this.#keptFile(arch)
    const fresh = `${file}.${process.pid}`
    for (const compiler of [...native, ...architectures[arch]]) {
      const outcome = await run(compiler, [...flags, '-o', fresh, ...this.#sources(/\.c$/)])
      if (outcome === null) continue
      if (outcome.code !== 0) throw new Error(`${compiler} cannot compile the ${this.#name}:\n${outcome.text}`)
      renameSync(fresh, file)
      this.#dropOlder(arch, file)
      return true
    }
    return false
  }

  /** Removes the programs of earlier sources. */
  #dropOlder(arch, current) {
    for (const name of readdirSync(kept)) {
      const isOurs = name.startsWith(`${this.#name}-`) && name.endsWith(`-${arch}`)
      if (isOurs && join(kept, name) !== current) rmSync(join(kept, name), { force: true })
    }
  }
}

/** Program inside the containers of shell sessions. */
export const agent = new NativeProgram('agent', 'src/agent')

/** The `bax` command in front of a running engine. */
export const launcher = new NativeProgram('launcher', 'src/launcher')

/** Runs a program; null if it is not installed. */
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
  const missing = new Set([...(await agent.compile()), ...(await launcher.compile())])
  if (missing.size > 0) {
    const compilers = [...missing].map((arch) => architectures[arch][0])
    process.stderr.write(`no compiler for ${[...missing].join(', ')}: ${compilers.join(', ')}\n`)
    process.exitCode = 1
  }
}
