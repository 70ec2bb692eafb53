// Writes the generated tables of README.md from the manifest: `node scripts/reference.js`; `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const readme = fileURLToPath(new URL('../README.md', import.meta.url))

/** README.md with its generated parts made anew from the manifest. */
export function withReference(text, manifest) {
  const parts = { catalogue: catalogue(manifest), operations: operations(manifest) }
  return Object.entries(parts).reduce((result, [name, part]) => {
    const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
    const from = result.indexOf(start)
    const to = result.indexOf(end)
    if (from < 0 || to < 0) throw new Error(`README.md has no ${start} … ${end}`)
    return `${result.slice(0, from + start.length)}\n${part}\n${result.slice(to)}`
  }, text)
}

function catalogue({ commands }) {
  const families = [...new Set(commands.map(({ family }) => family))]
  const rows = families.flatMap((family) =>
    commands
      .filter((command) => command.family === family)
      .map(({ name, params, summary }, index) =>
        row([index === 0 ? `**${family}**` : '', `\`${name}\``, params.map(fieldOf).join(', '), summary]),
      ),
  )
  return [row(['', 'command', 'fields', 'what it does']), row(['---', '---', '---', '---']), ...rows].join('\n')
}

function operations({ operations: all }) {
  const rows = all
    .filter(({ cli }) => cli !== null)
    .toSorted((a, b) => (a.cli < b.cli ? -1 : 1))
    .map(({ cli, http, summary }) => row([`\`bax ${cli}\``, `\`${http}\``, summary]))
  return [row(['in the terminal', 'over HTTP', 'what it does']), row(['---', '---', '---']), ...rows].join('\n')
}

const row = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
const fieldOf = ({ name, required }) => (required ? `\`${name}\`` : `\`${name}?\``)

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const manifest = JSON.parse(readFileSync(new URL('../dist/manifest.json', import.meta.url), 'utf8'))
  const before = readFileSync(readme, 'utf8')
  const after = withReference(before, manifest)
  if (!process.argv.includes('--check')) writeFileSync(readme, after)
  else if (before !== after) {
    process.stderr.write('README.md is behind the catalogue: run `npm run build && node scripts/reference.js`\n')
    process.exitCode = 1
  }
}
