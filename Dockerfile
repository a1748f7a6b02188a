# Builds the bundle with all dependencies, and runs it with those that are not bundled.
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY packages ./packages
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY build.mjs tsconfig.json ./
COPY src ./src
RUN node build.mjs

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json build.mjs ./
COPY --from=build /build/packages ./packages
RUN npm ci --omit=dev --no-audit --no-fund && mkdir /data && chown node:node /data
COPY migrations ./migrations
COPY scenarios ./scenarios
COPY --from=build /build/dist ./dist
USER node
VOLUME /data
EXPOSE 4620 4621
ENV STANDIN_DATA=/data STANDIN_HOST=0.0.0.0 STANDIN_PORT=4620
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.STANDIN_PORT}/_sim/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/standin.js"]
CMD ["serve"]
