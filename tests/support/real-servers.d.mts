export interface RealServers {
  folder: string;
  /** The packages with their versions. */
  corpus: string[];
  /** By id, as they stand in mcp_servers.json. */
  servers: Record<string, object>;
}

/** `more`: other packages to install beside the servers, by name and version. */
export function installRealServers(more?: Record<string, string>): Promise<RealServers>;
