# Builds with the compiler, runs without it: node, the compiled program, its packages and its configurations.
# What the tag means is held by the digest, of all its platforms. A registry of your own: --build-arg NODE=...
ARG NODE=node:24.9.0-bookworm-slim@sha256:3e69116c924bfcba6c6979aff60d966c37aef56d488ce091c69d442ebec9f103
FROM $NODE AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install scripts: nothing that is needed at run time has one.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run --silent build && rm -f dist/*.tsbuildinfo && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
    && npm run --silent sbom > sbom.cdx.json

FROM $NODE
ENV NODE_ENV=production
# The program needs no package manager; whoever breaks in shall find none.
RUN rm -rf /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/corepack /opt/yarn* \
      /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
    && mkdir -m 0700 /state && chown 65532:65532 /state \
    && ln -s /app/dist/src/main.js /usr/local/bin/puntas \
    && mkdir -p /app/config && ln -s /state /app/state && ln -s /state /app/config/state
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE /app/sbom.cdx.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/config config
# What `puntas samples` writes besides.
COPY --from=build /app/compose.live.yaml ./
COPY --from=build /app/docs docs
# Hints print the command that works: of this container, unless who starts it says another one.
ENV PUNTAS_COMMAND='docker exec {hostname} puntas'
USER 65532:65532
VOLUME /state
EXPOSE 9464
# Cancels its orders and verifies before it exits: give it `--stop-timeout 90`.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# No inspector by signal, from the first moment on.
ENTRYPOINT ["node", "--disable-sigusr1", "--enable-source-maps", "dist/src/main.js"]
CMD ["run"]
