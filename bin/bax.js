#!/usr/bin/env node
// Starts bax; in a source checkout it makes the checkout ready first. CommonJS, which starts faster.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const scripts = join(__dirname, '..', 'scripts')
// Commands that work without a browser.
const withoutBrowser = new Set([undefined, 'help', 'setup', 'doctor', 'engine', 'openapi', 'shell'])

async function ready() {
  const [major] = process.versions.node.split('.').map(Number)
  if (major < 20) throw new Error(`bax needs Node 20 or newer; this is ${process.version}`)
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
