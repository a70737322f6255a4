# The orchestrator, as docker-compose.yml starts it: docs/configuration.md, "In a container".
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json ./
COPY packages packages
# Installs, and builds by the "prepare" script; then what only the build needed goes.
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    MCPBRIDGE_HOME=/data \
    MCP_CONFIG=/config/mcp_servers.json \
    WORKSPACE_DIR=/workspace
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/packages/orchestrator/package.json packages/orchestrator/
COPY --from=build /build/packages/orchestrator/dist packages/orchestrator/dist
COPY --from=build /build/packages/mcpbridge/dist packages/mcpbridge/dist
COPY mcp_servers.json /config/
# The servers of the file are found from its folder. The overlay is written there, so it belongs to the user.
RUN ln -s /app/node_modules /config/node_modules \
    && mkdir /data /workspace \
    && chown node:node /config /data /workspace \
    && chmod 700 /data
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/orchestrator/dist/main.js"]
