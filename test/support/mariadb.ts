/** MariaDB from Debian's packages, which are unpacked and not installed. */
import { execFile, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './ports.ts'
import { tied } from './tied.ts'
import { waitUntil } from './wait.ts'

const run = promisify(execFile)

/** Packages with the server and its client. */
export const mariaDbPackages = ['mariadb-client-core', 'mariadb-server-core']

export interface MariaDb {
  readonly port: number
  /** Runs statements as root; returns the rows of all of them, as lists of texts. */
  query(statements: string): Promise<string[][]>
  close(): Promise<void>
}

/** `root` is the folder that the packages were unpacked into; the databases are stored below it. */
export async function startMariaDb(root: string): Promise<MariaDb> {
  const port = await freePort()
  const env = { ...process.env, LD_LIBRARY_PATH: join(root, 'usr/lib/x86_64-linux-gnu') }
  const temporary = join(root, 'temporary-tables')
  await mkdir(temporary)
  // A server deletes temporary tables when it starts, also those of another one.
  const folders = [`--basedir=${root}/usr`, `--datadir=${root}/databases`, `--tmpdir=${temporary}`]
  const usual = ['--no-defaults', ...folders, '--skip-name-resolve', `--lc-messages-dir=${root}/usr/share/mysql`]
  // Servers refuse to run as root unless they are told to.
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const access = ['--auth-root-authentication-method=normal', '--skip-test-db']
  await run(join(root, 'usr/bin/mariadb-install-db'), [...usual, ...user, ...access], { env })
  const network = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${root}/mariadb.sock`]
  const server = spawn(...tied(join(root, 'usr/sbin/mariadbd'), [...usual, ...user, ...network]), {
    env,
    stdio: 'ignore',
  })
  const client = [
    '--no-defaults',
    '--host=127.0.0.1',
    `--port=${port}`,
    '--user=root',
    '--batch',
    '--skip-column-names',
  ]
  const query = async (statements: string) => {
    const { stdout } = await run(join(root, 'usr/bin/mariadb'), [...client, '--execute', statements], { env })
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((row) => row.split('\t'))
  }
  await waitUntil(() =>
    query('select 1').then(
      () => true,
      () => false,
    ),
  )
  return {
    port,
    query,
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      // Its data is discarded.
      server.kill('SIGKILL')
      await ended
    },
  }
}
