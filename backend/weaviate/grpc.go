package weaviate

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weaviate/weaviate-go-client/v5/weaviate/filters"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// grpcParam is the parameter of a node's URL that gives the port, or host and port, of its gRPC interface.
const grpcParam = "grpc"

// maxAnswer is the maximum size of an answer by gRPC, in bytes. It is the default of the cluster's GRPC_MAX_MESSAGE_SIZE.
const maxAnswer = 104858000

// window is the flow control window: how many bytes of an answer a node sends before they are acknowledged.
const window = 16 << 20

// grpcAddress returns the gRPC address in a node's URL, or "" if there is none.
func grpcAddress(u *url.URL) (string, error) {
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", err
	}
	at := params.Get(grpcParam)
	if len(params) > 1 || len(params[grpcParam]) > 1 || u.RawQuery != "" && at == "" {
		return "", errors.New("want grpc=port or grpc=host:port alone")
	}
	if at == "" {
		return "", nil
	}
	if !strings.Contains(at, ":") {
		at = net.JoinHostPort(u.Hostname(), at)
	}
	if host, port, err := net.SplitHostPort(at); err != nil || host == "" || port == "" {
		return "", errors.New("want grpc=port or grpc=host:port")
	}
	return at, nil
}

// dialGRPC returns a connection for searches by gRPC, encrypted if secure is set. It sends nothing yet.
func dialGRPC(at string, secure bool, o *Options) (*grpc.ClientConn, error) {
	how := insecure.NewCredentials()
	if secure {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if o.Client != nil {
			if t, ok := o.Client.Transport.(*http.Transport); ok && t.TLSClientConfig != nil {
				config = t.TLSClientConfig.Clone()
			}
		}
		how = credentials.NewTLS(config)
	}
	return grpc.NewClient("passthrough:///"+at, grpc.WithTransportCredentials(how), grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 2, Jitter: .2, MaxDelay: longestPause}, MinConnectTimeout: dialTimeout}),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)))
}

// operators maps the operators used by filters of this package to those of gRPC.
var operators = map[filters.WhereOperator]pb.Filters_Operator{
	filters.Equal: pb.Filters_OPERATOR_EQUAL, filters.ContainsAny: pb.Filters_OPERATOR_CONTAINS_ANY, filters.ContainsNone: pb.Filters_OPERATOR_CONTAINS_NONE,
	filters.And: pb.Filters_OPERATOR_AND, filters.Or: pb.Filters_OPERATOR_OR, filters.LessThan: pb.Filters_OPERATOR_LESS_THAN,
	filters.GreaterThanEqual: pb.Filters_OPERATOR_GREATER_THAN_EQUAL,
}

func (w *where) message() *pb.Filters {
	out := &pb.Filters{Operator: operators[w.op]}
	if len(w.parts) > 0 {
		for i := range w.parts {
			out.Filters = append(out.Filters, w.parts[i].message())
		}
		return out
	}
	out.Target = &pb.FilterTarget{Target: &pb.FilterTarget_Property{Property: w.path}}
	if w.single() {
		out.TestValue = &pb.Filters_ValueText{ValueText: w.texts[0]}
	} else {
		out.TestValue = &pb.Filters_ValueTextArray{ValueTextArray: &pb.TextArray{Values: w.texts}}
	}
	return out
}

// message returns the search as a gRPC request, or nil if it asks for fields that are only read by GraphQL.
func (a *searchRequest) message() *pb.SearchRequest {
	props, more, _ := strings.Cut(a.fields, " _additional{")
	meta := &pb.MetadataRequest{}
	for _, name := range strings.Fields(strings.TrimSuffix(more, "}")) {
		switch name {
		case "id":
			meta.Uuid = true
		case "distance":
			meta.Distance = true
		case "score":
			meta.Score = true
		case explained:
			meta.ExplainScore = true
		case "vector":
			meta.Vector = true
		case updated:
			meta.LastUpdateTimeUnix = true
		default:
			return nil
		}
	}
	if meta.Uuid && props != "" {
		return nil // read to be stored again
	}
	out := &pb.SearchRequest{
		//lint:ignore SA1019 without them the server answers in the forms of older releases
		Collection: a.collection, Tenant: a.tenant, Limit: uint32(min(a.limit, maxResults)), Uses_123Api: true, Uses_125Api: true, Uses_127Api: true,
		Properties: &pb.PropertiesRequest{NonRefProperties: strings.Fields(props)},
		Metadata:   meta,
	}
	if !a.where.empty() {
		out.Filters = a.where.message()
	}
	if a.words != "" {
		out.Bm25Search = &pb.BM25{Query: a.words, Properties: []string{propWords}}
	}
	if a.near != nil {
		out.NearVector = &pb.NearVector{Vectors: []*pb.Vectors{{VectorBytes: bytesOf(a.near), Type: pb.Vectors_VECTOR_TYPE_SINGLE_FP32}}}
	}
	return out
}

// bytesOf encodes a vector for gRPC.
func bytesOf(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

// vectorOf decodes a vector of an answer by gRPC.
func vectorOf(data []byte) []float32 {
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

// searchGRPC makes a search by gRPC.
func (n *node) searchGRPC(ctx context.Context, m *pb.SearchRequest) ([]object, error) {
	if n.key != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+n.key)
	}
	reply, err := n.searcher.Search(ctx, m)
	if err != nil {
		switch status.Code(err) {
		case codes.Unauthenticated:
			return nil, &refusal{http.StatusUnauthorized}
		case codes.PermissionDenied:
			return nil, &refusal{http.StatusForbidden}
		case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
			return nil, err
		}
		return nil, errAgain // treated like an error of GraphQL; the message may hold content
	}
	out := make([]object, len(reply.Results))
	for i, r := range reply.Results {
		out[i].reply = r
	}
	return out, nil
}
