/** Ports and addresses that are always blocked. */

/** Ports of other services, which browsers block too (Fetch, "bad port"). */
export const otherServices: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
])

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
