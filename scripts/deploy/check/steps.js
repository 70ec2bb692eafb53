// Steps of a check: their output, and what removes their traces.
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const say = (line) => process.stdout.write(`${line}\n`)

/** Returns the output of a program. @throws Error with its error output */
export async function run(program, args, options = {}) {
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024, ...options })
  return stdout.trim()
}

/** Returns the output of Docker's CLI. Docker builds without BuildKit, which may be missing. */
export const docker = (...args) => run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } })

/** Resolves with the first result that is not undefined or false. @throws Error after the timeout, in seconds */
export async function until(what, secs, ask) {
  const end = performance.now() + secs * 1000
  let last
  const attempts = async () => {
    for (; performance.now() < end; await pause(200)) {
      try {
        const found = await ask()
        if (found !== undefined && found !== false) return found
      } catch (error) {
        last = error
      }
    }
  }
  const late = new AbortController()
  const found = await Promise.race([attempts(), pause(secs * 1000, undefined, { signal: late.signal })])
  late.abort()
  if (found === undefined) throw new Error(`no ${what} within ${secs} s${last ? `: ${last.message}` : ''}`)
  return found
}

/** @throws Error with both values unless they are equal */
export function expect(what, actual, expected) {
  const [found, wanted] = [actual, expected].map((value) => JSON.stringify(value))
  if (found !== wanted) throw new Error(`${what} is ${found} instead of ${wanted}`)
}

/** Thrown by a part that cannot run here. */
export class Skip extends Error {}

export class Steps {
  failed = false
  #cancelled
  /** Later parts use what earlier ones created, so the list of the whole run is separate. */
  #undo = []

  cancel(signal) {
    this.#cancelled = new Error(`cancelled by ${signal}`)
  }

  /** Runs a part, and undoes what it created; the rest of a failed part is left out. */
  async part(title, work) {
    if (this.#cancelled) return
    say(`\n${title}`)
    const own = title === 'images' ? undefined : this.#undo.splice(0)
    try {
      await work()
    } catch (error) {
      if (error instanceof Skip) say(`  - skipped: ${error.message}`)
      else this.#fail(error)
    }
    if (own) {
      await this.#undoAll()
      this.#undo = own
    }
  }

  /** Runs a step; returns its result. */
  async step(title, work) {
    if (this.#cancelled) throw this.#cancelled
    const start = performance.now()
    try {
      const found = await work()
      const note = typeof found === 'string' ? `: ${found}` : ''
      say(`  ✓ ${title}${note} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
      return found
    } catch (error) {
      say(`  ✗ ${title}`)
      throw error
    }
  }

  /** Adds work for the end of the part; the last one is done first. */
  undo(title, work) {
    this.#undo.push({ title, work })
  }

  async end() {
    await this.#undoAll()
    say(this.failed ? '\nfailed' : '\nall steps passed')
  }

  async #undoAll() {
    for (const { title, work } of this.#undo.splice(0).toReversed()) {
      try {
        await work()
      } catch (error) {
        say(`  ✗ ${title}`)
        this.#fail(error)
      }
    }
  }

  #fail(error) {
    this.failed = true
    say(`    ${(error.stderr || error.message).trim().split('\n').join('\n    ')}`)
  }
}
