/** Ends parts of browsers at a chosen message between the engine and its browsers. */
import { readdirSync, readFileSync } from 'node:fs'
import { Channel, CdpRouter } from '../../src/engine/cdp/router.ts'
import { type ChromiumProcess, isOfType } from './processes.ts'

/** `tab` closes the pages, `crash` crashes them. */
export type KillTarget = ChromiumProcess | 'tab' | 'crash'

/** Counts the messages on all connections of this process to browsers, and runs something at one of them. */
export class Messages {
  count = 0
  readonly #routers = new Set<CdpRouter>()
  readonly #restore: () => void
  #at = Infinity
  #run = () => {}

  constructor() {
    const { post } = CdpRouter.prototype
    const { deliver } = Channel.prototype
    const onRouter = (router: CdpRouter) => this.#routers.add(router)
    const onMessage = () => this.#next()
    CdpRouter.prototype.post = function (message, answer, owner) {
      onRouter(this)
      onMessage()
      const onReply: typeof answer = (reply) => {
        onMessage()
        answer(reply)
      }
      post.call(this, message, onReply, owner)
    }
    Channel.prototype.deliver = function (message) {
      onMessage()
      deliver.call(this, message)
    }
    this.#restore = () => {
      CdpRouter.prototype.post = post
      Channel.prototype.deliver = deliver
    }
  }

  /** Ends the target at the message `after` messages from now. */
  killAt(after: number, target: KillTarget): void {
    this.#at = this.count + after
    this.#run = () => this.#kill(target)
  }

  /** Ends the target now if its message has not come. */
  killNow(): void {
    if (this.#at === Infinity) return
    this.#at = Infinity
    this.#run()
  }

  /** Stops counting. */
  close(): void {
    this.#restore()
  }

  #next(): void {
    this.count += 1
    if (this.count >= this.#at) this.killNow()
  }

  #kill(target: KillTarget): void {
    if (target !== 'tab' && target !== 'crash') return killProcesses(target)
    for (const router of this.#routers) {
      if (router.closed) this.#routers.delete(router)
      // Pages may be gone already.
      else void endPages(router, target).catch(() => {})
    }
  }
}

async function endPages(router: CdpRouter, how: 'tab' | 'crash'): Promise<void> {
  const { targetInfos } = await router.send('Target.getTargets')
  for (const { type, targetId } of targetInfos as { type: string; targetId: string }[]) {
    if (type !== 'page') continue
    if (how === 'tab') await router.send('Target.closeTarget', { targetId })
    else {
      const { sessionId } = await router.send('Target.attachToTarget', { targetId, flatten: true })
      router.post({ method: 'Page.crash', sessionId: sessionId as string }, () => {})
    }
  }
}

/** Kills the processes of this type below this process, before anything else happens. */
function killProcesses(type: ChromiumProcess): void {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]))
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === process.pid || isOurs(parents.get(pid)))
  for (const pid of pids.filter(isOurs))
    if (isOfType(read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '), type)) end(pid)
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

function parentOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  return parent > 0 ? parent : undefined
}

/** Returns the content of a file; empty for a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
