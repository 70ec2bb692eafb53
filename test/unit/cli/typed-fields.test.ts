import { expect, test } from 'vitest'
import { spellFields } from '../../../src/cli/output/typed-fields.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'

const manifest = await makeCliManifest()

test.each<[words: string, argv: string[], path: string, label: string]>([
  ['request', ['http://a.test', '-X', 'GE T'], 'method', '-X'],
  ['request', ['http://a.test', '-XGE T'], 'method', '-X'],
  ['request', ['http://a.test', '--method=GE T'], 'method', '--method'],
  ['request', ['GE T', 'http://a.test'], 'method', '<method>'],
  ['request', ['http://a.test', '-H', 'a b: c'], 'headers.a b', '-H: a b'],
  ['crawl', ['http://a.test', '--cookie', 'a b=c'], 'cookies', '--cookie'],
  ['scrape', ['http://a.test', '--cookies', 'file'], 'cookies', '--cookies'],
  ['crawl', ['http://a.test', '--limit', '0'], 'limit', '--limit'],
  ['open', ['http://a.test', '-k'], 'skip_tls_verification', '--insecure'],
  ['request', ['http://a.test', '-ik'], 'skip_tls_verification', '--insecure'],
  ['do', ['eval', ''], 'commands[0].data.expression', '<expression>'],
  ['do', ['-s', 'shop', 'find', 'text', ''], 'commands[0].data.text', '<text>'],
  ['do', ['find', 'text', 'a', '--limit', '0'], 'commands[0].data.limit', '--limit'],
  [
    'do',
    ['press', 'a', 'then', 'get', 'attr', 'a', ''],
    'commands[1].data.attribute',
    'get-attribute (2 of 2): <attribute>',
  ],
  ['do', ['drag', '#card'], 'commands[0].data.target_selector', '<target-selector>'],
  ['step', ['set', 'viewport', '0', '0'], 'commands[0].data.height', '<height>'],
])('`bax %s %j`: an error of %s names %s', (words, argv, path, label) => {
  const error = new BaxError('invalid_request', `${path} is wrong`, { details: [{ path, message: 'is wrong' }] })
  expect(spellFields(error, { words, argv, manifest })).toBe(`${label} is wrong`)
})
