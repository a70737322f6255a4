"""langchain-mcp-adapters: the task is the first argument, the outcome goes to stdout."""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(entry: dict, tool: str, args: dict) -> None:
    client = MultiServerMCPClient({"bridge": {"transport": "stdio", **entry}})
    tools = await client.get_tools()
    blocks = await next(each for each in tools if each.name == tool).ainvoke(args)
    print(json.dumps({"tools": [tool.name for tool in tools], "text": blocks[0]["text"]}))


asyncio.run(main(**json.loads(sys.argv[1])))
