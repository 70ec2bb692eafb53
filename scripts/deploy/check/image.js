// The image alone: its size, its start, and its browsers under the restrictions of the guide.
import { fileURLToPath } from 'node:url'
import { docker, expect, until } from './steps.js'

const seccomp = fileURLToPath(new URL('../../image/seccomp.json', import.meta.url))
const restrictions = ['--security-opt', 'no-new-privileges', '--cap-drop', 'ALL', '--read-only', '--tmpfs', '/tmp']
export const restricted = ['--security-opt', `seccomp=${seccomp}`, ...restrictions]

export const megabytes = (bytes) => `${Math.round(Number(bytes) / 1e6)} MB`

/** Returns the checks of `bax doctor` by name, whether they succeed or not. */
export async function doctor(image, flags) {
  const text = await docker('run', '--rm', ...flags, image, 'doctor', '--json').catch(({ stdout }) => stdout)
  return Object.fromEntries(JSON.parse(text).checks.map((check) => [check.name, check]))
}

export async function checkImage(steps, { name, images: { bax: image } }) {
  await steps.step('size', async () => megabytes(await docker('image', 'inspect', '--format', '{{.Size}}', image)))
  await steps.step('bax doctor, as user 10001 on a read-only file system', async () => {
    const checks = await doctor(image, restricted)
    const needed = ['browser', 'full Chromium', 'sandbox', 'state folder', 'launcher']
    for (const what of needed) expect(what, checks[what].ok, true)
    return checks.browser.found
  })
  await steps.step("bax doctor reports that Docker's own seccomp profile prevents the sandbox", async () => {
    const { sandbox } = await doctor(image, restrictions)
    expect('sandbox', sandbox.ok, false)
    return sandbox.found
  })
  await steps.step('start of bax serve until it is ready', async () => {
    await docker('volume', 'create', name)
    steps.undo('remove the volume', () => docker('volume', 'rm', name))
    const flags = [...restricted, '--volume', `${name}:/var/lib/bax`]
    await docker('run', '--rm', ...flags, image, 'key', 'create', 'ops', '--embedded')
    const start = performance.now()
    steps.undo('remove the container', () => docker('rm', '--force', '--volumes', name))
    await docker('run', '--detach', '--name', name, ...flags, '--publish', '127.0.0.1::4100', image)
    const url = `http://${await docker('port', name, '4100/tcp')}`
    // Docker accepts connections before the server does, and leaves the first ones without a response.
    const answers = async (path) => (await fetch(url + path, { signal: AbortSignal.timeout(1000) })).ok
    await until('answer of /healthz', 60, () => answers('/healthz'))
    const listening = performance.now() - start
    await until('answer of /readyz', 60, () => answers('/readyz'))
    return `${Math.round(listening)} ms, with a started browser ${Math.round(performance.now() - start)} ms`
  })
  await steps.step('the health check of the image succeeds', () =>
    until('healthy container', 60, () => isHealthy(name)),
  )
  await steps.step('ends at SIGTERM', async () => {
    await docker('stop', '--time', '45', name)
    expect('the exit code', await docker('inspect', '--format', '{{.State.ExitCode}}', name), '0')
  })
}

const isHealthy = async (container) =>
  (await docker('inspect', '--format', '{{.State.Health.Status}}', container)) === 'healthy'
