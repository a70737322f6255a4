"""The official Python SDK 2.x: the task and the mode are the arguments, the outcome goes to stdout."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(entry: dict, tool: str, args: dict) -> None:
    async with Client(StdioServerParameters(**entry), mode=sys.argv[2]) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool(tool, args)
        outcome = {"tools": [tool.name for tool in tools], "text": result.content[0].text}
        print(json.dumps({**outcome, "version": client.protocol_version}))


asyncio.run(main(**json.loads(sys.argv[1])))
