// Prints the section of a version from the changelog, for its release: `node scripts/release-notes.js 1.2.0`.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Returns the section of a version, without its heading.
 * @throws Error when the changelog has no such section, or an empty one
 */
export function notesOf(changelog, version) {
  const [, ...sections] = changelog.split(/^## /m)
  const section = sections.find((one) => one.split('\n', 1)[0].split(' ')[0] === version)
  const text = section?.slice(section.indexOf('\n')).trim()
  if (!text) throw new Error(`.github/CHANGELOG.md has no section "## ${version}"`)
  return text
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = new URL('..', import.meta.url)
  const [version] = process.argv.slice(2)
  const { version: own } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  try {
    if (version !== own) throw new Error(`the tag is of ${version}, package.json of ${own}`)
    process.stdout.write(`${notesOf(readFileSync(new URL('.github/CHANGELOG.md', root), 'utf8'), version)}\n`)
  } catch (error) {
    process.stderr.write(`error: ${error.message}\n`)
    process.exitCode = 1
  }
}
