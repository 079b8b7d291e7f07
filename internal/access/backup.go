package access

import "context"

// BackupFiles calls f with the files that a backup needs in addition to the registry: the key, if a file holds it.
// No rotation runs during the call, so that the key fits a registry that f copies.
func (s *Secrets) BackupFiles(ctx context.Context, f func(files map[string][]byte) error) error {
	s.rotating.Lock()
	defer s.rotating.Unlock()
	files := make(map[string][]byte)
	if file, ok := s.store.(KeyFile); ok {
		key, err := file.Load(ctx)
		if err != nil {
			return err
		}
		if key != nil {
			files[keyFile] = key
		}
	}
	return f(files)
}

// Copied calls f with the files that a copy of the registry in a directory needs: the key, if the registry holds it.
// The caller makes sure that no process rotates the key during the call.
func (s *Secrets) Copied(ctx context.Context, f func(files map[string][]byte) error) error {
	if err := s.follow(ctx); err != nil {
		return err
	}
	files := make(map[string][]byte)
	if _, kept := s.store.(RegistryKey); kept {
		files[keyFile] = s.key()
	}
	return f(files)
}
