// Installs Debian packages, as root on Debian and its derivatives. Node built-ins only.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export const canInstall = () => process.platform === 'linux' && process.getuid() === 0 && existsSync('/usr/bin/apt-get')

const quiet = { DEBIAN_FRONTEND: 'noninteractive' }
let updated = false

/** Installs packages in one call; resolves with whether it succeeded. `say` writes a line, `run` runs a program. */
export async function installPackages({ say, run }, packages) {
  if (!canInstall()) return false
  say(`installing ${packages.join(', ')}`)
  // Continue after a failed update: the existing package lists may suffice.
  updated ||= (await run('apt-get', ['-qq', 'update'], quiet)) === 0
  return (await run('apt-get', ['-y', '-qq', '--no-install-recommends', 'install', ...packages], quiet)) === 0
}

/** Returns the packages that are not installed; undefined without dpkg. */
export function missingPackages(packages) {
  if (!existsSync('/usr/bin/dpkg-query')) return undefined
  const installed = execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package}\\n'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const names = new Set(installed.split('\n').flatMap((line) => line.match(/^installed (.+)$/)?.[1] ?? []))
  return packages.filter((name) => !names.has(name))
}
