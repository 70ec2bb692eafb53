// The image of Redis for these checks, from Debian's package; users take a public one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianImage } from '../../image/build.js'
import { docker } from './steps.js'

const recipe = {
  packages: ['redis-server'],
  user: { name: 'fleet', id: 10_002, home: '/data', shell: '/usr/sbin/nologin' },
  folders: ['/data'],
}

/** Builds it; returns the names of all images that were created. */
export async function buildRedisImage(name) {
  const base = await debianImage(recipe, `${name}-base`)
  const context = await mkdtemp(join(tmpdir(), 'bax-redis-context-'))
  try {
    await writeFile(join(context, 'Dockerfile'), `FROM ${base}\nUSER 10002:10002\nWORKDIR /data\nVOLUME /data\n`)
    await docker('build', '--quiet', '--tag', name, context)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
  return [name, base]
}
