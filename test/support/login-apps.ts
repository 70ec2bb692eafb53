/** Real applications with 50 pages that only users can read. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startMediaWiki } from './mediawiki.ts'
import { startWiki } from './dokuwiki.ts'
import { startPhpLiteAdmin } from './phpliteadmin.ts'
import { command } from './session-steps.ts'

/** The applications answer one request at a time, which may take long on a busy machine. */
const step = (name: string, data: Record<string, unknown>) => command(name, { ...data, timeout_ms: 300_000 })

export interface LoginApp {
  /** Page that links to the others. */
  readonly url: string
  readonly loginUrl: string
  /** Commands on the page at `loginUrl`. */
  readonly login: readonly ReturnType<typeof command>[]
  /** Text of all pages of users, and of no other. */
  readonly member: string
  /** Whether pages of users link to the end of the session. */
  readonly linksLogout: boolean
  /** Number of links to files that are no pages, and are listed as errors. */
  readonly files: number
  close(): Promise<void>
}

const numbers = Array.from({ length: 49 }, (_, at) => at + 1)
const sentence = (name: string) => `Only users read this text of ${name}, which is a whole sentence.\n`

/** Returns the steps that log in to a wiki, by the selectors of its fields and a text that only users see. */
const loginTo = (
  { user, password }: Readonly<Record<'user' | 'password', string>>,
  fields: Readonly<Record<'user' | 'password' | 'shown', string>>,
): LoginApp['login'] => [
  step('fill', { selector: fields.user, text: user }),
  step('fill', { selector: fields.password, text: password }),
  step('press_key', { selector: fields.password, key: 'Enter' }),
  step('wait_for', { text: fields.shown }),
]

async function dokuWiki(): Promise<LoginApp> {
  const wiki = await startWiki()
  const names = numbers.map((number) => `private:page${number}`)
  await wiki.add('private:index', names.map((name) => `  * [[${name}]]\n`).join(''))
  for (const name of names) await wiki.add(name, sentence(name))
  return {
    url: `${wiki.url}?id=private:index`,
    loginUrl: `${wiki.url}?id=private:index&do=login`,
    login: loginTo(wiki, { user: 'input[name=u]', password: 'input[name=p]', shown: 'Logged in as' }),
    member: 'Anna Example',
    linksLogout: true,
    files: 0,
    close: wiki.close,
  }
}

async function mediaWiki(): Promise<LoginApp> {
  const names = numbers.map((number) => `Page ${number}`)
  const index = names.map((name) => `* [[${name}]]\n`).join('')
  const texts = Object.fromEntries(names.map((name) => [name, sentence(name)]))
  const wiki = await startMediaWiki({ Index: index, ...texts })
  return {
    url: `${wiki.url}/Index`,
    loginUrl: `${wiki.url}?title=Special:UserLogin`,
    login: loginTo(wiki, { user: '#wpName1', password: '#wpPassword1', shown: 'Log out' }),
    member: 'Log out',
    linksLogout: true,
    files: 0,
    close: wiki.close,
  }
}

async function phpLiteAdmin(): Promise<LoginApp> {
  const admin = await startPhpLiteAdmin()
  const lines = numbers.map(
    (number) => `create table t${number} (note text); insert into t${number} values ('a note');`,
  )
  await promisify(execFile)('php', [
    '-r',
    '(new SQLite3($argv[1]))->exec($argv[2]);',
    admin.file('team.sqlite'),
    lines.join(''),
  ])
  return {
    url: admin.url,
    loginUrl: admin.url,
    login: [
      step('fill', { selector: '[type=password]', text: admin.password }),
      step('click', { selector: '[type=submit][value="Log In"]' }),
      step('wait_for', { text: 'Change Database' }),
    ],
    member: 'Change Database',
    linksLogout: false,
    // The database itself.
    files: 1,
    close: admin.close,
  }
}

export const loginApps: readonly { readonly name: string; start(): Promise<LoginApp> }[] = [
  { name: 'DokuWiki', start: dokuWiki },
  { name: 'MediaWiki', start: mediaWiki },
  { name: 'phpLiteAdmin', start: phpLiteAdmin },
]
