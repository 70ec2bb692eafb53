/** LemonLDAP::NG, a single sign-on portal, from Debian's packages: one portal with accounts, and one that signs in with it. */
import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unpackPackages, withDependencies } from './debian-packages.ts'
import { freePort } from './ports.ts'
import { tied } from './tied.ts'
import { waitUntil } from './wait.ts'

const packages =
  'liblemonldap-ng-portal-perl lemonldap-ng-fastcgi-server mini-httpd starman libdbd-sqlite3-perl libauthen-webauthn-perl libconvert-base32-perl libdigest-hmac-perl libgd-perl libgd-securityimage-perl libio-string-perl libjs-bootstrap4 libjs-jquery libjs-jquery-ui libstring-random-perl'.split(
    ' ',
  )

const needed =
  existsSync('/usr/bin/apt-get') && existsSync('/usr/bin/perl') ? await withDependencies(packages) : undefined

/** Why the portals cannot run here; null if they can. */
export const missingForPortals = needed ? null : `LemonLDAP::NG comes from Debian's packages, which are not available`

export interface Account {
  readonly name: string
  readonly fullName: string
  readonly password: string
}

export interface Portals {
  /** The portal with the accounts, which asks for second factors that users have registered. */
  readonly url: string
  /** The same portal, whose log-in form has a picture with digits too. */
  readonly guardedUrl: string
  /** A portal that signs in with the first one, which asks for consent. */
  readonly teamUrl: string
  /** Returns the digits in the picture of a log-in form, by its field `token`. */
  digits(token: string): Promise<string>
  close(): Promise<void>
}

/** Serves the files and the program of a portal. */
const program = `
use Plack::Builder;
use Lemonldap::NG::Portal;
builder {
  enable 'Static', path => sub { s{^/javascript/}{} }, root => "$ENV{BAX_ROOT}/usr/share/javascript/";
  enable 'Static', path => qr{^/static/}, root => "$ENV{BAX_ROOT}/usr/share/lemonldap-ng/portal/htdocs/";
  Lemonldap::NG::Portal->run({});
};
`

/** Edits of the unpacked files, which expect to be installed, and to be reached over HTTPS on the usual port. */
const changes = [
  // It uses the port as a part of the RP ID.
  { file: 'Lib/WebAuthn.pm', from: 'return $portal_uri->authority;', to: 'return $portal_uri->host;' },
  // Browsers accept this extension only over HTTPS.
  { file: 'Lib/WebAuthn.pm', from: 'appid => $self->origin,', to: '' },
  // ImageMagick finds its modules only where it is installed. Without it, the module uses GD.
  { file: 'Captcha/SecurityImage.pm', from: 'use GD::SecurityImage use_magick => 1;', to: 'use GD::SecurityImage;' },
]

