# toolx alone, as nobody, without a shell: for servers over HTTP, and for toolx serve. A server that is a program needs
# an image with that program; copy /usr/bin/toolx from this one.
#
#	docker build --build-arg VERSION=v1.0.0 -t toolx .
#	docker run --rm toolx list --url https://host/mcp

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH VERSION COMMIT DATE
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go run ./release/lazyinit bin/lazy
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -modfile bin/lazy/go.mod -trimpath -buildvcs=false -o /toolx \
    -ldflags "-s -w -X toolx/cmd/build.version=$VERSION -X toolx/cmd/build.commit=$COMMIT -X toolx/cmd/build.date=$DATE" .

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /toolx /usr/bin/toolx
COPY LICENSE /usr/share/doc/toolx/copyright
USER nonroot
ENTRYPOINT ["/usr/bin/toolx"]
