/** phpMyAdmin, which manages databases of MariaDB, from Debian's packages, with a server and one user. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { withDependencies } from './debian-packages.ts'
import { servePhp, unpackPhp, type ServedApplication } from './debian-php.ts'
import { type MariaDb, mariaDbPackages, startMariaDb } from './mariadb.ts'

/** Scripts that the package links to are unpacked even if they are installed. */
const packages = [
  ...mariaDbPackages,
  'dbconfig-no-thanks',
  'libjs-codemirror',
  'libjs-jquery',
  'libjs-jquery-mousewheel',
  'libjs-jquery-tablesorter',
  'libjs-jquery-timepicker',
  'libjs-jquery-ui',
  'php-mysql',
  'phpmyadmin',
]

export interface PhpMyAdmin extends ServedApplication {
  readonly user: string
  readonly database: MariaDb
}

export async function startPhpMyAdmin(): Promise<PhpMyAdmin> {
  const all = await withDependencies(packages)
  if (!all) throw new Error(`unknown packages among ${packages.join(', ')}`)
  const root = await unpackPhp('phpmyadmin', all, 'mbstring')
  const [user, password] = ['anna', 's3cret']
  const folder = 'usr/share/phpmyadmin'
  const [config, temporary] = [join(root, 'config.inc.php'), join(root, 'temporary')]
  await mkdir(temporary)
  const database = await startMariaDb(root)
  await database.query(`create user ${user}@'%' identified by '${password}'; grant all on *.* to ${user}@'%'`)
  const server = `['auth_type' => 'cookie', 'host' => '127.0.0.1', 'port' => '${database.port}']`
  const secret = 'str_repeat("s", SODIUM_CRYPTO_SECRETBOX_KEYBYTES)'
  await writeFile(config, `<?php $cfg['blowfish_secret'] = ${secret}; $cfg['Servers'][1] = ${server};`)
  const locations = join(root, folder, 'libraries/vendor_config.php')
  const installed = await readFile(locations, 'utf8')
  await writeFile(
    locations,
    installed.replace('/etc/phpmyadmin/config.inc.php', config).replace('/var/lib/phpmyadmin/tmp/', `${temporary}/`),
  )
  const { stdout } = await promisify(execFile)('php', ['-r', "echo ini_get('extension_dir');"])
  const extensions = join(root, 'usr/lib/php', basename(stdout))
  const settings = [
    `extension=${extensions}/mysqlnd.so`,
    `extension=${extensions}/mysqli.so`,
    `include_path=${root}/usr/share/php:/usr/share/php`,
  ]
  const served = await servePhp(root, { folder, page: 'index.php', settings })
  return {
    ...served,
    user,
    password,
    database,
    folders: [],
    async close() {
      await database.close()
      await served.close()
    },
  }
}
