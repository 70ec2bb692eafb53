/** Another network on this machine: a namespace behind a pair of virtual interfaces, with delayed forwarders. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { missingPrograms } from './needs.ts'
import { tied } from './tied.ts'

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
  /** The address of this network, as reached from inside. */
  readonly near: string
  /** Program and first arguments that run a command inside. */
  readonly inside: readonly string[]
  /** Opens a port that forwards with a delay to the network's own loopback; closed with the network. */
  forward(port: number, delayMs: number): Promise<number>
  /** The same in the other direction: a port of `near` that forwards to the loopback of this network. */
  forwardBack(port: number, delayMs: number): Promise<number>
  /** Discards all packets in both directions, without telling anybody; open connections stay open. */
  cut(): void
  restore(): void
  /** Discards a share of the packets in both directions. Needs iptables. */
  lose(share: number): void
  close(): Promise<void>
}

let made = 0

export async function makeFarNetwork(): Promise<FarNetwork> {
  // Processes of the tests have at most a few networks each.
  const id = (process.pid * 4 + made++) % 10_000
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
  const startForwarder = async (within: readonly string[], address: string, port: number, delayMs: number) => {
    const [program, ...args] = [...within, process.execPath, '-e', forwarder, address, String(port), String(delayMs)]
    const child = spawn(...tied(program!, args), { stdio: ['ignore', 'pipe', 'inherit'] })
    forwarders.push(child)
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return Number(line)
  }
  return {
    address: host(2),
    near: host(1),
    inside,
    forward: (port, delayMs) => startForwarder(inside, host(2), port, delayMs),
    forwardBack: (port, delayMs) => startForwarder([], host(1), port, delayMs),
    cut() {
      // Packets to a card that does not exist: neither side gets an error.
      ip('neigh', 'replace', host(2), 'lladdr', '02:00:00:00:00:01', 'dev', card, 'nud', 'permanent')
      ip('-n', name, 'neigh', 'replace', host(1), 'lladdr', '02:00:00:00:00:02', 'dev', peer, 'nud', 'permanent')
    },
    restore() {
      ip('neigh', 'del', host(2), 'dev', card)
      ip('-n', name, 'neigh', 'del', host(1), 'dev', peer)
    },
    lose(share) {
      const random = ['-m', 'statistic', '--mode', 'random', '--probability', String(share), '-j', 'DROP']
      for (const at of [
        ['INPUT', '-i'],
        ['OUTPUT', '-o'],
      ] as const)
        ip('netns', 'exec', name, 'iptables', '-A', at[0], at[1], peer, ...random)
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
