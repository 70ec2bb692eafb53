/** Adminer, which manages databases of several systems, on a SQLite database, from Debian's packages. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { servePhp, unpackPhp, type ServedApplication } from './debian-php.ts'

export interface Adminer extends ServedApplication {
  readonly user: string
  /** Path of the database. */
  readonly database: string
}

export async function startAdminer(): Promise<Adminer> {
  const root = await unpackPhp('adminer', ['adminer'], 'sqlite3')
  const [user, password] = ['anna', 's3cret']
  const folder = 'usr/share/adminer'
  const databases = join(root, 'databases')
  await mkdir(databases)
  const index = `<?php
    function adminer_object() {
      class Local extends Adminer {
        function login($login, $password) { return $password === '${password}'; }
        // SQLite has no passwords.
        function credentials() { return array('', '', ''); }
        // Every page asks another site for a new version.
        function head() {
          echo script('verifyVersion = function () {};');
          return true;
        }
      }
      return new Local;
    }
    include './adminer.php';
  `
  await writeFile(join(root, folder, 'index.php'), index)
  const server = await servePhp(root, { folder, page: 'index.php' })
  return { ...server, user, password, database: join(databases, 'shop.sqlite'), folders: [databases] }
}
