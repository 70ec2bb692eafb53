// Installs programs for tests other than a browser and Docker, where possible: tests report missing ones, and are skipped.
import { canInstall, installPackages, missingPackages } from './apt.js'

/** Small programs. */
const programs = ['curl', 'iproute2', 'iptables', 'openssl', 'redis-server', 'tmux']

/** Unattended runs also use real shells, real PHP applications and real manuals. */
const unattended = [
  'fish', 'zsh', 'xvfb',
  'php-cli', 'php-gd', 'php-intl', 'php-mbstring', 'php-sqlite3', 'php-xml',
  'debian-policy', 'git-doc', 'postgresql-doc', 'python3-doc',
] // prettier-ignore

/** `say` writes a line, `run` runs a program with its output on stderr and returns its exit code. */
export async function setUpTestPackages(tools) {
  const wanted = process.env.CI ? [...programs, ...unattended] : programs
  const missing = missingPackages(wanted)
  if (!missing || missing.length === 0) return
  if (canInstall() && (await installPackages(tools, missing))) return
  tools.say(`some tests will be skipped; for them, run: sudo apt-get install ${missing.join(' ')}`)
}
