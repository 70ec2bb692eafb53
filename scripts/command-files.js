// The files of terminal commands, and their imports in a build.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = 'src/cli/commands'

/** Files of the commands, and whether each runs in a process of its own. */
export const commandFiles = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .toSorted()
  .map((name) => {
    const path = `${folder}/${name.replaceAll('\\', '/')}`
    return { path, isOwnProcess: /^ +place: 'own process',$/m.test(readFileSync(join(root, path), 'utf8')) }
  })

/** Replaces `import.meta.glob` by an `import()` of each file, as Vite does in tests. */
export const commandImports = {
  name: 'command-imports',
  setup(build) {
    build.onLoad({ filter: /[/\\]cli[/\\]parse[/\\]command-modules\.ts$/ }, ({ path }) => {
      const files = commandFiles.map((file) => file.path.replace('src/cli/', '../'))
      const imports = files.map((file) => `'${file}': () => import('${file}')`)
      const text = readFileSync(path, 'utf8')
      return { contents: text.replace(/import\.meta\.glob<.*>\(.*\)/, `{${imports.join()}}`), loader: 'ts' }
    })
  },
}
