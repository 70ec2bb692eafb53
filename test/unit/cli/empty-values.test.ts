import { expect, test } from 'vitest'
import { commandTable } from '../../../src/cli/parse/command-table.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import { bax } from '../../support/cli.ts'

const manifest = await makeCliManifest()
const env = { BAX_STATE_DIR: '/nonexistent/state', BAX_SERVER: 'unix:/nonexistent.sock' }

/** Flags of lists, with a line that they belong to. */
const lists = commandTable(manifest).flatMap(({ words, rest, operation }) =>
  (operation?.params ?? [])
    .filter(({ type, name }) => type === 'string[]' && !rest.includes(name.replaceAll('_', '-')))
    .map(({ name, flag = name }) => [
      `${words} ${rest.replaceAll(/<[\w-]+>/g, 'x')}`,
      `--${flag.replaceAll('_', '-')}`,
    ]),
)

test.each([
  ...lists,
  ['scrape http://127.0.0.1', '--formats'],
  ['crawl http://127.0.0.1', '--include-paths'],
  ['search tea', '--formats'],
  ['observe', '--include'],
  ['step click #a', '--include'],
  ['session watch', '--types'],
  ['relay events x', '--kind'],
  ['run x.yaml', '--reporter'],
  ['run x.yaml', '--var'],
])('`bax %s %s=` is an error that names the flag', async (line, flag) => {
  for (const empty of ['', ',', ' ']) {
    const { code, stdout, stderr } = await bax([...line!.trim().split(/ +/), `${flag}=${empty}`], { env })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error: ${flag} must not be empty\n`)
  }
})

test.each(['--session', '--output', '--server', '--state-dir', '--browser'])(
  'an empty %s is an error, as that of an unset variable',
  async (flag) => {
    const { code, stderr } = await bax(['do', 'get-title', `${flag}=`], { env })
    expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${flag} must not be empty\n`)])
  },
)

test.each([
  ['shell write f -s s', '--content'],
  ['request http://127.0.0.1', '--data'],
])('`bax %s %s=` takes an empty text', async (line, flag) => {
  const { stderr } = await bax([...line.split(' '), `${flag}=`], { env })
  expect(stderr).toContain('cannot reach the engine at /nonexistent.sock')
})
