/** CPU to convert the main content of a folder of pages. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { extractMarkdown } from '../../../src/engine/scrape/extract-file.ts'
import { ratio, type Table } from '../measure.ts'
import type { Peers } from './peers.ts'

const url = 'https://example.com/page'

/** Pages that warm both sides up. */
const warmUp = 100

export async function givenPages(peers: Peers, folder: string): Promise<Table> {
  const names = readdirSync(folder).filter((name) => /\.html(\.gz)?$/.test(name))
  const measureOf = async (some: readonly string[]) => {
    const spent: { theirs: number; ours: number }[] = []
    for (const name of some) {
      const bytes = read(join(folder, name))
      const theirs = await cpuOf(() => peers.readable(bytes.toString(), url))
      spent.push({ theirs, ours: await cpuOf(() => extractMarkdown(bytes, { url, onlyMain: true, headline: false })) })
    }
    return spent
  }
  await measureOf(names.slice(0, warmUp))
  const spent = await measureOf(names)
  const at = (side: 'theirs' | 'ours', part: number) =>
    spent.map((page) => page[side]).toSorted((a, b) => a - b)[Math.floor((spent.length - 1) * part)]!
  const cells = (part: number, most: number) => [
    at('ours', part).toFixed(1),
    ratio({ median: at('ours', part) }, { median: at('theirs', part) }, most),
  ]
  return {
    title: `Main content of ${names.length} given pages`,
    columns: ['CPU ms, median', 'to Readability + Turndown', 'CPU ms, 95th percentile', 'to Readability + Turndown'],
    rows: [
      {
        name: 'Readability + Turndown on linkedom',
        cells: [at('theirs', 0.5).toFixed(1), '1x', at('theirs', 0.95).toFixed(1), '1x'],
      },
      { name: '**bax extract**', cells: [...cells(0.5, 0.4), ...cells(0.95, 0.35)] },
    ],
  }
}

function read(path: string): Buffer {
  const bytes = readFileSync(path)
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

/** Returns the CPU time of the process while `task` runs, in milliseconds. */
async function cpuOf(task: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await task()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
