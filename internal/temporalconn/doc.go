// Package temporalconn connects to Temporal: to the embedded server of the state directory
// when no address is configured, else to the cluster that the settings name.
//
// Settings of a cluster are those of Temporal's own tools, read through the SDK's
// envconfig: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS,
// TEMPORAL_TLS_CLIENT_CERT_PATH, _CLIENT_KEY_PATH, _SERVER_CA_CERT_PATH (or ..._DATA),
// _SERVER_NAME, TEMPORAL_GRPC_META_*, and profiles of Temporal's configuration file. The
// file is read only when an address, a profile (TEMPORAL_PROFILE) or a file
// (TEMPORAL_CONFIG_FILE) is named: a default file that happens to be there does not turn a
// local run into one on somebody's cluster. The address "embedded" asks for the embedded
// server whatever the environment says.
//
// Credentials are never part of an error, a log line or a printed configuration. An API
// key does not leave over a connection without TLS, except to this machine.
//
//	conn, err := temporalconn.Open(ctx, temporalconn.Options{Embedded: devserver.Options{...}})
//	if err != nil { ... }
//	defer conn.Close(context.Background()) // after the workers have stopped
package temporalconn
