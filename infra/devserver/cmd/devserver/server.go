package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const (
	clusterName = "active"
	// clusterID is the same for every start on a file: the file remembers it.
	clusterID = "5a1f0c6e-6f0e-4c1b-9a43-6d1f0a5e7c21"
	storeName = "file"
)

// server is the running server with its web interface.
type server struct {
	temporal temporal.Server
	ui       *uiserver.Server
	uiEnded  chan error // one value when the web interface ends by itself
}

func (s *server) stop() {
	if s.ui != nil {
		s.ui.Stop()
	}
	_ = s.temporal.Stop()
}

// start makes schema and namespaces where they are missing and starts all four services.
// An existing file of another schema is not migrated: the caller names files by version.
func start(o options) (*server, error) {
	db := &config.SQL{PluginName: sqlite.PluginName, DatabaseName: o.file, ConnectAttributes: map[string]string{"mode": "rwc"}}
	maps.Copy(db.ConnectAttributes, o.pragmas)
	if err := prepare(db, o); err != nil {
		return nil, err
	}
	conf, hosts, err := serverConfig(db, o)
	if err != nil {
		return nil, err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: o.logLevel, Format: "json"}))
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return nil, err
	}
	claims, err := authorization.GetClaimMapperFromConfig(&conf.Global.Authorization, logger)
	if err != nil {
		return nil, err
	}
	srv, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(dynamicConfig(o)),
	)
	if err != nil {
		return nil, err
	}
	s := &server{temporal: srv, uiEnded: make(chan error, 1)}
	if o.uiPort != 0 {
		if err := s.startUI(o); err != nil {
			return nil, err
		}
	}
	if err := srv.Start(); err != nil {
		if s.ui != nil {
			s.ui.Stop()
		}
		return nil, err
	}
	return s, nil
}

// startUI starts the web interface and returns when it can be reached: who sees the front
// end answer may take it for there as well.
func (s *server) startUI(o options) error {
	s.ui = uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host: o.ip, Port: o.uiPort, TemporalGRPCAddress: o.frontend(), EnableUI: true,
		CORS: uiconfig.CORS{CookieInsecure: true}, HideLogs: true, DisableNewsFetch: true,
	}))
	go func() {
		if err := s.ui.Start(); err != nil {
			s.uiEnded <- err
		}
	}()
	address := net.JoinHostPort(o.ip, strconv.Itoa(o.uiPort))
	for deadline := time.Now().Add(readyTimeout); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case ended := <-s.uiEnded:
			return fmt.Errorf("web interface on %s: %w", address, ended)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("web interface on %s: %w", address, err)
		}
	}
}

// prepare makes the schema of a new file and the namespaces that are missing.
func prepare(db *config.SQL, o options) error {
	if _, err := os.Stat(o.file); errors.Is(err, os.ErrNotExist) {
		if err := sqliteschema.SetupSchema(db); err != nil {
			return fmt.Errorf("set up schema: %w", err)
		}
	} else if err != nil {
		return err
	}
	for _, name := range o.namespaces {
		ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, o.attributes)
		if err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
		if err := sqliteschema.CreateNamespaces(db, ns); err != nil {
			return fmt.Errorf("make namespace %s: %w", name, err)
		}
	}
	return nil
}

// serverConfig places the four services on the loopback: the front end on its port, the
// others on free ones.
func serverConfig(db *config.SQL, o options) (*config.Config, map[primitives.ServiceName]static.Hosts, error) {
	ports, err := freePorts(o.ip, 4)
	if err != nil {
		return nil, nil, err
	}
	httpPort := ports[3]
	services, hosts := map[string]config.Service{}, map[primitives.ServiceName]static.Hosts{}
	for i, name := range []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService, primitives.FrontendService} {
		rpc := config.RPC{BindOnIP: o.ip, GRPCPort: ports[i]}
		if name == primitives.FrontendService {
			rpc.GRPCPort, rpc.HTTPPort = o.port, httpPort
		}
		services[string(name)] = config.Service{RPC: rpc}
		hosts[name] = static.SingleLocalHost(net.JoinHostPort(o.ip, strconv.Itoa(rpc.GRPCPort)))
	}
	off := config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}}
	return &config.Config{
		Global:       config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: o.ip}},
		PublicClient: config.PublicClient{HostPort: o.frontend()},
		Services:     services,
		Archival:     off,
		Persistence: config.Persistence{
			DefaultStore: storeName, VisibilityStore: storeName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{storeName: {SQL: db}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled: true, InitialFailoverVersion: 1, ClusterID: clusterID,
				RPCAddress: o.frontend(), HTTPAddress: net.JoinHostPort(o.ip, strconv.Itoa(httpPort)),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}, hosts, nil
}

// dynamicConfig are the server's settings for one machine, and what the flags add.
func dynamicConfig(o options) dynamicconfig.StaticClient {
	c := dynamicconfig.StaticClient{
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():                 8096,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key():      true,
		dynamicconfig.EnableServerVersionCheck.Key():                     false,
	}
	for k, v := range o.dynamic {
		c[dynamicconfig.MakeKey(k)] = v
	}
	return c
}

// freePorts returns n different ports of ip that nobody listens on now.
func freePorts(ip string, n int) ([]int, error) {
	var out []int
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
		if err != nil {
			return nil, err
		}
		defer l.Close() // held until all are known, so that they differ
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}
