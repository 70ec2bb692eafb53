#!/usr/bin/env node
// Starts bax; in a source checkout it makes the checkout ready first.
import { existsSync } from 'node:fs'

const [major] = process.versions.node.split('.').map(Number)
const setup = new URL('../scripts/setup.js', import.meta.url)
// What can be asked before there is a browser, and what is asked when there is none.
const withoutBrowser = new Set([undefined, 'help', 'setup', 'doctor', 'engine', 'openapi'])
try {
  if (major < 20) throw new Error(`bax needs Node 20 or newer; this is ${process.version}`)
  if (existsSync(setup)) {
    const { ensureReady } = await import(setup.href)
    const [first] = process.argv.slice(2)
    await ensureReady({ browser: !withoutBrowser.has(first) && !first.startsWith('-') })
  }
} catch (error) {
  process.stderr.write(`error: ${error.message}\n`)
  process.exit(3)
}
await import('../dist/main.js')
