#!/usr/bin/env sh
':' /*; # For sh, this file runs the launcher of this machine's architecture, without starting another program to find it.
d=${0%/*} a=
if [ -e /lib64/ld-linux-x86-64.so.2 ] || [ -e /lib/ld-musl-x86_64.so.1 ]; then a=x64; fi
if [ -e /lib/ld-linux-aarch64.so.1 ] || [ -e /lib/ld-musl-aarch64.so.1 ]; then a=${a:+several}; a=${a:-arm64}; fi
for p in "$d/.." "$d/../lib/node_modules/bax" "$d/../bax"; do
  if [ -x "$p/dist/launcher-$a" ]; then exec "$p/dist/launcher-$a" "$@"; fi
done
# Node discards what is written to a closed output; writing to a file that is open for reading fails.
{ true 9>&1; } 2>/dev/null || exec 1</dev/null
{ true 9>&2; } || exec 2</dev/null
exec node "$0" "$@"
*/
// For Node, it starts bax; in a source checkout it makes the checkout ready first. CommonJS, which starts faster.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const scripts = join(__dirname, '..', 'scripts')
// Commands that work without a browser.
const withoutBrowser = new Set([undefined, 'help', 'setup', 'doctor', 'engine', 'openapi', 'shell'])

async function ready() {
  require('./check-node.js')
  if (!existsSync(join(scripts, 'setup.js'))) return
  const [first] = process.argv.slice(2)
  const browser = !withoutBrowser.has(first) && !first.startsWith('-')
  const agent = first === 'shell'
  if (require('../scripts/ready.cjs').isReady(browser, agent)) return
  const { ensureReady } = await import('../scripts/setup.js')
  await ensureReady({ browser, agent })
}

ready().then(
  () => require('../dist/main.js'),
  (error) => {
    process.stderr.write(`error: ${error.message}\n`)
    process.exitCode = 3
  },
)
