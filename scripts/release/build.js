// Builds the packages of a release into `dist.release`: `npm run release:build`, or `… -- npm deb` for some kinds.
// The guide (`installation`) says what each kind is, and how far it has been tried.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agent, launcher } from '../native.js'
import { packageTree } from '../package-tree.js'
import { buildDeb } from './deb.js'
import { buildFormula } from './homebrew.js'
import { buildMcpb, buildServerJson } from './mcp.js'
import { buildSingleFile } from './single-file.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const say = (line) => process.stderr.write(`${line}\n`)

/**
 * How each kind is built from the program. The functions return the path of a file, or why it is left out (`left`); some
 * build one for each architecture.
 */
const kinds = {
  npm: { build: buildNpm },
  deb: { build: buildDeb, perArchitecture: true },
  'single-file': { build: buildSingleFile, perArchitecture: true },
  mcpb: { build: buildMcpb },
  'server-json': { build: buildServerJson },
  homebrew: { build: buildFormula },
}

async function buildNpm({ program, output }) {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', output], {
    cwd: program,
  })
  return join(output, JSON.parse(stdout)[0].filename)
}

/** Compiles the native programs; returns the architectures for which all exist. */
async function compile() {
  const missing = new Set([...(await agent.compile()), ...(await launcher.compile())])
  for (const arch of missing) say(`no packages for ${arch}: no compiler; install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross, or gcc`) // prettier-ignore
  return ['x64', 'arm64'].filter((arch) => !missing.has(arch))
}

async function buildAll(names) {
  const output = join(root, 'dist.release')
  const description = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const compiled = await compile()
  const folder = await mkdtemp(join(tmpdir(), 'bax-release-'))
  try {
    await mkdir(output, { recursive: true })
    const program = join(folder, 'bax')
    say('building the program')
    await packageTree(program)
    for (const name of names) {
      const { build, perArchitecture } = kinds[name]
      for (const arch of perArchitecture ? compiled : [undefined]) {
        const began = performance.now()
        const file = await build({ program, output, arch, description })
        if (file.left) {
          say(`no ${name}: ${file.left}`)
          continue
        }
        const { size } = await stat(file)
        const seconds = Math.round((performance.now() - began) / 1000)
        process.stdout.write(`${relative(root, file)}\t${(size / 1e6).toFixed(1)} MB\t${seconds} s\n`)
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !(name in kinds))
if (unknown === undefined) await buildAll(wanted.length > 0 ? wanted : Object.keys(kinds))
else {
  say(`error: unknown kind ${JSON.stringify(unknown)}; there are ${Object.keys(kinds).join(', ')}`)
  process.exitCode = 2
}
