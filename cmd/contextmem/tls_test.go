package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/client"
)

// certificate writes a self-signed certificate for 127.0.0.1 into two files.
func certificate(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	is := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "contextmem"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, is, is, &private.PublicKey, private)
	require.NoError(t, err)
	b, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(cert, text, 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}), 0o600))
	roots = x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text))
	return cert, key, roots
}

// TestServeTLS checks that a server with a certificate serves HTTPS to the library's client and to commands, and no
// plain HTTP.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	cert, key, roots := certificate(t)
	dir := t.TempDir()
	address, end := serving(t, dir, "--api-keys", "secret", "--tls-cert", cert, "--tls-key", key)
	require.True(t, strings.HasPrefix(address, "https://127.0.0.1:"), address)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	c, err := client.New(address, "secret", &client.Options{HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	_, err = c.Tenants(t.Context())
	require.NoError(t, err)
	res, err := (&http.Client{Transport: tr}).Get(address + "/healthz")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 2, res.ProtoMajor, "HTTP/2")
	require.GreaterOrEqual(t, res.TLS.Version, uint16(tls.VersionTLS12))

	ask := func(trusted bool, args ...string) (string, error) {
		cmd := program(t.Context(), t, t.TempDir(), append(args, "--url", address, "--key", "secret")...)
		if trusted {
			cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+cert)
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		return out.String() + errs.String(), err
	}
	out, err := ask(true, "add", "Alice takes her coffee black.")
	require.NoError(t, err, out)
	out, err = ask(true, "recall", "how does Alice drink coffee?")
	require.NoError(t, err, out)
	require.Contains(t, out, "black")
	out, err = ask(false, "tenants")
	require.Error(t, err, "nobody vouches for the certificate")
	require.NotContains(t, out, "secret")
	plain, err := http.Get("http://" + strings.TrimPrefix(address, "https://") + "/healthz")
	if err == nil {
		require.NoError(t, plain.Body.Close())
		require.Equal(t, http.StatusBadRequest, plain.StatusCode)
	}
	old := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11}} //nolint:gosec // it has to be refused
	_, err = (&http.Client{Transport: old}).Get(address)
	require.Error(t, err)
	end()
}
