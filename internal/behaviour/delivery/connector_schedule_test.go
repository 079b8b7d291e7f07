package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestConnectorErrorsSteerTheSchedule(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, _ contextmem.Tenant, p *servicetest.ScriptedProvider) {
		fail := func(err error) {
			p.Answer(func(context.Context, connector.SyncRequest) (*connector.Page, error) {
				return objects("x", false), err
			})
		}
		fail(&connector.RateLimited{After: 20 * time.Minute})
		c := connect(t, svc, contextmem.ConnectorSpec{}, r1)
		require.Equal(t, 1, p.Count())
		require.Equal(t, contextmem.SyncError, c.SyncStatus)
		require.True(t, c.NextSync.Equal(p.At(0).Add(20*time.Minute)))
		require.Equal(t, contextmem.ResourceFailed, resource(t, svc, c.ID).Status)

		fail(errors.New("boom with secret-token inside"))
		time.Sleep(20*time.Minute + time.Second)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, 2, p.Count())
		require.Equal(t, "boom with *** inside", c.LastError)
		require.NotContains(t, resource(t, svc, c.ID).LastError, "secret")
		require.True(t, c.NextSync.Equal(p.At(1).Add(time.Minute)))
		time.Sleep(time.Minute + time.Second)
		c = awaitIdle(t, svc, c.ID)
		require.True(t, c.NextSync.Equal(p.At(2).Add(2*time.Minute)), "the pause doubles")

		fail(fmt.Errorf("refresh: %w", connector.ErrReauth))
		time.Sleep(3 * time.Minute)
		c = awaitIdle(t, svc, c.ID)
		require.True(t, c.NeedsReauth)
		require.Equal(t, contextmem.ConnectorError, c.Status)
		require.Contains(t, c.NeedsReauthReason, "no longer accepted")
		require.False(t, c.NeedsReauthAt.IsZero())
		require.True(t, c.NextSync.IsZero())
		n := p.Count()
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		require.Equal(t, n, p.Count(), "nothing is tried without new credentials")

		fail(nil)
		_, err := svc.EditConnector(t.Context(), c.ID, contextmem.ConnectorEdit{Credentials: connector.Credentials{"account": "x"}})
		require.NoError(t, err)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, n+1, p.Count())
		require.False(t, c.NeedsReauth)
		require.Equal(t, contextmem.ConnectorActive, c.Status)
		require.Empty(t, c.LastError)
		require.Equal(t, connector.Credentials{"token": "secret-token", "account": "x"}, p.Call(n).Credentials)
		require.Equal(t, contextmem.ResourceActive, resource(t, svc, c.ID).Status)

		fail(connector.ErrReauth)
		tok := connect(t, svc, contextmem.ConnectorSpec{AuthType: connector.AuthToken}, r1)
		require.False(t, tok.NeedsReauth, "only connectors with oauth")
		require.Equal(t, contextmem.ConnectorError, tok.Status)
	})
}

func TestConnectorSyncNowPauseAndDelete(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *servicetest.ScriptedProvider) {
		hold := make(chan struct{})
		p.Answer(func(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
			if r.Cursor == "" {
				return objects("1", true, servicetest.Doc("a", "Bread is baked at dawn.")), nil
			}
			select {
			case <-hold:
				return objects("2", false), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		c := connect(t, svc, contextmem.ConnectorSpec{}, r1)
		require.Equal(t, contextmem.SyncRunning, c.SyncStatus)
		_, err := svc.SyncNow(t.Context(), c.ID)
		var e *contextmem.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.KindConflict, e.Kind)
		require.Equal(t, fault.Sync, e.Resource)

		_, err = svc.PauseConnector(t.Context(), c.ID)
		require.NoError(t, err)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, contextmem.SyncIdle, c.SyncStatus)
		require.True(t, c.NextSync.IsZero())
		_, err = svc.SyncNow(t.Context(), c.ID)
		require.ErrorIs(t, err, contextmem.ErrConflict)
		n := p.Count()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.Equal(t, n, p.Count())

		close(hold)
		_, err = svc.ResumeConnector(t.Context(), c.ID)
		require.NoError(t, err)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, n+1, p.Count())
		require.Equal(t, "1", p.Call(n).Cursor, "it goes on where it stopped")
		require.Equal(t, 1, c.Cycles)
		require.NoError(t, svc.Drain(t.Context()))

		// A removal stops what runs.
		p.Answer(func(ctx context.Context, _ connector.SyncRequest) (*connector.Page, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err = svc.SyncNow(t.Context(), c.ID)
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, svc.DeleteConnector(t.Context(), c.ID, false))
		_, err = svc.Connector(t.Context(), c.ID)
		require.ErrorIs(t, err, contextmem.ErrNotFound)
		require.Len(t, listSources(t, acme.Sub("")), 1, "what was ingested stays")

		p.Answer(func(context.Context, connector.SyncRequest) (*connector.Page, error) {
			return objects("1", false, servicetest.Doc("z", "Wool is spun in winter.")), nil
		})
		c = connect(t, svc, contextmem.ConnectorSpec{}, r1)
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, listSources(t, acme.Sub("")), 2)
		require.NoError(t, svc.DeleteConnector(t.Context(), c.ID, true))
		require.Len(t, listSources(t, acme.Sub("")), 1, "its objects are gone")
	})
}

