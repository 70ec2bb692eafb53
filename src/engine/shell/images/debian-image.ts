/** Builds file systems of images without a registry: a small Debian with selected packages. */
import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { BaxError } from '../../../core/errors/errors.ts'
import { isRunning } from '../../../core/process/process-facts.ts'
import { type AptSource, readAptSources } from './apt-sources.ts'
import { needTool, runTool, type ToolRun } from './tool.ts'

export interface DebianRecipe {
  readonly packages: readonly string[]
  readonly user: { readonly name: string; readonly id: number; readonly home: string; readonly shell: string }
  /** Folders owned by the user. */
  readonly folders: readonly string[]
}

/** Packages of the default image; python3-minimal would lack even `json`. */
const packages = [
  'bash',
  'bzip2',
  'ca-certificates',
  'curl',
  'file',
  'git',
  'jq',
  'less',
  'nodejs',
  'patch',
  'procps',
  'python3',
  'python3-bs4',
  'python3-pil',
  'ripgrep',
  'unzip',
  'xz-utils',
  'zip',
]

/** Default image of shell sessions: Python, Node, git and common tools for processing data. */
export const shellDebian: DebianRecipe = {
  packages,
  user: { name: 'user', id: 1000, home: '/workspace', shell: '/bin/bash' },
  folders: ['/workspace', '/output'],
}

/** Releases that have all of the packages. */
const releases = /^(?:bookworm|trixie|forky|sid|stable|testing|unstable|jammy|noble|plucky|questing)$/

interface Mirror {
  readonly main: AptSource
  readonly security: AptSource | undefined
}

/** Builds the file system and passes it to `take` as tar; removes all temporary files. */
export async function makeDebian(
  recipe: DebianRecipe,
  work: Pick<ToolRun, 'report' | 'signal'>,
  take: (archive: Readable) => Promise<void>,
): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new BaxError('image_failed', 'building the default image with debootstrap requires root', {
      hint: 'run `sudo bax shell image build`, or use a public image: `docker pull python:3.12-slim` and `--image python:3.12-slim`',
    })
  await needTool('debootstrap', 'debootstrap')
  const mirror = await findMirror()
  await dropAbandoned()
  const folder = await mkdtemp(join(tmpdir(), `${folderPrefix}${process.pid}-`))
  try {
    const script = join(folder, 'make.sh')
    await writeFile(script, makeScript(recipe, mirror, folder))
    // Mounts and processes of the script end with it, and it ends with us.
    const unshare = await needTool('unshare', 'util-linux')
    await runTool({
      ...work,
      name: 'building the image',
      program: await needTool('setpriv', 'util-linux'),
      args: ['--pdeathsig', 'KILL', unshare, '--mount', '--pid', '--fork', '--kill-child', '/bin/sh', script],
    })
    await take(createReadStream(join(folder, 'image.tar')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function findMirror(): Promise<Mirror> {
  const sources = await readAptSources()
  const main = sources.find(({ suite, components }) => releases.test(suite) && components.includes('main'))
  if (!main)
    throw new BaxError('image_failed', 'the apt sources of this machine have no supported Debian or Ubuntu release', {
      hint: 'use a public image: `docker pull python:3.12-slim` and `--image python:3.12-slim`',
    })
  return { main, security: sources.find(({ suite }) => suite === `${main.suite}-security`) }
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const listLine = ({ uri, suite, components, trusted }: AptSource) =>
  `deb ${trusted ? '[trusted=yes] ' : ''}${uri} ${suite} ${components.join(' ')}`

function makeScript(
  { packages: selected, user, folders }: DebianRecipe,
  { main, security }: Mirror,
  folder: string,
): string {
  const root = join(folder, 'root')
  const trust = main.trusted ? '--no-check-gpg' : main.keyring ? `--keyring=${quote(main.keyring)}` : ''
  const components = main.components.filter((name) => name === 'main' || name === 'universe').join(',')
  const lines = [main, ...(security ? [security] : [])].map(listLine)
  return `set -eu
root=${quote(root)}
debootstrap --variant=minbase --components=${quote(components)} ${trust} ${quote(main.suite)} "$root" ${quote(main.uri)}
printf '%s\\n' ${lines.map(quote).join(' ')} > "$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf 'path-exclude=/usr/share/doc/*\\npath-exclude=/usr/share/man/*\\npath-exclude=/usr/share/info/*\\npath-exclude=/usr/share/locale/*\\nforce-unsafe-io\\n' > "$root/etc/dpkg/dpkg.cfg.d/bax"
mount -t proc proc "$root/proc"
chroot "$root" apt-get -qq update
chroot "$root" apt-get -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 upgrade
chroot "$root" apt-get -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 install ${selected.join(' ')}
umount "$root/proc"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/info/* "$root"/usr/share/locale/* "$root"/var/log/*.log "$root"/var/log/apt "$root"/etc/apt/sources.list
find "$root" -xdev -perm /6000 -type f -exec chmod a-s {} +
grep -q '^${user.name}:' "$root/etc/group" || echo '${user.name}:x:${user.id}:' >> "$root/etc/group"
grep -q '^${user.name}:' "$root/etc/passwd" || echo '${user.name}:x:${user.id}:${user.id}::${user.home}:${user.shell}' >> "$root/etc/passwd"
for folder in ${folders.map(quote).join(' ')}; do mkdir -p "$root$folder"; chown ${user.id}:${user.id} "$root$folder"; done
: > "$root/etc/resolv.conf"
tar -C "$root" --numeric-owner -cf ${quote(join(folder, 'image.tar'))} --exclude=./dev/* --exclude=./proc/* --exclude=./sys/* --exclude=./run/* .
`
}

const folderPrefix = 'bax-image-'

/** Removes folders of builds whose process was killed. */
async function dropAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${folderPrefix}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    await rm(join(tmpdir(), name), { recursive: true, force: true })
  }
}
