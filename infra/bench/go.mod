module cxrepro/infra/bench

go 1.26.0

replace cxrepro => ../..

require (
	cxrepro v0.0.0-00010101000000-000000000000
	golang.org/x/sync v0.25.0
)

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/yalue/onnxruntime_go v1.27.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
