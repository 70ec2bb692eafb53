/** Mail of one user: a small SMTP server of our own, and Dovecot's IMAP program from its unpacked package. */
import { spawn } from 'node:child_process'
import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { tied } from './tied.ts'

/** Packages with the IMAP program and its libraries. */
export const mailPackages = ['dovecot-core', 'dovecot-imapd', 'libunwind8']

/** Dovecot reads no mail as root. */
const [uid, gid] = process.getuid?.() === 0 ? [65_534, 65_534] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0]

export interface MailServer {
  readonly imapPort: number
  readonly smtpPort: number
  /** Messages that were sent; none of them arrives in a folder. */
  readonly sent: readonly string[]
  /** Returns the number of messages in a folder, such as `.Sent`. */
  messages(folder: string): Promise<number>
  /** Deletes all messages and folders. */
  empty(): Promise<void>
  close(): Promise<void>
}

/** `root` is the folder that the packages were unpacked into; the mail is stored below it. */
export async function startMailServer(root: string, user: { name: string; password: string }): Promise<MailServer> {
  const home = join(root, 'mail')
  const maildir = join(home, 'Maildir')
  await mkdir(home)
  await chown(home, uid, gid)
  await chmod(root, 0o711)
  const sockets = new Set<Socket>()
  const serve = async (accept: (socket: Socket) => void) => {
    const server = createServer((socket) => {
      sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy()))
      accept(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
  const sent: string[] = []
  const [imap, smtp] = [
    await serve((socket) => acceptImap(socket, root, home, user)),
    await serve((socket) => acceptSmtp(socket, sent)),
  ]
  const portOf = (server: Server) => (server.address() as { port: number }).port
  return {
    imapPort: portOf(imap),
    smtpPort: portOf(smtp),
    sent,
    async messages(folder) {
      const parts = ['cur', 'new'].map((part) => readdir(join(maildir, folder, part)).catch(() => []))
      return (await Promise.all(parts)).flat().length
    },
    async empty() {
      sent.length = 0
      await rm(maildir, { recursive: true, force: true })
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([imap, smtp].map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

/** Checks the log-in, which Dovecot's program leaves to another one, and passes the rest of the connection to it. */
function acceptImap(socket: Socket, root: string, home: string, user: { name: string; password: string }): void {
  socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n')
  const lines = createInterface(socket)
  lines.on('line', (line) => {
    const [tag, command, name, password] = line.split(' ').map((word) => word.replaceAll('"', ''))
    if (command !== 'LOGIN') {
      const known = command === 'LOGOUT' || command === 'CAPABILITY'
      if (command === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1\r\n')
      socket.write(known ? `${tag} OK done\r\n` : `${tag} BAD log in first\r\n`)
      if (command === 'LOGOUT') socket.end()
      return
    }
    if (name !== user.name || password !== user.password) {
      socket.write(`${tag} NO [AUTHENTICATIONFAILED] Authentication failed.\r\n`)
      return
    }
    lines.close()
    socket.removeAllListeners('data')
    const libraries = join(root, 'usr/lib/dovecot')
    const settings = [
      `mail_location=maildir:${home}/Maildir`,
      `mail_plugin_dir=${libraries}/modules`,
      `mail_uid=${uid}`,
      `mail_gid=${gid}`,
      'first_valid_uid=1',
    ]
    const flags = settings.flatMap((setting) => ['-o', setting])
    const program = spawn(...tied(join(libraries, 'imap'), ['-O', ...flags]), {
      env: { LD_LIBRARY_PATH: `${libraries}:${root}/usr/lib/x86_64-linux-gnu`, USER: user.name, HOME: home },
      stdio: ['pipe', 'pipe', 'ignore'],
      uid,
      gid,
    })
    // Its greeting says that the user is logged in, with what it can do.
    program.stdout.once('data', (greeting: Buffer) => {
      socket.write(greeting.toString().replace('* PREAUTH', `${tag} OK`))
      program.stdout.pipe(socket)
      socket.pipe(program.stdin)
      socket.resume()
    })
    program.stdin.on('error', () => {})
    socket.once('close', () => program.kill())
  })
}

function acceptSmtp(socket: Socket, sent: string[]): void {
  let message: string[] | undefined
  socket.write('220 ready\r\n')
  createInterface(socket).on('line', (line) => {
    if (message === undefined) {
      if (/^DATA/i.test(line)) message = []
      if (/^EHLO/i.test(line)) socket.write('250-local\r\n250 8BITMIME\r\n')
      else socket.write(message ? '354 go on\r\n' : /^QUIT/i.test(line) ? '221 bye\r\n' : '250 ok\r\n')
      if (/^QUIT/i.test(line)) socket.end()
    } else if (line === '.') {
      sent.push(message.join('\r\n'))
      message = undefined
      socket.write('250 accepted\r\n')
    } else message.push(line.replace(/^\./, ''))
  })
}
