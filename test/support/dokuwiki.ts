/** DokuWiki, a large real application, from Debian's packages. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { missingForPhp, servePhp, unpackPhp, type ServedApplication } from './debian-php.ts'

const run = promisify(execFile)

const packages = [
  'dokuwiki',
  'libjs-jquery',
  'libjs-jquery-cookie',
  'libjs-jquery-ui',
  'libphp-simplepie',
  'php-geshi',
  'php-phpseclib',
  'php-random-compat',
]

export interface Wiki extends ServedApplication {
  readonly user: string
  /** Returns the text of a stored page, or undefined if there is none. */
  page(name: string): Promise<string | undefined>
  /** Adds a page; only users can read those in the namespace `private`. */
  add(name: string, text: string): Promise<void>
  /** Returns the bytes of an uploaded file, or undefined. */
  media(name: string): Promise<Buffer | undefined>
  /** Returns the settings that were changed in the wiki, and its accounts. */
  settings(): Promise<string>
}

export const missingForWiki = missingForPhp

export async function startWiki(): Promise<Wiki> {
  const root = await unpackPhp('dokuwiki', packages, 'gd')
  const [user, password] = ['anna', 's3cret']
  await configure(root, user, password)
  const settings = [`auto_prepend_file=${root}/prepend.php`]
  const { url, close } = await servePhp(root, { folder: 'usr/share/dokuwiki', page: 'doku.php', settings })
  const data = join(root, 'var/lib/dokuwiki/data')
  const readMaybe = (path: string) => (existsSync(path) ? readFile(path) : undefined)
  return {
    url,
    user,
    password,
    folders: [data, join(root, 'etc/dokuwiki')],
    page: async (name) => (await readMaybe(join(data, 'pages', `${name}.txt`)))?.toString(),
    add: async (name, text) => {
      const file = join(data, 'pages', `${name.replaceAll(':', '/')}.txt`)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
    settings: async () => {
      const files = ['local.php', 'users.auth.php'].map((name) => readFile(join(root, 'etc/dokuwiki', name), 'utf8'))
      return (await Promise.all(files)).join('')
    },
    media: async (name) => readMaybe(join(data, 'media', name)),
    close,
  }
}

/** Points the packages' absolute paths at the folder they were unpacked into. */
async function configure(root: string, user: string, password: string): Promise<void> {
  const wiki = join(root, 'usr/share/dokuwiki')
  const conf = join(root, 'etc/dokuwiki')
  const { stdout } = await run('grep', ['-rlE', "'/usr/share/", wiki, '--include=*.php'])
  for (const file of stdout.trim().split('\n')) {
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      text
        .replaceAll("$vendorDir . '/usr/share/", `'${root}/usr/share/`)
        .replaceAll("'/usr/share/", `'${root}/usr/share/`),
    )
  }
  for (const link of ['usr/share/dokuwiki/lib/tpl', 'usr/share/dokuwiki/lib/plugins']) {
    const target = await readlink(join(root, link))
    await rm(join(root, link))
    await symlink(join(root, target), join(root, link))
  }
  await mkdir(join(root, 'var/lib/dokuwiki/acl'), { recursive: true })
  for (const name of ['acl.auth.php', 'users.auth.php']) await rm(join(conf, name), { force: true })
  const { stdout: hash } = await run('php', ['-r', 'echo password_hash($argv[1], PASSWORD_BCRYPT);', password])
  await writeFile(join(conf, 'users.auth.php'), `${user}:${hash}:Anna Example:anna@example.com:admin,user\n`)
  await writeFile(join(conf, 'acl.auth.php'), '*\t@ALL\t1\n*\t@user\t8\nprivate:*\t@ALL\t0\nprivate:*\t@user\t8\n')
  const settings = {
    title: 'Team Wiki',
    savedir: `${root}/var/lib/dokuwiki/data`,
    useacl: 1,
    superuser: '@admin',
    license: '0',
    updatecheck: 0,
    authtype: 'authplain',
  }
  const lines = Object.entries(settings).map(([name, value]) => `$conf['${name}'] = ${JSON.stringify(value)};`)
  await writeFile(join(conf, 'local.php'), `<?php\n${lines.join('\n')}\n`)
  const definitions = ['DOKU_CONF', 'DOKU_MAIN_CONF'].map((name) => `define('${name}', '${conf}/');`)
  // Every page loads `taskrunner.php`, which maintains the index. Requested before a login and answered after it, it
  // deletes the cookie of the login. People are too slow to notice; scripts are not.
  const skip =
    "if (basename($_SERVER['SCRIPT_NAME']) === 'taskrunner.php' && !preg_grep('/^DW[0-9a-f]{32}$/', array_keys($_COOKIE))) exit;"
  const prepended = [...definitions, "define('DOKU_FARM', false);", skip]
  await writeFile(join(root, 'prepend.php'), `<?php\n${prepended.join('\n')}\n`)
}
