// Locks of a checkout, for one set-up and one replacement of `dist` at a time. Node built-ins only.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits for a lock of the checkout, `setup` or `build`. Calls `wait` once if another process holds it. Returns a function
 * that releases it, and the descriptors with which a child process holds it too: npm continues after this process is
 * killed.
 */
export async function takeLock(root, name, wait = () => {}) {
  for (let reported = false; ;) {
    const lock = await (kernelName ? listenOn(kernelName(root, name)) : makeFolder(join(root, `.bax-${name}`)))
    if (lock) return lock
    if (!reported) wait()
    reported = true
    await pause(200)
  }
}

const hashOf = (root) => createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 32)

/** Returns a name that the kernel gives to one process, and takes back however that ends; undefined without such names. */
const kernelName = {
  linux: (root, name) => `\0bax-${name}-${hashOf(root)}`,
  win32: (root, name) => `\\\\.\\pipe\\bax-${name}-${hashOf(root)}`,
}[process.platform]

/** Returns undefined when another process listens. */
async function listenOn(name) {
  const server = createServer((socket) => socket.destroy())
  try {
    await new Promise((resolve, reject) => server.once('error', reject).listen(name, resolve))
  } catch (error) {
    if (error.code === 'EADDRINUSE') return undefined
    throw error
  }
  server.unref()
  // Node has no documented way to the descriptor of a server.
  const inherited = process.platform === 'linux' ? [server._handle.fd] : []
  return { inherited, release: () => server.close() }
}

/** Makes a folder with the process ID of the holder; undefined while that runs. */
function makeFolder(folder) {
  const owner = join(folder, 'pid')
  try {
    mkdirSync(folder)
    writeFileSync(owner, String(process.pid))
    return { inherited: [], release: () => rmSync(folder, { recursive: true, force: true }) }
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (isStale(folder, owner)) rmSync(folder, { recursive: true, force: true })
  return undefined
}

function isStale(folder, owner) {
  try {
    process.kill(Number(readFileSync(owner, 'utf8')), 0)
    return false
  } catch (error) {
    // Either the owner has ended, or it has created the folder but not yet written its pid, which takes no time.
    return (
      error.code === 'ESRCH' ||
      (error.code === 'ENOENT' && existsSync(folder) && Date.now() - statSync(folder).mtimeMs > 5000)
    )
  }
}
