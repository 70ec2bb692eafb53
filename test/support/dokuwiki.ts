/**
 * DokuWiki, a large real application, from Debian's packages on PHP's own server. The packages are unpacked into a
 * temporary folder, not installed.
 */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './ports.ts'

const run = promisify(execFile)

const packages = ['dokuwiki', 'libjs-jquery', 'libjs-jquery-cookie', 'libjs-jquery-ui', 'libphp-simplepie', 'php-geshi', 'php-phpseclib', 'php-random-compat'] // prettier-ignore
const php = ['php-cli', 'php-xml', 'php-mbstring', 'php-gd']

export interface Wiki {
  readonly url: string
  readonly user: string
  readonly password: string
  /** Returns the text of a stored page, or undefined if there is none. */
  page(name: string): Promise<string | undefined>
  /** Returns the bytes of an uploaded file, or undefined. */
  media(name: string): Promise<Buffer | undefined>
  close(): Promise<void>
}

/** Returns why the wiki cannot run here, or undefined if it can. */
export function missingForWiki(): string | undefined {
  if (!existsSync('/usr/bin/apt-get')) return 'DokuWiki comes from Debian packages and there is no apt-get here'
  if (process.getuid?.() !== 0 && !existsSync('/usr/bin/php'))
    return 'PHP is not installed and only root may install it'
  return undefined
}

export async function startWiki(): Promise<Wiki> {
  const root = await unpack()
  const [user, password] = ['anna', 's3cret']
  await configure(root, user, password)
  const port = await freePort()
  const settings = ['-d', `auto_prepend_file=${root}/prepend.php`, '-d', 'display_errors=0', '-d', 'opcache.enable=0']
  const server = spawn('php', [...settings, '-S', `127.0.0.1:${port}`, '-t', `${root}/usr/share/dokuwiki`], {
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  await answering(`${url}/doku.php`)
  const data = join(root, 'var/lib/dokuwiki/data')
  const readMaybe = (path: string) => (existsSync(path) ? readFile(path) : undefined)
  return {
    url,
    user,
    password,
    page: async (name) => (await readMaybe(join(data, 'pages', `${name}.txt`)))?.toString(),
    media: async (name) => readMaybe(join(data, 'media', name)),
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGTERM')
      await ended
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Downloads the packages once per machine and unpacks them into a fresh folder. */
async function unpack(): Promise<string> {
  if (!existsSync('/usr/bin/php')) {
    await run('apt-get', ['update', '-qq'])
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...php], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  const key = createHash('sha256').update(packages.join()).digest('hex').slice(0, 12)
  const store = join(tmpdir(), `bax-test-dokuwiki-${key}`)
  if (!existsSync(store)) {
    const fresh = await mkdtemp(`${store}-`)
    await run('apt-get', ['download', '-qq', ...packages], { cwd: fresh })
    await run('mv', ['-T', fresh, store])
  }
  const root = await mkdtemp(join(tmpdir(), 'bax-test-wiki-'))
  for (const file of await readdir(store)) await run('dpkg', ['-x', join(store, file), root])
  return root
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
  await writeFile(join(conf, 'acl.auth.php'), '*\t@ALL\t1\n*\t@user\t8\n')
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
  await writeFile(join(root, 'prepend.php'), `<?php\n${definitions.join('\n')}\ndefine('DOKU_FARM', false);\n`)
}

async function answering(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const status = await fetch(url).then(
      ({ status }) => status,
      () => 0,
    )
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`DokuWiki did not answer at ${url}`)
}
