package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

const cookieName = "contextmem_console"

// maxSessions is the maximal number of sessions. Beyond it, the least recently used session ends.
const maxSessions = 1000

// session is a signed-in user.
type session struct {
	key         string // text of the API key; never written to disk
	csrf        string
	begun, used time.Time
	shown       string // text to show once, such as a new key
}

// sessions stores sessions by the hash of the cookie's value.
type sessions struct {
	mu sync.Mutex
	by map[[32]byte]*session
}

func newSessions() *sessions { return &sessions{by: map[[32]byte]*session{}} }

// token returns a random text of 256 bits.
func token() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// begin creates a session and returns the value of its cookie.
func (s *sessions) begin(key string) string {
	now, cookie := time.Now(), token()
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest [32]byte
	var at time.Time
	for id, x := range s.by {
		if x.over(now) {
			delete(s.by, id)
		} else if at.IsZero() || x.used.Before(at) {
			oldest, at = id, x.used
		}
	}
	if len(s.by) >= maxSessions {
		delete(s.by, oldest)
	}
	s.by[sha256.Sum256([]byte(cookie))] = &session{key: key, csrf: token(), begun: now, used: now}
	return cookie
}

func (x *session) over(now time.Time) bool {
	return now.Sub(x.used) > idle || now.Sub(x.begun) > longest
}

// find returns a copy of the session of a cookie, or nil if there is none.
func (s *sessions) find(cookie string) *session {
	now, id := time.Now(), sha256.Sum256([]byte(cookie))
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.by[id]
	if x == nil {
		return nil
	}
	if x.over(now) {
		delete(s.by, id)
		return nil
	}
	x.used = now
	c := *x
	return &c
}

// end removes a session.
func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, sha256.Sum256([]byte(cookie)))
}

// show stores a text that the next page of a session displays.
func (s *sessions) show(cookie, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.by[sha256.Sum256([]byte(cookie))]; x != nil {
		x.shown = text
	}
}

// shown returns and removes the text that show stored.
func (s *sessions) shown(cookie string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.by[sha256.Sum256([]byte(cookie))]
	if x == nil {
		return ""
	}
	text := x.shown
	x.shown = ""
	return text
}

func cookieOf(r *http.Request) string {
	k, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	return k.Value
}

// signedIn finds the session of a request and checks that its key is still valid.
func (c *Console) signedIn(r *http.Request) (*session, contextmem.Key, bool) {
	s := c.sessions.find(cookieOf(r))
	if s == nil {
		return nil, contextmem.Key{}, false
	}
	key, err := c.o.Verify(r.Context(), s.key)
	if err != nil {
		if errors.Is(err, contextmem.ErrUnauthorized) {
			c.sessions.end(cookieOf(r))
		}
		return nil, contextmem.Key{}, false
	}
	return s, key, true
}

// toLogin redirects a user who is not signed in to the login page, which later redirects back.
func (c *Console) toLogin(w http.ResponseWriter, r *http.Request) {
	to := base(r) + "login"
	if r.Method == http.MethodGet {
		if back := strings.TrimPrefix(r.URL.RequestURI(), Prefix); back != "" && len(back) < 2000 {
			to += "?to=" + url.QueryEscape(back)
		}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

type loginData struct {
	To     string
	Failed bool
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	c.write(w, http.StatusOK, "login", c.bare(r, "login", loginData{To: r.URL.Query().Get("to")}))
}

// local returns the page to open after signing in. It accepts only pages of the console, since the form value is not trusted.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "/") || strings.ContainsAny(to, "\\\r\n\t") || strings.Contains(u.Path, "..") || strings.Contains(u.Path, ":") {
		return ""
	}
	return to
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	text := strings.TrimSpace(r.PostForm.Get("key"))
	to := local(r.PostForm.Get("to"))
	var key contextmem.Key
	err := error(&contextmem.Error{Kind: fault.KindUnauthorized})
	if text != "" && len(text) <= 4096 {
		key, err = c.o.Verify(r.Context(), text)
	}
	if err != nil {
		if !errors.Is(err, contextmem.ErrUnauthorized) {
			c.fail(w, r, nil, err)
			return
		}
		c.o.Audit.Info("sign in", "ok", false)
		c.write(w, http.StatusUnauthorized, "login", c.bare(r, "login", loginData{To: to, Failed: true}))
		return
	}
	c.o.Audit.Info("sign in", "ok", true, "key", key.ID, "org", key.Org)
	c.sessions.end(cookieOf(r))
	c.setCookie(w, r, c.sessions.begin(text), int(longest.Seconds()))
	http.Redirect(w, r, base(r)+to, http.StatusSeeOther)
}

func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: base(r), MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.o.Secure || r.TLS != nil})
}

func logout(v *view) error {
	v.c.sessions.end(cookieOf(v.r))
	v.c.setCookie(v.w, v.r, "", -1)
	v.to("login")
	return nil
}
