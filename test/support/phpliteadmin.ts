/** phpLiteAdmin, which manages SQLite databases, from Debian's packages. */
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { servePhp, unpackPhp, type ServedApplication } from './debian-php.ts'

export interface PhpLiteAdmin extends ServedApplication {
  /** Returns the names of the databases. */
  databases(): Promise<string[]>
  /** Returns the path of a database. */
  file(name: string): string
}

export async function startPhpLiteAdmin(): Promise<PhpLiteAdmin> {
  const root = await unpackPhp('phpliteadmin', ['phpliteadmin', 'libjs-codemirror'], 'sqlite3')
  const password = 's3cret'
  const folder = 'usr/share/phpliteadmin'
  const [config, databases] = [join(root, folder, 'phpliteadmin.config.php'), join(root, 'databases')]
  await mkdir(databases)
  // The packages link to files outside of the folder.
  await rm(config)
  await writeFile(config, `<?php $password = '${password}'; $directory = '${databases}';`)
  await symlink(join(root, 'usr/share/javascript'), join(root, folder, 'javascript'))
  const server = await servePhp(root, { folder, page: 'phpliteadmin.php' })
  return {
    ...server,
    url: `${server.url}/phpliteadmin.php`,
    password,
    folders: [databases],
    databases: () => readdir(databases),
    file: (name: string) => join(databases, name),
  }
}
