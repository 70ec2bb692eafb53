// The Dockerfile, on a base from Debian's packages and this machine's Node, with its apt sources and npm registry.
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { debianImage } from '../../image/build.js'
import { doctor, megabytes, restricted } from './image.js'
import { docker, expect, run } from './steps.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export async function checkDockerfile(steps, { name }) {
  const [base, image] = [`${name}-node`, `${name}-dockerfile`]
  const remove = (built) => steps.undo(`remove ${built}`, () => docker('rmi', built))
  await steps.step("build a base image with this machine's Node", async () => {
    const recipe = { packages: ['ca-certificates'], user: { name: 'node', id: 1000, home: '/', shell: '/bin/sh' }, folders: [] } // prettier-ignore
    const debian = await debianImage(recipe, `${base}-base`)
    remove(debian)
    await buildNode(debian, base)
    remove(base)
  })
  await steps.step('docker build -f scripts/deploy/Dockerfile', async () => {
    // Stages stay behind as images without names.
    const before = await untagged()
    steps.undo('remove the stages', async () => {
      const added = (await untagged()).filter((id) => !before.includes(id))
      if (added.length > 0) await docker('rmi', ...added)
    })
    const options = ['--quiet', '--network', 'host', '--build-arg', `NODE_IMAGE=${base}`, '--tag', image]
    await docker('build', ...options, '--file', join(root, 'scripts/deploy/Dockerfile'), root)
    remove(image)
    return megabytes(await docker('image', 'inspect', '--format', '{{.Size}}', image))
  })
  await steps.step('bax doctor in it', async () => {
    const checks = await doctor(image, restricted)
    const needed = ['browser', 'full Chromium', 'sandbox', 'state folder', 'launcher']
    for (const what of needed) expect(what, checks[what].ok, true)
    return checks.browser.found
  })
}

const label = 'bax-check'
const untagged = async () => {
  const ids = await docker('images', '--quiet', '--no-trunc', '--filter', 'dangling=true', '--filter', `label=${label}`)
  return [...new Set(ids.split('\n').filter(Boolean))]
}

/** Builds an image like the public one of Node, which can install packages where this machine can. */
async function buildNode(debian, name) {
  const context = await mkdtemp(join(tmpdir(), 'bax-node-context-'))
  try {
    const modules = join(context, 'lib', 'node_modules')
    await mkdir(join(context, 'bin'), { recursive: true })
    await cp(process.execPath, join(context, 'bin', 'node'))
    await cp(join(await run('npm', ['root', '--global']), 'npm'), join(modules, 'npm'), { recursive: true })
    const outside = (path) => !path.includes(`${sep}auth.conf`)
    await cp('/etc/apt', join(context, 'apt'), { recursive: true, filter: outside, verbatimSymlinks: true })
    await cp('/usr/share/keyrings', join(context, 'keyrings'), { recursive: true })
    await cp('/etc/ssl/certs/ca-certificates.crt', join(context, 'ca.crt'))
    const registry = await run('npm', ['config', 'get', 'registry'])
    await writeFile(
      join(context, 'Dockerfile'),
      `FROM ${debian}
LABEL ${label}=1
COPY bin /usr/local/bin
COPY lib /usr/local/lib
COPY apt /etc/apt
COPY keyrings /usr/share/keyrings
COPY ca.crt /etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV npm_config_registry=${registry} NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
`,
    )
    await docker('build', '--quiet', '--tag', name, context)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}
