/** Flags of `bax worker`. */
import { workerLabels } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { param } from './param.ts'
import { fleetParams, serveParams } from './params.ts'

const { pool, shell, worker } = limits
const { allowPrivate, logLevel, logFormat, metrics, profileKeyFile, verifyTls } = serveParams

const count = (name: string, what: string, value: number) => param(name, what, { type: 'integer', default: value })

export const workerParams = {
  ...fleetParams,
  name: param('name', 'name of this worker in "bax fleet status"; need not be unique'),
  host: param('host', 'private address to listen on', { default: '127.0.0.1' }),
  port: param('port', 'port to listen on; 0 for a free one', { type: 'integer', default: 4200 }),
  advertise: param('advertise', 'URL at which gateways reach this worker, if it is not its HOST:PORT'),
  tlsCert: param('tls_cert', 'PEM file with the certificate for HTTPS between gateways and this worker'),
  tlsKey: param('tls_key', 'PEM file with the private key of the certificate'),
  labels: param(
    'labels',
    'kinds of work that this worker accepts, except those that fail their check; all by default',
    {
      type: 'string[]',
      choices: workerLabels,
    },
  ),
  sessions: count('sessions', 'browser sessions at the same time', pool.contextsPerBrowser * pool.browsers),
  shells: count('shells', 'shell sessions at the same time', shell.sessions),
  relays: count('relays', 'relays at the same time', worker.relays),
  pages: count('pages', 'pages of crawls at the same time; scrapes go to workers with free pages first', worker.pages),
  drainSecs: param(
    'drain_secs',
    'seconds for sessions and running work to end after SIGTERM; a second SIGTERM exits immediately',
    { type: 'number', default: worker.drainSecs },
  ),
  whenDrained: param('when_drained', 'what to do once drained by a scaler or "bax fleet drain", and idle', {
    choices: ['exit', 'stay'],
    default: 'exit',
  }),
  allowPrivate,
  verifyTls,
  logLevel,
  logFormat,
  metrics,
  profileKeyFile,
}
