# The orchestrator and the workspace, as docker-compose.yml starts them: docs/configuration.md, "In a container".
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json ./
COPY packages packages
COPY workspace-api workspace-api
# Installs, and builds by the "prepare" script; then what only the build needed goes.
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:22-bookworm-slim AS workspace
# curl: by it commands call tools. bubblewrap: for a container that may make namespaces; others have Landlock.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap curl \
    && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    WORKSPACE_DIR=/workspace \
    WORKSPACE_TOKEN_FILE=/secret/workspace-token
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/workspace-api workspace-api
RUN mkdir /workspace /secret && chown node:node /workspace /secret && chmod 700 /secret
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "workspace-api/dist/main.js"]

FROM node:22-bookworm-slim AS orchestrator
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
# The word vectors by which passages are ranked.
COPY --from=build /build/workspace-api/package.json workspace-api/
COPY --from=build /build/workspace-api/model/english.bin workspace-api/model/
COPY mcp_servers.json /config/
# The servers of the file are found from its folder. The overlay is written there, so it belongs to the user.
RUN ln -s /app/node_modules /config/node_modules \
    && mkdir /data /workspace /secret \
    && chown node:node /config /data /workspace /secret \
    && chmod 700 /data /secret
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/orchestrator/dist/main.js"]
