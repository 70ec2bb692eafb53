/** Builds an image of one static program with the usual commands: 2 MB, quick to build, for tests and small tasks. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { BaxError } from '../../../core/errors/errors.ts'
import { needTool } from './tool.ts'
import { tar, type TarEntry } from '../docker/tar.ts'

const run = promisify(execFile)

/** Returns the files of the image as tar. @throws BaxError `image_failed` without a static busybox. */
export async function makeBusybox(): Promise<Readable> {
  const path = await needTool('busybox', 'busybox-static')
  const content = await readFile(path)
  if (content.includes('/ld-linux') || content.includes('/ld-musl'))
    throw new BaxError('image_failed', `${path} needs shared libraries`, {
      hint: 'install the static version (`sudo apt install busybox-static`) and retry',
    })
  const { stdout } = await run(path, ['--list'])
  const links = stdout.split('\n').filter((name) => name && name !== 'busybox')
  const folder = (name: string): TarEntry => ({ path: name, mode: 0o755 })
  const text = (name: string, lines: string): TarEntry => ({ path: name, mode: 0o644, content: Buffer.from(lines) })
  return Readable.from([
    await tar([
      ...['bin', 'dev', 'etc', 'proc', 'sys', 'tmp', 'usr', 'usr/bin', 'workspace', 'output'].map(folder),
      { path: 'bin/busybox', mode: 0o755, content },
      ...links.map((name): TarEntry => ({ path: `bin/${name}`, mode: 0o777, link: 'busybox' })),
      { path: 'usr/bin/env', mode: 0o777, link: '../../bin/busybox' },
      text('etc/passwd', 'root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/workspace:/bin/sh\n'),
      text('etc/group', 'root:x:0:\nuser:x:1000:\n'),
    ]),
  ])
}
