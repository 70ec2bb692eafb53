/** Measures on a shared machine: cases in turn, many rounds, ratios within one run. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface Timing {
  readonly median: number
  /** Quartiles. */
  readonly lower: number
  readonly upper: number
}

export interface Row {
  readonly name: string
  /** Formatted: `1.3x (at most 1.5x)`, `28 MB`. */
  readonly cells: readonly string[]
}

export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** Description of the comparison, in one sentence. */
  readonly note?: string
}

/**
 * Runs every case once per round, in turn, so that noise affects all of them; in every other round in reverse, so that
 * none always follows the same one. Returns milliseconds.
 */
export async function inTurn(
  cases: Record<string, () => Promise<unknown>>,
  rounds: number,
  { warmUp = true } = {},
): Promise<Record<string, Timing>> {
  const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]))
  if (warmUp) for (const run of Object.values(cases)) await run()
  for (let round = 0; round < rounds; round++) {
    const all = Object.entries(cases)
    for (const [name, run] of round % 2 === 0 ? all : all.toReversed()) {
      const start = performance.now()
      await run()
      times.get(name)!.push(performance.now() - start)
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, timing(all)]))
}

/** Returns the median and the quartiles of some times. */
export function timing(times: readonly number[]): Timing {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
  return { median: at(0.5), lower: at(0.25), upper: at(0.75) }
}

/** Runs a program to its end; rejects with its output if it fails. */
export function run(
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
  { cwd, input }: { readonly cwd?: string; readonly input?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(cwd && { cwd }),
    })
    child.stdin.end(input)
    let out = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (out += chunk))
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${program} ${args.join(' ')}: exit ${code}\n${out}`)),
    )
  })
}

/** Title of columns that `ms` fills. */
export const msTitle = 'ms, median (quartiles)'

export const ms = (times: Timing): string => withSpread(times, 1)

/** Formats a median with its quartiles. */
export const withSpread = ({ median, lower, upper }: Timing, digits: number): string =>
  `${median.toFixed(digits)} (${lower.toFixed(digits)}–${upper.toFixed(digits)})`

type Median = Pick<Timing, 'median'>

/** Returns the ratio of medians with its limit. */
export function ratio(of: Median, to: Median, atMost?: number): string {
  const value = of.median / to.median
  return `${value.toFixed(2)}x${atMost === undefined ? '' : ` (at most ${atMost}x${value <= atMost ? '' : ', MISSED'})`}`
}

/** Returns the proportional set size of a process and all its descendants, in MB (Linux). */
export const treeMemory = (root: number): number => treeOf(root).reduce((sum, { pid }) => sum + memoryOf(pid), 0) / 1024

/** A process, and its CPU time in milliseconds. */
interface Ticked {
  readonly pid: number
  readonly cpuMs: number
}

/** Returns a process and all its descendants (Linux). */
export function treeOf(root: number): Ticked[] {
  const children = new Map<number, Ticked[]>()
  let top: Ticked | undefined
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readMaybe(`/proc/${name}/stat`)
    if (!stat) continue
    // After the name, which may contain anything: state, parent, … user and system time in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const found = { pid: Number(name), cpuMs: 10 * (Number(fields[11]) + Number(fields[12])) }
    const parent = Number(fields[1])
    children.set(parent, [...(children.get(parent) ?? []), found])
    if (found.pid === root) top = found
  }
  const withAll = (one: Ticked): Ticked[] => [one, ...(children.get(one.pid) ?? []).flatMap(withAll)]
  return top ? withAll(top) : []
}

const memoryOf = (pid: number): number =>
  Number(readMaybe(`/proc/${pid}/smaps_rollup`)?.match(/^Pss:\s+(\d+)/m)?.[1] ?? 0)

function readMaybe(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process ended after the listing.
    return undefined
  }
}
