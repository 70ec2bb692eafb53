/** Metadata services of cloud providers, which expose secrets of the machine: always blocked. */

export const metadataAddresses: readonly string[] = [
  // AWS, Azure, Google Cloud, DigitalOcean, Oracle, OpenStack and most others.
  '169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fe80::a9fe:a9fe',
  // Credentials of AWS containers and pods.
  '169.254.170.2',
  '169.254.170.23',
  'fd00:ec2::23',
  // Azure's wire server, which is in a public range.
  '168.63.129.16',
  // Alibaba, Oracle's older one, Scaleway, Tencent.
  '100.100.100.200',
  '192.0.0.192',
  '169.254.42.42',
  'fd00:42::42',
  '169.254.0.23',
]

/** Names that are blocked too, since a further proxy may resolve them to other addresses. */
export const metadataHosts: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
])
