export const HELP = `mcpbridge: stdio MCP on one side, HTTP to the orchestrator (or any executor) on the other.

  mcpbridge            started by an MCP client; speaks MCP on stdin and stdout
  mcpbridge doctor     says what is wrong between here and a tool's answer
  mcpbridge doctor --fidelity [--server ID]
                       says what is lost of a server's tools, resources and prompts, and what
                       each known client will lose by its own doing
  mcpbridge --version  mcpbridge --help

  MCP_API_URL          address, with or without /api; with /mcp/ID one server alone
                                                           (http://127.0.0.1:8080)
  MCP_API_TOKEN        token, or MCP_API_TOKEN_FILE        (this user's own, on this machine)
  MCP_SESSION_ID       session to act in                   (a fresh one)
  MCP_TOOLS            JSON array of the tools to offer, or MCP_TOOLS_FILE
                       (all that the orchestrator offers the session)
  MCP_INSTRUCTIONS_FILE
                       file with what the model is told of them, with MCP_TOOLS
  MCP_VIRTUAL_SCOPE_ID scope of virtual tools
  MCP_DIALECT          how tools are named and described: off, claude, openai, gemini, copilot,
                       vscode, cursor, opencode, portable  (by who the client says it is)
  MCP_TOOL_TIMEOUT     longest call                        (90m with MCP_TOOLS, else none)
  MCP_CONNECT_TIMEOUT  how long to wait for a restart      (10s)
  MCP_TOOL_OUTPUT_DIR  folder for outputs over 128 KiB, with MCP_TOOLS
  MCP_READY_FILE       written when the tools have been listed
  MCP_BRIDGE_LOG       file for a log

docs/bridge.md says more.`;
