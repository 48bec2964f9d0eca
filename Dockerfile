# A Decitick server from source, in an image with nothing but the program.
#
#   docker build --tag decitick .
#   docker run --name game --publish 7777:7777/udp --publish 7778:7778/tcp --volume game:/srv/decitick decitick
#   docker exec -it game decitick console
#
# The server directory is the volume; an empty one gets the commented configuration and the sample gamemodes first.
# docs/operations.md says more.

FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package decitick && install -D target/release/decitick /out/decitick

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /srv/decitick --create-home --shell /usr/sbin/nologin decitick
COPY --from=build /out/decitick /usr/bin/decitick
COPY packaging/docker/start /usr/bin/decitick-start
USER decitick
WORKDIR /srv/decitick
VOLUME /srv/decitick
EXPOSE 7777/udp 7778/tcp
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["decitick", "console", "/srv/decitick", "-c", "status"]
ENTRYPOINT ["/usr/bin/decitick-start"]
