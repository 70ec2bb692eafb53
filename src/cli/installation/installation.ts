/** The kinds of installations of bax, with the commands that update and remove them. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { quoteWord } from '../../core/text/shell-words.ts'
import type { Io } from '../io.ts'

export interface Installation {
  readonly kind:
    | 'checkout'
    | 'deb'
    | 'single file'
    | 'npx'
    | 'npm global'
    | 'pnpm'
    | 'npm project'
    | 'homebrew'
    | 'unknown'
  /** Folder of the package; for a single file, that file. */
  readonly path: string
  /** Returns the commands that update it to a version; none if they are unknown. */
  readonly update: (version: string) => readonly string[]
  /** Commands that remove the program. */
  readonly remove: readonly string[]
}

/** File beside the program in which packages other than npm's name their kind (`scripts/release/tree.js`). */
const kindFile = 'installation'

export function installationOf({ host }: Pick<Io, 'host'>): Installation {
  // Only a program that runs from source has no manifest.
  const folder = dirname(dirname(host.manifest ?? host.self.at(-1)!))
  const kind = readKind(join(folder, kindFile))
  if (kind === 'deb') {
    const update = (version: string) => [`sudo apt-get install ./bax_${version}_${debianArchitecture()}.deb`]
    return { kind: 'deb', path: folder, update, remove: ['sudo apt-get remove bax'] }
  }
  if (kind === 'single file') return singleFile(host.self[0])
  const where = quoteWord(folder)
  if (host.manifest === undefined || existsSync(join(folder, 'scripts', 'setup.js')))
    return { kind: 'checkout', path: folder, update: () => [`git -C ${where} pull`], remove: [`rm -r ${where}`] }
  return fromPackageManager(folder)
}

/** `process.arch` has other names than Debian. */
const debianArchitecture = (): string => (process.arch === 'x64' ? 'amd64' : process.arch)

function singleFile(file: string): Installation {
  const where = quoteWord(file)
  const update = (version: string) => [`install -m 755 bax-${version}-linux-${process.arch} ${where}`]
  return { kind: 'single file', path: file, update, remove: [`rm ${where}`] }
}

/** Recognizes the folders of package managers by their names, as each of them documents. */
function fromPackageManager(path: string): Installation {
  const parts = path.split(/[\\/]/)
  const project = dirname(dirname(path))
  if (parts.includes('_npx')) {
    const remove = [`rm -r ${quoteWord(project)}`]
    return { kind: 'npx', path, update: () => ['npx bax@latest'], remove }
  }
  if (parts.includes('.pnpm')) {
    const flag = parts.includes('global') ? ' --global' : ''
    return { kind: 'pnpm', path, update: () => [`pnpm add${flag} bax@latest`], remove: [`pnpm remove${flag} bax`] }
  }
  // https://docs.brew.sh/Formula-Cookbook: a formula is installed into `Cellar/<name>/<version>`.
  if (parts.includes('Cellar'))
    return { kind: 'homebrew', path, update: () => ['brew upgrade bax'], remove: ['brew uninstall bax'] }
  if (parts.at(-2) !== 'node_modules') return { kind: 'unknown', path, update: () => [], remove: [] }
  if (!existsSync(join(project, 'package.json'))) {
    // An upgrade restores the link of the package, which `bax setup` lets lead to the launcher.
    const update = () => ['npm install --global bax@latest', 'bax setup']
    return { kind: 'npm global', path, update, remove: ['npm uninstall --global bax'] }
  }
  const npm = `npm --prefix ${quoteWord(project)}`
  return { kind: 'npm project', path, update: () => [`${npm} install bax@latest`], remove: [`${npm} uninstall bax`] }
}

/** Returns the content of the file; undefined if there is none, as in packages of npm and in checkouts. */
const readKind = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
