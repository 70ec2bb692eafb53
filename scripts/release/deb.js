// Builds the package for Debian and its derivatives. It contains a Node, because Debian 12 has an older one than bax needs.
import { execFile } from 'node:child_process'
import { appendFile, chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { architectures } from './node.js'
import { treeFor } from './tree.js'

const run = promisify(execFile)

/** Builds the package of an architecture from the program in `program`; returns its path. */
export async function buildDeb({ program, output, arch, description }) {
  const { debian } = architectures[arch]
  const { version } = description
  const folder = await mkdtemp(join(tmpdir(), 'bax-deb-'))
  try {
    // mkdtemp creates a folder that only its owner may read.
    await chmod(folder, 0o755)
    const app = join(folder, 'usr/lib/bax')
    await treeFor(arch, program, app, 'deb')
    await mkdir(join(folder, 'usr/bin'))
    await symlink(`../lib/bax/dist/launcher-${arch}`, join(folder, 'usr/bin/bax'))
    await writeCopyright(app, join(folder, 'usr/share/doc/bax'))
    const { stdout } = await run('du', ['--summarize', '--apparent-size', '--block-size=1024', folder])
    await mkdir(join(folder, 'DEBIAN'))
    await writeFile(join(folder, 'DEBIAN/control'), control({ version, debian, kilobytes: Number.parseInt(stdout) }))
    const file = join(output, `bax_${version}_${debian}.deb`)
    await run('dpkg-deb', ['--build', '--root-owner-group', '-Zzstd', folder, file])
    return file
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The libraries are those of its Node. Browsers are recommended: `apt-get --no-install-recommends` leaves them out. */
const control = ({ version, debian, kilobytes }) => `Package: bax
Version: ${version}
Architecture: ${debian}
Maintainer: the bax contributors
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6
Recommends: ca-certificates, chromium, chromium-headless-shell
Suggests: docker.io
Section: web
Priority: optional
Description: Control browsers from the terminal
 Sessions, scraping, crawls, scripts, a relay to your own browser, and shells in
 containers, for people and for agents. It contains its own Node.
`

async function writeCopyright(app, folder) {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'copyright')
  await copyFile(join(app, 'LICENSE'), file)
  await appendFile(
    file,
    '\nLicences of bundled code are in /usr/lib/bax/dist/THIRD_PARTY_LICENSES, those of packages in their folders in\n' +
      '/usr/lib/bax/node_modules, and that of Node in /usr/lib/bax/runtime/LICENSE.\n',
  )
}
