/** Roundcube, a mail program, from Debian's packages, with a mail server for its user. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { servePhp, unpackPhp, type ServedApplication } from './debian-php.ts'
import { type MailServer, mailPackages, startMailServer } from './mail-server.ts'

const packages = [
  ...mailPackages,
  'libjs-bootstrap4',
  'libjs-jquery',
  'libjs-jquery-minicolors',
  'libjs-jquery-ui',
  'libjs-jstimezonedetect',
  'php-auth-sasl',
  'php-getallheaders',
  'php-guzzlehttp-guzzle',
  'php-guzzlehttp-promises',
  'php-guzzlehttp-psr7',
  'php-mail-mime',
  'php-masterminds-html5',
  'php-net-smtp',
  'php-net-socket',
  'php-pear',
  'php-psr-http-client',
  'php-psr-http-factory',
  'php-psr-http-message',
  'php-symfony-deprecation-contracts',
  'roundcube-core',
]

export interface Roundcube extends ServedApplication {
  readonly user: string
  readonly mail: MailServer
}

export async function startRoundcube(): Promise<Roundcube> {
  const root = await unpackPhp('roundcube', packages, 'intl')
  const [user, password] = ['anna', 's3cret']
  const mail = await startMailServer(root, { name: user, password })
  const folder = 'usr/share/roundcube'
  const [config, database] = [join(root, 'etc/roundcube'), join(root, 'database')]
  await Promise.all([database, join(root, 'logs'), join(root, 'temp')].map((path) => mkdir(path)))
  const settings = {
    db_dsnw: `sqlite:///${database}/roundcube.sqlite?mode=0600`,
    des_key: 'rcmail-!24ByteDESkey*Str',
    imap_auth_type: 'IMAP',
    imap_host: `127.0.0.1:${mail.imapPort}`,
    log_dir: join(root, 'logs'),
    mail_domain: 'example.com',
    smtp_host: `127.0.0.1:${mail.smtpPort}`,
    smtp_user: '',
    temp_dir: join(root, 'temp'),
  }
  const lines = Object.entries(settings).map(([name, value]) => `$config['${name}'] = '${value}';`)
  await writeFile(join(config, 'config.inc.php'), `<?php\n$config['plugins'] = [];\n${lines.join('\n')}\n`)
  await writeFile(
    join(root, 'prepend.php'),
    `<?php define('INSTALL_PATH', '${root}/${folder}/'); define('RCMAIL_CONFIG_DIR', '${config}');`,
  )
  const server = await servePhp(root, {
    folder,
    page: 'index.php',
    settings: [`auto_prepend_file=${root}/prepend.php`, `include_path=${root}/usr/share/php`],
  })
  return {
    ...server,
    user,
    password,
    mail,
    folders: [database],
    async close() {
      await mail.close()
      await server.close()
    },
  }
}
