// Runs the files of this folder on this machine, without a registry: `sudo node scripts/deploy/check.js [PART...]`, where
// PART is image, compose, swarm or dockerfile; all by default. Needs Docker and debootstrap, `compose` also Compose,
// and `dockerfile` also apt sources and npm. Takes some minutes; everything that it creates is removed, also after
// a failure. Exits with 1 if a step fails.
import { randomBytes } from 'node:crypto'
import { buildImage } from '../image/build.js'
import { checkCompose } from './check/compose.js'
import { checkDockerfile } from './check/dockerfile.js'
import { checkImage } from './check/image.js'
import { buildRedisImage } from './check/redis-image.js'
import { docker, Steps } from './check/steps.js'
import { checkSwarm } from './check/swarm.js'

const parts = { image: checkImage, compose: checkCompose, swarm: checkSwarm, dockerfile: checkDockerfile }
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)
const unknown = chosen.find((name) => !Object.hasOwn(parts, name))
if (unknown !== undefined) {
  process.stderr.write(`error: no part ${unknown}; there are ${Object.keys(parts).join(', ')}\n`)
  process.exit(2)
}

const name = `bax-check-${randomBytes(4).toString('hex')}`
const images = { bax: name, redis: `${name}-redis` }
const steps = new Steps()
process.once('SIGINT', () => steps.cancel('SIGINT')).once('SIGTERM', () => steps.cancel('SIGTERM'))

await steps.part('images', async () => {
  const remove = (image) => steps.undo(`remove ${image}`, () => docker('rmi', image))
  await steps.step('build the image of bax', async () => {
    await buildImage({ names: [images.bax] })
    remove(images.bax)
  })
  if (!chosen.includes('compose') && !chosen.includes('swarm')) return
  await steps.step('build an image of Redis', async () => {
    const [built, base] = await buildRedisImage(images.redis)
    remove(base)
    remove(built)
  })
})
for (const part of chosen) await steps.part(part, () => parts[part](steps, { name, images }))
await steps.end()
process.exitCode = steps.failed ? 1 : 0
