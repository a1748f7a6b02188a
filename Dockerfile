# Builds the bundle with all dependencies, and runs it with those that are not bundled.
FROM node:22-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY packages ./packages
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY build.mjs tsconfig.json ./
COPY src ./src
COPY docs ./docs
COPY site ./site
COPY scripts/docs.mjs scripts/docs-topics.mjs ./scripts/
RUN node build.mjs && node scripts/docs.mjs

FROM node:22-trixie-slim
ENV NODE_ENV=production
# The versions that projects have by default, and the next one. The npm package of Postgres has no such extensions, and Debian has
# one version. They need no cluster.
RUN export DEBIAN_FRONTEND=noninteractive && mkdir -p /etc/postgresql-common && echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf && apt-get update && apt-get install -y --no-install-recommends ca-certificates postgresql-common && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y && apt-get install -y --no-install-recommends postgresql-16 postgresql-16-pgvector postgresql-16-postgis-3 postgresql-17 postgresql-17-pgvector postgresql-17-postgis-3 postgresql-18 postgresql-18-pgvector postgresql-18-postgis-3 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json build.mjs ./
COPY --from=build /build/packages ./packages
RUN npm ci --omit=dev --no-audit --no-fund && mkdir /data && chown node:node /data
COPY migrations ./migrations
COPY scenarios ./scenarios
COPY docs ./docs
COPY --from=build /build/dist ./dist
USER node
VOLUME /data
EXPOSE 4620 4621
ENV STANDIN_DATA=/data STANDIN_HOST=0.0.0.0 STANDIN_PORT=4620 STANDIN_PG_PORT=4621
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.STANDIN_PORT}/_sim/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/standin.js"]
CMD ["serve"]