async function replaceIn(path: string, { from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  const text = await readFile(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} does not contain "${from}"`)
  await writeFile(path, text.replace(from, to))
}

const addAccount = `
use DBI;
my ($file, @account) = @ARGV;
my $database = DBI->connect("dbi:SQLite:$file", '', '', { RaiseError => 1 });
$database->do('create table if not exists users (name text, full_name text, password text)');
$database->do('insert into users values (?, ?, ?)', undef, @account);
`

const printDigits = `
use Cache::FileCache;
use JSON;
my ($folder, $token) = @ARGV;
my $cache = Cache::FileCache->new({ cache_root => $folder, namespace => 'sessions', cache_depth => 3 });
print from_json($cache->get($token))->{captcha};
`

export async function startPortals(accounts: readonly Account[]): Promise<Portals> {
  const root = await unpackPackages('lemonldap', needed!)
  const lib = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((name) => join(root, 'usr/lib', name))
  const { stdout } = await run('perl', ['-e', 'print substr($^V, 1) =~ s/\\.\\d+$//r'])
  const env = {
    ...process.env,
    BAX_ROOT: root,
    LD_LIBRARY_PATH: lib.join(':'),
    PERL5LIB: [join(root, 'usr/share/perl5'), ...lib.map((folder) => join(folder, 'perl5', stdout))].join(':'),
  }
  for (const change of changes) await replaceIn(join(root, 'usr/share/perl5/Lemonldap/NG/Portal', change.file), change)
  const database = join(root, 'accounts.db')
  for (const { name, fullName, password } of accounts)
    await run('perl', ['-e', addAccount, database, name, fullName, password], { env })
  await writeFile(join(root, 'portal.psgi'), program)
  const [sso, guarded, team] = await Promise.all(
    ['sso', 'guarded', 'team'].map(async (name) => ({ name, host: `${name}.localhost`, port: await freePort() })),
  )
  const at = ({ host, port }: Place) => `http://${host}:${port}/`
  const withAccounts = {
    authentication: 'DBI',
    dbiAuthChain: `dbi:SQLite:${database}`,
    dbiAuthTable: 'users',
    dbiAuthLoginCol: 'name',
    dbiAuthPasswordCol: 'password',
    dbiExportedVars: { cn: 'full_name', uid: 'name' },
  }
  const client = { id: 'team', secret: randomBytes(16).toString('hex') }
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const places = [
    { ...sso!, settings: { ...withAccounts, ...secondFactors, ...signsIn(client, at(team!), keys) } },
    { ...guarded!, settings: { ...withAccounts, captcha_login_enabled: 1 } },
    { ...team!, settings: signedInBy(client, at(sso!), `http://127.0.0.1:${sso!.port}/`, keys.publicKey) },
  ]
  const servers = await Promise.all(places.map((place) => startPortal(root, env, place)))
  return {
    url: at(sso!),
    guardedUrl: at(guarded!),
    teamUrl: at(team!),
    digits: async (token) =>
      (await run('perl', ['-e', printDigits, join(root, 'guarded/cache'), token], { env })).stdout,
    async close() {
      await Promise.all(servers.map((stop) => stop()))
      await rm(root, { recursive: true, force: true })
    },
  }
}

const run = promisify(execFile)

interface Place {
  readonly name: string
  readonly host: string
  readonly port: number
}

const secondFactors = {
  totp2fActivation: 1,
  totp2fSelfRegistration: 1,
  webauthn2fActivation: 1,
  webauthn2fSelfRegistration: 1,
}

type Client = Readonly<Record<'id' | 'secret', string>>
type Keys = ReturnType<typeof generateKeyPairSync>

/** Settings of a provider of OpenID Connect with one client. */
const signsIn = ({ id, secret }: Client, client: string, { privateKey, publicKey }: Keys) => ({
  issuerDBOpenIDConnectActivation: 1,
  oidcServicePrivateKeySig: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  oidcServicePublicKeySig: publicKey.export({ type: 'spki', format: 'pem' }),
  oidcServiceKeyIdSig: 'key',
  oidcRPMetaDataExportedVars: { team: { name: 'cn' } },
  oidcRPMetaDataOptions: {
    team: {
      oidcRPMetaDataOptionsClientID: id,
      oidcRPMetaDataOptionsClientSecret: secret,
      oidcRPMetaDataOptionsDisplayName: 'Team rooms',
      oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
      oidcRPMetaDataOptionsRedirectUris: `${client}?openidconnectcallback=1`,
    },
  },
})

/** Settings of a client, which itself reaches the provider at `inside`. */
const signedInBy = ({ id, secret }: Client, provider: string, inside: string, publicKey: Keys['publicKey']) => ({
  authentication: 'OpenIDConnect',
  oidcOPMetaDataExportedVars: { sso: { cn: 'name', uid: 'sub' } },
  oidcOPMetaDataJSON: {
    sso: JSON.stringify({
      issuer: provider,
      authorization_endpoint: `${provider}oauth2/authorize`,
      token_endpoint: `${inside}oauth2/token`,
      userinfo_endpoint: `${inside}oauth2/userinfo`,
    }),
  },
  oidcOPMetaDataJWKS: {
    sso: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', use: 'sig', alg: 'RS256' }] }),
  },
  oidcOPMetaDataOptions: {
    sso: {
      oidcOPMetaDataOptionsClientID: id,
      oidcOPMetaDataOptionsClientSecret: secret,
      oidcOPMetaDataOptionsScope: 'openid profile',
      oidcOPMetaDataOptionsCheckJWTSignature: 1,
      oidcOPMetaDataOptionsTokenEndpointAuthMethod: 'client_secret_post',
    },
  },
})

/** Starts a portal in a folder of its own; returns what stops it. */
async function startPortal(
  root: string,
  env: NodeJS.ProcessEnv,
  { name, host, port, settings }: Place & { readonly settings: object },
): Promise<() => Promise<void>> {
  const folder = join(root, name)
  for (const part of ['conf', 'sessions/lock', 'psessions/lock', 'cache'])
    await mkdir(join(folder, part), { recursive: true })
  const sessions = (kind: string) => ({
    Directory: join(folder, kind),
    LockDirectory: join(folder, kind, 'lock'),
    generateModule: 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256',
  })
  const configuration = {
    cfgNum: 1,
    cfgDate: 1,
    cookieName: `lemonldap${name}`,
    domain: host,
    captcha_size: 10,
    loginHistoryEnabled: 1,
    portal: `http://${host}:${port}/`,
    key: randomBytes(16).toString('hex'),
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: sessions('sessions'),
    persistentStorage: 'Apache::Session::File',
    persistentStorageOptions: sessions('psessions'),
    localSessionStorage: 'Cache::FileCache',
    localSessionStorageOptions: { cache_root: join(folder, 'cache'), namespace: 'sessions', cache_depth: 3 },
    locationRules: { [host]: { default: 'accept' } },
    userDB: 'Same',
    whatToTrace: 'uid',
    ...settings,
  }
  await writeFile(join(folder, 'conf/lmConf-1.json'), JSON.stringify(configuration))
  const ini = join(folder, 'lemonldap-ng.ini')
  const templates = join(root, 'usr/share/lemonldap-ng/portal/templates')
  await writeFile(
    ini,
    `[all]
logLevel = error
[configuration]
type = File
dirName = ${join(folder, 'conf')}
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'conf', 'cache_root' => '${join(folder, 'cache')}' }
[portal]
staticPrefix = /static
templateDir = ${templates}
languages = en
`,
  )
  // Browsers open connections that they do not use at once, and each of them occupies a worker.
  const flags = ['--listen', `127.0.0.1:${port}`, '--workers', '8', '--disable-keepalive', join(root, 'portal.psgi')]
  const starman = tied('perl', [join(root, 'usr/bin/starman'), ...flags])
  const server = spawn(...starman, { env: { ...env, LLNG_DEFAULTCONFFILE: ini }, stdio: 'ignore' })
  await waitUntil(() =>
    fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' }).then(
      ({ status }) => status < 500,
      () => false,
    ),
  )
  return async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    await ended
  }
}