func TestConnectorBackfillIsPaced(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, _ contextmem.Tenant, p *servicetest.ScriptedProvider) {
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			n := len(r.Cursor)
			return objects(r.Cursor+"x", n < 2, servicetest.Doc(fmt.Sprint("o", n), fmt.Sprintf("Entry number %d of the log.", n))), nil
		})
		r := r1
		r.LookbackDays, r.BackfillInterval = 30, 10*time.Minute
		start := time.Now()
		c := connect(t, svc, contextmem.ConnectorSpec{}, r)
		require.Equal(t, 1, p.Count())
		got := resource(t, svc, c.ID)
		require.Equal(t, "running", got.BackfillStatus)
		require.True(t, got.BackfillOldest.Equal(start.AddDate(0, 0, -30)))
		require.True(t, got.BackfillNext.Equal(start.Add(10*time.Minute)))
		require.True(t, p.Call(0).Since.Equal(got.BackfillOldest))
		require.True(t, c.NextSync.Equal(got.BackfillNext))
		time.Sleep(21 * time.Minute)
		awaitIdle(t, svc, c.ID)
		require.Equal(t, 3, p.Count())
		require.True(t, p.At(2).Equal(start.Add(20*time.Minute)))
		got = resource(t, svc, c.ID)
		require.Empty(t, got.BackfillStatus)
		require.True(t, got.BackfillOldest.IsZero())
		require.True(t, got.BackfillNext.IsZero())
		time.Sleep(40 * time.Minute)
		awaitIdle(t, svc, c.ID)
		require.Equal(t, 4, p.Count())
		require.True(t, p.Call(3).Since.IsZero(), "the look back is of the first sync only")
	})
}

func TestConnectorProviderFailsMidwayAndHangs(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *servicetest.ScriptedProvider) {
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			if r.Cursor == "" {
				return objects("1", true, servicetest.Doc("a", "Candles are made of beeswax.")), nil
			}
			return nil, errors.New("gateway timeout")
		})
		c := connect(t, svc, contextmem.ConnectorSpec{}, r1)
		require.Equal(t, "gateway timeout", c.LastError)
		require.Equal(t, "1", resource(t, svc, c.ID).Cursor, "what was durable is not read again")
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, listSources(t, acme.Sub("")), 1)
		require.Zero(t, c.Cycles)

		p.Answer(func(ctx context.Context, _ connector.SyncRequest) (*connector.Page, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, contextmem.SyncRunning, awaitIdle(t, svc, c.ID).SyncStatus)
		time.Sleep(10 * time.Minute)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, contextmem.SyncError, c.SyncStatus)
		require.Contains(t, c.LastError, "deadline")

		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			return objects(r.Cursor, true), nil
		})
		_, err := svc.SyncNow(t.Context(), c.ID)
		require.NoError(t, err)
		require.Contains(t, awaitIdle(t, svc, c.ID).LastError, "no progress")
		p.Answer(func(context.Context, connector.SyncRequest) (*connector.Page, error) { panic("out of range") })
		_, err = svc.SyncNow(t.Context(), c.ID)
		require.NoError(t, err)
		require.Contains(t, awaitIdle(t, svc, c.ID).LastError, "panicked")

		// Several connectors at once, and a Close while they sync.
		p.Answer(func(ctx context.Context, _ connector.SyncRequest) (*connector.Page, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		n := p.Count()
		for range 6 {
			connect(t, svc, contextmem.ConnectorSpec{}, r1)
		}
		require.Equal(t, n+4, p.Count(), "four at a time")
		start := time.Now()
		require.NoError(t, svc.Close())
		require.Zero(t, time.Since(start), "Close does not wait for providers that heed their context")
	})
}
