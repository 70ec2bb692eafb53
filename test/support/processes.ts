/** Processes of a browser, read from /proc. */
import { readdir, readFile } from 'node:fs/promises'

/** Returns the processes that run the pages of a browser: the renderers of its process group. */
export async function pageProcesses(browserPid: number): Promise<number[]> {
  const group = await groupOf(browserPid)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process may end while it is inspected.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return line.includes('--type=renderer') && (await groupOf(pid)) === group ? [pid] : []
    }),
  )
  return found.flat()
}

const groupOf = async (pid: number): Promise<string | undefined> => (await statOf(pid))?.[2]

/** Returns state, parent, group and so on; undefined for an ended process. */
async function statOf(pid: number): Promise<string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The program's name is in brackets and may contain anything.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Type of a process of Chromium; `browser` is the parent of all others. */
export type ChromiumProcess = 'renderer' | 'gpu-process' | 'network' | 'browser'

/** Returns the processes of this type among the descendants of this process. */
export async function chromiumProcesses(type: ChromiumProcess): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)))
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === process.pid || isOurs(parents.get(pid)))
  const found = await Promise.all(
    pids.filter(isOurs).map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return isOfType(line.replaceAll('\0', ' '), type) ? [pid] : []
    }),
  )
  return found.flat()
}

/** Returns whether a command line starts a process of this type. */
export function isOfType(line: string, type: ChromiumProcess): boolean {
  if (type === 'network') return line.includes('network.mojom.NetworkService')
  if (type === 'browser') return line.includes('--remote-debugging-pipe') && !/--type=|^\S*sh -c /.test(line)
  return line.includes(`--type=${type}`)
}

/** Returns the children of a process whose command line contains a text. */
export async function childrenOf(parent: number, text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return line.includes(text) && (await parentOf(pid)) === parent ? [pid] : []
    }),
  )
  return found.flat()
}

const parentOf = async (pid: number): Promise<number | undefined> => {
  const parent = (await statOf(pid))?.[1]
  return parent === undefined || parent === '0' ? undefined : Number(parent)
}

/** A process, with its start time, since numbers are reused. */
export type KnownProcess = `${number}:${string}`

const known = async (pid: number): Promise<KnownProcess | undefined> => {
  const stat = await statOf(pid)
  // A zombie has ended; nobody has waited for it yet.
  return stat === undefined || stat[0] === 'Z' ? undefined : `${pid}:${stat[19]!}`
}

const allPids = async (): Promise<number[]> => (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)

const present = <T>(values: readonly (T | undefined)[]): T[] => values.flatMap((value) => value ?? [])

/** Returns the processes below a process. */
export async function descendants(of: number): Promise<KnownProcess[]> {
  const pids = await allPids()
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)))
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === of || isBelow(parent))
  }
  return present(await Promise.all(pids.filter(isBelow).map(known)))
}

/** Returns the processes that have a text in their environment or command line. */
export async function markedProcesses(text: string): Promise<KnownProcess[]> {
  const found = await Promise.all(
    (await allPids()).map(async (pid) => {
      const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')
      const isMarked = (await Promise.all([read('environ'), read('cmdline')])).some((content) => content.includes(text))
      return isMarked ? known(pid) : undefined
    }),
  )
  return present(found)
}

export const isRunning = async (one: KnownProcess): Promise<boolean> => (await known(parseInt(one))) === one
