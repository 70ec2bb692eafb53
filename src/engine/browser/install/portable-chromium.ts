/** Portable Chromium from npm, unpacked into bax's own folder, for machines where nothing can be installed. */
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { privateDir } from '../../../core/state/files.ts'
import type { RunProgram } from './install.ts'

/** Last version for Node 20: a headless shell for x64 Linux with the libraries that minimal systems lack. */
const packageName = '@sparticuz/chromium'
const packageVersion = '147.0.0'

/** Installs it to `<cache>/browsers/portable-<version>`; resolves with the problem, undefined on success. */
export async function installPortable(cacheDir: string, run: RunProgram): Promise<string | undefined> {
  const browsers = await privateDir(join(cacheDir, 'browsers'))
  // Not in the folder of browsers, where other processes may search meanwhile.
  const work = await mkdtemp(join(cacheDir, 'unpacking-'))
  try {
    const spec = `${packageName}@${packageVersion}`
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--loglevel=error']
    const problem = await run('npm', ['install', '--prefix', join(work, 'package'), ...flags, spec])
    if (problem !== undefined) return problem
    const packed = join(work, 'package', 'node_modules', packageName, 'bin')
    const fresh = join(work, 'browser')
    await mkdir(join(fresh, 'libraries'), { recursive: true })
    await inflate(join(packed, 'chromium.br'), join(fresh, 'chrome'))
    await chmod(join(fresh, 'chrome'), 0o755)
    const archives = [
      ['swiftshader', '.'],
      ['fonts', '.'],
      ['al2023', 'libraries'],
    ] as const
    for (const [name, folder] of archives) {
      await inflate(join(packed, `${name}.tar.br`), join(work, `${name}.tar`))
      const problem = await run('tar', ['-x', '-f', join(work, `${name}.tar`), '-C', join(fresh, folder)])
      if (problem !== undefined) return problem
    }
    await writeFile(join(fresh, 'headless-shell'), starter, { mode: 0o755 })
    const target = join(browsers, `portable-${packageVersion}`)
    await rm(target, { recursive: true, force: true })
    await rename(fresh, target)
    return undefined
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Start script: uses the system's libraries and fonts if available, else the unpacked ones. */
const starter = `#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
if ! "$here/chrome" --version >/dev/null 2>&1; then
  export LD_LIBRARY_PATH="$here/libraries/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_PATH="$here"
exec "$here/chrome" "$@"
`

const inflate = (from: string, to: string): Promise<void> =>
  pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to))
