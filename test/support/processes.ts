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

async function groupOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The program's name stands in brackets and may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]
}
