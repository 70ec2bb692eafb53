// Builds the container image of the server, `bax:VERSION` (and `bax:latest`), from Debian's packages, this machine's Node
// and this checkout, without a registry. Needs root (debootstrap) and Docker. The Debian base is built once and kept;
// `node scripts/image/build.js fonts-noto-cjk` adds further packages.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import esbuild from 'esbuild'
import { packageTree } from '../package-tree.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const say = (line) => process.stderr.write(`${line}\n`)

/** Both browsers, fonts for European languages and emoji, and an init process that reaps zombies. */
export const packages = ['ca-certificates', 'chromium', 'chromium-headless-shell', 'fonts-liberation', 'fonts-noto-color-emoji', 'tini'] // prettier-ignore

const state = '/var/lib/bax'
const recipe = (more) => ({
  packages: [...packages, ...more],
  user: { name: 'bax', id: 10_001, home: state, shell: '/usr/sbin/nologin' },
  folders: [state],
})

/**
 * Builds the image with further Debian packages, under these names; returns the first one.
 * @param {{ more?: string[], names?: string[] }} options
 */
export async function buildImage({ more = [], names } = {}) {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [name, ...others] = names ?? [`bax:${version}`, 'bax:latest']
  const base = await debianImage(recipe(more))
  const context = await mkdtemp(join(tmpdir(), 'bax-image-context-'))
  try {
    await fill(context)
    await writeFile(join(context, 'Dockerfile'), await dockerfile(base, version))
    say(`building ${name}`)
    await docker(['build', '--quiet', ...[name, ...others].flatMap((tag) => ['--tag', tag]), context])
  } finally {
    await rm(context, { recursive: true, force: true })
  }
  return name
}

/** Builds a Debian image, named by a hash of its recipe, unless it exists; returns its name. */
export async function debianImage(wanted, repository = 'bax-server-base') {
  const source = await readFile(maker)
  const hash = createHash('sha256').update(JSON.stringify(wanted)).update(source).digest('hex').slice(0, 16)
  const name = `${repository}:${hash}`
  if (await docker(['image', 'inspect', name]).catch(() => undefined)) return name
  say(`making ${name} (some minutes, once)`)
  const { makeDebian } = await loadMaker()
  await makeDebian(wanted, { report: say }, async (archive) => {
    const child = spawn('docker', ['import', '-', name], { stdio: ['pipe', 'ignore', 'inherit'] })
    const ended = new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
    await pipeline(archive, child.stdin)
    if ((await ended) !== 0) throw new Error('docker import failed')
  })
  return name
}

/** The module that also builds the Debian of shell sessions. */
const maker = join(root, 'src/engine/shell/images/debian-image.ts')

async function loadMaker() {
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'bax-image-'))
  const outfile = join(folder, 'maker.mjs')
  try {
    await esbuild.build({
      entryPoints: [maker],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Copies the program as npm would install it, and the Node that runs this script. */
async function fill(context) {
  await mkdir(join(context, 'bin'), { recursive: true })
  await packageTree(join(context, 'opt', 'bax'))
  await copyFile(process.execPath, join(context, 'bin', 'node'))
  await symlink('/opt/bax/bin/bax.js', join(context, 'bin', 'bax'))
}

/** The image of scripts/deploy/Dockerfile, on another base: from its settings on, both are the same. */
const dockerfile = async (base, version) => {
  const [, settings] = (await readFile(join(root, 'scripts/deploy/Dockerfile'), 'utf8')).split(/^# Settings.*\n/m)
  return `FROM ${base}
LABEL org.opencontainers.image.title="bax" org.opencontainers.image.version="${version}" org.opencontainers.image.licenses="MIT"
COPY bin /usr/local/bin
COPY opt /opt
${settings}`
}

async function docker(args) {
  // Docker 20 and later can build this without BuildKit, which may be missing.
  const { stdout } = await run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } })
  return stdout.trim()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(`${await buildImage({ more: process.argv.slice(2) })}\n`)
  } catch (error) {
    say(`error: ${error.stderr || error.message}`)
    process.exitCode = 1
  }
}
