"""The official Python SDK 1.x: the task is the first argument, the outcome goes to stdout."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(entry: dict, tool: str, args: dict) -> None:
    async with stdio_client(StdioServerParameters(**entry)) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        result = await session.call_tool(tool, args)
        print(json.dumps({"tools": [tool.name for tool in tools], "text": result.content[0].text}))


asyncio.run(main(**json.loads(sys.argv[1])))
