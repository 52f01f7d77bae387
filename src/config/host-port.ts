/** A place to connect to. */
export type HostPort = { readonly host: string; readonly port: number };

/**
 * Reads `host:port`; an IPv6 address stands in brackets. Undefined when it is anything else, or the port is outside 0
 * to 65535.
 */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:[\]/,=]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** The text that {@link parseHostPort} reads. */
export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
