/** Cost of one command compared with an empty Node process, agent-browser and @playwright/cli. */
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { EngineStatus } from '../../src/core/shapes/engine.ts'
import type { SessionRecord } from '../../src/core/shapes/session.ts'
import { serveSite } from '../support/site.ts'
import { installPeers } from './peers.ts'
import { inTurn, ms, msTitle, ratio, type Row, run, type Table } from './measure.ts'

const node = process.execPath
const page = '<!doctype html><title>A page</title><h1>Hello</h1><button id="b">Press</button>'

export async function measure(): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const site = await serveSite({ '/': page })
  const state = { BAX_STATE_DIR: join(folder, 'state') }
  const dist = await installBax(folder)
  const bax = (...args: string[]) => run(join(dist, `launcher-${process.arch}`), args, state)
  const inNode = (...args: string[]) => run(node, [join(dist, 'main.js'), ...args], state)
  const peers = await installPeers(folder)
  const agent = (...args: string[]) => peers.agent(args)
  const playwright = (...args: string[]) => run(peers.playwrightCli, args, { HOME: folder }, { cwd: folder })
  try {
    await bax('session', 'create', '--headless', '--requested-name', 'bench', '--start-url', site.url)
    await agent('open', site.url)
    await playwright('open', '--config', peers.playwrightConfig, site.url)
    const times = await inTurn(
      {
        'node -e 0': () => run(node, ['-e', '0']),
        'bax --help': () => bax('--help'),
        'bax --help, in Node': () => inNode('--help'),
        'bax session list': () => bax('session', 'list'),
        'bax do get-title, in Node': () => inNode('do', 'get-title', '-s', 'bench'),
        'bax do get-title': () => bax('do', 'get-title', '-s', 'bench'),
        'bax do click': () => bax('do', 'click', '#b', '-s', 'bench'),
        'bax scrape': () => bax('scrape', site.url),
        'bax scrape, another flag': () => bax('scrape', site.url, '--timeout', '30000'),
        'bax do screenshot': () => bax('do', 'screenshot', '-s', 'bench', '-o', join(folder, 'page.png')),
        'agent-browser get title': () => agent('get', 'title'),
        'agent-browser click': () => agent('click', '#b'),
        'playwright-cli eval': () => playwright('eval', '() => document.title'),
        'playwright-cli click': () => playwright('click', '#b'),
      },
      15,
    )
    const status = JSON.parse(await bax('engine', 'status', '--json')) as EngineStatus
    const warm = `${status.browsers.reduce((sum, browser) => sum + browser.warm, 0)} warm pages in the pool`
    const age = (JSON.parse(await bax('session', 'show', 'bench', '--json')) as SessionRecord).commands_run
    const floor = times['node -e 0']!
    const peer = times['agent-browser get title']!
    const bounds: Record<string, number> = { 'bax --help, in Node': 1.5, 'bax do get-title, in Node': 1.6 }
    const peerBounds: Record<string, number> = { 'bax session list': 1.5, 'bax do get-title': 1.5 }
    const rows = Object.entries(times).map(([name, time]): Row => ({
      name: `\`${name}\``,
      cells: [ms(time), ratio(time, floor, bounds[name]), ratio(time, peer, peerBounds[name])],
    }))
    return [
      {
        title: 'One-liners on a warm engine',
        columns: [msTitle, 'to `node -e 0`', 'to `agent-browser get title`'],
        rows,
        note: `${warm}; a session of ${age} commands at the end. agent-browser is a native program started directly, without npm's launcher.`,
      },
    ]
  } finally {
    await bax('engine', 'stop')
    await agent('close')
    await playwright('close')
    await site.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Copies the build to where there are no sources, as in an installed package; returns its folder. */
async function installBax(folder: string): Promise<string> {
  const root = join(folder, 'bax')
  for (const name of ['bin', 'dist']) await cp(name, join(root, name), { recursive: true, dereference: true })
  await symlink(resolve('node_modules'), join(root, 'node_modules'))
  return join(root, 'dist')
}
