/** Another network on this machine: a namespace behind a pair of virtual interfaces, with delayed forwarders. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { missingPrograms } from './needs.ts'

/** The reason why no network can be created here; undefined if one can. */
export const noNetworkBecause: string | undefined = (() => {
  if (process.platform !== 'linux') return 'network namespaces are of Linux'
  if (process.getuid?.() !== 0) return 'only root makes network namespaces'
  const name = `bax-try-${process.pid}`
  try {
    ip('netns', 'add', name)
    ip('netns', 'del', name)
    return undefined
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return missing ? missingPrograms('ip')! : `no network namespace can be made: ${(error as Error).message}`
  }
})()

export interface FarNetwork {
  /** Its address, as reached from this network. */
  readonly address: string
  /** Program and first arguments that run a command inside. */
  readonly inside: readonly string[]
  /** Opens a port that forwards with a delay to the network's own loopback; closed with the network. */
  forward(port: number, delayMs: number): Promise<number>
  close(): Promise<void>
}

export async function makeFarNetwork(): Promise<FarNetwork> {
  const id = process.pid % 10_000
  const name = `bax-far-${id}`
  const [card, peer] = [`bx${id}a`, `bx${id}b`]
  const net = `10.231.${Math.floor(id / 64) % 256}.${(id % 64) * 4}`.split('.').map(Number)
  const host = (at: number) => [...net.slice(0, 3), net[3]! + at].join('.')
  ip('netns', 'add', name)
  ip('link', 'add', card, 'type', 'veth', 'peer', 'name', peer, 'netns', name)
  ip('addr', 'add', `${host(1)}/30`, 'dev', card)
  ip('link', 'set', card, 'up')
  ip('-n', name, 'addr', 'add', `${host(2)}/30`, 'dev', peer)
  ip('-n', name, 'link', 'set', peer, 'up')
  ip('-n', name, 'link', 'set', 'lo', 'up')
  const inside = ['ip', 'netns', 'exec', name]
  const forwarders: ReturnType<typeof spawn>[] = []
  return {
    address: host(2),
    inside,
    async forward(port, delayMs) {
      const [program, ...args] = [...inside, process.execPath, '-e', forwarder, host(2), String(port), String(delayMs)]
      const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      forwarders.push(child)
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      return Number(line)
    },
    async close() {
      for (const child of forwarders) {
        child.kill('SIGKILL')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      }
      ip('link', 'del', card)
      ip('netns', 'del', name)
    },
  }
}

/** Not every kernel can delay packets: delays data here, in order. */
const forwarder = `
const { connect, createServer } = require('node:net')
const [address, port, delay] = [process.argv[1], Number(process.argv[2]), Number(process.argv[3])]
const pass = (from, to) => {
  from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), delay))
  from.on('close', () => setTimeout(() => to.destroy(), delay))
  from.on('error', () => {})
}
createServer((near) => {
  const far = connect(port, '127.0.0.1')
  near.setNoDelay()
  far.setNoDelay()
  pass(near, far)
  pass(far, near)
}).listen(0, address, function () { console.log(this.address().port) })
`

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
