/**
 * Delays the optimizing compilers of V8: functions that run for some hundreds of pages take longer to optimize than that
 * saves, in every thread again (364 pages: 11.0 s of CPU time by default, 9.0 s with this; 1456 pages: 30.8 s and 25.1 s).
 */
import { setFlagsFromString } from 'node:v8'

/** Returns the flags for a version of Node; none for others, because V8 reports unknown flags on stderr. */
export function lateOptimization(nodeVersion: string): readonly string[] {
  const major = Number.parseInt(nodeVersion.replace(/^v/, ''))
  // The default is 67584, a number of bytes of code.
  if (major === 20) return ['--interrupt-budget=600000']
  // The defaults are 3000 and 400.
  if (major >= 22 && major <= 24) return ['--invocation-count-for-turbofan=27000', '--invocation-count-for-maglev=2000']
  return []
}

/** Applies to all threads of the process, for its rest. */
export function optimizeLate(nodeVersion: string): void {
  for (const flag of lateOptimization(nodeVersion)) setFlagsFromString(flag)
}
