/** MediaWiki with a private wiki, from Debian's packages. */
import { execFile } from 'node:child_process'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { servePhp, unpackPhp, type ServedApplication } from './debian-php.ts'

const run = promisify(execFile)

export interface PrivateWiki extends ServedApplication {
  readonly user: string
  /** Path of its SQLite database. */
  readonly database: string
}

/** `pages` are the texts of the pages by title; only users can read them. */
export async function startMediaWiki(pages: Readonly<Record<string, string>>): Promise<PrivateWiki> {
  const root = await unpackPhp('mediawiki', ['mediawiki', 'mediawiki-classes'], 'intl')
  const [user, password] = ['Anna', 's3cret-of-anna']
  const folder = 'usr/share/mediawiki'
  const [wiki, databases, texts] = [join(root, folder), join(root, 'databases'), join(root, 'texts')]
  const images = join(root, 'images')
  const settings = join(wiki, 'LocalSettings.php')
  const maintain = (script: string, ...flags: string[]) =>
    run('php', [join(wiki, 'maintenance', `${script}.php`), ...flags], { maxBuffer: 64 * 1024 * 1024 })
  // The package links to files outside of the folder.
  await rm(settings)
  await Promise.all([databases, texts, images, join(root, 'cache')].map((path) => mkdir(path)))
  const database = ['--dbtype', 'sqlite', '--dbpath', databases, '--dbname', 'wiki']
  const site = ['--scriptpath', '', '--server', 'http://127.0.0.1', '--confpath', wiki]
  await maintain('install', ...database, ...site, '--pass', password, 'Team Wiki', user)
  await appendFile(
    settings,
    `
    if ( isset( $_SERVER['HTTP_HOST'] ) ) $wgServer = 'http://' . $_SERVER['HTTP_HOST'];
    $wgGroupPermissions['*']['read'] = false;
    $wgJobRunRate = 0;
    $wgEnableUploads = true;
    $wgUploadDirectory = '${images}';
    $wgCacheDirectory = '${join(root, 'cache')}';
    $wgLocalisationCacheConf = [ 'store' => 'array' ] + $wgLocalisationCacheConf;
    wfLoadSkin( 'MonoBook' );
    $wgDefaultSkin = 'monobook';
    `,
  )
  const files = Object.entries(pages).map(([title, text]) => ({ path: join(texts, `${title}.txt`), text }))
  for (const { path, text } of files) await writeFile(path, text)
  await maintain('importTextFiles', '--user', user, ...files.map(({ path }) => path))
  // Compiling all of its files takes a second for each request.
  const fast = ['opcache.enable=1', 'opcache.max_accelerated_files=20000', 'opcache.memory_consumption=256']
  const server = await servePhp(root, { folder, page: 'index.php?title=Special:UserLogin', settings: fast })
  return {
    ...server,
    url: `${server.url}/index.php`,
    user,
    password,
    database: join(databases, 'wiki.sqlite'),
    folders: [databases, images],
  }
}
