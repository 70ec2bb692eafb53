/** Processes of a browser, as Linux tells them. */
import { readdir, readFile } from 'node:fs/promises'

/** The processes that run the pages of a browser: those of its group that are renderers. */
export async function pageProcesses(browserPid: number): Promise<number[]> {
  const group = await groupOf(browserPid)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process may end while it is looked at.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return line.includes('--type=renderer') && (await groupOf(pid)) === group ? [pid] : []
    }),
  )
  return found.flat()
}

const groupOf = async (pid: number): Promise<string | undefined> => (await statOf(pid))?.[2]

/** State, parent, group and so on; undefined for a process that is gone. */
async function statOf(pid: number): Promise<string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The program's name stands in brackets and may hold anything.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** What a process of Chromium does; `browser` is the one that all others belong to. */
export type ChromiumPart = 'renderer' | 'gpu-process' | 'network' | 'browser'

/** Processes of Chromium that do this and were started, however indirectly, by this one. */
export async function chromiumParts(part: ChromiumPart): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)))
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === process.pid || isOurs(parents.get(pid)))
  const found = await Promise.all(
    pids.filter(isOurs).map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return doesPart(line.replaceAll('\0', ' '), part) ? [pid] : []
    }),
  )
  return found.flat()
}

function doesPart(line: string, part: ChromiumPart): boolean {
  if (part === 'network') return line.includes('network.mojom.NetworkService')
  if (part === 'browser') return line.includes('--remote-debugging-pipe') && !/--type=|^\S*sh -c /.test(line)
  return line.includes(`--type=${part}`)
}

const parentOf = async (pid: number): Promise<number | undefined> => {
  const parent = (await statOf(pid))?.[1]
  return parent === undefined || parent === '0' ? undefined : Number(parent)
}
