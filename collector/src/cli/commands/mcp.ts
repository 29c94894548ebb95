import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { Command, Option } from "commander";
import { createMcpServer } from "../../mcp/create-mcp-server.ts";
import { serveMcpHttp } from "../../mcp/serve-mcp-http.ts";
import { createApiClient, DEFAULT_API_URL } from "../api-client.ts";
import { wholeNumber } from "../whole-number.ts";

interface McpOptions {
  readonly url: string;
  readonly readToken?: string;
  readonly httpPort?: number;
}

/** `agent-lifecycle mcp`: lets an agent ask what its children are doing, by the Model Context Protocol. */
export function mcpCommand(): Command {
  return new Command("mcp")
    .description("answer agents by the Model Context Protocol: list, read, explain, wait (standard streams or HTTP)")
    .option("--url <url>", "address of the collector's API", DEFAULT_API_URL)
    .addOption(new Option("--read-token <token>", "bearer token of the API").env("AGENT_LIFECYCLE_READ_TOKEN"))
    .option("--http-port <port>", "serve streamable HTTP at this port of the loopback; 0 takes any", wholeNumber)
    .addHelpText(
      "after",
      "\nExample:\n  agent-lifecycle mcp --http-port 8788\n\nOver standard streams, an agent's configuration names the command:\n" +
        '  { "command": "agent-lifecycle", "args": ["mcp"] }',
    )
    .action(async (options: McpOptions) => {
      const client = createApiClient(options);
      const create = (): ReturnType<typeof createMcpServer> => createMcpServer(client, "1");
      const ended = new Promise<void>((resolve) => {
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
      });
      if (options.httpPort !== undefined) {
        const server = await serveMcpHttp(create, options.httpPort);
        process.stderr.write(`agent-lifecycle: MCP at ${server.url}\n`);
        await ended;
        await server.close();
        return;
      }
      const server = create();
      const closed = new Promise<void>((resolve) => {
        server.server.onclose = resolve;
        process.stdin.once("end", resolve);
      });
      await server.connect(new StdioServerTransport());
      await Promise.race([closed, ended]);
      await server.close();
    });
}
