// Collects the licences of the packages that esbuild bundled, and fails on one that does not allow redistribution.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** SPDX identifiers that allow redistribution in a bundle, given the text of the licence. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
])

/** Name of the file that the build writes next to the program. */
export const licensesFile = 'THIRD_PARTY_LICENSES'

/** Texts of data, and of packages that are published without one, as `NAME.txt`, from their repositories. */
const kept = fileURLToPath(new URL('licenses', import.meta.url))

/**
 * Returns the text of `THIRD_PARTY_LICENSES`: every bundled package with its version and licence.
 * @param {string} root folder that has `node_modules`
 * @param {Iterable<string>} inputs bundled files, relative to `root`
 * @param {Readonly<Record<string, string>>} data licences of the data that the build contains, by name
 * @throws Error that names every package whose licence is missing or not allowed
 */
export async function licensesOf(root, inputs, data = {}) {
  const folders = [...new Set([...inputs].map(packageFolder).filter((folder) => folder !== undefined))].toSorted()
  const problems = []
  const sections = new Map()
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
    if (!isAllowed(license)) problems.push(`${name} ${version}: the licence ${license ?? '(none)'} is not allowed`)
    const text =
      (await textsIn(join(root, folder), /^(?:licen[cs]e|copying|notice)/i)) ??
      (await readFile(join(kept, `${name}.txt`), 'utf8').catch(() => undefined)) // none is reported below
    if (text === undefined) problems.push(`${name} ${version}: the package contains no licence text`)
    sections.set(`${name} ${version}`, `${name} ${version} (${license})\n\n${text}`)
  }
  for (const [name, license] of Object.entries(data))
    sections.set(name, `${name} (${license})\n\n${await readFile(join(kept, `${name}.txt`), 'utf8')}`)
  if (problems.length > 0) throw new Error(`bundled packages:\n${problems.join('\n')}`)
  const head = `bax contains code of the following ${sections.size} packages.`
  return `${[head, ...sections.values()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Returns the folder of the package that a bundled file belongs to; undefined for files of bax. */
export function packageFolder(path) {
  const at = path.lastIndexOf('node_modules/')
  if (at < 0) return undefined
  const [first, second] = path.slice(at + 'node_modules/'.length).split('/')
  return `${path.slice(0, at)}node_modules/${first.startsWith('@') ? `${first}/${second}` : first}`
}

/** Returns whether an SPDX expression allows redistribution: one alternative must, or every combined licence. */
export function isAllowed(license) {
  if (typeof license !== 'string') return false
  const plain = license.replace(/^\((.*)\)$/, '$1')
  // Nested expressions do not occur; they would need a parser.
  if (/[()]/.test(plain)) return false
  return plain.split(' OR ').some((one) => one.split(' AND ').every((id) => allowed.has(id)))
}

/** Returns the texts of the files whose names match, undefined if there are none. */
async function textsIn(folder, pattern) {
  const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.map((one) => one.replaceAll('\r\n', '\n').trim()).join('\n\n') || undefined
}
