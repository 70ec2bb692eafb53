/** Programs that end with the process of the tests. */

/**
 * Returns program and arguments for `spawn`, so that the kernel kills the program when this process ends, even if that
 * is killed. A missing program exits with 127. Its own children, such as the background engine, are not affected.
 */
export function tied(program: string, args: readonly string[]): [program: string, args: readonly string[]] {
  // Other systems have no such signal.
  if (process.platform !== 'linux') return [program, args]
  // An absolute path, since tests change the PATH. It replaces itself by the program, which keeps its process ID.
  return ['/usr/bin/setpriv', ['--pdeathsig', 'KILL', '--', program, ...args]]
}
